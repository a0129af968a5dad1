//! The outcome of a feed: what became of each part of its text.

/// The fate of a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The first observation of its target.
    Baseline,
    /// The newest observation of its target.
    Stored,
    /// An observation older than the newest one, placed in order of time.
    Placed,
    /// A text that is stored already.
    Repeated,
    /// A text without an observation, which has only the cleanup interval.
    Interval,
    /// The names of users.
    Users,
    /// A text that is in `jobstats.rejects`, with this reason.
    Rejected(&'static str),
}

impl Action {
    /// Returns the reason why a text was rejected.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Rejected(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns the name of the action, as `jobstats_ingest` shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Stored => "stored",
            Self::Placed => "placed",
            Self::Repeated => "repeated",
            Self::Interval => "interval",
            Self::Users => "users",
            Self::Rejected(_) => "rejected",
        }
    }
}

/// The reasons of `jobstats.rejects` that concern a whole text.
pub mod reason {
    pub const CLOCK: &str = "clock";
    pub const TOO_LATE: &str = "too late";
    pub const DIFFERENT: &str = "another text of the same time";
    pub const NO_TARGET: &str = "no target";
    pub const NO_USERS: &str = "no users";
    pub const NOT_YOURS: &str = "not yours";
    pub const TOO_MANY_PROBLEMS: &str = "too many problems";
    pub const WRONG_SOURCE: &str = "another source";
}

/// The counts of a part of a text. For `job_stats` these are columns of `jobstats.observations`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub entries: i32,
    pub active: i32,
    pub added: i32,
    pub resets: i32,
    pub removed: i32,
    pub carried: i32,
    pub unknown: i32,
    pub problems: i32,
}

/// The result of a feed for a part of its text.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The Lustre target of the part; `None` if it belongs to none, or names none.
    pub target: Option<String>,
    pub action: Action,
    pub counts: Counts,
    pub increments: i32,
}

impl Outcome {
    /// Makes the outcome of a part in which nothing was counted.
    pub fn new(target: Option<&str>, action: Action) -> Self {
        Self {
            target: target.map(str::to_owned),
            action,
            counts: Counts::default(),
            increments: 0,
        }
    }

    /// Returns the number of entries in the text.
    pub fn entries(&self) -> i64 {
        self.counts.entries.into()
    }
}

/// Converts a count to the type of its column. A text holds far fewer entries than an integer can count.
pub fn clamp(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
