//! The reasons for a failed probe.

use std::fmt::{self, Display, Formatter};

/// The time limit is over, or the probe of an earlier round still hangs.
pub const TIMEOUT: &str = "timeout";
/// Another process probes the directory, for example one that has hung since before this program started.
pub const BUSY: &str = "busy";
/// The file system or a quota is full.
pub const FULL: &str = "full";
/// The directory is not there, or others can write to it.
pub const UNUSABLE: &str = "unusable";
/// A step failed in any other way.
pub const ERROR: &str = "error";

/// All reasons, as the label `reason` has them.
pub const REASONS: [&str; 5] = [TIMEOUT, BUSY, FULL, UNUSABLE, ERROR];

/// The reason why a probe failed, and a message for people. Processes print it as a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub reason: &'static str,
    pub message: String,
}

impl Fault {
    pub fn new(reason: &'static str, message: impl Display) -> Self {
        let message = message.to_string();
        Self { reason, message }
    }

    /// Reads the line of a fault.
    pub fn parse(line: &str) -> Option<Self> {
        let (reason, message) = line.strip_prefix("failed ")?.split_once(' ')?;
        let reason = REASONS.iter().find(|known| **known == reason)?;
        Some(Self::new(reason, message))
    }
}

impl Display for Fault {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "failed {} {}", self.reason, self.message)
    }
}
