//! The outcome of a feed, for each part of its text.

use crate::rules::increment::Counts;

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
    /// The names of groups.
    Groups,
    /// Jobs of a scheduler.
    Jobs,
    /// Values of an exporter.
    Samples,
    /// A text that is in `jobstats.rejects`, with this reason.
    Rejected(&'static str),
}

impl Action {
    /// Returns the reason why a text was rejected.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Rejected(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns the name of the action, as `jobstats_ingest` shows it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Stored => "stored",
            Self::Placed => "placed",
            Self::Repeated => "repeated",
            Self::Interval => "interval",
            Self::Users => "users",
            Self::Groups => "groups",
            Self::Jobs => "jobs",
            Self::Samples => "samples",
            Self::Rejected(_) => "rejected",
        }
    }
}

/// The reasons of `jobstats.rejects` that concern a whole text, or a part of it that is not a line.
pub mod reason {
    use crate::accounting;

    /// The time of the text cannot be true.
    pub const CLOCK: &str = "clock";
    /// The text is older than the data that is kept.
    pub const TOO_LATE: &str = "too late";
    /// The target has another text of the same time.
    pub const DIFFERENT: &str = "another text of the same time";
    /// The text lacks counters of a target's connections of metadata servers that the one before had.
    pub const NO_EXPORTS: &str = "no exports";
    /// The text does not name its target.
    pub const NO_TARGET: &str = "no target";
    /// The text names no user.
    pub const NO_USERS: &str = "no users";
    /// The text names no group.
    pub const NO_GROUPS: &str = "no groups";
    /// The text has no job that can be used.
    pub const NO_JOBS: &str = "no jobs";
    /// The text has no line with the value of a metric.
    pub const NO_METRICS: &str = "no metrics";
    /// `settings.metrics` lets no metric of the text through.
    pub const NOT_WANTED: &str = "no metric let through";
    /// The text does not begin with the names of its columns.
    pub const NO_HEADER: &str = accounting::Reason::NoHeader.code();
    /// Users can put the delimiter of the text into the names of their jobs.
    pub const GUESSABLE_DELIMITER: &str = "guessable delimiter";
    /// No record of the text has a time of submission or start.
    pub const NO_TIMES: &str = "no times";
    /// The job began or ended after the time of the text.
    pub const FUTURE: &str = "time after the text";
    /// All jobs of a text ended before the span that it covers.
    pub const BEFORE_COVERS: &str = "times before covers";
    /// The sender may not feed the target, or the scheduler.
    pub const NOT_YOURS: &str = "not yours";
    /// The text has more lines that cannot be used than its records could have.
    pub const TOO_MANY_PROBLEMS: &str = "too many problems";
    /// The record is longer than any that a scheduler prints.
    pub const RECORD_TOO_LONG: &str = "record too long";
    /// The job has more runs of one submission than a scheduler can have started.
    pub const TOO_MANY_RUNS: &str = "too many runs";
    /// The number of the job has more runs in the text than a scheduler gives to one.
    pub const TOO_MANY_OF_NUMBER: &str = "too many runs of a number";
    /// The text looks like one of another source than it was fed as.
    pub const WRONG_SOURCE: &str = "another source";
}

/// The result of a feed for a part of its text.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The Lustre target of the part; `None` if it belongs to no target, or names no target.
    pub target: Option<String>,
    /// The fate of the part.
    pub action: Action,
    /// The counts of the part; zero if there are no counts.
    pub counts: Counts,
    /// True if the part ends too early, though its last line is whole (rule 3).
    pub ends_early: bool,
    /// True if users can forge records of the text by the names of their jobs.
    pub is_forgeable: bool,
    /// The number of rows that were written.
    pub increments: i32,
}

impl Outcome {
    /// Makes the outcome of a part without counts.
    pub fn new(target: Option<&str>, action: Action) -> Self {
        Self {
            target: target.map(str::to_owned),
            action,
            counts: Counts::default(),
            ends_early: false,
            is_forgeable: false,
            increments: 0,
        }
    }

    /// Returns the number of entries in the text.
    pub fn entries(&self) -> i64 {
        self.counts.entries.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_rejected_text_has_a_reason() {
        let rejected = Action::Rejected(reason::CLOCK);
        assert_eq!(
            (rejected.as_str(), rejected.reason()),
            ("rejected", Some("clock"))
        );
        assert_eq!(
            (Action::Placed.as_str(), Action::Placed.reason()),
            ("placed", None)
        );
    }

    #[test]
    fn the_outcome_of_a_text_without_records_counts_nothing() {
        let outcome = Outcome::new(Some("fs-OST0000"), Action::Interval);
        assert_eq!(outcome.target.as_deref(), Some("fs-OST0000"));
        assert_eq!((outcome.entries(), outcome.increments), (0, 0));
    }
}
