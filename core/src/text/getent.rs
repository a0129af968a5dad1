//! Reads the output of `getent passwd` and `getent group`: numbers and names. [`history`] keeps the names of several days.
//!
//! A line of `passwd` is `name:password:uid:gid:GECOS:home:shell`, one of `group` is `name:password:gid:members`. Only names and numbers
//! leave this module, also in a [`Problem`], so that no caller can store a password by mistake.
//!
//! ```
//! use jobstats_core::base::pause::Pause;
//! use jobstats_core::text::getent::{Database, Entry};
//!
//! let text = b"root:x:0:0:root:/root:/bin/bash\nada:x:1000:100:Ada, room 5:4:/home/ada:/bin/sh\n";
//! let users = Database::Passwd.read(text, Pause::NEVER)?.entries;
//! assert_eq!(users[1], Entry { number: 1000, name: "ada", gid: Some(100) });
//! let groups = Database::Group.read(b"users:x:100:ada,bob\n", Pause::NEVER)?.entries;
//! assert_eq!(groups[0], Entry { number: 100, name: "users", gid: None });
//! # Ok::<(), std::collections::TryReserveError>(())
//! ```

pub mod history;
#[cfg(test)]
mod tests;

use std::collections::TryReserveError;

use crate::base::pause::Pause;
use crate::base::try_vec::push;
use crate::text::field::{self, FIRST_LINES, first_lines, is_number, lines, split_once};
use memchr::{memchr, memchr2_iter};

/// The longest name of a user or group in bytes. Linux itself allows 255.
pub const NAME_MAX: usize = 255;

/// The number of problems that are listed. Further ones are only counted.
const PROBLEMS_MAX: usize = 1_000;

crate::named! {
    /// The reason why a line could not be used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Reason {
        /// The line has too few fields, or fields that do not fit the database.
        UnreadableLine = "unreadable line",
        /// The uid or the gid is not a number, or it is too large.
        BadNumber = "bad number",
        /// The name is empty, too long, not UTF-8, or it has control characters.
        BadName = "bad name",
    }
    /// Returns a short code that stays the same in all versions.
    pub fn code;
}

/// A line that could not be used. It contains no part of the line, which may have a password in any place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    /// The line in the text, counted from 1.
    pub line: u32,
    /// The reason.
    pub reason: Reason,
}

/// A user or group: one line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry<'a> {
    /// The uid or gid. It is never 4294967295, which is invalid.
    pub number: u32,
    /// The name: 1 to [`NAME_MAX`] bytes without control characters.
    pub name: &'a str,
    /// The number of a user's primary group, never 4294967295; `None` for a group.
    pub gid: Option<u32>,
}

/// The entries and problems of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents<'a> {
    /// The entries in order of their number. If several lines have one number, it is the first of them, as for `getpwuid`.
    pub entries: Vec<Entry<'a>>,
    /// The lines that could not be used, the first thousand of them.
    pub problems: Vec<Problem>,
    /// The number of lines that could not be used.
    pub problems_found: u64,
}

impl Contents<'_> {
    /// Returns a text of the same entries without anything else that their lines had. It reads as the same entries.
    ///
    /// # Errors
    /// [`TryReserveError`] if there is not enough memory.
    pub fn text(&self, pause: Pause<'_>) -> Result<Vec<u8>, TryReserveError> {
        let mut text = Vec::new();
        for Entry { number, name, gid } in pause.among(self.entries.iter()) {
            let line = match gid {
                Some(gid) => format!("{name}:x:{number}:{gid}::/:\n"),
                None => format!("{name}:x:{number}:\n"),
            };
            text.try_reserve(line.len())?;
            text.extend_from_slice(line.as_bytes());
        }
        Ok(text)
    }
}

/// A database of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    /// The users.
    Passwd,
    /// The groups.
    Group,
}

impl Database {
    /// Reads a text. Blank lines, comments (`#`) and the lines of NIS (`+::::::`, `-user`, `+@group`) are skipped.
    ///
    /// # Errors
    /// [`TryReserveError`] if there is not enough memory.
    pub fn read<'a>(
        self,
        text: &'a [u8],
        pause: Pause<'_>,
    ) -> Result<Contents<'a>, TryReserveError> {
        let mut contents = Contents::default();
        for (line, printed) in lines(text, pause) {
            if is_no_entry(printed) {
                continue;
            }
            match self.entry(printed) {
                Ok(entry) => push(&mut contents.entries, entry)?,
                Err(reason) => {
                    contents.problems_found += 1;
                    if contents.problems.len() < PROBLEMS_MAX {
                        push(&mut contents.problems, Problem { line, reason })?;
                    }
                }
            }
        }
        // The names are slices of one text, so that their addresses are in the order of lines. A stable sort would allocate.
        contents
            .entries
            .sort_unstable_by_key(|entry| (entry.number, entry.name.as_ptr()));
        contents.entries.dedup_by_key(|entry| entry.number);
        Ok(contents)
    }

    /// Returns whether a text looks like this database: one of its first ten lines that are not skipped is an entry.
    pub fn recognizes(self, text: &[u8]) -> bool {
        let mut first = first_lines(text)
            .filter(|line| !is_no_entry(line))
            .take(FIRST_LINES);
        first.any(|line| self.entry(line).is_ok())
    }

    fn entry(self, line: &[u8]) -> Result<Entry<'_>, Reason> {
        let fields = match self {
            Self::Passwd => user(line),
            Self::Group => group(line),
        };
        let (name_field, number_field, gid) = fields.ok_or(Reason::UnreadableLine)?;
        Ok(Entry {
            gid: gid.map(number).transpose()?,
            number: number(number_field)?,
            name: name(name_field)?,
        })
    }
}

/// The name, the uid or gid, and the primary group of a user.
type Fields<'a> = (&'a [u8], &'a [u8], Option<&'a [u8]>);

/// Splits the line of a user. Fields are counted from both ends, because a directory service may put colons into GECOS.
///
/// Lines of `getent shadow` have nine fields with numbers at the same places, but end without a path.
fn user(line: &[u8]) -> Option<Fields<'_>> {
    let (name, rest) = split_once(line, b':')?;
    let (_password, rest) = split_once(rest, b':')?;
    let (uid, rest) = split_once(rest, b':')?;
    let (gid, rest) = split_once(rest, b':')?;
    let mut last = rest.rsplitn(3, |byte| *byte == b':');
    let (shell, home, _gecos) = (last.next()?, last.next()?, last.next()?);
    let is_path = |field: &[u8]| field.starts_with(b"/");
    (is_path(home) || is_path(shell)).then_some((name, uid, Some(gid)))
}

/// Splits the line of a group, which has four fields. The members are not read.
fn group(line: &[u8]) -> Option<Fields<'_>> {
    let (name, rest) = split_once(line, b':')?;
    let (_password, rest) = split_once(rest, b':')?;
    let (gid, members) = split_once(rest, b':')?;
    memchr(b':', members).is_none().then_some((name, gid, None))
}

/// Returns whether a line is blank, a comment or an entry of NIS.
fn is_no_entry(line: &[u8]) -> bool {
    match line.first() {
        Some(b'+' | b'-' | b'#') => true,
        _ => line.trim_ascii_start().is_empty(),
    }
}

/// Returns whether one of the first ten lines of a text [may have a password](may_have_password).
pub fn begins_with_password(text: &[u8]) -> bool {
    let mut first = first_lines(text).take(FIRST_LINES);
    first.any(may_have_password)
}

/// Returns whether a line of a text looks like one of `passwd`, `shadow`, `group` or `gshadow`, or has an encrypted password at
/// any place. Such lines must not be shown to anybody.
pub fn may_have_password(text: &[u8]) -> bool {
    has_marker(text) || text.split(|byte| *byte == b'\n').any(is_of_getent)
}

/// Returns whether a text has the beginning of an encrypted password, such as `$6$` or `{SSHA}`.
fn has_marker(text: &[u8]) -> bool {
    const NAMES: [&[u8]; 6] = [b"SSHA", b"SHA", b"SMD5", b"MD5", b"CRYPT", b"crypt"];
    memchr2_iter(b'$', b'{', text).any(|place| {
        let (mark, rest) = (text[place], &text[place + 1..]);
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        let length = rest
            .iter()
            .take(10)
            .take_while(|byte| is_part(byte))
            .count();
        let (name, after) = (&rest[..length], &rest[length..]);
        if mark == b'$' {
            let salt = after
                .iter()
                .skip(1)
                .take_while(|byte| !byte.is_ascii_whitespace());
            length > 0 && after.first() == Some(&b'$') && salt.take(8).count() == 8
        } else {
            NAMES.iter().any(|known| name.starts_with(known))
        }
    })
}

/// Returns whether a line has the fields of a user or group.
fn is_of_getent(line: &[u8]) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut fields = line.split(|byte| *byte == b':');
    let name = fields.next().unwrap_or_default();
    let password = fields.next();
    let rest: Vec<&[u8]> = fields.take(8).collect();
    let is_number_or_empty = |field: &&[u8]| field.iter().all(u8::is_ascii_digit);
    let is_shown =
        password.is_some_and(|it| matches!(it, b"x" | b"*" | b"!" | b"!!" | b"!*" | b""));
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic());
    is_name
        && match rest.as_slice() {
            // A user: uid, gid, GECOS, home and shell.
            [uid, gid, _, _, _, ..] if is_number(uid) && is_number(gid) => true,
            // Days of a password.
            [_, _, _, _, _, _, _] if rest.iter().all(is_number_or_empty) => true,
            // A group: gid and members, or administrators and members.
            [gid, _] => is_number(gid) || is_shown,
            _ => false,
        }
}

/// Reads the number of a user or group, which has no blanks around it.
fn number(field: &[u8]) -> Result<u32, Reason> {
    let digits = field.iter().all(u8::is_ascii_digit);
    let number = digits.then(|| field::id(field)).flatten();
    number.ok_or(Reason::BadNumber)
}

/// Reads the name of a user or group.
fn name(field: &[u8]) -> Result<&str, Reason> {
    let name = std::str::from_utf8(field).ok();
    name.filter(|name| is_name(name)).ok_or(Reason::BadName)
}

/// Returns whether a user or group can have this name: 1 to [`NAME_MAX`] bytes without control characters.
pub fn is_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && !name.contains(char::is_control)
}
