//! Reads the output of `getent passwd`: the numbers of users and their names.
//!
//! A line is `name:password:uid:gid:GECOS:home:shell`. Its fields are counted from both ends, because a directory
//! service may put colons into GECOS. Only the name, the uid and the gid ever leave this module. Neither a user nor a [`getent::Problem`]
//! holds another part of a line, so that no caller can store a password by mistake.
//!
//! ```
//! use jobstats_core::text::getent::Entry;
//! use jobstats_core::text::passwd;
//! use jobstats_core::base::pause::Pause;
//!
//! let text = b"root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000:Ada, room 5:4:/home/ada:/bin/sh\n";
//! let contents = passwd::read(text, Pause::NEVER)?;
//! assert_eq!(contents.entries[1], Entry { number: 1000, name: "ada", gid: Some(1000) });
//! # Ok::<(), jobstats_core::text::getent::ReadError>(())
//! ```

#[cfg(test)]
mod tests;

use memchr::memrchr;

use crate::base::pause::Pause;
use crate::text::getent::{self, Contents, Entry, ReadError, Reason, split_first};

/// Reads a text.
///
/// Blank lines, comments (`#`) and the lines of NIS (`+::::::`, `-user`, `+@group`) are no users and no problems.
///
/// # Errors
/// [`ReadError::OutOfMemory`].
pub fn read<'a>(text: &'a [u8], pause: Pause<'_>) -> Result<Contents<'a>, ReadError> {
    getent::read(text, pause, user)
}

/// Returns whether a text looks like one of `getent passwd`: one of its first ten lines that are not skipped is a user.
pub fn recognizes(text: &[u8]) -> bool {
    getent::is_among_first(text, user)
}

/// Reads the line of a user.
fn user(line: &[u8]) -> Result<Entry<'_>, Reason> {
    let [name, uid, gid] = fields(line).ok_or(Reason::UnreadableLine)?;
    let gid = getent::number(gid)?;
    Ok(Entry {
        number: getent::number(uid)?,
        name: getent::name(name)?,
        gid: Some(gid),
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
