//! The groups of the rows of `jobstats_job_usage()`.

use jobstats_core::usage::Values;
use serde_json::{Map, Value};

use crate::pg::error::Error;
use crate::query::dimension::{By, Dimension, words};
use crate::query::filters::OF_TARGETS;
use crate::query::labels::{ALL, label};

/// The dimensions by which the usage of a job is grouped; none for the job as a whole.
pub struct Grouping {
    /// The dimensions of targets, in the order of [`OF_TARGETS`], and the node, by which each is a group.
    pub by: By,
    /// The dimensions of names and labels.
    shown: Vec<&'static Dimension>,
}

impl Grouping {
    /// Parses the argument `by`; NULL stands for its default.
    ///
    /// # Errors
    /// [`Error::Unknown`] for another dimension.
    pub fn parse(names: Option<String>) -> Result<Self, Error> {
        let names = names.unwrap_or_else(|| "target".to_owned());
        let known = [&OF_TARGETS[..], &["node"]].concat();
        if let Some(name) = words(&names).find(|it| !known.contains(it)) {
            return Err(Error::unknown("dimension of a job", name, known.join(", ")));
        }
        let asked: Vec<&str> = words(&names).collect();
        let by: Vec<&str> = known.into_iter().filter(|it| asked.contains(it)).collect();
        Ok(Self {
            by: By::these(&by),
            shown: By::these(&asked).list().to_vec(),
        })
    }

    /// Returns the dimensions of the rows: none for the whole job, then those of the groups, if there are any.
    pub fn told(&self) -> impl Iterator<Item = &[&'static Dimension]> {
        let of_groups = Some(self.by.list()).filter(|it| !it.is_empty());
        std::iter::once(&[][..]).chain(of_groups)
    }

    /// Returns the name and the labels of a group; of the whole job, which has no values.
    pub fn named(&self, group: &Values) -> (String, Map<String, Value>) {
        if group.is_empty() {
            return (ALL.to_owned(), Map::new());
        }
        let (mut name, mut labels) = (Vec::new(), Map::new());
        for dimension in &self.shown {
            let mut values = self.by.iter().zip(group);
            let value = values
                .find(|it| it.0 == *dimension)
                .and_then(|it| it.1.as_deref());
            name.extend(value.or(Some("-")).filter(|it| !it.is_empty()));
            labels.insert(dimension.name.to_owned(), label(dimension, value));
        }
        (name.join(", "), labels)
    }
}
