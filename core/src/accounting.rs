//! Reads the accounting of schedulers: which jobs there were, whose they were, and when they ran.
//!
//! Each scheduler has a module and a line in [`SCHEDULERS`]. Its function `records` reads a text into [`Record`]s one after
//! another, so that a text of a million jobs needs no memory for them. A reader is tolerant: it keeps values that it does not
//! know, reports a record that it cannot use by its line and a reason, and goes on with the next one. It never invents a
//! record.
//!
//! A scheduler writes several records of a job, each more complete than the one before. So a [`Job`] has the values of one
//! record; a value that is missing there is `None`.

pub mod coverage;
pub mod energy;
pub mod field;
pub mod flux;
pub mod gridengine;
mod json;
pub mod lsf;
pub mod matching;
pub mod merge;
pub mod node_list;
pub mod pbs;
pub mod run_counts;
pub mod slurm;
pub mod zone;

use std::borrow::Cow;

use crate::accounting::zone::{TimeDoubt, Zone};
use crate::base::instant::Micros;
use crate::base::pause::Pause;

/// The records of a text, one after another.
pub type Records<'a> = Box<dyn Iterator<Item = Record<'a>> + 'a>;

/// A scheduler whose accounting is read.
#[derive(Debug, Clone, Copy)]
pub struct Scheduler {
    /// The name.
    pub name: &'static str,
    /// Returns whether a text looks like accounting of the scheduler.
    pub recognizes: fn(&[u8]) -> bool,
    /// True if texts are pieces of a file that grows, so that the records show the span that is covered if the sender
    /// does not state it.
    pub grows: bool,
    /// Reads the records of a text, in an order in which they can be merged with little memory. Times without a zone are in
    /// the given zone.
    pub records: for<'a> fn(&'a [u8], &'a Zone, Pause<'a>) -> Records<'a>,
}

/// All schedulers. The sources of the feed, tests and fuzzing follow from this list, and a test names a place that a new scheduler still
/// lacks.
pub static SCHEDULERS: [Scheduler; 5] = [
    slurm::SCHEDULER,
    pbs::SCHEDULER,
    lsf::SCHEDULER,
    gridengine::SCHEDULER,
    flux::SCHEDULER,
];

/// The statement of a record of one run of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job<'a> {
    /// The name of the scheduler, if the text has it.
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
    /// Further values of the record, by the scheduler's names.
    pub extra: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl Job<'_> {
    /// Cuts the name of the job to this number of bytes.
    pub fn shorten_name(&mut self, bytes: usize) {
        match &mut self.job_name {
            Some(Cow::Borrowed(name)) => *name = &name[..name.floor_char_boundary(bytes)],
            Some(Cow::Owned(name)) => name.truncate(name.floor_char_boundary(bytes)),
            None => {}
        }
    }
}

/// A record of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// The line on which the record begins, counted from 1.
    pub line: u32,
    /// The job, or the reason why the record cannot be used.
    pub job: Result<Job<'a>, Reason>,
}

crate::named! {
    /// The reason why a record could not be used. It contains no part of the record, which may have personal data in any
    /// place.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Reason {
        /// The text does not begin with the names of its columns, or lacks one without which no job can be known.
        NoHeader = "no header",
        /// The record is cut, or this scheduler prints no such record.
        UnreadableRecord = "unreadable record",
        /// The record has more or fewer fields than it must have.
        WrongFields = "wrong number of fields",
        /// The job has no number, or an impossible one.
        BadJob = "bad job",
        /// A time is no time.
        BadTime = "bad time",
    }
    /// Returns a short code that stays the same in all versions.
    pub fn code;
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// A scheduler that is added somewhere is added everywhere.
    #[test]
    fn every_scheduler_has_its_places() {
        let core = Path::new(env!("CARGO_MANIFEST_DIR"));
        let is_listed = |name: &str| SCHEDULERS.iter().any(|scheduler| scheduler.name == name);
        for file in fs::read_dir(core.join("src/accounting")).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_scheduler = fs::read_to_string(&path)
                .is_ok_and(|text| text.contains("\npub fn recognizes(text: &[u8]) -> bool"));
            assert!(
                !is_scheduler || is_listed(name),
                "SCHEDULERS in core/src/accounting.rs lacks {name}"
            );
        }
        for Scheduler { name, .. } in SCHEDULERS {
            for place in [
                format!("src/accounting/{name}/tests.rs"),
                format!("fuzz/seeds/accounting/{name}"),
                format!("../docs/sources/{name}.md"),
            ] {
                assert!(core.join(&place).exists(), "{name} lacks core/{place}");
            }
        }
    }

    #[test]
    fn a_text_is_one_of_one_scheduler() {
        let core = Path::new(env!("CARGO_MANIFEST_DIR"));
        for Scheduler { name, .. } in SCHEDULERS {
            for file in fs::read_dir(core.join("fuzz/seeds/accounting").join(name)).unwrap() {
                let path = file.unwrap().path();
                let text = fs::read(&path).unwrap();
                let found = SCHEDULERS.iter().filter(|it| (it.recognizes)(&text));
                let found: Vec<_> = found.map(|scheduler| scheduler.name).collect();
                assert_eq!(found, [name], "{}", path.display());
            }
        }
    }
}
