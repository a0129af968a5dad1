//! The errors of the commands, and the exit code of each.

use std::path::PathBuf;

use jobstats_client::database::settings::SettingsError;
use jobstats_client::spool::SpoolError;
use jobstats_client::{FileError, program::exit};

pub use jobstats_client::program::exit::{LATER, NOTHING, REFUSED, SETUP, SYSTEM, UNREAD, USAGE};

use crate::commands::replay::ReplayError;
use crate::read::error::ReadError;
use crate::read::probe::ProbeError;
use crate::read::sources::SourcesError;
use crate::send::{SendError, Unsent};
use crate::spool::DeliveryError;
use crate::system::lock::LockError;
use crate::system::message::{info, report};

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Exit codes:
   0  everything was sent, or queued in the spool because another instance is sending
  64  wrong arguments
  65  the database refused or rejected a text
  66  no data: no target on this server, no input, or no set-aside scrape
  69  the database cannot be reached
  71  local error: no lock file, no space in the spool, a damaged scrape
  74  the scrape failed: lctl or a command failed, took too long, or printed unexpected or too much output
  75  busy: another instance, a conflict, or a slow statement
  77  the database denied access
  78  not set up: settings, or the store in the database";

/// An error that kept some or all targets from being sent.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Sources(#[from] SourcesError),
    #[error(transparent)]
    Probe(#[from] ProbeError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Send(#[from] SendError),
    #[error(transparent)]
    Unsent(#[from] Unsent),
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
    #[error(transparent)]
    Generate(FileError),
    /// `record` cannot keep a reading.
    #[error("cannot write the scrape to {}: {cause}", path.display())]
    Record { path: PathBuf, cause: SpoolError },
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// `requeue` found no reading, or not the requested one.
    #[error("no such set-aside scrape in {}; damaged files stay there", .0.display())]
    NothingSetAside(PathBuf),
}

impl CommandError {
    /// Returns true if there is no target to be read. This is normal on the standby of a pair.
    pub fn is_of_standby(&self) -> bool {
        matches!(self, Self::Read(ReadError::NoTarget))
    }

    pub fn code(&self) -> u8 {
        match self {
            Self::Probe(ProbeError::Options(_)) => USAGE,
            Self::Settings(_) | Self::Sources(_) | Self::Probe(_) => SETUP,
            Self::Read(ReadError::NoTarget | ReadError::EmptyInput | ReadError::NoInput(_))
            | Self::Replay(ReplayError::Nothing(_))
            | Self::NothingSetAside(_) => NOTHING,
            Self::Read(_) => UNREAD,
            Self::Lock(LockError::Taken(_)) => LATER,
            Self::Send(error) | Self::Replay(ReplayError::Send(error)) => exit::code(error.kind()),
            Self::Unsent(error) | Self::Delivery(DeliveryError::Unsent(error)) => {
                exit::code(error.kind)
            }
            Self::Replay(ReplayError::Stopped { kind, .. }) => exit::code(*kind),
            Self::Replay(ReplayError::File(_) | ReplayError::Damaged(_))
            | Self::Lock(_)
            | Self::Generate(_)
            | Self::Delivery(_)
            | Self::Record { .. } => SYSTEM,
            Self::Replay(_) => REFUSED,
        }
    }

    /// Reports the error. Under cron, a line every two minutes from each standby would hide others.
    pub fn report(&self) {
        match self.is_of_standby() {
            true => info(self),
            false => report(self),
        }
    }
}
