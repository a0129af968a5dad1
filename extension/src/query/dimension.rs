//! The dimensions that group and filter usage.

use std::borrow::Cow;
use std::collections::HashSet;

use jobstats_core::usage::dimension::Of;
pub use jobstats_core::usage::dimension::{DIMENSIONS, Dimension, Level, ValueType};

use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::tuplestore::{IntoCell, Rows};

/// The name in a statement of the table of a level, or of rows with a `uid` that take the place of entries.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// The name.
    pub name: &'static str,
    /// The place of the jobs of its rows.
    pub jobs: Jobs,
}

/// The place of the jobs of the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jobs {
    /// Nowhere.
    Unknown,
    /// In a table `job` that the table is joined with.
    Joined,
    /// In the rows, which have names and groups of users that their jobs alone know.
    InRows,
    /// In the rows, with a column for each dimension.
    Columns,
}

impl From<&'static str> for Table {
    fn from(name: &'static str) -> Self {
        Self {
            name,
            jobs: Jobs::Unknown,
        }
    }
}

impl Table {
    /// Returns an expression for the number of the user of a row.
    fn uid(self) -> String {
        match self.jobs {
            Jobs::Joined => format!("coalesce({}.uid, job.uid)", self.name),
            Jobs::Unknown | Jobs::InRows | Jobs::Columns => format!("{}.uid", self.name),
        }
    }

    /// Returns an expression for a value of the user of a row; of the job if the identifier has no user.
    fn or_of_job(self, value: &str, column: &str, condition: &str) -> String {
        let name = self.name;
        match self.jobs {
            Jobs::Joined => format!(
                "coalesce({value}, CASE WHEN {name}.uid IS NULL{condition} THEN job.{column} END)"
            ),
            Jobs::InRows => {
                format!("coalesce({value}, CASE WHEN true{condition} THEN {name}.{column} END)")
            }
            Jobs::Unknown | Jobs::Columns => value.to_owned(),
        }
    }

    /// Returns the name of the table with the accounting of the jobs of rows.
    fn job(self) -> &'static str {
        match self.jobs {
            Jobs::InRows => self.name,
            Jobs::Unknown | Jobs::Joined | Jobs::Columns => "job",
        }
    }

    /// Returns an expression for the number of the primary group of the user of a row.
    fn gid(self) -> String {
        self.or_of_job("person.gid", "gid", "")
    }
}

/// Returns an expression for a dimension of a row of the table. Names must be [joined](join_names).
pub fn expression(dimension: &Dimension, table: Table) -> String {
    let column = dimension.column;
    match dimension.of {
        _ if table.jobs == Jobs::Columns => format!("{}.{}", table.name, dimension.name),
        Of::Level => format!("{}.{column}", table.name),
        Of::Uid => table.uid(),
        Of::User => {
            let name = table.or_of_job(&format!("person.{column}"), column, "");
            format!("coalesce({name}, {}::text)", table.uid())
        }
        Of::Gid => table.gid(),
        // The group name of a job does not apply to another group of the user.
        Of::Group => {
            let (gid, job) = (table.gid(), table.job());
            let is_same = format!(" AND {gid} IS NOT DISTINCT FROM {job}.gid");
            let name = table.or_of_job(&format!("team.{column}"), column, &is_same);
            format!("coalesce({name}, {gid}::text)")
        }
        Of::Job | Of::Account => format!("{}.{column}", table.job()),
        Of::Array => format!("coalesce({}.{column}, {}.job)", table.job(), table.name),
    }
}

/// Returns the relations whose column of this name has values of a dimension.
pub fn relations(dimension: &Dimension) -> &'static [&'static str] {
    match (dimension.of, dimension.level) {
        (Of::Level, Level::Target) => &["jobstats.targets"],
        (Of::Level, Level::Server) => &["jobstats.observations"],
        (Of::Level, Level::Entry) => &["jobstats.entries"],
        (Of::Uid, _) => &["jobstats.entries", "jobstats.job_ids"],
        (Of::User | Of::Gid, _) => &[
            "jobstats.users",
            "jobstats.earlier_users",
            "jobstats.job_ids",
        ],
        (Of::Group, _) => &[
            "jobstats.groups",
            "jobstats.earlier_groups",
            "jobstats.job_ids",
        ],
        (Of::Job | Of::Account | Of::Array, _) => &["jobstats.job_ids"],
    }
}

/// Returns a join of a table that has a `uid` with tables of the names of users and of their groups, if any of the dimensions
/// is such a name.
pub fn join_names(
    mut dimensions: impl Iterator<Item = &'static Dimension> + Clone,
    table: Table,
    [users, groups]: [&str; 2],
) -> String {
    let mut join = String::new();
    if dimensions.clone().any(Dimension::is_name) {
        let uid = table.uid();
        join += &format!(" LEFT JOIN {users} person ON person.uid = {uid}");
    }
    if dimensions.any(Dimension::is_group) {
        join += &format!(" LEFT JOIN {groups} team ON team.gid = {}", table.gid());
    }
    join
}

/// The dimensions that an answer is grouped by, in the order of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By(Vec<&'static Dimension>);

impl By {
    /// Parses the argument `by`, which is words between commas or blanks; NULL is the default of the function.
    ///
    /// # Errors
    /// [`Error::Unknown`] if a word is no dimension.
    pub fn parse(names: Option<String>, default: &str) -> Result<Self, Error> {
        let names = names.map_or(Cow::Borrowed(default), Cow::Owned);
        let named = |name| {
            let valid = || DIMENSIONS.iter().map(|it| it.name).collect::<Vec<_>>();
            let unknown = || Error::unknown("dimension", name, valid().join(", "));
            Dimension::find(name).ok_or_else(unknown)
        };
        let chosen: Result<Vec<_>, _> = words(&names).map(named).collect();
        Ok(Self(chosen?))
    }

    /// Groups by the dimensions of these names.
    pub fn these(names: &[&str]) -> Self {
        let mut chosen = Vec::new();
        for dimension in names.iter().filter_map(|it| Dimension::of_space(it)) {
            if !chosen.contains(&dimension) {
                chosen.push(dimension);
            }
        }
        Self(chosen)
    }

    /// Returns the dimensions of these levels.
    pub fn of(&self, levels: &[Level]) -> impl Iterator<Item = &'static Dimension> {
        self.iter().filter(|it| levels.contains(&it.level))
    }

    /// Returns the dimensions as a list.
    pub fn list(&self) -> &[&'static Dimension] {
        &self.0
    }

    /// Returns the dimensions.
    pub fn iter(&self) -> impl Iterator<Item = &'static Dimension> {
        self.0.iter().copied()
    }

    /// Returns whether there are dimensions of this level.
    pub fn has(&self, level: Level) -> bool {
        self.of(&[level]).next().is_some()
    }
}

/// Returns the words of an argument such as `account,user`, `account user` or `{account,user}`, each once.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim();
    let inner = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let is_between = |it: char| it == ',' || it.is_whitespace();
    let mut seen = HashSet::new();
    inner
        .unwrap_or(text)
        .split(is_between)
        .filter(move |it| !it.is_empty() && seen.insert(*it))
}

#[pg_extern(sql = false)]
fn jobstats_dimensions(mut rows: Rows) {
    for it in DIMENSIONS {
        let sql_type = match it.value_type {
            ValueType::Text => "text",
            ValueType::Number => "bigint",
        };
        rows.put(|| [it.name.cell(), sql_type.cell(), it.meaning.cell()]);
    }
}
