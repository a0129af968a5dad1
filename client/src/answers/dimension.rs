//! The dimensions of grouping and filtering.

use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use serde::Deserialize;
use serde_json::Value as Json;
use tokio_postgres::types::{self, FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use super::{Value, literal};

/// Defines the dimensions in the order of `jobstats_internal.dimensions()`: SQL name, variant, and type of the values.
macro_rules! dimensions {
    ($($(#[$doc:meta])* $field:ident $variant:ident: $type:ty,)*) => {
        /// A dimension of grouping and filtering.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dimension {
            $($(#[$doc])* $variant,)*
        }

        impl Dimension {
            /// The dimensions in their order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name of the dimension in SQL.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($field),)*
                }
            }
        }

        /// The labels of a row; `None` for dimensions without a value or without grouping.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize)]
        #[serde(default)]
        pub struct Group {
            $($(#[$doc])* pub $field: Option<$type>,)*
            /// In a row that sums up the remaining groups, their number.
            pub others: Option<i64>,
        }

        impl Group {
            /// Returns the value of a dimension as text.
            pub fn text(&self, dimension: Dimension) -> Option<String> {
                match dimension {
                    $(Dimension::$variant => self.$field.as_ref().map(ToString::to_string),)*
                }
            }
        }

        impl<'a> FromSql<'a> for Group {
            fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
                let types::Json(group) = types::Json::<Self>::from_sql(kind, raw)?;
                Ok(Self {
                    $($field: group.$field.map(Label::exactly),)*
                    others: group.others,
                })
            }

            accepts!(JSON, JSONB);
        }

        /// The filters of a question. A text must match one of its patterns, with `*` for any characters and `\*` for a star; a number must
        /// be in its list. An empty list matches no row; `None` and `*` match all rows.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Filters {
            $($(#[$doc])* pub $field: Option<Vec<$type>>,)*
        }

        impl Filters {
            /// Returns the filters by dimension.
            fn lists(&self) -> impl Iterator<Item = (&'static str, Vec<Json>)> {
                let lists = [$((stringify!($field), self.$field.as_deref().map(|list| list.iter().cloned().map(Json::from).collect())),)*];
                lists.into_iter().filter_map(|(name, list)| Some((name, list?)))
            }
        }
    };
}

dimensions! {
    /// The name of the cluster.
    cluster Cluster: String,
    /// The name of the file system.
    filesystem Filesystem: String,
    /// The kind of the target: `MDT` or `OST`.
    kind Kind: String,
    /// The name of the target.
    target Target: String,
    /// The server that the target was observed on.
    server Server: String,
    /// The name of the user on that day; the number, if the store knows no name.
    user User: String,
    /// The number of the user.
    uid Uid: i64,
    /// The name of the user's primary group; the number, if the store knows no name.
    group Group: String,
    /// The number of the user's primary group.
    gid Gid: i64,
    /// The account or project that pays for the job.
    account Account: String,
    /// The job, or else the executable and user, or else the entry ID.
    workload Workload: String,
    /// The job.
    job Job: String,
    /// The name of the job.
    job_name JobName: String,
    /// The array that the job is an element of, or the job itself.
    job_group JobGroup: String,
    /// The partition or queue of the job.
    partition Partition: String,
    /// The state of the job's last run.
    state State: String,
    /// The node.
    node Node: String,
    /// The executable.
    executable Executable: String,
    /// The status of the entry ID: `ok`, `missing_job`, `truncated`, `partial`, `malformed`, or `claimed` for the job of another user.
    status Status: String,
    /// The entry ID.
    entry Entry: String,
}

impl fmt::Display for Dimension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A value in labels.
trait Label {
    /// Returns the value that this label matches as a pattern.
    fn exactly(self) -> Self;
}

impl Label for i64 {
    fn exactly(self) -> Self {
        self
    }
}

impl Label for String {
    /// Returns the name with `\*` unescaped to `*`, and `\\` before it to `\`.
    fn exactly(self) -> Self {
        let Some((starred, last)) = self.rsplit_once('*') else {
            return self;
        };
        let mut name = Self::with_capacity(self.len());
        for piece in starred.split('*') {
            let escapes = piece.len() - piece.trim_end_matches('\\').len();
            name.push_str(&piece[..piece.len() - escapes.div_ceil(2)]);
            name.push('*');
        }
        name + last
    }
}

impl Filters {
    fn json(&self) -> Json {
        self.lists().collect()
    }
}

impl Value for Filters {
    const TYPE: Type = Type::JSONB;

    fn is_left_out(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the text form, or JSON for an empty list, which has no text form.
    fn literal(&self) -> String {
        if self.lists().any(|(_, list)| list.is_empty()) {
            return literal::quoted(&self.json().to_string());
        }
        let words = self.lists().map(|(name, list)| {
            let values: Vec<_> = list.iter().map(word).collect();
            format!("{name}={}", values.join(","))
        });
        literal::quoted(&words.collect::<Vec<_>>().join(" "))
    }
}

/// Returns a value in the text form of a filter, in quotes if it needs them.
fn word(value: &Json) -> String {
    let Some(text) = value.as_str() else {
        return value.to_string();
    };
    let is_special = |c: char| c.is_whitespace() || matches!(c, ',' | '"' | '%');
    match text.is_empty() || text.contains(is_special) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

impl ToSql for Filters {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.json().to_sql(kind, out)
    }

    accepts!(JSONB);
    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_name_again() {
        for (label, name) in [
            ("ada", "ada"),
            (r"\*", "*"),
            (r"a\b\*c", r"a\b*c"),
            (r"\\\*\*", r"\**"),
            (r"\\\\\*", r"\\*"),
            (r"a\\", r"a\\"),
        ] {
            assert_eq!(label.to_owned().exactly(), name);
        }
        let labels = r#"{"user": "ada", "uid": 1000, "account": null, "untracked": true}"#;
        let group: Group = serde_json::from_str(labels).unwrap();
        let expected = Group {
            user: Some("ada".to_owned()),
            uid: Some(1000),
            ..Group::default()
        };
        assert_eq!(group, expected);
    }

    #[test]
    fn filters_are_written_as_people_write_them() {
        let texts = |texts: &[&str]| Some(texts.iter().map(ToString::to_string).collect());
        let mut filters = Filters {
            user: texts(&["jan", "o'neil"]),
            uid: Some(vec![1000, 1001]),
            job_name: texts(&["", r#"my "job""#, "50%", "a,b"]),
            target: texts(&["scratch-OST*"]),
            ..Filters::default()
        };
        assert_eq!(
            filters.literal(),
            r#"'target=scratch-OST* user=jan,o''neil uid=1000,1001 job_name="","my ""job""","50%","a,b"'"#
        );
        assert_eq!(filters.json()["uid"], serde_json::json!([1000, 1001]));
        filters = Filters {
            server: texts(&[]),
            ..Filters::default()
        };
        assert!(!filters.is_left_out() && Filters::default().is_left_out());
        assert_eq!(filters.literal(), r#"'{"server":[]}'"#);
    }
}
