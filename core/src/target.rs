//! Targets, as `lctl` names them.

/// The kind of target that reports: `mdt.*` or `obdfilter.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// A metadata target.
    Mdt,
    /// An object storage target.
    Ost,
}

impl TargetKind {
    /// The kinds.
    pub(crate) const ALL: [Self; 2] = [Self::Mdt, Self::Ost];

    /// Returns the first part of the names of such targets' parameters.
    pub(crate) const fn name(self) -> &'static [u8] {
        match self {
            Self::Mdt => b"mdt",
            Self::Ost => b"obdfilter",
        }
    }

    /// Returns the first part of the names of such targets' parameters, with its dot.
    pub(crate) const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Mdt => b"mdt.",
            Self::Ost => b"obdfilter.",
        }
    }
}

/// A target as the text names it: `mdt.scratch-MDT0000.job_stats` is `scratch-MDT0000` of kind MDT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetName<'a> {
    /// The kind, which is the first part of the parameter's name.
    pub kind: TargetKind,
    /// The name, which is the second part: ASCII letters, digits, `-` and `_`.
    pub name: &'a [u8],
}
