//! The groups of the rows of `jobstats_job_usage()`.

use serde_json::{Map, Value};

use crate::pg::error::Error;
use crate::query::dimension::{Dimension, words};
use crate::query::filters::OF_TARGETS;
use crate::query::labels::{ALL, label};

/// The dimensions by which the usage of a job is grouped; none for the job as a whole.
#[derive(Default)]
pub struct Grouping {
    /// The flags which dimensions of targets make the groups, in the order of [`OF_TARGETS`].
    pub by_target: [bool; 4],
    /// Set if each node is a group of its own.
    pub by_node: bool,
    /// The dimensions of names and labels.
    shown: Vec<&'static Dimension>,
}

/// A group of the answer. The whole job comes before all groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    /// The number of the group of targets; `None` if the group has all targets.
    pub targets: Option<usize>,
    /// The number of the node; `None` if the group has all nodes.
    pub node: Option<i64>,
}

impl Group {
    /// The group of the whole job.
    pub const WHOLE: Self = Self {
        targets: None,
        node: None,
    };
}

impl Grouping {
    /// Parses the argument `by`; NULL stands for its default.
    ///
    /// # Errors
    /// [`Error::Unknown`] for another dimension.
    pub fn parse(names: Option<String>) -> Result<Self, Error> {
        let names = names.unwrap_or_else(|| "target".to_owned());
        let mut grouping = Self::default();
        for name in words(&names) {
            match OF_TARGETS.iter().position(|it| *it == name) {
                _ if name == "node" => grouping.by_node = true,
                Some(position) => grouping.by_target[position] = true,
                None => return Err(unknown(name)),
            }
            grouping.shown.extend(Dimension::find(name));
        }
        Ok(grouping)
    }

    /// Returns the name and the labels of a group of targets and a node.
    pub fn named(
        &self,
        group: Group,
        names: &[Option<String>; 4],
        node: Option<&str>,
    ) -> (String, Map<String, Value>) {
        if group == Group::WHOLE {
            return (ALL.to_owned(), Map::new());
        }
        let (mut name, mut labels) = (Vec::new(), Map::new());
        for dimension in &self.shown {
            let position = OF_TARGETS.iter().position(|it| *it == dimension.name);
            let value = match position {
                Some(position) => names[position].as_deref(),
                None => node,
            };
            name.extend(value.or(Some("-")).filter(|it| !it.is_empty()));
            labels.insert(dimension.name.to_owned(), label(dimension, value));
        }
        (name.join(", "), labels)
    }
}

fn unknown(name: &str) -> Error {
    let valid = format!("{}, node", OF_TARGETS.join(", "));
    Error::unknown("dimension of a job", name, valid)
}
