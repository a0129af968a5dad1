//! Reads what `getent passwd` prints: the numbers of users and their names.
//!
//! A line is `name:password:uid:gid:GECOS:home:shell`. Its fields are counted from both ends, because a directory
//! service may put colons into GECOS. Only the name and the uid ever leave this module. Neither a user nor a [`Problem`]
//! holds another part of a line, so that no caller can store a password by mistake.
//!
//! ```
//! use jobstats_core::passwd;
//! use jobstats_core::pause::Pause;
//!
//! let text = b"root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000:Ada, room 5:4:/home/ada:/bin/sh\n";
//! let contents = passwd::read(text, Pause::NEVER)?;
//! assert_eq!(contents.users[1], passwd::User { uid: 1000, name: "ada" });
//! # Ok::<(), passwd::ReadError>(())
//! ```

#[cfg(test)]
mod tests;

use std::collections::TryReserveError;

use memchr::{memchr, memrchr};
use thiserror::Error;

use crate::pause::Pause;

/// The longest name of a user in bytes. Linux itself allows 255.
pub const NAME_MAX: usize = 255;

/// The number of problems that are listed. Further ones are only counted.
const PROBLEMS_MAX: usize = 1_000;

/// The number of lines that [`is_passwd`] looks at.
const FIRST_LINES: usize = 10;

/// A user: one line of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct User<'a> {
    /// The number of the user. It is never 4294967295, which stands for no user.
    pub uid: u32,
    /// The name: 1 to [`NAME_MAX`] bytes without control characters.
    pub name: &'a str,
}

/// The reason why a line could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum Reason {
    /// The line has fewer than seven fields, or neither its home directory nor its shell is a path.
    #[error("the line is nothing that getent passwd prints")]
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

/// Everything that a text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents<'a> {
    /// The users in order of their uid. If several lines have one uid, it is the first of them, as for `getpwuid`.
    pub users: Vec<User<'a>>,
    /// The lines that could not be used, the first thousand of them.
    pub problems: Vec<Problem>,
    /// The number of lines that could not be used.
    pub problems_found: u64,
}

/// An error of [`read`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// There is not enough memory for the users of the text.
    #[error("{0}")]
    OutOfMemory(#[from] TryReserveError),
}

/// Reads a text.
///
/// Blank lines, comments (`#`) and the lines of NIS (`+::::::`, `-user`, `+@group`) are no users and no problems.
///
/// # Errors
/// [`ReadError::OutOfMemory`].
pub fn read<'a>(text: &'a [u8], pause: Pause<'_>) -> Result<Contents<'a>, ReadError> {
    let mut contents = Contents::default();
    for (number, line) in pause.among((1..).zip(lines(text))) {
        if is_no_user(line) {
            continue;
        }
        match user(line) {
            Ok(user) => push(&mut contents.users, user)?,
            Err(reason) => {
                contents.problems_found += 1;
                if contents.problems.len() < PROBLEMS_MAX {
                    let line = u32::try_from(number).unwrap_or(u32::MAX);
                    push(&mut contents.problems, Problem { line, reason })?;
                }
            }
        }
    }
    // The names are parts of one text, so that their addresses tell which line came first. A stable sort would allocate.
    let order = |user: &User<'_>| (user.uid, user.name.as_ptr());
    contents.users.sort_unstable_by_key(order);
    contents.users.dedup_by_key(|user| user.uid);
    Ok(contents)
}

/// Returns whether a text looks like one of `getent passwd`: one of its first ten lines that are not skipped is a user.
pub fn is_passwd(text: &[u8]) -> bool {
    let first = lines(text).filter(|line| !is_no_user(line));
    first.take(FIRST_LINES).any(|line| user(line).is_ok())
}

fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), TryReserveError> {
    items.try_reserve(1)?;
    items.push(item);
    Ok(())
}

/// Returns the lines of a text without their ends, which may be those of Windows.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (line, after) = match memchr(b'\n', text) {
            Some(end) => (&text[..end], Some(&text[end + 1..])),
            None => (text, None),
        };
        rest = after;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// Returns whether a line is blank, a comment or an entry of NIS.
fn is_no_user(line: &[u8]) -> bool {
    match line.first() {
        Some(b'+' | b'-' | b'#') => true,
        _ => line.trim_ascii_start().is_empty(),
    }
}

/// Reads the line of a user.
fn user(line: &[u8]) -> Result<User<'_>, Reason> {
    let [name, uid, gid] = fields(line).ok_or(Reason::UnreadableLine)?;
    number(gid).ok_or(Reason::BadNumber)?;
    Ok(User {
        uid: number(uid).ok_or(Reason::BadNumber)?,
        name: text(name).ok_or(Reason::BadName)?,
    })
}

/// Returns name, uid and gid of a line; `None` if it does not have all seven fields.
///
/// Lines of `getent shadow` have nine fields with numbers at the same places. They are told apart by their end, where no
/// path is.
fn fields(line: &[u8]) -> Option<[&[u8]; 3]> {
    let (name, rest) = split_first(line)?;
    let (_password, rest) = split_first(rest)?;
    let (uid, rest) = split_first(rest)?;
    let (gid, rest) = split_first(rest)?;
    let (rest, shell) = split_last(rest)?;
    let (_gecos, home) = split_last(rest)?;
    let is_path = |field: &[u8]| field.starts_with(b"/");
    (is_path(home) || is_path(shell)).then_some([name, uid, gid])
}

/// Splits a line at its first colon.
fn split_first(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let place = memchr(b':', line)?;
    Some((&line[..place], &line[place + 1..]))
}

/// Splits a line at its last colon.
fn split_last(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let place = memrchr(b':', line)?;
    Some((&line[..place], &line[place + 1..]))
}

/// Returns the number of a user or group; `None` if it is none. The largest number stands for nobody in system calls.
fn number(field: &[u8]) -> Option<u32> {
    if !field.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = std::str::from_utf8(field).ok()?.parse().ok()?;
    (number != u32::MAX).then_some(number)
}

fn text(field: &[u8]) -> Option<&str> {
    if !(1..=NAME_MAX).contains(&field.len()) {
        return None;
    }
    let name = std::str::from_utf8(field).ok()?;
    (!name.contains(char::is_control)).then_some(name)
}
