//! The parameters other than `job_stats` whose values are read: counters of targets and services, and gauges.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::TryReserveError;

use crate::base::pause::Pause;
use crate::base::target::{TargetKind, TargetName, is_target_name, kind_in_name};
use crate::base::try_vec::push;
use crate::text::field;

/// The largest number of bytes of a network identifier. An IPv6 address with the name of its network has less than 64.
const NID_MAX: usize = 128;

/// The largest number of bytes of the name of a service or a nodemap.
const SERVICE_MAX: usize = 64;

/// The beginnings of the names of services' parameters.
const SERVICES: [&[u8]; 4] = [b"mds.MDS.", b"ost.OSS.", b"ldlm.services.", b"mgs.MGS."];

/// The part of a name between the target and a network identifier.
const EXPORTS: &[u8] = b".exports.";

/// The number of problems of a text that are kept.
const PROBLEMS_MAX: usize = 1_000;

/// The numbers of a target's space: KiB in all, KiB that users can still fill, KiB that are free including those for root,
/// inodes in all, and free inodes.
const SPACES: [&str; 5] = [
    "kbytestotal",
    "kbytesavail",
    "kbytesfree",
    "filestotal",
    "filesfree",
];

crate::named! {
    /// The kind of owner whose space is listed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Owner {
        /// A user.
        User = "user",
        /// A group.
        Group = "group",
        /// A project.
        Project = "project",
    }
    /// Returns the name of the kind.
    pub fn as_str;
}

/// A parameter other than `job_stats` that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Parameter<'a> {
    /// The counters of a whole target: `mdt.T.md_stats`, `obdfilter.T.stats`.
    TargetStats(TargetName<'a>),
    /// The counters of a target for the client at a network identifier: `obdfilter.T.exports.NID.stats`.
    ExportStats(TargetName<'a>, &'a [u8]),
    /// The connections of the client at a network identifier: `obdfilter.T.exports.NID.uuid`.
    ExportUuid(TargetName<'a>, &'a [u8]),
    /// The counters of a service of a server: `mds.MDS.mdt.stats` is service `mdt`.
    Service(&'a str),
    /// The requests that wait in a service: `ost.OSS.ost_io.nrs_policies`.
    Policies(&'a str),
    /// The rules of a service's token bucket filter: `ost.OSS.ost_io.nrs_tbf_rule`.
    Rules(&'a str),
    /// The counters of a nodemap on a server, from Lustre 2.17 on: `nodemap.N.md_stats`, `nodemap.N.dt_stats`.
    Nodemap(&'a str, &'static str),
    /// A number of a target's space, with its name: `osd-ldiskfs.T.kbytestotal`.
    Space(TargetName<'a>, &'static str),
    /// The state of a target's recovery: `mdt.T.recovery_status`.
    Recovery(TargetName<'a>),
    /// The readers of an MDT's changelog: `mdd.T.changelog_users`.
    Changelog(TargetName<'a>),
    /// The space that owners use on a target: `osd-zfs.T.quota_slave.acct_user`.
    Used(TargetName<'a>, Owner),
    /// The health of the server.
    Health,
}

impl<'a> Parameter<'a> {
    /// Reads the name of a parameter; `None` if the value of the parameter is not read.
    pub fn parse(name: &'a [u8]) -> Option<Self> {
        if name == b"health_check" {
            return Some(Self::Health);
        }
        if let Some(of_service) = SERVICES.iter().find_map(|it| name.strip_prefix(*it)) {
            return Self::of_service(of_service);
        }
        if let Some(of_nodemap) = name.strip_prefix(b"nodemap.") {
            let (nodemap, leaf) = of_nodemap.split_at(memchr::memrchr(b'.', of_nodemap)?);
            let stats = ["md_stats", "dt_stats"];
            let stats = stats.into_iter().find(|it| it.as_bytes() == &leaf[1..])?;
            return Some(Self::Nodemap(server_wide(nodemap)?, stats));
        }
        // A network identifier in the middle has dots too.
        let (device, rest) = name.split_at(memchr::memchr(b'.', name)?);
        let (middle, leaf) = rest.split_at(memchr::memrchr(b'.', rest)?);
        let (middle, leaf) = (middle.get(1..)?, &leaf[1..]);
        match (device, leaf) {
            (b"mdd", b"changelog_users") => named(TargetKind::Mdt, middle).map(Self::Changelog),
            (b"mdt", _) => Self::of_target(TargetKind::Mdt, middle, leaf),
            (b"obdfilter", _) => Self::of_target(TargetKind::Ost, middle, leaf),
            _ if device.starts_with(b"osd-") => Self::of_device(middle, leaf),
            _ => None,
        }
    }

    fn of_service(name: &'a [u8]) -> Option<Self> {
        let (service, leaf) = name.split_at(memchr::memrchr(b'.', name)?);
        let make: fn(&'a str) -> Self = match leaf {
            b".stats" => Self::Service,
            b".nrs_policies" => Self::Policies,
            b".nrs_tbf_rule" => Self::Rules,
            _ => return None,
        };
        server_wide(service).map(make)
    }

    fn of_target(kind: TargetKind, middle: &'a [u8], leaf: &[u8]) -> Option<Self> {
        if let Some(target) = named(kind, middle) {
            return match (kind, leaf) {
                (_, b"recovery_status") => Some(Self::Recovery(target)),
                (TargetKind::Mdt, b"md_stats") | (TargetKind::Ost, b"stats") => {
                    Some(Self::TargetStats(target))
                }
                _ => None,
            };
        }
        let (name, nid) = middle.split_at(memchr::memmem::find(middle, EXPORTS)?);
        let (target, nid) = (named(kind, name)?, &nid[EXPORTS.len()..]);
        let is_nid = (1..=NID_MAX).contains(&nid.len()) && nid.iter().all(u8::is_ascii_graphic);
        match leaf {
            b"stats" if is_nid => Some(Self::ExportStats(target, nid)),
            b"uuid" if is_nid => Some(Self::ExportUuid(target, nid)),
            _ => None,
        }
    }

    /// Reads the name of a parameter of the device below a target.
    fn of_device(middle: &'a [u8], leaf: &[u8]) -> Option<Self> {
        let Some(name) = middle.strip_suffix(b".quota_slave") else {
            let space = SPACES.into_iter().find(|it| it.as_bytes() == leaf)?;
            return Some(Self::Space(of_name(middle)?, space));
        };
        let owner = match leaf {
            b"acct_user" => Owner::User,
            b"acct_group" => Owner::Group,
            b"acct_project" => Owner::Project,
            _ => return None,
        };
        Some(Self::Used(of_name(name)?, owner))
    }

    /// Returns the target that the parameter is of; `None` for a parameter of the server.
    pub const fn target(self) -> Option<TargetName<'a>> {
        match self {
            Self::TargetStats(target)
            | Self::ExportStats(target, _)
            | Self::ExportUuid(target, _)
            | Self::Space(target, _)
            | Self::Recovery(target)
            | Self::Changelog(target)
            | Self::Used(target, _) => Some(target),
            _ => None,
        }
    }
}

/// Returns the name of a service or a nodemap.
fn server_wide(name: &[u8]) -> Option<&str> {
    let is_name = (1..=SERVICE_MAX).contains(&name.len()) && is_plain(name);
    std::str::from_utf8(name).ok().filter(|_| is_name)
}

/// Returns true if no character of a name means anything to a shell.
pub(crate) fn is_plain(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    name.iter().all(is_part)
}

fn named(kind: TargetKind, name: &[u8]) -> Option<TargetName<'_>> {
    is_target_name(name).then_some(TargetName { kind, name })
}

/// Returns the target of a name with a kind, such as `fs-OST0000`. The MGS has no kind.
fn of_name(name: &[u8]) -> Option<TargetName<'_>> {
    named(kind_in_name(std::str::from_utf8(name).ok()?)?, name)
}

/// A value of a parameter in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other<'a> {
    /// The parameter.
    pub parameter: Parameter<'a>,
    /// The line on which the value begins, counted from 1.
    pub line: u32,
    /// The value with the ends of its lines. Error messages in it are replaced by empty lines.
    pub value: Cow<'a, [u8]>,
}

impl Other<'_> {
    /// Returns the lines of the value with their numbers, without blank lines and blanks around lines.
    pub fn lines(&self, pause: Pause<'_>) -> impl Iterator<Item = (u32, &[u8])> {
        let lines = field::lines(&self.value, pause);
        lines
            .map(|(number, line)| (self.line.saturating_add(number - 1), line.trim_ascii()))
            .filter(|(_, line)| !line.is_empty())
    }

    /// Returns the last line with its number, if it has no end, so that it may be cut.
    pub fn cut(&self) -> Option<(u32, &[u8])> {
        let begin = memchr::memrchr(b'\n', &self.value).map_or(0, |end| end + 1);
        let (before, last) = self.value.split_at(begin);
        let number = self.line.saturating_add(field::count_lines(before));
        (!last.is_empty()).then_some((number, last))
    }
}

crate::named! {
    /// The reason why a value, or a line of it, could not be used.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Reason {
        /// The line does not have the syntax of the parameter.
        UnreadableLine = "unreadable line",
        /// The text ends in the middle of the line, or another parameter begins there.
        CutLine = "cut line",
        /// A number is not between 0 and 2^63-1.
        BadNumber = "bad number",
        /// The id of an owner is not between 0 and 2^32-1.
        BadId = "bad id",
        /// The value has more lines than such a parameter can have.
        TooManyLines = "too many lines",
    }
    /// Returns a short code that stays the same in all versions.
    pub fn code;
}

/// A line of a value that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<'o> {
    /// The parameter.
    pub parameter: Parameter<'o>,
    /// The line in the text, counted from 1.
    pub line: u32,
    /// The reason.
    pub reason: Reason,
    /// The text of the line.
    pub text: &'o [u8],
}

/// The problems of the values of a text, the first thousand of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems<'o> {
    /// The problems.
    pub kept: Vec<Problem<'o>>,
    /// The number of further problems.
    pub dropped: u64,
}

impl<'o> Problems<'o> {
    /// Adds a problem of a line.
    pub(crate) fn report(
        &mut self,
        other: &'o Other<'_>,
        (line, text): (u32, &'o [u8]),
        reason: Reason,
    ) -> Result<(), TryReserveError> {
        if self.kept.len() == PROBLEMS_MAX {
            self.dropped += 1;
            return Ok(());
        }
        push(
            &mut self.kept,
            Problem {
                parameter: other.parameter,
                line,
                reason,
                text,
            },
        )
    }
}

/// Reads a number that a gauge or a counter can have: between 0 and 2^63-1.
pub(crate) fn number(digits: &[u8]) -> Result<i64, Reason> {
    field::number(digits).ok_or(Reason::BadNumber)
}
