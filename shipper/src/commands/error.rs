//! The errors of the commands, and the exit code of each.

use jobstats_client::exit;

pub use jobstats_client::exit::{LATER, NOTHING, REFUSED, SETUP, SYSTEM, UNREAD, USAGE};

use crate::commands::{generate, record, replay, requeue};
use crate::keep::backlog;
use crate::read::sources::{self, ReadError};
use crate::read::{input, lctl};
use crate::send;
use crate::system::lock;
use crate::system::message::{info, report};

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Exit codes:
   0  everything was sent, or waits in the spool for another instance that is sending
  64  wrong arguments
  65  the database refused or rejected a text
  66  nothing to read: no target on this server, no input, or no reading that is set aside
  69  the database cannot be reached
  71  an error of this machine: no lock file, no room in the spool, a damaged reading
  74  the reading failed: lctl or a command failed, took too long, or printed something else or too much
  75  busy: another instance, a conflict or a statement that took too long
  77  the database denied access
  78  something must be set up first: settings, the store in the database";

/// An error that kept some or all targets from being sent.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Settings(#[from] jobstats_client::settings::Error),
    #[error(transparent)]
    Lock(#[from] lock::Error),
    #[error(transparent)]
    Sources(#[from] sources::Error),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Feed(#[from] send::Error),
    #[error(transparent)]
    Unsent(#[from] send::Unsent),
    #[error(transparent)]
    Backlog(#[from] backlog::Error),
    #[error(transparent)]
    Generate(#[from] generate::Error),
    #[error(transparent)]
    Record(#[from] record::Error),
    #[error(transparent)]
    Replay(#[from] replay::Error),
    #[error(transparent)]
    Requeue(#[from] requeue::Error),
}

impl Error {
    /// Returns true if there is no target to be read. This is normal on the standby of a pair.
    pub fn is_of_standby(&self) -> bool {
        matches!(self, Self::Read(ReadError::Lctl(lctl::Error::NoTarget)))
    }

    /// Returns the exit code of the error.
    pub fn code(&self) -> u8 {
        match self {
            Self::Settings(_) | Self::Sources(_) => SETUP,
            Self::Read(error) => of_reading(error),
            Self::Lock(lock::Error::Taken(_)) => LATER,
            Self::Lock(lock::Error::Unusable { .. }) | Self::Generate(_) => SYSTEM,
            Self::Feed(error) => exit::code(error.kind()),
            Self::Unsent(error) => exit::code(error.kind),
            Self::Backlog(error) => of_backlog(error),
            Self::Record(record::Error { .. }) => SYSTEM,
            Self::Replay(error) => of_replay(error),
            Self::Requeue(requeue::Error::Directory { .. }) => SYSTEM,
            Self::Requeue(requeue::Error::Nothing(_)) => NOTHING,
        }
    }

    /// Reports the error. Under cron, a line every two minutes from each standby would hide others.
    pub fn report(&self) {
        if self.is_of_standby() {
            info(format_args!("{self}"));
        } else {
            report(format_args!("{self}"));
        }
    }
}

fn of_replay(error: &replay::Error) -> u8 {
    match error {
        replay::Error::Nothing(_) => NOTHING,
        replay::Error::Directory { .. } | replay::Error::Damaged { .. } => SYSTEM,
        replay::Error::TooOld { .. }
        | replay::Error::Newer { .. }
        | replay::Error::Rejected { .. } => REFUSED,
        replay::Error::Feed(error) => exit::code(error.kind()),
        replay::Error::Stopped { kind, .. } => exit::code(*kind),
        replay::Error::Unsent(_) => REFUSED,
    }
}

fn of_reading(error: &ReadError) -> u8 {
    match error {
        ReadError::Lctl(lctl::Error::NoTarget) => NOTHING,
        ReadError::Input(input::Error::Empty | input::Error::Unreadable { .. }) => NOTHING,
        _ => UNREAD,
    }
}

fn of_backlog(error: &backlog::Error) -> u8 {
    match error {
        backlog::Error::Unsent(error) => exit::code(error.kind),
        backlog::Error::Lock(_)
        | backlog::Error::Directory { .. }
        | backlog::Error::Damaged
        | backlog::Error::Dropped => SYSTEM,
    }
}
