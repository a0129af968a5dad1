//! Dimensions, by which usage can be grouped and filtered.

use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::tuplestore::{IntoCell, Rows};

/// A dimension. Its name is also the name of a filter, of a column of the answer, and a word in `by`.
#[derive(Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The name in SQL.
    pub name: &'static str,
    /// The table that has the dimension.
    pub level: Level,
    /// The column of that table.
    pub column: &'static str,
    /// The type in SQL, which says how the dimension is filtered, too.
    pub value_type: ValueType,
    of: Of,
}

/// The table that the column of a dimension is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The table of the level.
    Level,
    /// The entry or, where its identifier names no user, of its job.
    Uid,
    /// The user with this number in `jobstats.users` or, where the identifier names no user, of the job.
    User,
    /// The user's group in `jobstats.groups` or, where the identifier names no user, of the job.
    Group,
    /// The job in `jobstats.job_ids`.
    Job,
    /// The account and the partition of the job, which sums by account know too.
    Account,
    /// The array of the job in `jobstats.job_ids` or, where it belongs to none, the job itself.
    Array,
}

/// The table that has a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The targets, `jobstats.targets`.
    Target,
    /// The servers on which a target was observed, in `jobstats.observations`.
    Server,
    /// The entries, `jobstats.entries`.
    Entry,
}

/// The type of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// A text, which is filtered by patterns, any of which must match.
    Text,
    /// A number, which is filtered by a list of numbers.
    Number,
}

impl ValueType {
    /// Returns the name of the type in SQL.
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "bigint",
        }
    }
}

/// Every dimension, in the order of filters and columns. The arguments and columns of the reading functions in the install script are made
/// of these lines (`scripts/dimensions.awk`).
pub static DIMENSIONS: &[Dimension] = &[
    text("cluster", Level::Target, "cluster"),
    text("filesystem", Level::Target, "filesystem"),
    text("kind", Level::Target, "kind"),
    text("target", Level::Target, "name"),
    text("server", Level::Server, "server"),
    text("workload", Level::Entry, "workload"),
    text("job", Level::Entry, "job"),
    text("node", Level::Entry, "node"),
    text("executable", Level::Entry, "executable"),
    text("status", Level::Entry, "status"),
    number("uid", Of::Uid),
    text("entry", Level::Entry, "name"),
    of("user_name", Of::User),
    of("group_name", Of::Group),
    of("account", Of::Account),
    of("partition", Of::Account),
    of("job_name", Of::Job),
    of("state", Of::Job),
    number("gid", Of::User),
    of("job_group", Of::Array),
];

const fn text(name: &'static str, level: Level, column: &'static str) -> Dimension {
    Dimension {
        name,
        level,
        column,
        value_type: ValueType::Text,
        of: Of::Level,
    }
}

const fn of(name: &'static str, of: Of) -> Dimension {
    Dimension {
        of,
        ..text(name, Level::Entry, name)
    }
}

const fn number(name: &'static str, whose: Of) -> Dimension {
    Dimension {
        value_type: ValueType::Number,
        ..of(name, whose)
    }
}

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
    /// In the rows, which are sums by owner. `names` is set if they have names and groups of users that their jobs alone know.
    InRows { names: bool },
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
            Jobs::Unknown | Jobs::InRows { .. } => format!("{}.uid", self.name),
        }
    }

    /// Returns an expression for a value of the user of a row, or else of the job if that alone says who the user is.
    fn or_of_job(self, value: &str, column: &str, condition: &str) -> String {
        let name = self.name;
        match self.jobs {
            Jobs::Joined => format!(
                "coalesce({value}, CASE WHEN {name}.uid IS NULL{condition} THEN job.{column} END)"
            ),
            Jobs::InRows { names: true } => {
                format!("coalesce({value}, CASE WHEN true{condition} THEN {name}.{column} END)")
            }
            Jobs::Unknown | Jobs::InRows { names: false } => value.to_owned(),
        }
    }

    /// Returns the name of the table that has what accounting says of the jobs of rows.
    fn job(self) -> &'static str {
        match self.jobs {
            Jobs::InRows { .. } => self.name,
            Jobs::Unknown | Jobs::Joined => "job",
        }
    }

    /// Returns an expression for the number of the primary group of the user of a row.
    fn gid(self) -> String {
        self.or_of_job("person.gid", "gid", "")
    }
}

impl Dimension {
    /// Returns the dimension of this name, if there is one.
    pub fn find(name: &str) -> Option<&'static Self> {
        DIMENSIONS.iter().find(|it| it.name == name)
    }

    /// Returns the dimension of this name.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is none.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        let names = || DIMENSIONS.iter().map(|it| it.name).collect::<Vec<_>>();
        Self::find(name).ok_or_else(|| Error::unknown("dimension", name, names().join(", ")))
    }

    /// Returns an expression for the dimension of a row of the table. Names must be [joined](join_names).
    pub fn column(&self, table: Table) -> String {
        let column = self.column;
        match self.of {
            Of::Level => format!("{}.{column}", table.name),
            Of::Uid => table.uid(),
            Of::User => table.or_of_job(&format!("person.{column}"), column, ""),
            // The name that the job has for its group says nothing of another group of the user.
            Of::Group => {
                let (gid, job) = (table.gid(), table.job());
                let is_same = format!(" AND {gid} IS NOT DISTINCT FROM {job}.gid");
                table.or_of_job(&format!("team.{column}"), column, &is_same)
            }
            Of::Job | Of::Account => format!("{}.{column}", table.job()),
            Of::Array => format!("coalesce({}.{column}, {}.job)", table.job(), table.name),
        }
    }

    /// Returns the relations whose column of this name has values of the dimension.
    pub fn relations(&self) -> &'static [&'static str] {
        match (self.of, self.level) {
            (Of::Level, Level::Target) => &["jobstats.targets"],
            (Of::Level, Level::Server) => &["jobstats.observations"],
            (Of::Level, Level::Entry) => &["jobstats.entries"],
            (Of::Uid, _) => &["jobstats.entries", "jobstats.job_ids"],
            (Of::User, _) => &[
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

    /// Returns whether sums by owner have the dimension as a column, and not only the number of a user or job that has it.
    pub fn is_of_owner(&self) -> bool {
        matches!(self.of, Of::Uid | Of::Account)
    }

    /// Returns whether sums by account know the dimension.
    pub fn is_account(&self) -> bool {
        self.of == Of::Account
    }

    /// Returns whether the dimension is of users, who are known by their `uid`.
    pub fn is_user(&self) -> bool {
        matches!(self.of, Of::Uid | Of::User | Of::Group)
    }

    /// Returns whether the dimension is something that tables of names say of a user.
    pub fn is_name(&self) -> bool {
        matches!(self.of, Of::User | Of::Group)
    }

    /// Returns whether the dimension is the name of a group, which counts only for users of that group.
    pub fn is_group(&self) -> bool {
        self.of == Of::Group
    }

    /// Returns whether the dimension may say who it is. Accounts and partitions have many users; the state of a job can be `CANCELLED
    /// by 1000`.
    pub fn names_people(&self) -> bool {
        self.level == Level::Entry && !self.is_account()
    }

    /// Returns whether only jobs have the dimension.
    pub fn is_of_job(&self) -> bool {
        matches!(self.of, Of::Job | Of::Account | Of::Array)
    }
}

/// Returns the columns that hold dimensions, by the names of the dimensions, each with a leading comma. `table` says what
/// the statement calls the table of a dimension.
pub fn named_columns(
    dimensions: impl Iterator<Item = &'static Dimension>,
    table: impl Fn(&Dimension) -> Table,
) -> String {
    dimensions
        .map(|it| format!(", {} AS {}", it.column(table(it)), it.name))
        .collect()
}

/// Returns the names of dimensions as columns of a table, each with a leading comma.
pub fn columns(dimensions: impl Iterator<Item = &'static Dimension>, table: &str) -> String {
    dimensions
        .map(|dimension| format!(", {table}{}", dimension.name))
        .collect()
}

/// Returns a join of a table that has a `uid` with tables of the names of users and of their groups, if any of the dimensions
/// is such a name. `condition` is a further one on `person`, with a leading AND.
pub fn join_names(
    dimensions: impl IntoIterator<Item = &'static Dimension>,
    table: Table,
    [users, groups]: [&str; 2],
    condition: &str,
) -> String {
    let (mut has_names, mut has_groups) = (false, false);
    for dimension in dimensions {
        has_names |= dimension.is_name();
        has_groups |= dimension.is_group();
    }
    let mut join = String::new();
    if has_names {
        let uid = table.uid();
        join += &format!(" LEFT JOIN {users} person ON person.uid = {uid}{condition}");
    }
    if has_groups {
        join += &format!(" LEFT JOIN {groups} team ON team.gid = {}", table.gid());
    }
    join
}

/// The dimensions that an answer is grouped by, in the order of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By(Vec<&'static Dimension>);

impl By {
    /// Parses the argument `by`; NULL stands for the default of the function.
    ///
    /// # Errors
    /// [`Error::Unknown`] if a name is not that of a dimension.
    pub fn parse(names: Option<Vec<Option<String>>>, default: &[&str]) -> Result<Self, Error> {
        let Some(names) = names else {
            return Ok(Self::these(default));
        };
        let mut chosen = Vec::new();
        for name in names {
            let name = name.as_deref().unwrap_or("NULL");
            chosen.push(Dimension::named(name)?.name);
        }
        Ok(Self::these(&chosen))
    }

    /// Groups by the dimensions of these names.
    pub fn these(names: &[&str]) -> Self {
        let dimensions = DIMENSIONS.iter();
        Self(dimensions.filter(|it| names.contains(&it.name)).collect())
    }

    /// Returns the dimensions of these levels.
    pub fn of(&self, levels: &[Level]) -> impl Iterator<Item = &'static Dimension> {
        self.iter().filter(|it| levels.contains(&it.level))
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

#[pg_extern(sql = false)]
fn jobstats_dimensions(mut rows: Rows) {
    for dimension in DIMENSIONS {
        rows.put(|| [dimension.name.cell(), dimension.value_type.sql().cell()]);
    }
}
