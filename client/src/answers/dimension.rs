//! The dimensions by which usage is grouped and filtered.

use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use postgres::Row;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::{Argument, Arguments, Field};

/// Defines the dimensions in the order of the functions' arguments and columns: the name in SQL, the name of the
/// variant, and the type of its values.
macro_rules! dimensions {
    ($($(#[$doc:meta])* $field:ident $variant:ident: $type:ty,)*) => {
        /// A dimension by which usage is grouped and filtered.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dimension {
            $($(#[$doc])* $variant,)*
        }

        impl Dimension {
            /// The dimensions in the order of the columns.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name of the dimension in SQL.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($field),)*
                }
            }
        }

        /// The values of the dimensions of a row; `None` for dimensions that the question did not group by.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct Group {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl Field for Group {
            fn columns(_: &'static str) -> Vec<&'static str> {
                vec![$(stringify!($field),)*]
            }

            fn read(_: &str, row: &Row) -> Result<Self, tokio_postgres::Error> {
                Ok(Self {
                    $($field: row.try_get(stringify!($field))?,)*
                })
            }
        }

        /// The filters of a question. A text must match one of its patterns, in which `*` stands for any characters; a number must be
        /// in its list. An empty list lets nothing through, `None` everything.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Filters {
            $($(#[$doc])* pub $field: Option<Vec<$type>>,)*
        }

        impl Argument for Filters {
            fn add<'a>(&'a self, _: &'static str, arguments: &mut Arguments<'a>) {
                $(self.$field.add(stringify!($field), arguments);)*
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
    /// The job; without one the executable and user; without these the identifier.
    workload Workload: String,
    /// The job.
    job Job: String,
    /// The node.
    node Node: String,
    /// The executable.
    executable Executable: String,
    /// The readability of the identifier: `ok`, `missing_job`, `truncated`, `partial` or `malformed`; `claimed` if its job is that of another user.
    status Status: String,
    /// The number of the user.
    uid Uid: i64,
    /// The identifier as it arrived.
    entry Entry: String,
    /// The name of the user, if the store knows it.
    user_name UserName: String,
    /// The name of the user's group, if the store knows it.
    group_name GroupName: String,
    /// The account or project that pays for the job.
    account Account: String,
    /// The partition or queue of the job.
    partition Partition: String,
    /// The name of the job.
    job_name JobName: String,
    /// The state of the job's last run.
    state State: String,
    /// The number of the user's group.
    gid Gid: i64,
    /// The array that the job is an element of, or the job itself.
    job_group JobGroup: String,
}

impl fmt::Display for Dimension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl ToSql for Dimension {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        self.name().to_sql(kind, out)
    }

    fn accepts(kind: &Type) -> bool {
        <&str as ToSql>::accepts(kind)
    }

    to_sql_checked!();
}
