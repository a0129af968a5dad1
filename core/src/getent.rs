//! Reads what the lines that `getent` prints have in common: fields between colons, numbers and names.

use std::collections::TryReserveError;

use memchr::memchr;
use thiserror::Error;

use crate::accounting::field::{self, lines};
use crate::pause::Pause;

/// The longest name of a user or group in bytes. Linux itself allows 255.
pub const NAME_MAX: usize = 255;

/// The number of problems that are listed. Further ones are only counted.
pub(crate) const PROBLEMS_MAX: usize = 1_000;

/// The number of lines by which a text is recognized.
const FIRST_LINES: usize = 10;

/// The reason why a line could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Reason {
    /// The line has too few fields, or fields that do not look like those of the database.
    #[error("the line is nothing that getent prints")]
    UnreadableLine,
    /// The uid or the gid is not a number, or it is too large.
    #[error("the uid or the gid is not between 0 and 4294967294")]
    BadNumber,
    /// The name is empty, too long, not UTF-8, or it has control characters.
    #[error("the name is empty, too long or no text")]
    BadName,
}

impl Reason {
    /// Returns a short code that stays the same in all versions.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnreadableLine => "unreadable line",
            Self::BadNumber => "bad number",
            Self::BadName => "bad name",
        }
    }
}

/// A line that could not be used. It holds nothing of the line itself, which may have a password in any place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    /// The line in the text, counted from 1.
    pub line: u32,
    /// The reason.
    pub reason: Reason,
}

/// An error of reading a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// There is not enough memory for the names of the text.
    #[error("{0}")]
    OutOfMemory(#[from] TryReserveError),
}

/// The entries of a text and its problems.
pub(crate) struct Contents<T> {
    /// The entries in order of their number. If several lines have one number, it is the first of them.
    pub entries: Vec<T>,
    /// The lines that could not be used, the first thousand of them.
    pub problems: Vec<Problem>,
    /// The number of lines that could not be used.
    pub problems_found: u64,
}

/// Reads a text whose lines `entry` reads. `key` returns the number and the name of an entry.
pub(crate) fn read<'a, T>(
    text: &'a [u8],
    pause: Pause<'_>,
    entry: fn(&'a [u8]) -> Result<T, Reason>,
    key: fn(&T) -> (u32, &'a str),
) -> Result<Contents<T>, ReadError> {
    let mut contents = Contents {
        entries: Vec::new(),
        problems: Vec::new(),
        problems_found: 0,
    };
    for (line, printed) in pause.among(lines(text)) {
        if is_no_entry(printed) {
            continue;
        }
        match entry(printed) {
            Ok(entry) => push(&mut contents.entries, entry)?,
            Err(reason) => {
                contents.problems_found += 1;
                if contents.problems.len() < PROBLEMS_MAX {
                    push(&mut contents.problems, Problem { line, reason })?;
                }
            }
        }
    }
    // The names are parts of one text, so that their addresses tell which line came first. A stable sort would allocate.
    let order = |entry: &T| {
        let (number, name) = key(entry);
        (number, name.as_ptr())
    };
    contents.entries.sort_unstable_by_key(order);
    contents.entries.dedup_by_key(|entry| key(entry).0);
    Ok(contents)
}

/// Returns a text with the lines that `line` prints of entries.
pub(crate) fn text<T>(
    entries: impl Iterator<Item = T>,
    pause: Pause<'_>,
    line: fn(T) -> String,
) -> Result<Vec<u8>, ReadError> {
    let mut text = Vec::new();
    for entry in pause.among(entries) {
        let line = line(entry);
        text.try_reserve(line.len())?;
        text.extend_from_slice(line.as_bytes());
    }
    Ok(text)
}

/// Returns whether one of the first ten lines of a text that are not skipped is an entry.
pub(crate) fn is_among_first<'a, T>(
    text: &'a [u8],
    entry: fn(&'a [u8]) -> Result<T, Reason>,
) -> bool {
    let lines = lines(text).map(|(_, line)| line);
    let mut first = lines.filter(|line| !is_no_entry(line)).take(FIRST_LINES);
    first.any(|line| entry(line).is_ok())
}

fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), TryReserveError> {
    items.try_reserve(1)?;
    items.push(item);
    Ok(())
}

/// Returns whether a line is blank, a comment or an entry of NIS.
fn is_no_entry(line: &[u8]) -> bool {
    match line.first() {
        Some(b'+' | b'-' | b'#') => true,
        _ => line.trim_ascii_start().is_empty(),
    }
}

/// Splits a line at its first colon.
pub(crate) fn split_first(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let place = memchr(b':', line)?;
    Some((&line[..place], &line[place + 1..]))
}

/// Reads the number of a user or group, which has no blanks around it.
pub(crate) fn number(field: &[u8]) -> Result<u32, Reason> {
    let digits = field.iter().all(u8::is_ascii_digit);
    let number = digits.then(|| field::id(field)).flatten();
    number.ok_or(Reason::BadNumber)
}

/// Reads the name of a user or group.
pub(crate) fn name(field: &[u8]) -> Result<&str, Reason> {
    let is_length = (1..=NAME_MAX).contains(&field.len());
    let name = std::str::from_utf8(field).ok().filter(|_| is_length);
    let name = name.filter(|name| !name.contains(char::is_control));
    name.ok_or(Reason::BadName)
}
