//! Knowledge of one start of a submission: the greatest of all values that were said, each with its rank and time.
//!
//! Joining two atoms takes the greater of each value. So it does not matter in which order, how often or in which groups
//! they are joined.

use std::collections::BTreeMap;

use super::super::Job;
use super::{Form, Provenance, Rank};
use crate::instant::{Micros, SECOND};

/// The most names of `extra` that a row keeps: the first ones of the alphabet, whatever the order of the texts is.
const EXTRA_MAX: usize = 64;

/// A start: a second, in which all starts are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    Unknown,
    Second(i64),
}

impl Start {
    pub fn of(started: Option<Micros>) -> Self {
        let second = started.map(|started| started.div_euclid(SECOND));
        second.map_or(Self::Unknown, Self::Second)
    }
}

/// The rank and time of a record.
type Stamp = (Rank, Micros);

/// A value with the rank and time of its record. The greatest one counts.
type Said<T> = Option<(Stamp, T)>;

/// Defines [`Atom`] and its conversions for these values of a row.
macro_rules! atom {
    ($($name:ident: $type:ty,)*) => {
        /// The knowledge of a start.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Atom {
            /// The greatest rank and time.
            stamp: Stamp,
            $($name: Said<$type>,)*
            extra: BTreeMap<String, (Stamp, String)>,
        }

        impl Atom {
            /// Takes the greater of each value.
            pub fn join(mut self, other: Self) -> Self {
                for (name, said) in other.extra {
                    let known = self.extra.remove(&name);
                    let greatest = known.map_or_else(|| said.clone(), |known| known.max(said.clone()));
                    self.extra.insert(name, greatest);
                }
                while self.extra.len() > EXTRA_MAX {
                    self.extra.pop_last();
                }
                Self {
                    stamp: self.stamp.max(other.stamp),
                    $($name: self.$name.max(other.$name),)*
                    extra: self.extra,
                }
            }

            /// Reads a row with one start, whose own provenance is that of its values.
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
    started: Micros,
    ended: Micros,
    uid: u32,
    user_name: String,
    gid: u32,
    group_name: String,
    account: String,
    partition: String,
    qos: String,
    job_name: String,
    state: String,
    nodes: u32,
    node_list: String,
    cpus: u32,
    exit_code: String,
    parent: String,
}

impl Atom {
    /// Reads a row: one atom, or one for each start of the run.
    pub fn of_form(form: &Form) -> Vec<Self> {
        if form.provenance.starts.is_empty() {
            return vec![Self::of_values(form)];
        }
        form.provenance.starts.iter().map(Self::of_values).collect()
    }

    /// Reads a record of a text of this time.
    pub fn of_job(job: &Job<'_>, text: Micros) -> Self {
        let stamp = (Rank::of(job.started, job.ended), text);
        let said = |value: &Option<std::borrow::Cow<'_, str>>| {
            value.as_deref().map(|text| (stamp, text.to_owned()))
        };
        let mut extra = BTreeMap::new();
        for (name, text) in &job.extra {
            let text = (stamp, text.to_string());
            let greatest = extra.remove(&**name).map_or_else(
                || text.clone(),
                |known: (Stamp, String)| known.max(text.clone()),
            );
            extra.insert(name.to_string(), greatest);
        }
        while extra.len() > EXTRA_MAX {
            extra.pop_last();
        }
        Self {
            stamp,
            started: job.started.map(|time| (stamp, time)),
            ended: job.ended.map(|time| (stamp, time)),
            uid: job.uid.map(|number| (stamp, number)),
            user_name: said(&job.user_name),
            gid: job.gid.map(|number| (stamp, number)),
            group_name: said(&job.group_name),
            account: said(&job.account),
            partition: said(&job.partition),
            qos: said(&job.qos),
            job_name: said(&job.job_name),
            state: said(&job.state),
            nodes: job.nodes.map(|number| (stamp, number)),
            node_list: said(&job.node_list),
            cpus: job.cpus.map(|number| (stamp, number)),
            exit_code: said(&job.exit_code),
            parent: said(&job.parent),
            extra,
        }
    }

    pub fn start(&self) -> Start {
        Start::of(self.started())
    }

    pub fn started(&self) -> Option<Micros> {
        self.started.map(|(_, time)| time)
    }

    pub fn ended(&self) -> Option<Micros> {
        self.ended.map(|(_, time)| time)
    }
}
