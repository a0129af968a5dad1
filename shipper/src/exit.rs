//! Exit codes, those of sysexits.h.

use crate::Error;
use crate::feed::Kind;
use crate::lock;

/// Used wrongly.
pub const USAGE: u8 = 64;
/// The database does not take this text.
pub const REFUSED: u8 = 65;
/// There is nothing to send.
pub const NO_READING: u8 = 66;
/// The database cannot be reached.
pub const UNREACHABLE: u8 = 69;
/// This machine.
pub const SYSTEM: u8 = 71;
/// Later it may work.
pub const LATER: u8 = 75;
/// The database does not let us.
pub const DENIED: u8 = 77;
/// Something is to be set up first.
pub const SETUP: u8 = 78;

/// For `--help`.
pub const HELP: &str = "\
Exit codes:
   0  all was sent
  64  used wrongly
  65  the database refused a text
  66  no reading: lctl failed or ran out of time, or there was nothing to read
  69  the database cannot be reached
  71  this machine: no temporary file, no lock file
  75  busy: another instance, a conflict or a statement that took too long
  77  the database denied access
  78  something is to be set up first: settings, the store in the database";

/// The code that tells of this error.
pub fn code(error: &Error) -> u8 {
    match error {
        Error::Connection(_) => SETUP,
        Error::Lctl(_) | Error::Input(_) => NO_READING,
        Error::Lock(lock::Error::Taken(_)) => LATER,
        Error::Lock(lock::Error::Unusable { .. }) => SYSTEM,
        Error::Feed(error) => of_feed(error.kind()),
        Error::Unsent(error) => of_feed(error.kind),
    }
}

fn of_feed(kind: Kind) -> u8 {
    match kind {
        Kind::Conflict | Kind::Slow => LATER,
        Kind::Lost | Kind::Silent => UNREACHABLE,
        Kind::Refused => REFUSED,
        Kind::Denied => DENIED,
        Kind::Setup => SETUP,
        Kind::Local => SYSTEM,
    }
}
