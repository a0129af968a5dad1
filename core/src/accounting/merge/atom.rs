//! All values of one start of a submission: the greatest of each, with its rank and time.
//!
//! Joining two atoms takes the greater of each value. So it does not matter in which order, how often or in which groups
//! they are joined.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::Job;
use super::{Provenance, Rank};
use crate::base::instant::{Micros, SECOND};

/// The most names of `extra` that a row keeps: the first ones of the alphabet, whatever the order of the texts is.
const EXTRA_MAX: usize = 64;

/// The second of a start, in which all starts are one; `None` if the start is unknown.
pub type Start = Option<i64>;

pub fn start_of(started: Option<Micros>) -> Start {
    started.map(|started| started.div_euclid(SECOND))
}

/// The rank and time of a record.
type Stamp = (Rank, Micros);

/// A value with the rank and time of its record. The greatest one counts.
type Stamped<T> = Option<(Stamp, T)>;

/// The values of `extra` by their names.
type Extra = BTreeMap<String, (Stamp, String)>;

/// Adds values of `extra`, of each name the greatest one.
fn keep_greatest(extra: &mut Extra, values: impl IntoIterator<Item = (String, (Stamp, String))>) {
    for (name, value) in values {
        let known = extra.remove(&name);
        extra.insert(name, known.into_iter().fold(value, Ord::max));
    }
    while extra.len() > EXTRA_MAX {
        extra.pop_last();
    }
}

/// A column of `jobstats.jobs` that a form fills.
#[derive(Debug)]
pub struct Column {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: Value,
}

/// References to a value of a form, by type.
#[derive(Debug)]
#[allow(missing_docs, reason = "the types are those of columns")]
pub enum Value {
    Time(Get<Micros>, GetMut<Micros>),
    Number(Get<u32>, GetMut<u32>),
    Text(Get<String>, GetMut<String>),
}

type Get<T> = fn(&Form) -> &Option<T>;
type GetMut<T> = fn(&mut Form) -> &mut Option<T>;

/// Returns the number of bytes of an optional text, and 0 for other types.
macro_rules! text_len {
    (Text, $value:expr) => {
        $value.as_ref().map_or(0, |it| it.len())
    };
    ($kind:ident, $value:expr) => {
        0
    };
}

/// Defines [`Form`] and [`Atom`], and their conversions, for these values of a row.
macro_rules! atom {
    ($($name:ident: $kind:ident($type:ty),)*) => {
        /// A row of a submission, with the stored values from which more can be merged into it.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default)]
        #[allow(missing_docs, reason = "the values are those of a job")]
        pub struct Form {
            $(#[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>,)*
            #[serde(skip_serializing_if = "BTreeMap::is_empty")]
            pub extra: BTreeMap<String, String>,
            /// The time of the latest text whose record has the rank of the row.
            pub updated: Micros,
            /// The origin of values, where it differs from `updated`.
            #[serde(skip_serializing_if = "Provenance::is_empty")]
            pub provenance: Provenance,
        }

        impl Job<'_> {
            /// Returns the number of bytes of its texts.
            pub fn text_len(&self) -> usize {
                let extra = self.extra.iter().map(|(name, value)| name.len() + value.len());
                let scheduler = self.scheduler.as_ref().map_or(0, |it| it.len());
                scheduler + self.job.len() + self.label.len() + extra.sum::<usize>()
                    $(+ text_len!($kind, self.$name))*
            }
        }

        impl Form {
            /// The columns of its values.
            pub const COLUMNS: &[Column] = &[$(Column {
                name: stringify!($name),
                value: Value::$kind(|it| &it.$name, |it| &mut it.$name),
            }),*];

            /// Returns the number of bytes of its texts.
            pub fn text_len(&self) -> usize {
                let extra = self.extra.iter().map(|(name, value)| name.len() + value.len());
                let provenance = self.provenance.to_json().map_or(0, |json| json.len());
                extra.sum::<usize>() + provenance $(+ text_len!($kind, self.$name))*
            }

            /// Returns whether a record has the same values, apart from `extra`.
            pub(super) fn has_values_of(&self, job: &Job<'_>) -> bool {
                $(self.$name.iter().eq(&job.$name))&&*
            }
        }

        /// The knowledge of a start.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Atom {
            /// The greatest rank and time.
            stamp: Stamp,
            $($name: Stamped<$type>,)*
            extra: Extra,
        }

        impl Atom {
            /// Takes the greater of each value.
            pub fn join(mut self, other: Self) -> Self {
                keep_greatest(&mut self.extra, other.extra);
                Self {
                    stamp: self.stamp.max(other.stamp),
                    $($name: self.$name.max(other.$name),)*
                    extra: self.extra,
                }
            }

            /// Reads a row with one start: its provenance is the provenance of the values.
            fn of_values(form: &Form) -> Self {
                let stamp = (Rank::of(form.started, form.ended), form.updated);
                let origins = &form.provenance.values;
                let origin = |name: &str| origins.get(name).copied().unwrap_or(stamp);
                let extra = form.extra.iter().map(|(name, text)| {
                    (name.clone(), (origin(&format!("extra.{name}")), text.clone()))
                });
                Self {
                    stamp,
                    $($name: form.$name.clone().map(|value| (origin(stringify!($name)), value)),)*
                    extra: if form.extra.is_empty() { BTreeMap::new() } else { extra.collect() },
                }
            }

            /// Reads a record of a text of this time.
            pub fn of_job(job: &Job<'_>, text: Micros) -> Self {
                let stamp = (Rank::of(job.started, job.ended), text);
                let values = job.extra.iter();
                let values = values.map(|(name, text)| (name.to_string(), (stamp, text.to_string())));
                let mut extra = BTreeMap::new();
                keep_greatest(&mut extra, values);
                Self {
                    stamp,
                    $($name: job.$name.clone().map(|value| (stamp, value.into())),)*
                    extra,
                }
            }

            /// Returns the row of a start.
            pub fn into_form(self) -> Form {
                let mut values = BTreeMap::new();
                let mut origin = |name: &str, stamp: Stamp| {
                    if stamp != self.stamp {
                        values.insert(name.to_owned(), stamp);
                    }
                };
                $(if let Some((stamp, _)) = &self.$name {
                    origin(stringify!($name), *stamp);
                })*
                for (name, (stamp, _)) in &self.extra {
                    if *stamp != self.stamp {
                        origin(&format!("extra.{name}"), *stamp);
                    }
                }
                Form {
                    $($name: self.$name.map(|(_, value)| value),)*
                    extra: self.extra.into_iter().map(|(name, (_, text))| (name, text)).collect(),
                    updated: self.stamp.1,
                    provenance: Provenance { values, starts: Vec::new() },
                }
            }
        }
    };
}

atom! {
    started: Time(Micros),
    ended: Time(Micros),
    uid: Number(u32),
    user_name: Text(String),
    gid: Number(u32),
    group_name: Text(String),
    account: Text(String),
    partition: Text(String),
    qos: Text(String),
    job_name: Text(String),
    state: Text(String),
    nodes: Number(u32),
    node_list: Text(String),
    cpus: Number(u32),
    exit_code: Text(String),
    parent: Text(String),
}

impl Atom {
    /// Reads a row: one atom, or one for each start of the run.
    pub fn of_form(form: &Form) -> Vec<Self> {
        if form.provenance.starts.is_empty() {
            return vec![Self::of_values(form)];
        }
        form.provenance.starts.iter().map(Self::of_values).collect()
    }

    pub fn start(&self) -> Start {
        start_of(self.started())
    }

    pub fn started(&self) -> Option<Micros> {
        self.started.map(|(_, time)| time)
    }

    pub fn ended(&self) -> Option<Micros> {
        self.ended.map(|(_, time)| time)
    }
}
