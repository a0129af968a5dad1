//! Judges what servers saw of a job, a user or an account by rules.
//!
//! A rule has a value, which is made of sums, and floors that it must pass. A value above a floor is fair or bad only if few jobs of
//! the site are worse, so that a level shows notable jobs, not the usual ones of the site. Work that is too little is not judged.

use std::cmp::Ordering;
use std::fmt;

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
    /// The number of calls whose size is known, and how many of them have at most [`SMALL`] bytes; `None` before Lustre
    /// 2.16.
    pub sized: Option<(f64, f64)>,
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
/// The mean in bytes up to which they are small if only the mean is known.
const SMALL_MEAN: f64 = 64.0 * 1024.0;
/// The number of bytes from which on it matters on how many targets they lie.
const LARGE: f64 = 100e9;
/// The number of targets from which on one of them is few.
const FEW_TARGETS: f64 = 4.0;
/// The number of files from which on it matters that they are removed again.
const MANY_FILES: f64 = 1_000.0;
/// The most removed files per file made of a job that removes its own files.
const CLEANS_UP: f64 = 2.0;
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
        let moved = work.read.bytes + work.write.bytes;
        match self {
            Self::SmallReads => small(&work.read),
            Self::SmallWrites => small(&work.write).filter(|_| !is_of_small_files(work)),
            Self::SmallFiles => small(&work.write).filter(|_| is_of_small_files(work)),
            Self::Opens => part(work.opens.count, (moved / MEBIBYTE).max(1.0)),
            Self::Getattrs => part(work.getattrs.count, work.opens.count.max(1.0)),
            Self::Syncs => part(work.syncs.count, work.write.calls.count.max(1.0)),
            Self::ShortLived => {
                let (made, removed) = (work.creates.count, work.unlinks.count);
                // Who removes what others made cleans up.
                let is_about_own =
                    made > MANY_FILES && removed > MANY_FILES && removed <= made * CLEANS_UP;
                part(removed, made).filter(|_| is_about_own)
            }
            Self::OneTarget => {
                let is_divisible = moved >= LARGE && work.targets > FEW_TARGETS;
                part(work.on_one_target.0, moved).filter(|_| is_divisible)
            }
            Self::Metadata => part(work.on_mdts?, work.all.time?),
        }
    }

    /// Returns whether the value of work is made of means, and not of the sizes of calls.
    pub fn is_estimated(self, work: &Work) -> bool {
        match self {
            Self::SmallReads => work.read.sized.is_none(),
            Self::SmallWrites | Self::SmallFiles => work.write.sized.is_none(),
            _ => false,
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
            Self::OneTarget | Self::Metadata => Calls::default(),
        }
    }
}

/// The judgement of a rule on work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The level.
    pub level: Level,
    /// The value of the work.
    pub value: f64,
    is_estimated: bool,
    /// The threshold that the value exceeded or, if it is good, the first one that it did not exceed.
    pub threshold: f64,
    /// The part of the time of servers that it is about, as in [`Rule::share`].
    pub share: Option<f64>,
    /// The seconds that servers spent on it, as in [`Rule::time`].
    pub time: Option<f64>,
    /// The seconds that it cost, estimated by its share if servers report no times, and the calls.
    cost: (f64, f64),
}

impl Finding {
    /// Compares the cost of findings: bad ones come first, then the most expensive ones.
    pub fn worst_first(&self, other: &Self) -> Ordering {
        let ((time, calls), (of_time, of_calls)) = (self.cost, other.cost);
        let by_level = other.level.cmp(&self.level);
        by_level
            .then_with(|| of_time.total_cmp(&time))
            .then_with(|| of_calls.total_cmp(&calls))
    }
}

/// Shows the finding, as in "93 % of its writes were of 32 KiB or less".
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        let about = if self.is_estimated { "about " } else { "" };
        let percent = format!("{about}{:.0} %", value * 100.0);
        let times = format!("{value:.*}", usize::from(value < 10.0));
        match self.rule {
            Rule::SmallReads => write!(f, "{percent} of its reads were of 32 KiB or less"),
            Rule::SmallWrites => write!(f, "{percent} of its writes were of 32 KiB or less"),
            Rule::SmallFiles => {
                write!(
                    f,
                    "{percent} of its writes were of 32 KiB or less, each of them a file"
                )
            }
            Rule::Opens => write!(f, "{times} files opened per MiB read or written"),
            Rule::Getattrs => write!(f, "{times} requests for attributes per file opened"),
            Rule::Syncs => write!(f, "{value:.2} syncs per write"),
            Rule::ShortLived => write!(f, "{value:.2} files removed per file made"),
            Rule::OneTarget => write!(f, "{percent} of its bytes went to or from one OST"),
            Rule::Metadata => write!(f, "{percent} of the servers' time was that of MDTs"),
        }
    }
}

/// Judges work by a rule. `None` if the rule does not apply.
pub fn judge(rule: Rule, thresholds: &Thresholds, work: &Work) -> Option<Finding> {
    let value = rule.value(work)?;
    let (time, share) = (rule.time(work), rule.share(work));
    let part = share.unwrap_or(0.0);
    let level = match share {
        Some(share) if share < LEAST_SHARE => Level::Good,
        _ => thresholds.level(value),
    };
    Some(Finding {
        rule,
        level,
        value,
        is_estimated: rule.is_estimated(work),
        threshold: thresholds.of(level),
        share,
        time,
        cost: (
            time.unwrap_or(part * work.all.time.unwrap_or(0.0)),
            part * work.all.count,
        ),
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
}

impl Thresholds {
    /// Returns the level of a value. Without a site to compare with, fair is the worst level.
    pub fn level(&self, value: f64) -> Level {
        let [fair, bad] = self.floors;
        let [of_few, of_fewest] = self.site.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        if value > bad && value > of_fewest {
            Level::Bad
        } else if value > fair && value > of_few {
            Level::Fair
        } else {
            Level::Good
        }
    }

    /// Returns the threshold that decides whether a value has this level.
    pub fn of(&self, level: Level) -> f64 {
        let place = usize::from(level == Level::Bad);
        let site = self.site.map_or(f64::NEG_INFINITY, |site| site[place]);
        self.floors[place].max(site)
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

/// Returns the part of reads or writes that are small. Without known sizes the mean decides: all are small if it is [`SMALL`] or
/// less, and some of them between that and [`SMALL_MEAN`].
fn small(moved: &Moved) -> Option<f64> {
    if let Some((sized, small)) = moved.sized {
        return part(small, sized);
    }
    let mean = part(moved.bytes, moved.calls.count)?;
    Some(((SMALL_MEAN - mean) / (SMALL_MEAN - SMALL)).clamp(0.0, 1.0))
}

/// Returns whether about as many files were made as writes: each is written in one call.
fn is_of_small_files(work: &Work) -> bool {
    let (writes, files) = (work.write.calls.count, work.creates.count);
    files > MANY_FILES && writes <= files * 2.0 && files <= writes * 2.0
}
