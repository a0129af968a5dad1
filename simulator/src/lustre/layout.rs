//! The output format of each Lustre release: counters, units, time lines, identifiers.

use clap::ValueEnum;

use crate::lustre::Kind;
use crate::lustre::operation::Call;
use crate::lustre::operation::Op::{self, *};

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

/// The treatment of the sum of squares beyond 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Squares {
    /// The sum is not printed at all.
    None,
    /// The sum is taken modulo 2^64.
    Wrap,
    /// The sum stays at 2^63 − 1.
    Saturate,
}

const OST_2_5: &[Op] = &[ReadBytes, WriteBytes, Setattr, Punch, Sync];
#[rustfmt::skip]
const OST_2_6: &[Op] = &[
    ReadBytes, WriteBytes, Getattr, Setattr, Punch, Sync, Destroy, Create, Statfs, GetInfo, SetInfo, Quotactl,
];
#[rustfmt::skip]
const OST_2_14: &[Op] = &[
    ReadBytes, WriteBytes, Read, Write, Getattr, Setattr, Punch, Sync, Destroy, Create, Statfs, GetInfo, SetInfo,
    Quotactl, Prealloc,
];
#[rustfmt::skip]
const MDT_2_5: &[Op] = &[
    Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs, Sync,
    SamedirRename, CrossdirRename,
];
#[rustfmt::skip]
const MDT_2_12: &[Op] = &[
    Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs, Sync,
    SamedirRename, CrossdirRename, ReadBytes, WriteBytes, Punch,
];
#[rustfmt::skip]
const MDT_2_14: &[Op] = &[
    Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs, Sync,
    SamedirRename, CrossdirRename, ReadBytes, WriteBytes, Punch, Migrate,
];
#[rustfmt::skip]
const MDT_2_15: &[Op] = &[
    Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs, Sync,
    SamedirRename, CrossdirRename, Read, Write, ReadBytes, WriteBytes, Punch, Migrate, Fallocate,
];
#[rustfmt::skip]
const MDT_2_16: &[Op] = &[
    Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs, Sync,
    SamedirRename, ParallelRenameFile, ParallelRenameDir, CrossdirRename, Read, Write, ReadBytes, WriteBytes, Punch,
    Migrate, Fallocate,
];
#[rustfmt::skip]
const MDT_2_17: &[Op] = &[
    Open, Close, Mknod, Link, Unlink, Mkdir, Rmdir, Rename, Getattr, Setattr, Getxattr, Setxattr, Statfs, Sync,
    SamedirRename, ParallelRenameFile, ParallelRenameDir, CrossdirRename, RenameTrylocks, Read, Write, ReadBytes,
    WriteBytes, Punch, Migrate, Fallocate,
];

impl Layout {
    /// Returns the counters of a target, in the order in which they are printed.
    pub fn counters(self, kind: Kind) -> &'static [Op] {
        match (kind, self) {
            (Kind::Ost, Self::V2_5) => OST_2_5,
            (Kind::Ost, Self::V2_12) => OST_2_6,
            (Kind::Ost, _) => OST_2_14,
            (Kind::Mdt, Self::V2_5) => MDT_2_5,
            (Kind::Mdt, Self::V2_12) => MDT_2_12,
            (Kind::Mdt, Self::V2_14_0) => MDT_2_14,
            (Kind::Mdt, Self::V2_15_0 | Self::V2_15_8) => MDT_2_15,
            (Kind::Mdt, Self::V2_16) => MDT_2_16,
            (Kind::Mdt, Self::V2_17) => MDT_2_17,
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
    pub fn unit(self, kind: Kind, op: Op) -> Unit {
        match (op.is_bytes(), self) {
            (true, Self::V2_12) if kind == Kind::Mdt => Unit::IdleRequests,
            (true, _) => Unit::Bytes,
            (false, Self::V2_5 | Self::V2_12) => Unit::Requests,
            (false, _) => Unit::Usecs,
        }
    }

    /// Returns true if targets of this kind count calls in this counter.
    pub fn counts(self, kind: Kind, op: Op) -> bool {
        self.counters(kind).contains(&op) && self.unit(kind, op) != Unit::IdleRequests
    }

    /// Returns true if any counter of a target of this kind counts the call.
    pub fn hears(self, kind: Kind, call: Call) -> bool {
        call.counters().iter().any(|&op| self.counts(kind, op))
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

    /// Returns the treatment of the sum of squares.
    pub fn squares(self) -> Squares {
        match self {
            Self::V2_5 | Self::V2_12 => Squares::None,
            Self::V2_17 => Squares::Saturate,
            _ => Squares::Wrap,
        }
    }

    /// Returns true if counters of bytes have a histogram.
    pub fn has_histograms(self) -> bool {
        self >= Self::V2_15_8
    }

    /// Returns true if `job_stats:` is printed with the first record. A target without records then prints nothing, and
    /// two concurrent readers can steal the line from each other.
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
