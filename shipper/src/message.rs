//! Writes messages for people to stderr.

use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Writes one message to stderr. A failure to write is ignored: nobody is left to tell.
pub fn report(message: Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "jobstats-shipper: {message}");
}

/// Formats lines for the end of a message, each on a line of its own.
pub fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
