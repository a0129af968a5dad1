//! The groups of the rows of `jobstats_job()`.

use crate::pg::error::Error;

/// The dimensions that tell targets apart, in the order of the columns.
pub const OF_TARGETS: [&str; 4] = ["cluster", "filesystem", "kind", "target"];

/// The dimensions by which the usage of a job is grouped.
pub struct Grouping {
    /// The flags which dimensions of targets make the groups, in the order of [`OF_TARGETS`].
    pub by_target: [bool; 4],
    /// Set if each node is a group of its own.
    pub by_node: bool,
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
    /// Returns the grouping of a job as a whole.
    pub fn of_whole() -> Self {
        Self {
            by_target: [false; 4],
            by_node: false,
        }
    }

    /// Parses the argument `by`; NULL stands for its default. A target is named by its cluster and file system too,
    /// because the names of targets repeat.
    ///
    /// # Errors
    /// [`Error::Unknown`] for another dimension.
    pub fn parse(names: Option<Vec<Option<String>>>) -> Result<Self, Error> {
        let names = names.unwrap_or_else(|| vec![Some("target".to_owned())]);
        let mut grouping = Self {
            by_target: [false; 4],
            by_node: false,
        };
        for name in names {
            match name.as_deref() {
                Some("node") => grouping.by_node = true,
                Some("target") => grouping.by_target = [true; 4],
                name => {
                    let position = OF_TARGETS.iter().position(|it| Some(*it) == name);
                    grouping.by_target[position.ok_or_else(|| unknown(name))?] = true;
                }
            }
        }
        Ok(grouping)
    }

    /// Returns whether dimensions of targets make the groups.
    pub fn has_targets(&self) -> bool {
        self.by_target.contains(&true)
    }
}

fn unknown(name: Option<&str>) -> Error {
    let valid = format!("{}, node", OF_TARGETS.join(", "));
    Error::unknown("dimension of a job", name.unwrap_or("NULL"), valid)
}
