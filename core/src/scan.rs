//! Text → events: one pass over bytes, without copying.

use thiserror::Error;

/// Which kind of target reports: `mdt.*` or `obdfilter.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// Metadata target.
    Mdt,
    /// Object storage target.
    Ost,
}

/// A target as the text names it: `mdt.scratch-MDT0000.job_stats` is `scratch-MDT0000` of kind MDT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetName<'a> {
    /// From the first part of the parameter's name.
    pub kind: TargetKind,
    /// The second part.
    pub name: &'a [u8],
}

/// Which clock a time line is on. Lustre 2.15.0 and 2.15.1 print seconds since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Clock {
    /// Seconds since 1970.
    Epoch,
    /// Seconds since the server booted: serves to see resets, not as a date.
    Boot,
}

/// A time line's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time {
    /// Which clock.
    pub clock: Clock,
    /// Seconds.
    pub seconds: u64,
    /// Nanoseconds below a second.
    pub nanos: u32,
}

/// Unit of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Calls only.
    Requests,
    /// `sum` is in bytes.
    Bytes,
    /// `sum` is in microseconds.
    Microseconds,
    /// Anything else; the counter is kept in `detail`.
    Other,
}

/// Why a piece of text could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Reason {
    /// A line that is nothing known.
    #[error("unreadable line")]
    Unreadable,
}

/// A piece of text that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<'a> {
    /// Line in the text, from 1.
    pub line: u32,
    /// The target that the line belongs to, where known.
    pub target: Option<TargetName<'a>>,
    /// The entry (as in [`crate::snapshot::Record::id`]) that the line belongs to, where known.
    pub entry: Option<std::borrow::Cow<'a, str>>,
    /// Why.
    pub reason: Reason,
    /// The line.
    pub text: &'a [u8],
}
