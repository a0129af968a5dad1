//! Reads the output of `getent group`: the numbers of groups and their names.
//!
//! A line is `name:password:gid:members`. Only the name and the gid ever leave this module: neither a group nor a [`getent::Problem`]
//! holds another part of a line. The members are not read, of which there may be any number; users whose primary group it is
//! are not among them.
//!
//! ```
//! use jobstats_core::text::getent::Entry;
//! use jobstats_core::text::group;
//! use jobstats_core::base::pause::Pause;
//!
//! let contents = group::read(b"root:x:0:\nusers:x:100:ada,bob\n", Pause::NEVER)?;
//! assert_eq!(contents.entries[1], Entry { number: 100, name: "users", gid: None });
//! # Ok::<(), jobstats_core::text::getent::ReadError>(())
//! ```

#[cfg(test)]
mod tests;

use memchr::memchr;

use crate::base::pause::Pause;
use crate::text::getent::{self, Contents, Entry, ReadError, Reason, split_first};

/// Reads a text.
///
/// Blank lines, comments (`#`) and the lines of NIS (`+:::`, `-group`) are no groups and no problems.
///
/// # Errors
/// [`ReadError::OutOfMemory`].
pub fn read<'a>(text: &'a [u8], pause: Pause<'_>) -> Result<Contents<'a>, ReadError> {
    getent::read(text, pause, group)
}

/// Returns whether a text looks like one of `getent group`: one of its first ten lines that are not skipped is a group.
pub fn recognizes(text: &[u8]) -> bool {
    getent::is_among_first(text, group)
}

/// Reads the line of a group.
fn group(line: &[u8]) -> Result<Entry<'_>, Reason> {
    let [name, gid] = fields(line).ok_or(Reason::UnreadableLine)?;
    Ok(Entry {
        number: getent::number(gid)?,
        name: getent::name(name)?,
        gid: None,
    })
}

/// Returns name and gid of a line; `None` if it does not have four fields. Lines of `getent passwd` and `shadow` have more.
fn fields(line: &[u8]) -> Option<[&[u8]; 2]> {
    let (name, rest) = split_first(line)?;
    let (_password, rest) = split_first(rest)?;
    let (gid, members) = split_first(rest)?;
    memchr(b':', members).is_none().then_some([name, gid])
}
