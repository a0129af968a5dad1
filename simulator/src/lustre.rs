//! Lists the requests of clients, the counters of an entry, and the form that each release of Lustre gives them.

pub mod counter;
pub mod identifier;
pub mod layout;
pub mod operation;
pub mod service;

use clap::ValueEnum;

pub use counter::{Calls, Counter, Counters};
pub use layout::{Layout, Times, Unit};
pub use operation::{Op, Request};

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TargetKind {
    /// A target that stores metadata.
    Mdt,
    /// A target that stores objects.
    Ost,
}

impl TargetKind {
    /// Returns the device type in the names of Lustre parameters.
    pub fn device(self) -> &'static str {
        match self {
            Self::Mdt => "mdt",
            Self::Ost => "obdfilter",
        }
    }
}

/// Returns the name of a value on the command line.
pub fn name_of(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}
