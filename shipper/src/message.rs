//! What people read: stderr, one line each.

use std::fmt::Arguments;
use std::io::{Write, stderr};

/// Says something on stderr. Where nobody reads it there is nobody to tell.
pub fn report(message: Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "jobstats-shipper: {message}");
}

/// Lines to append to a message, each on a line of its own.
pub fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
