//! Reads what `getent group` prints: the numbers of groups and their names.
//!
//! A line is `name:password:gid:members`. Only the name and the gid ever leave this module: neither a group nor a [`Problem`]
//! holds another part of a line. The members are not read, of which there may be any number; users whose primary group it is
//! are not among them.
//!
//! ```
//! use jobstats_core::group;
//! use jobstats_core::pause::Pause;
//!
//! let contents = group::read(b"root:x:0:\nusers:x:100:ada,bob\n", Pause::NEVER)?;
//! assert_eq!(contents.groups[1], group::Group { gid: 100, name: "users" });
//! # Ok::<(), group::ReadError>(())
//! ```

#[cfg(test)]
mod tests;

use memchr::memchr;

use crate::getent::{self, split_first};
pub use crate::getent::{NAME_MAX, Problem, ReadError, Reason};
use crate::pause::Pause;

/// A group: one line of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group<'a> {
    /// The number of the group. It is never 4294967295, which stands for no group.
    pub gid: u32,
    /// The name: 1 to [`NAME_MAX`] bytes without control characters.
    pub name: &'a str,
}

/// Everything that a text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents<'a> {
    /// The groups in order of their gid. If several lines have one gid, it is the first of them, as for `getgrgid`.
    pub groups: Vec<Group<'a>>,
    /// The lines that could not be used, the first thousand of them.
    pub problems: Vec<Problem>,
    /// The number of lines that could not be used.
    pub problems_found: u64,
}

impl Contents<'_> {
    /// Returns a text of the same groups without anything else that their lines had. It reads as the same groups.
    ///
    /// # Errors
    /// [`ReadError::OutOfMemory`].
    pub fn text(&self, pause: Pause<'_>) -> Result<Vec<u8>, ReadError> {
        let lines = self.groups.iter();
        getent::text(lines, pause, |Group { gid, name }| {
            format!("{name}:x:{gid}:\n")
        })
    }
}

/// Reads a text.
///
/// Blank lines, comments (`#`) and the lines of NIS (`+:::`, `-group`) are no groups and no problems.
///
/// # Errors
/// [`ReadError::OutOfMemory`].
pub fn read<'a>(text: &'a [u8], pause: Pause<'_>) -> Result<Contents<'a>, ReadError> {
    let contents = getent::read(text, pause, group, |group| (group.gid, group.name))?;
    Ok(Contents {
        groups: contents.entries,
        problems: contents.problems,
        problems_found: contents.problems_found,
    })
}

/// Returns whether a text looks like one of `getent group`: one of its first ten lines that are not skipped is a group.
pub fn recognizes(text: &[u8]) -> bool {
    getent::is_among_first(text, group)
}

/// Reads the line of a group.
fn group(line: &[u8]) -> Result<Group<'_>, Reason> {
    let [name, gid] = fields(line).ok_or(Reason::UnreadableLine)?;
    Ok(Group {
        gid: getent::number(gid)?,
        name: getent::name(name)?,
    })
}

/// Returns name and gid of a line; `None` if it does not have four fields. Lines of `getent passwd` and `shadow` have more.
fn fields(line: &[u8]) -> Option<[&[u8]; 2]> {
    let (name, rest) = split_first(line)?;
    let (_password, rest) = split_first(rest)?;
    let (gid, members) = split_first(rest)?;
    memchr(b':', members).is_none().then_some([name, gid])
}
