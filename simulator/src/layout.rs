//! What each Lustre release prints: counters, units, time lines, identifiers.

use clap::ValueEnum;

use crate::cluster::Kind;
use crate::operation::Call;
use crate::operation::Op::{self, *};

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

/// How the time lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// `snapshot_time` alone, in whole seconds.
    Seconds,
    /// Three lines at column 0, in seconds since the server booted.
    Boot,
    /// Three lines, in nanoseconds since 1970.
    Wall,
}

/// How identifiers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// As they came.
    Raw,
    /// Unprintable bytes become `?`.
    QuestionMarks,
    /// Quoted and escaped wherever a byte is not alphanumeric or one of `.@-_`.
    Escape,
    /// As before, but `:` and `/` stand for themselves; `:` and a leading `@` force quotes.
    EscapeButColons,
}

/// What a counter's line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Samples alone.
    Requests,
    /// Called requests, but with a minimum, maximum and sum that are always 0 (2.12 counted no I/O on MDTs).
    IdleRequests,
    /// Bytes per request.
    Bytes,
    /// Microseconds per request.
    Usecs,
}

/// What happens to the sum of squares beyond 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Squares {
    /// Not printed at all.
    None,
    /// Modulo 2^64.
    Wrap,
    /// Stays at 2^63 − 1.
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
    /// The counters of a target, in the order in which they are printed.
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

    /// A counter's name: up to 2.5 those of bytes are `read` and `write`.
    pub fn name(self, op: Op) -> &'static str {
        match self {
            Self::V2_5 => op.request().name(),
            _ => op.name(),
        }
    }

    /// What a counter's line holds.
    pub fn unit(self, kind: Kind, op: Op) -> Unit {
        match (op.is_bytes(), self) {
            (true, Self::V2_12) if kind == Kind::Mdt => Unit::IdleRequests,
            (true, _) => Unit::Bytes,
            (false, Self::V2_5 | Self::V2_12) => Unit::Requests,
            (false, _) => Unit::Usecs,
        }
    }

    /// Whether calls of this counter are counted on a target of this kind.
    pub fn counts(self, kind: Kind, op: Op) -> bool {
        self.counters(kind).contains(&op) && self.unit(kind, op) != Unit::IdleRequests
    }

    /// Whether any counter of a target of this kind counts the call.
    pub fn hears(self, kind: Kind, call: Call) -> bool {
        call.counters().iter().any(|&op| self.counts(kind, op))
    }

    /// How the time lines look.
    pub fn times(self) -> Times {
        match self {
            Self::V2_5 | Self::V2_12 | Self::V2_14_0 => Times::Seconds,
            Self::V2_15_0 => Times::Boot,
            Self::V2_15_8 | Self::V2_16 | Self::V2_17 => Times::Wall,
        }
    }

    /// How identifiers are printed.
    pub fn quoting(self) -> Quoting {
        match self {
            Self::V2_5 => Quoting::Raw,
            Self::V2_12 | Self::V2_14_0 | Self::V2_15_0 => Quoting::QuestionMarks,
            Self::V2_15_8 => Quoting::Escape,
            Self::V2_16 | Self::V2_17 => Quoting::EscapeButColons,
        }
    }

    /// Whether a blank follows `min:`, `max:` and `sum:` however large the number is.
    pub fn keeps_blanks(self) -> bool {
        self > Self::V2_14_0
    }

    /// What happens to the sum of squares.
    pub fn squares(self) -> Squares {
        match self {
            Self::V2_5 | Self::V2_12 => Squares::None,
            Self::V2_17 => Squares::Saturate,
            _ => Squares::Wrap,
        }
    }

    /// Whether counters of bytes carry a histogram.
    pub fn has_histograms(self) -> bool {
        self >= Self::V2_15_8
    }

    /// Whether `job_stats:` comes with the first record, so that a target without records prints nothing, and two readers
    /// at once can steal it from each other.
    pub fn header_comes_with_records(self) -> bool {
        self >= Self::V2_17
    }

    /// Whether records are skipped when others before them are removed during the dump.
    pub fn skips_records(self) -> bool {
        self <= Self::V2_15_8
    }

    /// Whether lctl has already printed what it had when reading fails; later ones print nothing then.
    pub fn prints_partial_text(self) -> bool {
        self <= Self::V2_12
    }

    /// Whether `clear` spares the entries that were active within the cleanup interval.
    pub fn clear_spares_active(self) -> bool {
        self == Self::V2_15_0
    }
}
