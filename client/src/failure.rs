//! Kinds of failures of a database, and messages about failures.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

#[cfg(test)]
mod tests;

/// The kind of a failure, which decides whether a retry makes sense, and what a program tells its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A conflict with another session; a retry may succeed.
    Conflict,
    /// The connection broke or was not made; a retry may succeed.
    Lost,
    /// The database does not answer.
    Silent,
    /// The statement took too long, this time or always.
    Slow,
    /// The database refused the statement or its data.
    Refused,
    /// The database denied access.
    Denied,
    /// The settings are wrong, or there is no store.
    Setup,
    /// This machine has a problem, such as a full disk.
    Local,
}

impl Kind {
    /// Returns the kind of an error of the client library.
    pub fn of(error: &Error) -> Self {
        error.code().map_or_else(|| of_client(error), of_server)
    }

    /// Returns true if an immediate retry may succeed.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Conflict | Self::Lost)
    }
}

/// Returns the kind of an error that the server reported.
fn of_server(state: &SqlState) -> Kind {
    match (state.code(), state.code().get(..2).unwrap_or_default()) {
        ("40001" | "40P01", _) => Kind::Conflict,
        ("57014", _) => Kind::Slow,
        // These are shutdown, startup, too many connections and connection trouble.
        ("57P01" | "57P02" | "57P03" | "53300", _) | (_, "08") => Kind::Lost,
        ("42501", _) | (_, "28") => Kind::Denied,
        // These are a missing database, schema, relation, column or function, and a store without its extension.
        ("3D000" | "3F000" | "42P01" | "42703" | "42883" | "55000", _) => Kind::Setup,
        _ => Kind::Refused,
    }
}

/// Returns the kind of an error of the client library: a broken connection, or a certificate or setting that cannot be
/// used.
fn of_client(error: &Error) -> Kind {
    let Some(source) = error.source() else {
        return Kind::Lost;
    };
    match source.downcast_ref::<io::Error>() {
        Some(error)
            if !error
                .get_ref()
                .is_some_and(|inner| inner.is::<rustls::Error>()) =>
        {
            Kind::Lost
        }
        _ => Kind::Setup,
    }
}

/// Formats an error: the server's message with its SQLSTATE and hint, or the client library's message with its cause.
/// The server's DETAIL is left out, because it may repeat what was sent.
pub fn message(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return server_message(error);
    }
    let mut message = error.to_string();
    if let Some(source) = error.source() {
        let _ = write!(message, ": {source}");
    }
    message
}

/// Formats an error or notice of the server with its SQLSTATE and hint.
pub fn server_message(error: &DbError) -> String {
    let hint = error.hint().map(|hint| format!(" (hint: {hint})"));
    format!(
        "{} (SQLSTATE {}){}",
        error.message(),
        error.code().code(),
        hint.unwrap_or_default()
    )
}
