//! The output format of each Lustre release: counters, units, time lines, identifiers. A release is a variant of [`Layout`]; no other file
//! distinguishes releases.

use std::sync::LazyLock;

use clap::ValueEnum;

use crate::lustre::operation::Op::{self, *};
use crate::lustre::{Request, TargetKind};
use crate::time::Nanos;

/// A release whose `job_stats` can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Layout {
    /// Lustre 2.5
    #[value(name = "2.5")]
    V2_5,
    /// Lustre 2.12
    #[value(name = "2.12")]
    V2_12,
    /// Lustre 2.14.0
    #[value(name = "2.14.0")]
    V2_14_0,
    /// Lustre 2.15.0
    #[value(name = "2.15.0")]
    V2_15_0,
    /// Lustre 2.15.8
    #[value(name = "2.15.8")]
    V2_15_8,
    /// Lustre 2.16
    #[value(name = "2.16")]
    V2_16,
    /// Lustre 2.17
    #[value(name = "2.17")]
    V2_17,
}

/// The format of the time lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// The line `snapshot_time` alone, in whole seconds.
    Seconds,
    /// Three lines at column 0, in seconds since the server booted.
    Boot,
    /// Three lines, in nanoseconds since 1970.
    Wall,
}

/// The format of identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// Identifiers are printed unchanged.
    Raw,
    /// Unprintable bytes become `?`.
    QuestionMarks,
    /// Identifiers with bytes other than alphanumeric ones and `.@-_` are quoted, and these bytes escaped.
    Escape,
    /// The format is like [`Quoting::Escape`], but `:` and `/` are not escaped; `:` and a leading `@` force quotes.
    EscapeButColons,
}

/// The contents of a counter's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The number of samples alone.
    Requests,
    /// The unit of requests, but with a minimum, maximum and sum. All are always 0, because 2.12 counted no I/O on
    /// MDTs.
    IdleRequests,
    /// Bytes per request.
    Bytes,
    /// Microseconds per request.
    Usecs,
}

/// The counters of a kind of target in the order in which they are printed, each group with the first release that has it.
type History = &'static [(Layout, &'static [Op])];

#[rustfmt::skip]
const MDT: History = &[
    (Layout::V2_5, &[
        Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs, Sync,
        SamedirRename,
    ]),
    (Layout::V2_16, &[ParallelRenameFile, ParallelRenameDir]),
    (Layout::V2_5, &[CrossdirRename]),
    (Layout::V2_17, &[RenameTrylocks]),
    (Layout::V2_15_0, &[Read, Write]),
    (Layout::V2_12, &[ReadBytes, WriteBytes, Punch]),
    (Layout::V2_14_0, &[Migrate]),
    (Layout::V2_15_0, &[Fallocate]),
];
#[rustfmt::skip]
const OST: History = &[
    (Layout::V2_5, &[ReadBytes, WriteBytes]),
    (Layout::V2_14_0, &[Read, Write]),
    (Layout::V2_12, &[Getattr]),
    (Layout::V2_5, &[Setattr, Punch, Sync]),
    (Layout::V2_12, &[Destroy, Create, Statfs, GetInfo, SetInfo, Quotactl]),
    (Layout::V2_14_0, &[Prealloc]),
];

/// The methods of devices that are operations, in the order in which 2.5 prints them.
#[rustfmt::skip]
const METHODS: [Op; 11] = [
    ReadBytes, WriteBytes, GetInfo, SetInfo, Statfs, Create, Destroy, Setattr, Punch, Sync, Quotactl,
];

/// The counters of each kind of target in each release.
static COUNTERS: LazyLock<[Vec<Vec<Op>>; 2]> = LazyLock::new(|| {
    [MDT, OST].map(|history| {
        let releases = Layout::value_variants().iter();
        let of_release = |layout| {
            let groups = history.iter().filter(|(since, _)| since <= layout);
            groups.flat_map(|(_, ops)| *ops).copied().collect()
        };
        releases.map(of_release).collect()
    })
});

impl Layout {
    /// Returns the counters of a target, in the order in which they are printed.
    pub fn counters(self, kind: TargetKind) -> &'static [Op] {
        &COUNTERS[kind as usize][self as usize]
    }

    /// Returns the target counters, in printing order. Object servers up to 2.5 have the methods of any device.
    pub fn target_counters(self, kind: TargetKind) -> &'static [Op] {
        match (self, kind) {
            (Self::V2_5, TargetKind::Ost) => &METHODS,
            _ => self.counters(kind),
        }
    }

    /// Returns the name that a counter has in the text of a target itself.
    pub fn stats_name(self, op: Op) -> &'static str {
        match (self, op) {
            (Self::V2_5, SetInfo) => "set_info_async",
            _ => op.name(),
        }
    }

    /// Returns true if object servers count all methods of devices, including some that are no operations.
    pub fn counts_methods(self) -> bool {
        self == Self::V2_5
    }

    /// Returns the width of names in texts of statistics.
    pub fn column(self) -> usize {
        if self == Self::V2_17 { 35 } else { 25 }
    }

    /// Returns the ending of `usec` and `sec` in the texts of services.
    pub fn plural_of_times(self) -> &'static str {
        if self <= Self::V2_15_8 { "" } else { "s" }
    }

    /// Returns true if services have token bucket filters.
    pub fn has_token_buckets(self) -> bool {
        self > Self::V2_5
    }

    /// Returns true if servers count what the clients of a nodemap do.
    pub fn counts_nodemaps(self) -> bool {
        self >= Self::V2_17
    }

    /// Returns true if space is accounted for projects too.
    pub fn has_projects(self) -> bool {
        self > Self::V2_5
    }

    /// Returns the health text of a server with an unhealthy target.
    pub fn unhealthy(self, target: &str) -> String {
        match self {
            Self::V2_12 => "NOT HEALTHY\n".to_owned(),
            _ => format!("device {target} reported unhealthy\nNOT HEALTHY\n"),
        }
    }

    /// Returns true if health is two files of one name, so that the first of several lines follows the name.
    pub fn has_two_healths(self) -> bool {
        self >= Self::V2_14_0
    }

    /// Returns the text about the readers of a changelog, given its newest record, and of each reader the name, the last record that it
    /// has read and the seconds since.
    pub fn changelog<'a>(
        self,
        newest: i64,
        readers: impl Iterator<Item = (&'a str, i64, i64)>,
    ) -> String {
        let header = match self {
            Self::V2_5 => format!("current index: {newest}\nID    index\n"),
            Self::V2_12 | Self::V2_14_0 => {
                format!("current index: {newest}\nID    index (idle seconds)\n")
            }
            _ => format!(
                "current_index: {newest}\n{:<24} {:>10} (idle) mask\n",
                "ID", "index"
            ),
        };
        let lines = readers.map(|(name, last, idle)| match self {
            Self::V2_5 => format!("{name:<5} {last}\n"),
            Self::V2_12 | Self::V2_14_0 => format!("{name:<5} {last} ({idle})\n"),
            _ => format!("{name:<24} {last:>10} ({idle})\n"),
        });
        header + &lines.collect::<String>()
    }

    /// Returns the fraction of a second in texts of statistics, with its unit. Release 2.5 omits leading zeros.
    pub fn fraction(self, nanos: Nanos) -> String {
        match self {
            Self::V2_5 => format!("{} secs.usecs", nanos / 1000),
            _ => format!("{nanos:09} secs.nsecs"),
        }
    }

    /// Returns a counter's name. Up to 2.5, the counters of bytes are called `read` and `write`.
    pub fn name(self, op: Op) -> &'static str {
        match self {
            Self::V2_5 => op.request().name(),
            _ => op.name(),
        }
    }

    /// Returns the unit of a counter's line.
    pub fn unit(self, kind: TargetKind, op: Op) -> Unit {
        match (op.is_bytes(), self) {
            (true, Self::V2_12) if kind == TargetKind::Mdt => Unit::IdleRequests,
            (true, _) => Unit::Bytes,
            (false, Self::V2_5 | Self::V2_12) => Unit::Requests,
            (false, _) => Unit::Usecs,
        }
    }

    /// Returns true if targets of this kind count calls in this counter.
    pub fn counts(self, kind: TargetKind, op: Op) -> bool {
        self.counters(kind).contains(&op) && self.unit(kind, op) != Unit::IdleRequests
    }

    /// Returns true if any counter of a target of this kind counts the request.
    pub fn hears(self, kind: TargetKind, request: Request) -> bool {
        request.iter().any(|&op| self.counts(kind, op))
    }

    /// Returns the format of the time lines.
    pub fn times(self) -> Times {
        match self {
            Self::V2_5 | Self::V2_12 | Self::V2_14_0 => Times::Seconds,
            Self::V2_15_0 => Times::Boot,
            Self::V2_15_8 | Self::V2_16 | Self::V2_17 => Times::Wall,
        }
    }

    /// Returns the format of identifiers.
    pub fn quoting(self) -> Quoting {
        match self {
            Self::V2_5 => Quoting::Raw,
            Self::V2_12 | Self::V2_14_0 | Self::V2_15_0 => Quoting::QuestionMarks,
            Self::V2_15_8 => Quoting::Escape,
            Self::V2_16 | Self::V2_17 => Quoting::EscapeButColons,
        }
    }

    /// Returns true if a blank follows `min:`, `max:` and `sum:` however large the number is.
    pub fn keeps_blanks(self) -> bool {
        self > Self::V2_14_0
    }

    /// Returns a sum of squares as it is printed, in 64 bits, if it is.
    pub fn squares(self, sum: u128) -> Option<u64> {
        match self {
            Self::V2_5 | Self::V2_12 => None,
            Self::V2_17 => Some(sum.min(i64::MAX as u128) as u64),
            _ => Some(sum as u64),
        }
    }

    /// Returns a sum of squares as texts of statistics have it. Up to 2.5 it is signed.
    pub fn stats_squares(self, sum: u128) -> String {
        match self {
            Self::V2_5 => (sum as i64).to_string(),
            _ => (sum as u64).to_string(),
        }
    }

    /// Returns true if counters of bytes have a histogram.
    pub fn has_histograms(self) -> bool {
        self >= Self::V2_15_8
    }

    /// Returns true if `job_stats:` is printed with the first record. A target without records then prints nothing, and two concurrent
    /// readers can steal the line from each other.
    pub fn header_comes_with_records(self) -> bool {
        self >= Self::V2_17
    }

    /// Returns true if a dump skips records when entries before them are removed meanwhile.
    pub fn skips_records(self) -> bool {
        self <= Self::V2_15_8
    }

    /// Returns true if lctl prints the text read so far when reading fails. Later versions print nothing then.
    pub fn prints_partial_text(self) -> bool {
        self <= Self::V2_12
    }

    /// Returns true if `clear` spares the entries that were active within the cleanup interval.
    pub fn clear_spares_active(self) -> bool {
        self == Self::V2_15_0
    }
}
