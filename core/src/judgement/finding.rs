//! Judges what servers saw of a job, a user or an account by rules.
//!
//! A rule has a value, which is made of sums, and floors that it must pass. A value above a floor is fair or bad only if few jobs of
//! the site are worse, so that a level shows notable jobs, not the usual ones of the site. A value above an absolute level is bad
//! anyhow. Work that is too little is not judged.

use std::cmp::Ordering;
use std::fmt;

use crate::output::quantity::{Quantity, Readable};

#[cfg(test)]
mod tests;

/// The work of a subject as servers saw it. Sums are as exact as a `f64` is, since only their ratios count.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Set if only some of the targets are included; the others may have seen more.
    pub is_of_some_targets: bool,
    /// The seconds from its first call to its last one.
    pub seconds: f64,
    /// All calls.
    pub all: Calls,
    /// The seconds that metadata servers spent; `None` if unknown or not requested.
    pub on_mdts: Option<f64>,
    /// The reads.
    pub read: Moved,
    /// The writes.
    pub write: Moved,
    /// The bytes read and written on the OST with most of them, and the seconds that it spent.
    pub on_one_target: (f64, Option<f64>),
    /// The number of OSTs of the file system that this OST is of.
    pub targets: f64,
    /// Opens of files.
    pub opens: Calls,
    /// Files that were made.
    pub creates: Calls,
    /// Files that were removed.
    pub unlinks: Calls,
    /// Questions for the attributes of a file.
    pub getattrs: Calls,
    /// Calls that wait until data is on disk.
    pub syncs: Calls,
}

impl Work {
    /// Returns the bytes read and written.
    fn moved(&self) -> f64 {
        self.read.bytes + self.write.bytes
    }
}

/// Calls of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Calls {
    /// Their number.
    pub count: f64,
    /// The seconds that servers spent on them; `None` before Lustre 2.14.
    pub time: Option<f64>,
}

/// Reads, or writes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moved {
    /// The number of bytes.
    pub bytes: f64,
    /// The calls.
    pub calls: Calls,
    /// The calls whose size is known; `None` before Lustre 2.16.
    pub sized: Option<SizeCounts>,
}

/// The numbers of calls of known size.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SizeCounts {
    /// All calls.
    pub all: f64,
    /// Calls of at most [`SMALL`] bytes.
    pub small: f64,
    /// Calls of at most [`MEDIUM`] bytes.
    pub medium: f64,
}

crate::named! {
    /// A rule, by its name in `jobstats.finding_rules`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Rule {
        /// The part of reads that are small.
        SmallReads = "small_reads",
        /// The part of writes that are small.
        SmallWrites = "small_writes",
        /// The part of writes that are small, where each is a file.
        SmallFiles = "small_files",
        /// Opens per MiB read or written.
        Opens = "opens",
        /// Questions for attributes per open.
        Getattrs = "getattrs",
        /// Syncs per write.
        Syncs = "syncs",
        /// Files removed per file made.
        ShortLived = "short_lived_files",
        /// Files removed, far more than made.
        MassDeletion = "mass_deletion",
        /// The part of the bytes that is on one target.
        OneTarget = "one_target",
        /// The part of the servers' time that metadata servers spent.
        Metadata = "metadata",
    }
    /// Returns the name.
    pub fn name;
}

/// The size in bytes up to which reads and writes are small: a bound of the histograms that Lustre prints.
pub const SMALL: f64 = 32.0 * 1024.0;
/// The size up to which they are fair; larger ones are good.
pub const MEDIUM: f64 = 512.0 * 1024.0;
/// The mean in bytes under which some are small if only the mean is known.
const SMALL_MEAN: f64 = 64.0 * 1024.0;
/// The number of bytes from which on it matters on how many targets they lie.
const LARGE: f64 = 100e9;
/// The number of targets from which on one of them is few.
const FEW_TARGETS: f64 = 4.0;
/// The number of files from which on it matters that they are removed again.
const MANY_FILES: f64 = 1_000.0;
/// The most removed files per file made of a job that removes its own files; more is a mass deletion.
const CLEANS_UP: f64 = 2.0;
/// The ratio from which on words replace the number.
const MANY_TIMES: f64 = 10.0;
/// The part of the time of servers under which it does not matter how it was spent.
const LEAST_SHARE: f64 = 0.05;
/// The bytes in a MiB.
const MEBIBYTE: f64 = 1_048_576.0;

impl Rule {
    /// Returns whether it compares what targets of different kinds saw, or one target with all.
    const fn needs_all_targets(self) -> bool {
        matches!(
            self,
            Self::SmallFiles | Self::Opens | Self::Syncs | Self::OneTarget | Self::Metadata
        )
    }

    /// Returns the value of work by this rule; the larger, the worse. `None` if the rule does not apply.
    pub fn value(self, work: &Work) -> Option<f64> {
        if work.is_of_some_targets && self.needs_all_targets() {
            return None;
        }
        let moved = work.moved();
        match self {
            Self::SmallReads => small(&work.read),
            Self::SmallWrites => small(&work.write).filter(|_| !is_of_small_files(work)),
            Self::SmallFiles => small(&work.write).filter(|_| is_of_small_files(work)),
            // Who removes a tree opens its directories, and looks up each file.
            Self::Opens => part(work.opens.count, (moved / MEBIBYTE).max(1.0))
                .filter(|_| !(deletes(work) && work.opens.count * 2.0 <= work.unlinks.count)),
            Self::Getattrs => part(work.getattrs.count, work.opens.count.max(1.0))
                .filter(|_| !(deletes(work) && work.getattrs.count <= work.unlinks.count * 2.0)),
            Self::Syncs => part(work.syncs.count, work.write.calls.count.max(1.0)),
            Self::ShortLived => {
                let (made, removed) = (work.creates.count, work.unlinks.count);
                let are_many = made > MANY_FILES && removed > MANY_FILES;
                part(removed, made).filter(|_| are_many && !deletes(work))
            }
            Self::MassDeletion => deletes(work).then_some(work.unlinks.count),
            Self::OneTarget => {
                let is_divisible = moved >= LARGE && work.targets > FEW_TARGETS;
                part(work.on_one_target.0, moved).filter(|_| is_divisible)
            }
            Self::Metadata => {
                let (on_mdts, removing) = (work.on_mdts?, work.unlinks.time.unwrap_or(0.0));
                part(on_mdts, work.all.time?)
                    .filter(|_| !(deletes(work) && removing * 2.0 >= on_mdts))
            }
        }
    }

    /// Returns the seconds that servers spent on the calls of this rule; `None` if servers report no times.
    pub fn time(self, work: &Work) -> Option<f64> {
        match self {
            Self::OneTarget => work.on_one_target.1,
            Self::Metadata => work.on_mdts,
            _ => self.calls(work).time,
        }
    }

    /// Returns the share of the server time that this rule's calls took; without times, their share of the calls or bytes.
    pub fn share(self, work: &Work) -> Option<f64> {
        let of_time = self.time(work).zip(work.all.time);
        of_time
            .and_then(|(of, whole)| part(of, whole))
            .or_else(|| match self {
                Self::OneTarget | Self::Metadata => self.value(work),
                _ => part(self.calls(work).count, work.all.count),
            })
    }

    /// Returns the calls that this rule is about, where it is about some.
    fn calls(self, work: &Work) -> Calls {
        let both = |one: Calls, other: Calls| Calls {
            count: one.count + other.count,
            time: sum(one.time, other.time),
        };
        match self {
            Self::SmallReads => work.read.calls,
            Self::SmallWrites => work.write.calls,
            Self::SmallFiles => both(work.write.calls, work.creates),
            Self::Opens => work.opens,
            Self::Getattrs => work.getattrs,
            Self::Syncs => work.syncs,
            Self::ShortLived => both(work.creates, work.unlinks),
            Self::MassDeletion => work.unlinks,
            Self::OneTarget | Self::Metadata => Calls::default(),
        }
    }
}

/// The judgement of a rule on work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding<'w> {
    /// The rule.
    pub rule: Rule,
    /// The level.
    pub level: Level,
    /// The value of the work.
    pub value: f64,
    /// The threshold that the value exceeded or, if it is good, the first one that it did not exceed.
    pub threshold: f64,
    work: &'w Work,
}

impl Finding<'_> {
    /// Returns [`Rule::share`].
    pub fn share(&self) -> Option<f64> {
        self.rule.share(self.work)
    }

    /// Returns [`Rule::time`].
    pub fn time(&self) -> Option<f64> {
        self.rule.time(self.work)
    }

    /// Compares the cost of findings: bad ones come first, then the most expensive ones.
    pub fn worst_first(&self, other: &Self) -> Ordering {
        let ((time, calls), (of_time, of_calls)) = (self.cost(), other.cost());
        let by_level = other.level.cmp(&self.level);
        by_level
            .then_with(|| of_time.total_cmp(&time))
            .then_with(|| of_calls.total_cmp(&calls))
    }

    /// Returns the seconds that it cost, estimated by its share if servers report no times, and the calls.
    fn cost(&self) -> (f64, f64) {
        let (all, part) = (self.work.all, self.share().unwrap_or(0.0));
        let time = self.time();
        let time = time.unwrap_or_else(|| part * all.time.unwrap_or(0.0));
        (time, part * all.count)
    }
}

/// Shows the finding with the numbers that prove it, as in "200 syncs for 1 k writes".
impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = self.work;
        let percent = format!("{:.0} %", self.value * 100.0);
        let per = count(self.value);
        let of = |calls: Calls| count(calls.count);
        let text = match self.rule {
            Rule::SmallReads => sizes(&work.read, "reads", self.value),
            Rule::SmallWrites => sizes(&work.write, "writes", self.value),
            Rule::SmallFiles => sizes(&work.write, "writes", self.value) + ", one per file",
            Rule::Opens => {
                let opens = of(work.opens);
                match work.moved() < MEBIBYTE {
                    true => format!("{opens} files opened, but less than a MiB read or written"),
                    false => format!("{opens} files opened, {per} per MiB read or written"),
                }
            }
            Rule::Getattrs => {
                let requests = format!("{} requests for attributes", of(work.getattrs));
                match work.opens.count < 1.0 {
                    true => format!("{requests}, but no file opened"),
                    false => format!("{requests}, {per} per file opened"),
                }
            }
            Rule::Syncs => format!(
                "{} syncs for {} writes",
                of(work.syncs),
                of(work.write.calls)
            ),
            Rule::ShortLived => {
                let (made, removed) = (of(work.creates), of(work.unlinks));
                format!("{made} files created and {removed} removed")
            }
            Rule::MassDeletion => format!("{per} files removed{}", than_made(work)),
            Rule::OneTarget => {
                let moved = amount(work.moved(), "bytes");
                format!("{percent} of its {moved} went to or from one OST")
            }
            Rule::Metadata => format!("{percent} of its server time was on MDTs"),
        };
        f.write_str(&text)
    }
}

/// Shows how many more files were removed than made.
fn than_made(work: &Work) -> String {
    match part(work.unlinks.count, work.creates.count) {
        None => " and no file created".to_owned(),
        Some(times) if times < MANY_TIMES => format!(", {} times as many as created", count(times)),
        Some(_) => ", many times more than created".to_owned(),
    }
}

/// Shows how many reads or writes are small, fair and good or, without known sizes, their mean.
fn sizes(moved: &Moved, name: &str, value: f64) -> String {
    let Some(sized) = moved.sized else {
        let calls = moved.calls.count;
        let mean = amount(moved.bytes / calls, "bytes");
        return format!("{} {name} of {mean} on average", count(calls));
    };
    format!(
        "{:.0} % of its {name} were small: {} of 32 KiB or less, {} fair, {} good (over 512 KiB)",
        value * 100.0,
        count(sized.small),
        count(sized.medium - sized.small),
        count(sized.all - sized.medium)
    )
}

/// Shows a number as people read it.
fn count(number: f64) -> String {
    amount(number, "open")
}

fn amount(number: f64, operation: &str) -> String {
    Readable::new(number, operation, Quantity::Total).map_or_else(String::new, |it| it.to_string())
}

/// Judges work by a rule. `None` if the rule does not apply.
pub fn judge<'w>(rule: Rule, thresholds: &Thresholds, work: &'w Work) -> Option<Finding<'w>> {
    let value = rule.value(work)?;
    let level = match rule.share(work) {
        Some(share) if share < LEAST_SHARE => Level::Good,
        _ => thresholds.level(value),
    };
    Some(Finding {
        rule,
        level,
        value,
        threshold: thresholds.of(level),
        work,
    })
}

crate::named! {
    /// The level of a value.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Level {
        /// Unremarkable.
        Good = "good",
        /// Worth a word.
        Fair = "fair",
        /// Worth a talk.
        Bad = "bad",
    }
    /// Returns the name.
    pub fn name;
}

/// The thresholds of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// The values that work must exceed to be fair, and to be bad.
    pub floors: [f64; 2],
    /// The values that 95 and 99 of a hundred jobs of the site do not exceed; `None` while too few jobs are known.
    pub site: Option<[f64; 2]>,
    /// The value above which work is bad, whatever other jobs do.
    pub absolute: Option<f64>,
}

impl Thresholds {
    /// Returns the values that work must exceed to be fair, and to be bad. Without a site to compare with, only an absolute level
    /// makes it bad.
    fn values(&self) -> [f64; 2] {
        let site = self.site.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let [fair, bad] = [0, 1].map(|place| self.floors[place].max(site[place]));
        let bad = bad.min(self.absolute.unwrap_or(f64::INFINITY));
        [fair.min(bad), bad]
    }

    /// Returns the level of a value.
    pub fn level(&self, value: f64) -> Level {
        match self.values() {
            [_, bad] if value > bad => Level::Bad,
            [fair, _] if value > fair => Level::Fair,
            _ => Level::Good,
        }
    }

    /// Returns the threshold that decides whether a value has this level.
    pub fn of(&self, level: Level) -> f64 {
        self.values()[usize::from(level == Level::Bad)]
    }
}

/// Returns whether there is enough to judge: ten minutes, a thousand calls, and a minute of server time if servers report
/// it.
pub fn is_enough(work: &Work) -> bool {
    work.seconds >= 600.0
        && work.all.count >= 1_000.0
        && work.all.time.is_none_or(|time| time >= 60.0)
}

fn part(of: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| of / whole)
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter()
        .chain(other)
        .reduce(|one, other| one + other)
}

/// Returns whether work removes many files, far more than it made: it cleans up.
fn deletes(work: &Work) -> bool {
    work.unlinks.count > MANY_FILES && work.unlinks.count > work.creates.count * CLEANS_UP
}

/// Returns the part of reads or writes that are small. Without known sizes the mean decides: the smaller it is, the more of them.
fn small(moved: &Moved) -> Option<f64> {
    if let Some(sized) = moved.sized {
        return part(sized.small, sized.all);
    }
    let mean = part(moved.bytes, moved.calls.count)?;
    Some((1.0 - mean / SMALL_MEAN).max(0.0))
}

/// Returns whether about as many files were made as writes: each is written in one call.
fn is_of_small_files(work: &Work) -> bool {
    let (writes, files) = (work.write.calls.count, work.creates.count);
    files > MANY_FILES && writes <= files * 2.0 && files <= writes * 2.0
}
