//! Dimensions, by which usage can be grouped and filtered.

use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::query::arguments::Texts;

/// A dimension. Its name is also the name of a filter, of a column of the result, and a word in `by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    Cluster,
    Filesystem,
    Kind,
    Target,
    Server,
    Workload,
    Job,
    Node,
    Executable,
    Status,
    Uid,
}

/// The kind of row that a dimension belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The target, a row of `jobstats.targets`.
    Target,
    /// The server on which a target was observed.
    Server,
    /// The entry, a row of `jobstats.entries`.
    Entry,
}

/// The number of dimensions that are text; the only other one is `uid`.
pub const TEXTS: usize = 10;

/// Every dimension, in the order of filters and columns.
pub const ALL: [Dimension; TEXTS + 1] = [
    Dimension::Cluster,
    Dimension::Filesystem,
    Dimension::Kind,
    Dimension::Target,
    Dimension::Server,
    Dimension::Workload,
    Dimension::Job,
    Dimension::Node,
    Dimension::Executable,
    Dimension::Status,
    Dimension::Uid,
];

impl Dimension {
    /// Returns the name in SQL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Filesystem => "filesystem",
            Self::Kind => "kind",
            Self::Target => "target",
            Self::Server => "server",
            Self::Workload => "workload",
            Self::Job => "job",
            Self::Node => "node",
            Self::Executable => "executable",
            Self::Status => "status",
            Self::Uid => "uid",
        }
    }

    /// Returns the level of the dimension.
    pub const fn level(self) -> Level {
        match self {
            Self::Cluster | Self::Filesystem | Self::Kind | Self::Target => Level::Target,
            Self::Server => Level::Server,
            _ => Level::Entry,
        }
    }

    /// Returns the column of the dimension, where tables are called `t` (targets), `o` (observations) and `e`
    /// (entries).
    pub fn column(self) -> String {
        let name = match self {
            Self::Target => "name",
            other => other.name(),
        };
        let table = match self.level() {
            Level::Target => "t",
            Level::Server => "o",
            Level::Entry => "e",
        };
        format!("{table}.{name}")
    }
}

/// The dimensions that an answer is grouped by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By(Vec<Dimension>);

impl By {
    /// Parses the argument `by`; NULL stands for the default of the function.
    ///
    /// # Errors
    /// [`Error::Unknown`] if a name is not that of a dimension.
    pub fn parse(names: Texts, default: &[Dimension]) -> Result<Self, Error> {
        let Some(Short(names)) = names else {
            return Ok(Self(default.to_vec()));
        };
        let mut chosen = [false; ALL.len()];
        for name in names {
            let position = ALL
                .iter()
                .position(|dimension| Some(dimension.name()) == name.as_deref())
                .ok_or_else(|| unknown(name))?;
            chosen[position] = true;
        }
        let by = ALL.into_iter().zip(chosen);
        Ok(Self(by.filter(|(_, on)| *on).map(|(it, _)| it).collect()))
    }

    /// Groups by these dimensions, which must be in the order of the columns.
    pub fn these(dimensions: &[Dimension]) -> Self {
        Self(dimensions.to_vec())
    }

    /// Returns the dimensions of these levels, in the order of the columns.
    pub fn of(&self, levels: &[Level]) -> impl Iterator<Item = Dimension> {
        let of_levels = |dimension: &Dimension| levels.contains(&dimension.level());
        self.0.iter().copied().filter(of_levels)
    }

    /// Returns the dimensions in the order of the columns.
    pub fn iter(&self) -> impl Iterator<Item = Dimension> {
        self.0.iter().copied()
    }

    /// Returns whether there are dimensions of this level.
    pub fn has(&self, level: Level) -> bool {
        self.of(&[level]).next().is_some()
    }
}

fn unknown(name: Option<String>) -> Error {
    let names: Vec<&str> = ALL.iter().map(|dimension| dimension.name()).collect();
    Error::Unknown {
        what: "dimension",
        name: name.unwrap_or_else(|| "NULL".to_owned()),
        valid: names.join(", "),
    }
}

/// The dimensions of one row of an answer. Dimensions that are not asked for are `None`.
#[derive(Debug, Clone, Default)]
pub struct Dimensions {
    pub cluster: Option<String>,
    pub filesystem: Option<String>,
    pub kind: Option<String>,
    pub target: Option<String>,
    pub server: Option<String>,
    pub workload: Option<String>,
    pub job: Option<String>,
    pub node: Option<String>,
    pub executable: Option<String>,
    pub status: Option<String>,
    pub uid: Option<i64>,
}

impl Dimensions {
    /// Returns the field of a dimension that is text; `None` for `uid`.
    pub fn text(&mut self, dimension: Dimension) -> Option<&mut Option<String>> {
        match dimension {
            Dimension::Cluster => Some(&mut self.cluster),
            Dimension::Filesystem => Some(&mut self.filesystem),
            Dimension::Kind => Some(&mut self.kind),
            Dimension::Target => Some(&mut self.target),
            Dimension::Server => Some(&mut self.server),
            Dimension::Workload => Some(&mut self.workload),
            Dimension::Job => Some(&mut self.job),
            Dimension::Node => Some(&mut self.node),
            Dimension::Executable => Some(&mut self.executable),
            Dimension::Status => Some(&mut self.status),
            Dimension::Uid => None,
        }
    }
}
