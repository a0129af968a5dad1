//! Exit codes of the programs, from sysexits.h.

use crate::database::failure::Kind;

/// The command line is wrong.
pub const USAGE: u8 = 64;
/// The database refused a text or a question.
pub const REFUSED: u8 = 65;
/// No input, or no result.
pub const NOTHING: u8 = 66;
/// The database cannot be reached.
pub const UNREACHABLE: u8 = 69;
/// This machine has a problem, such as no temporary file or no terminal.
pub const SYSTEM: u8 = 71;
/// No server could be read.
pub const UNREAD: u8 = 74;
/// Something is busy; a later call may succeed.
pub const LATER: u8 = 75;
/// The database denied access.
pub const DENIED: u8 = 77;
/// Settings are missing or have a mistake, or the store is not in the database.
pub const SETUP: u8 = 78;

/// Returns the exit code of a failure of the database.
pub const fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Conflict | Kind::Slow | Kind::Exhausted => LATER,
        Kind::Lost | Kind::Silent => UNREACHABLE,
        Kind::Refused | Kind::Failed | Kind::Internal => REFUSED,
        Kind::Denied => DENIED,
        Kind::Setup => SETUP,
        Kind::Local => SYSTEM,
    }
}
