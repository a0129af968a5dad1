//! Reads what `getent passwd` prints: the numbers of users and their names.
//!
//! A line is `name:password:uid:gid:GECOS:home:shell`. Its fields are counted from both ends, because a directory
//! service may put colons into GECOS. Only the name, the uid and the gid ever leave this module. Neither a user nor a [`Problem`]
//! holds another part of a line, so that no caller can store a password by mistake.
//!
//! ```
//! use jobstats_core::passwd;
//! use jobstats_core::pause::Pause;
//!
//! let text = b"root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000:Ada, room 5:4:/home/ada:/bin/sh\n";
//! let contents = passwd::read(text, Pause::NEVER)?;
//! assert_eq!(contents.users[1], passwd::User { uid: 1000, gid: 1000, name: "ada" });
//! # Ok::<(), passwd::ReadError>(())
//! ```

#[cfg(test)]
mod tests;

use memchr::memrchr;

use crate::getent::{self, split_first};
pub use crate::getent::{NAME_MAX, Problem, ReadError, Reason};
use crate::pause::Pause;

/// A user: one line of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct User<'a> {
    /// The number of the user. It is never 4294967295, which stands for no user.
    pub uid: u32,
    /// The number of the user's primary group. It is never 4294967295.
    pub gid: u32,
    /// The name: 1 to [`NAME_MAX`] bytes without control characters.
    pub name: &'a str,
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

impl Contents<'_> {
    /// Returns a text of the same users without anything else that their lines had. It reads as the same users.
    ///
    /// # Errors
    /// [`ReadError::OutOfMemory`].
    pub fn text(&self, pause: Pause<'_>) -> Result<Vec<u8>, ReadError> {
        let lines = self.users.iter();
        getent::text(lines, pause, |User { uid, gid, name }| {
            format!("{name}:x:{uid}:{gid}::/:\n")
        })
    }
}

/// Reads a text.
///
/// Blank lines, comments (`#`) and the lines of NIS (`+::::::`, `-user`, `+@group`) are no users and no problems.
///
/// # Errors
/// [`ReadError::OutOfMemory`].
pub fn read<'a>(text: &'a [u8], pause: Pause<'_>) -> Result<Contents<'a>, ReadError> {
    let contents = getent::read(text, pause, user, |user| (user.uid, user.name))?;
    Ok(Contents {
        users: contents.entries,
        problems: contents.problems,
        problems_found: contents.problems_found,
    })
}

/// Returns whether a text looks like one of `getent passwd`: one of its first ten lines that are not skipped is a user.
pub fn is_passwd(text: &[u8]) -> bool {
    getent::is_among_first(text, user)
}

/// Reads the line of a user.
fn user(line: &[u8]) -> Result<User<'_>, Reason> {
    let [name, uid, gid] = fields(line).ok_or(Reason::UnreadableLine)?;
    let gid = getent::number(gid)?;
    Ok(User {
        uid: getent::number(uid)?,
        gid,
        name: getent::name(name)?,
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

/// Splits a line at its last colon.
fn split_last(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let place = memrchr(b':', line)?;
    Some((&line[..place], &line[place + 1..]))
}
