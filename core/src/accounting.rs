//! Reads the accounting of schedulers: which jobs there were, whose they were, and when they ran.
//!
//! Each scheduler has a room of its own, with a function `records` that reads a text into [`Record`]s one after another, so
//! that a text of a million jobs needs no memory for them. A reader is tolerant: it keeps what it does not know, reports a
//! record that it cannot use by its line and a reason, and goes on with the next one. It never invents a record.
//!
//! A scheduler says several times what it knows of a job, and more each time. So a [`Job`] is what one record says; what is
//! missing there is `None`.

pub mod covered;
pub mod field;
pub mod flux;
pub mod gridengine;
mod json;
pub mod lsf;
pub mod merge;
pub mod node_list;
pub mod pbs;
pub mod run_counts;
pub mod slurm;
pub mod zone;

use std::borrow::Cow;

use thiserror::Error;

use crate::accounting::zone::TimeDoubt;
use crate::instant::Micros;

/// The statement of a record of one run of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job<'a> {
    /// The name of the scheduler, where the text says it.
    pub scheduler: Option<Cow<'a, str>>,
    /// The job as `job_stats` shows it: the raw number of Slurm, the digits of PBS with the index of an array, the number of
    /// LSF or Grid Engine, the decimal number of Flux.
    pub job: Cow<'a, str>,
    /// The job as users type it, for example `123_4`, `38[4]` or `2342851[24]`.
    pub label: Cow<'a, str>,
    /// The time of submission.
    pub submitted: Option<Micros>,
    /// The start of this run; `None` if it did not begin yet, or never.
    pub started: Option<Micros>,
    /// The end of this run; `None` while it runs.
    pub ended: Option<Micros>,
    /// The reason why a time of the record is not certain, if it was printed without its zone.
    pub time_doubt: Option<TimeDoubt>,
    /// The number of the user.
    pub uid: Option<u32>,
    /// The name of the user.
    pub user_name: Option<Cow<'a, str>>,
    /// The number of the user's group.
    pub gid: Option<u32>,
    /// The name of the user's group.
    pub group_name: Option<Cow<'a, str>>,
    /// The account or project that pays.
    pub account: Option<Cow<'a, str>>,
    /// The partition or queue.
    pub partition: Option<Cow<'a, str>>,
    /// The quality of service.
    pub qos: Option<Cow<'a, str>>,
    /// The name that the user gave to the job.
    pub job_name: Option<Cow<'a, str>>,
    /// The state in the scheduler's own words.
    pub state: Option<Cow<'a, str>>,
    /// The number of nodes.
    pub nodes: Option<u32>,
    /// The nodes as they were printed.
    pub node_list: Option<Cow<'a, str>>,
    /// The number of processors.
    pub cpus: Option<u32>,
    /// The exit code as it was printed.
    pub exit_code: Option<Cow<'a, str>>,
    /// The array or the leader that this job belongs to.
    pub parent: Option<Cow<'a, str>>,
    /// The rest that the record says, by the scheduler's own names.
    pub extra: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// A record of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// The line on which the record begins, counted from 1.
    pub line: u32,
    /// The job, or the reason why the record cannot be used.
    pub job: Result<Job<'a>, Reason>,
}

/// The reason why a record could not be used. It holds nothing of the record, which may have personal data in any place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Reason {
    /// The text does not begin with the names of its columns, or lacks one without which no job can be known.
    #[error("the text has no header with the columns that are needed")]
    NoHeader,
    /// The record is cut, or it is nothing that this scheduler prints.
    #[error("the record is nothing that this scheduler prints")]
    UnreadableRecord,
    /// The record has more or fewer fields than it must have.
    #[error("the record has the wrong number of fields")]
    WrongFields,
    /// The job has no number, or none that a scheduler gives.
    #[error("the record has no number of a job")]
    BadJob,
    /// A time is no time.
    #[error("a time of the record cannot be read")]
    BadTime,
}

impl Reason {
    /// Returns a short code that stays the same in all versions.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoHeader => "no header",
            Self::UnreadableRecord => "unreadable record",
            Self::WrongFields => "wrong number of fields",
            Self::BadJob => "bad job",
            Self::BadTime => "bad time",
        }
    }
}
