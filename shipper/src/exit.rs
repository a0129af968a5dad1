//! The exit code of each error of the shipper.

use jobstats_client::exit;

pub use jobstats_client::exit::{LATER, NOTHING, REFUSED, SETUP, SYSTEM, UNREAD, USAGE};

use crate::sources::ReadError;
use crate::{Error, backlog, input, lctl, lock, record, replay, requeue};

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

/// Returns the exit code of an error.
pub fn code(error: &Error) -> u8 {
    match error {
        Error::Settings(_) | Error::Sources(_) => SETUP,
        Error::Read(error) => of_reading(error),
        Error::Lock(lock::Error::Taken(_)) => LATER,
        Error::Lock(lock::Error::Unusable { .. }) | Error::Generate(_) => SYSTEM,
        Error::Feed(error) => exit::code(error.kind()),
        Error::Unsent(error) => exit::code(error.kind),
        Error::Backlog(error) => of_backlog(error),
        Error::Record(record::Error { .. }) => SYSTEM,
        Error::Replay(error) => of_replay(error),
        Error::Requeue(requeue::Error::Directory { .. }) => SYSTEM,
        Error::Requeue(requeue::Error::Nothing(_)) => NOTHING,
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
