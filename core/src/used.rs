//! Reads the space that users, groups or projects use on a target: `osd-*.T.quota_slave.acct_{user,group,project}`.
//!
//! ```text
//! usr_accounting:
//! - id:      1000
//!   usage:   { inodes:          331, kbytes:         2000 }
//! ```
//!
//! A list that is damaged is of no use: it would say that owners who are missing use nothing.

#[cfg(test)]
mod tests;

use std::collections::TryReserveError;

use crate::field;
use crate::parameter::{Other, Owner, Parameter, Problems, Reason, number};
use crate::pause::Pause;
use crate::target::TargetName;

/// The largest number of owners in a list.
const OWNERS_MAX: usize = 1_000_000;

/// The space that owners of a kind use on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used<'o> {
    /// The target.
    pub target: TargetName<'o>,
    /// The kind of the owners.
    pub owner: Owner,
    /// The line on which the value begins, counted from 1.
    pub line: u32,
    /// The owners in order of their ids, each once.
    pub rows: Vec<Usage>,
}

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

/// Reads a value. Returns `None` for another parameter, and for a list that is damaged, which is reported.
///
/// # Errors
/// [`TryReserveError`] if there is not enough memory.
pub fn read<'o>(
    other: &'o Other<'_>,
    problems: &mut Problems<'o>,
    pause: Pause<'_>,
) -> Result<Option<Used<'o>>, TryReserveError> {
    let Parameter::Used(target, owner) = other.parameter else {
        return Ok(None);
    };
    let mut list = List {
        owner,
        state: State::Begin,
        rows: Vec::new(),
    };
    let (cut, mut last) = (other.cut().map(|(line, _)| line), (other.line, &b""[..]));
    for (number, line) in other.lines(pause) {
        last = (number, line);
        let added = match cut == Some(number) {
            true => Err(Reason::CutLine),
            false => list.add(line)?,
        };
        if let Err(reason) = added {
            problems.report(other, last, reason)?;
            return Ok(None);
        }
    }
    if list.state != State::Between {
        problems.report(other, last, Reason::CutLine)?;
        return Ok(None);
    }
    Ok(Some(Used {
        target,
        owner,
        line: other.line,
        rows: in_order(list.rows),
    }))
}

/// Puts owners in order. An owner that changed while the list was printed can stand in it twice, and counts with the
/// larger space.
fn in_order(mut rows: Vec<Usage>) -> Vec<Usage> {
    if !rows.is_sorted_by(|one, next| one.id < next.id) {
        rows.sort_unstable_by(|one, other| one.id.cmp(&other.id).then(other.cmp(one)));
        rows.dedup_by_key(|usage| usage.id);
    }
    rows
}

/// The lines that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The heading.
    Begin,
    /// An owner.
    Between,
    /// The space of this owner.
    Owner(u32),
}

struct List {
    owner: Owner,
    state: State,
    rows: Vec<Usage>,
}

impl List {
    /// Adds a line. Returns the reason if the list is damaged.
    fn add(&mut self, line: &[u8]) -> Result<Result<(), Reason>, TryReserveError> {
        let heading = match self.owner {
            Owner::User => b"usr_accounting:",
            Owner::Group => b"grp_accounting:",
            Owner::Project => b"prj_accounting:",
        };
        let next = match (self.state, line.strip_prefix(b"- id:")) {
            (State::Begin, None) if line == heading => Ok(State::Between),
            (State::Between, Some(id)) => field::number(id).map(State::Owner).ok_or(Reason::BadId),
            (State::Owner(id), None) => match usage(id, line) {
                Ok(_) if self.rows.len() == OWNERS_MAX => Err(Reason::TooManyLines),
                Ok(usage) => {
                    self.rows.try_reserve(1)?;
                    self.rows.push(usage);
                    Ok(State::Between)
                }
                Err(reason) => Err(reason),
            },
            _ => Err(Reason::UnreadableLine),
        };
        Ok(next.map(|next| self.state = next))
    }
}

/// Reads a line `usage: { inodes: 331, kbytes: 2000 }`. Fields that a later version may add are ignored.
fn usage(id: u32, line: &[u8]) -> Result<Usage, Reason> {
    let braces = line.strip_prefix(b"usage:").map(<[u8]>::trim_ascii);
    let fields = braces.and_then(|it| it.strip_prefix(b"{")?.strip_suffix(b"}"));
    let fields = fields.ok_or(Reason::UnreadableLine)?;
    let (mut inodes, mut kbytes) = (None, None);
    for field in fields.split(|byte| *byte == b',') {
        let colon = memchr::memchr(b':', field).ok_or(Reason::UnreadableLine)?;
        let (name, value) = (field[..colon].trim_ascii(), &field[colon + 1..]);
        match name {
            b"inodes" => inodes = Some(number(value)?),
            b"kbytes" => kbytes = Some(number(value)?),
            _ => {}
        }
    }
    let (inodes, kbytes) = inodes.zip(kbytes).ok_or(Reason::UnreadableLine)?;
    Ok(Usage { id, kbytes, inodes })
}
