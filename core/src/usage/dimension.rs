//! The dimensions for grouping and filtering usage.

/// A dimension. Its name is a word in `by`, and a key of filters and of the labels of an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The name.
    pub name: &'static str,
    /// The kind of table that has the dimension.
    pub level: Level,
    /// The source of its values.
    pub of: Of,
    /// The column there.
    pub column: &'static str,
    /// The type of its values.
    pub value_type: ValueType,
    /// Set if its values are found in any case.
    pub any_case: bool,
    /// A sentence for `jobstats_help('filter')`.
    pub meaning: &'static str,
}

/// The kind of table that has a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The targets, `jobstats.targets`.
    Target,
    /// The servers on which a target was observed, in `jobstats.observations`.
    Server,
    /// The entries, `jobstats.entries`.
    Entry,
}

/// The source of the values of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The table of the level.
    Level,
    /// The entry or, where its identifier names no user, its job.
    Uid,
    /// The user with this number in `jobstats.users`, or on that day in `jobstats.earlier_users`, or, where the identifier names no
    /// user, of the job; the number, where neither has a name.
    User,
    /// The primary group of this user.
    Gid,
    /// The name of this group in `jobstats.groups` or, where the identifier names no user, of the job; the number, where neither has a name.
    Group,
    /// The job in `jobstats.job_ids`.
    Job,
    /// The account and the partition of the job, which sums by account know too.
    Account,
    /// The array of the job in `jobstats.job_ids`, or else the job itself.
    Array,
}

/// The type of the values of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// A text.
    Text,
    /// A whole number.
    Number,
}

/// All dimensions.
#[rustfmt::skip]
pub static DIMENSIONS: &[Dimension] = &[
    of_target("cluster", "cluster", "The cluster, as named by the shipper of the server."),
    of_target("filesystem", "filesystem", "The Lustre file system, such as scratch."),
    any_case(of_target("kind", "kind", "MDT or OST.")),
    of_target("target", "name", "The target, such as scratch-OST0004."),
    Dimension { level: Level::Server, ..of_target("server", "server", "The server on which the target was read.") },
    of("user", Of::User, "user_name", "The name of the user on that day, or the number if the name is unknown."),
    number("uid", Of::Uid, "The number of the user."),
    of("group", Of::Group, "group_name", "The name of the user's primary group, or the number if the name is unknown."),
    number("gid", Of::Gid, "The number of the user's primary group."),
    of("account", Of::Account, "account", "The account or project of the job."),
    of("workload", Of::Level, "workload", "The job, else the executable and user, else the identifier."),
    of("job", Of::Level, "job", "The job: its number, or as users type it, such as 1003057_2."),
    of("job_name", Of::Job, "job_name", "The name that the user gave to the job."),
    of("job_group", Of::Array, "job_group", "The array or the leader that the job belongs to, or the job itself."),
    of("partition", Of::Account, "partition", "The partition or queue of the job."),
    any_case(of("state", Of::Job, "state", "The state of the job's last run, such as COMPLETED.")),
    of("node", Of::Level, "node", "The client node."),
    of("executable", Of::Level, "executable", "The program."),
    any_case(of(
        "status", Of::Level, "status",
        "How much of the identifier could be read: ok, missing_job, truncated, partial, malformed, claimed.",
    )),
    of("entry", Of::Level, "name", "The identifier as Lustre prints it."),
];

/// The project that files count for. Only used space has it.
pub static PROJECT: Dimension = number("project", Of::Level, "The number of the project.");

const fn of_target(name: &'static str, column: &'static str, meaning: &'static str) -> Dimension {
    Dimension {
        name,
        level: Level::Target,
        of: Of::Level,
        column,
        value_type: ValueType::Text,
        any_case: false,
        meaning,
    }
}

const fn of(name: &'static str, of: Of, column: &'static str, meaning: &'static str) -> Dimension {
    Dimension {
        level: Level::Entry,
        of,
        ..of_target(name, column, meaning)
    }
}

const fn number(name: &'static str, source: Of, meaning: &'static str) -> Dimension {
    Dimension {
        value_type: ValueType::Number,
        ..of(name, source, name, meaning)
    }
}

const fn any_case(dimension: Dimension) -> Dimension {
    Dimension {
        any_case: true,
        ..dimension
    }
}

impl Dimension {
    /// Returns the dimension of this name, if there is one.
    pub fn find(name: &str) -> Option<&'static Self> {
        DIMENSIONS.iter().find(|it| it.name == name)
    }

    /// Returns the dimension of this name, if there is one, or the one of space.
    pub fn of_space(name: &str) -> Option<&'static Self> {
        Self::find(name).or_else(|| (name == PROJECT.name).then_some(&PROJECT))
    }

    /// Returns whether sums by account know the dimension.
    pub fn is_account(&self) -> bool {
        self.of == Of::Account
    }

    /// Returns whether the dimension is of users, who are known by their `uid`.
    pub fn is_user(&self) -> bool {
        matches!(self.of, Of::Uid | Of::User | Of::Gid | Of::Group)
    }

    /// Returns whether the dimension comes from the tables of users and groups.
    pub fn is_name(&self) -> bool {
        matches!(self.of, Of::User | Of::Gid | Of::Group)
    }

    /// Returns whether the dimension is the name of a group, which counts only for users of that group.
    pub fn is_group(&self) -> bool {
        self.of == Of::Group
    }

    /// Returns whether the dimension may identify a person. Accounts and partitions have many users; the state of a job can be `CANCELLED
    /// by 1000`.
    pub fn names_people(&self) -> bool {
        self.level == Level::Entry && !self.is_account()
    }

    /// Returns whether only jobs have the dimension.
    pub fn is_of_job(&self) -> bool {
        matches!(self.of, Of::Job | Of::Account | Of::Array)
    }
}
