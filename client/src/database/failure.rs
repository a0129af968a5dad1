//! Kinds of failures of a database, and messages about failures.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use crate::database::tls;

#[cfg(test)]
mod tests;

/// The longest part of a message of a stranger that is shown.
const MOST_SHOWN: usize = 1000;

/// The kind of a failure, which decides whether a retry makes sense, and the exit code of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A conflict with another session, such as a deadlock or a lock that was not to be had; a retry may succeed.
    Conflict,
    /// The connection broke or was not made, or it is to a server that does not accept writes; a retry on a new
    /// connection may succeed.
    Lost,
    /// The server is short of disk space or memory, or cannot read a file; a retry may succeed.
    Exhausted,
    /// The server reports an internal error. Most pass, such as `tuple concurrently updated`.
    Internal,
    /// The database does not answer.
    Silent,
    /// The statement took too long, this time or always.
    Slow,
    /// The database refused the data itself, and will always refuse it (`OF_DATA`).
    Refused,
    /// The database refused the statement for a reason other than its data, for example because a partition is missing.
    Failed,
    /// The database denied access.
    Denied,
    /// The settings are wrong, or there is no store of the right version.
    Setup,
    /// This machine has a problem, such as a full disk.
    Local,
}

impl Kind {
    /// Returns the kind of an error of the client library.
    pub fn of(error: &Error) -> Self {
        error.code().map_or_else(|| of_client(error), of_server)
    }

    /// Returns the kind of an error that the server reported with this SQLSTATE.
    pub fn of_state(state: &str) -> Self {
        of_server(&SqlState::from_code(state))
    }

    /// Returns true if an immediate retry may succeed.
    pub fn is_passing(self) -> bool {
        matches!(
            self,
            Self::Conflict | Self::Lost | Self::Exhausted | Self::Internal
        )
    }

    /// Returns the kind of the same failure while a connection is made. No data was sent by then, so it cannot be the cause: a server
    /// whose disk is full refuses connections with an internal error.
    #[must_use]
    pub fn of_connecting(self) -> Self {
        match self {
            // Among others, the server does not take a setting of the connection.
            Self::Refused | Self::Failed => Self::Setup,
            Self::Conflict | Self::Internal | Self::Slow => Self::Lost,
            kind => kind,
        }
    }
}

/// The SQLSTATEs of data that can never be stored, with reasons. After any other SQLSTATE the data stays in the spool, because the
/// server, its settings or its disk may be the cause: an unknown `zone` in the settings of a store is a 22023.
pub const OF_DATA: [(&str, &str); 9] = [
    ("22001", "a name is too long"),
    ("22003", "a number is out of range"),
    ("22007", "a timestamp cannot be parsed"),
    ("22008", "a timestamp is out of range"),
    ("22015", "a duration is out of range"),
    ("22021", "a name has bytes that cannot be stored"),
    ("22P02", "a value cannot be parsed"),
    ("22P03", "the text is not compressed with zstd"),
    ("54000", "the text is too large, or has too many targets"),
];

/// Returns the kind of an error that the server reported.
fn of_server(state: &SqlState) -> Kind {
    match (state.code(), state.code().get(..2).unwrap_or_default()) {
        // The last two are a lock that was not available and an object in use.
        ("40001" | "40P01" | "55P03" | "55006", _) => Kind::Conflict,
        ("57014", _) => Kind::Slow,
        // A session that was idle for too long is ended, and a server that is read-only may have been the primary before.
        // The classes are connection trouble, and shutdown, startup or the end of the session.
        ("25P03" | "25006" | "53300", _) | (_, "08" | "57") => Kind::Lost,
        // Class 58 is trouble with files.
        (_, "53" | "58") => Kind::Exhausted,
        ("XX000", _) => Kind::Internal,
        ("42501", _) | (_, "28") => Kind::Denied,
        // These are a missing database or schema, a feature that is missing, and a missing relation, column or
        // function. The last class is a store without its extension.
        (_, "3D" | "3F" | "0A" | "42" | "55") => Kind::Setup,
        (state, _) if OF_DATA.iter().any(|(of_data, _)| *of_data == state) => Kind::Refused,
        _ => Kind::Failed,
    }
}

/// Returns the kind of an error of the client library: a broken connection, or a certificate or setting that cannot be
/// used.
fn of_client(error: &Error) -> Kind {
    let Some(source) = error.source() else {
        return Kind::Lost;
    };
    if source.is::<io::Error>() && of_tls(source).is_none() {
        Kind::Lost
    } else {
        Kind::Setup
    }
}

/// Formats an error: the server's message with its SQLSTATE and hint, or the client library's message with its cause.
/// The server's DETAIL is left out, because it may repeat a text that was sent.
pub fn message(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return server_message(error);
    }
    let mut message = error.to_string();
    if let Some(source) = error.source() {
        let _ = write!(message, ": {source}");
        if let Some(remedy) = remedy(source) {
            let _ = write!(message, " (hint: {remedy})");
        }
    }
    message
}

/// Returns the remedy of an error of TLS, if it is known.
fn remedy(source: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    if let Some(error) = of_tls(source) {
        return tls::remedy(error);
    }
    // The client library has no type for this error.
    let refused = source.to_string() == "server does not support TLS";
    refused.then_some("set ssl = on in PostgreSQL, or sslmode=disable on a trusted network")
}

fn of_tls<'a>(source: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    source
        .downcast_ref::<io::Error>()?
        .get_ref()?
        .downcast_ref()
}

/// Formats an error or notice of the server with its SQLSTATE and hint.
pub fn server_message(error: &DbError) -> String {
    with_hint(error, error.hint())
}

/// Formats it for people without SQL: without a hint that names an object of the extension.
pub fn plain_message(error: &DbError) -> String {
    with_hint(
        error,
        error.hint().filter(|hint| !hint.contains("jobstats")),
    )
}

fn with_hint(error: &DbError, hint: Option<&str>) -> String {
    let mut message = one_line(error.message());
    // The SQLSTATE of a notice means success and is left out.
    if *error.code() != SqlState::SUCCESSFUL_COMPLETION {
        let _ = write!(message, " (SQLSTATE {})", error.code().code());
    }
    if let Some(hint) = hint {
        let _ = write!(message, " (hint: {})", one_line(hint));
    }
    message
}

/// Returns untrusted text as one line of limited length without control characters or changes of text direction. A fake database could
/// otherwise forge log lines.
pub fn one_line(text: &str) -> String {
    let mut characters = text.chars();
    let visible = characters.by_ref().take(MOST_SHOWN).map(|character| {
        match character.is_control() || is_mark(character) {
            true => ' ',
            false => character,
        }
    });
    let mut line: String = visible.collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

/// Returns true for characters that separate lines or change the direction of text.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
