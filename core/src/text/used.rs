//! Reads the space that users, groups or projects use on a target: `osd-*.T.quota_slave.acct_{user,group,project}`.
//!
//! ```text
//! usr_accounting:
//! - id:      1000
//!   usage:   { inodes:          331, kbytes:         2000 }
//! ```
//!
//! A damaged list is useless: missing owners would seem to use no space.

#[cfg(test)]
mod tests;

use std::collections::TryReserveError;

use crate::base::pause::Pause;
use crate::text::additional_parameters::{Other, Owner, Parameter, Problems, Reason, number};
use crate::text::field;

/// The largest number of owners in a list.
const OWNERS_MAX: usize = 1_000_000;

/// The space that an owner uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usage {
    /// The number of the user, group or project.
    pub id: u32,
    /// The space in KiB.
    pub kbytes: i64,
    /// The number of inodes, which are objects on an OST.
    pub inodes: i64,
}

/// Reads the value of a [`Parameter::Used`]: the owners in order of their ids, each once. Returns `None` for another parameter, and for a list
/// that is damaged, which is reported.
///
/// # Errors
/// [`TryReserveError`] if there is not enough memory.
pub fn read<'o>(
    other: &'o Other<'_>,
    problems: &mut Problems<'o>,
    pause: Pause<'_>,
) -> Result<Option<Vec<Usage>>, TryReserveError> {
    let Parameter::Used(_, owner) = other.parameter else {
        return Ok(None);
    };
    let heading = match owner {
        Owner::User => b"usr_accounting:",
        Owner::Group => b"grp_accounting:",
        Owner::Project => b"prj_accounting:",
    };
    let cut = other.cut().map(|(line, _)| line);
    let (mut rows, mut has_heading, mut id) = (Vec::new(), false, None);
    let mut last = (other.line, &b""[..]);
    for line in other.lines(pause) {
        last = line;
        let damage = match (line.1.strip_prefix(b"- id:"), id.take()) {
            _ if cut == Some(line.0) => Some(Reason::CutLine),
            (None, None) if line.1 == heading && !has_heading => {
                has_heading = true;
                None
            }
            (Some(number), None) if has_heading => {
                id = field::number(number);
                id.is_none().then_some(Reason::BadId)
            }
            (None, Some(_)) if rows.len() == OWNERS_MAX => Some(Reason::TooManyLines),
            (None, Some(id)) => {
                rows.try_reserve(1)?;
                usage(id, line.1).map(|usage| rows.push(usage)).err()
            }
            _ => Some(Reason::UnreadableLine),
        };
        if let Some(reason) = damage {
            problems.report(other, line, reason)?;
            return Ok(None);
        }
    }
    if id.is_some() || !has_heading {
        problems.report(other, last, Reason::CutLine)?;
        return Ok(None);
    }
    if !rows.is_sorted_by(|one: &Usage, next| one.id < next.id) {
        // An owner that changed while the list was printed can stand in it twice, and counts with the larger space.
        rows.sort_unstable_by(|one, other| one.id.cmp(&other.id).then(other.cmp(one)));
        rows.dedup_by_key(|usage| usage.id);
    }
    Ok(Some(rows))
}

/// Reads a line `usage: { inodes: 331, kbytes: 2000 }`. Fields that a later version may add are ignored.
fn usage(id: u32, line: &[u8]) -> Result<Usage, Reason> {
    let braces = line.strip_prefix(b"usage:").map(<[u8]>::trim_ascii);
    let fields = braces.and_then(|it| it.strip_prefix(b"{")?.strip_suffix(b"}"));
    let fields = fields.ok_or(Reason::UnreadableLine)?;
    let (mut inodes, mut kbytes) = (None, None);
    for field in fields.split(|byte| *byte == b',') {
        let (name, value) = field::split_once(field, b':').ok_or(Reason::UnreadableLine)?;
        match name.trim_ascii() {
            b"inodes" => inodes = Some(number(value)?),
            b"kbytes" => kbytes = Some(number(value)?),
            _ => {}
        }
    }
    let (inodes, kbytes) = inodes.zip(kbytes).ok_or(Reason::UnreadableLine)?;
    Ok(Usage { id, kbytes, inodes })
}
