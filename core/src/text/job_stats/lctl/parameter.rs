//! The names of parameters, as `lctl` prints them before values.

use super::lines::is_blank;
use crate::base::target::{TARGET_MAX, TargetKind, TargetName, is_target_byte};

/// The number of bytes that are read of a parameter's name in the middle of a line.
const PARAMETER_MAX: usize = 128;

/// The name of the parameter that is read.
pub const JOB_STATS: &str = "job_stats";

/// A parameter, by its name before a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// A parameter of a target, with the last part of its name: `job_stats` in `mdt.scratch-MDT0000.job_stats`.
    OfTarget(TargetName<'a>, &'a [u8]),
    /// Another parameter. A name without dots can be a damaged line of a value, a name with dots a damaged name of a
    /// target.
    Other { is_dotted: bool },
}

/// Splits a line `name=value` or `name: value` (`lctl -y`, only if the name has dots) into the parameter and the value.
pub fn parse(line: &[u8]) -> Option<(Parameter<'_>, &[u8])> {
    if !line.first()?.is_ascii_alphabetic() {
        return None;
    }
    let end = line
        .iter()
        .position(|byte| !is_name_byte(*byte))
        .unwrap_or(line.len());
    let (name, value) = line.split_at(end);
    if let Some(value) = value.strip_prefix(b"=") {
        return Some((classify(name), value));
    }
    let parameter = classify(name.strip_suffix(b":")?);
    let ends_here = value.first().is_none_or(|byte| is_blank(*byte));
    (ends_here && parameter != Parameter::Other { is_dotted: false }).then_some((parameter, value))
}

/// Returns the position, after the first byte, at which a parameter of a target begins. An older `lctl` that fails to
/// read goes on with the next parameter in the middle of a line.
///
/// Only names in the form of Lustre are found, because identifiers can contain any text of a user.
pub fn glued(line: &[u8]) -> Option<usize> {
    if line.len() < b"mdt.x-MDT0000.x=".len() {
        return None;
    }
    memchr::memchr(b'=', line)?;
    let mut earliest = None;
    for kind in TargetKind::ALL {
        let prefix = kind.prefix();
        // The second kind is only searched before the first: this function is also called for the text that follows.
        let searched = &line[..earliest.unwrap_or(line.len())];
        let begin = memchr::memmem::find_iter(searched, prefix)
            .find(|begin| *begin > 0 && is_given_by_lustre(&line[begin + prefix.len()..]));
        earliest = begin.or(earliest);
    }
    earliest
}

/// Returns true if a text begins with `scratch-MDT0000.job_stats=`, or with the name of another parameter of a target.
fn is_given_by_lustre(text: &[u8]) -> bool {
    let text = &text[..text.len().min(PARAMETER_MAX)];
    let end = text.iter().position(|byte| !is_target_byte(*byte));
    let Some((target, leaf)) = end.map(|end| text.split_at(end)) else {
        return false;
    };
    let Some((filesystem, index)) = target.split_at_checked(target.len().saturating_sub(8)) else {
        return false;
    };
    let end = leaf.iter().position(|byte| !is_name_byte(*byte));
    let leaf = end.map_or(leaf, |end| &leaf[..=end]);
    let begins_again = |kind: &TargetKind| memchr::memmem::find(leaf, kind.prefix()).is_some();
    !filesystem.is_empty()
        && (index.starts_with(b"-MDT") || index.starts_with(b"-OST"))
        && index[4..].iter().all(u8::is_ascii_hexdigit)
        && leaf.starts_with(b".")
        && leaf.ends_with(b"=")
        && !TargetKind::ALL.iter().any(begins_again)
}

/// Returns the target whose `job_stats` an error message is about, by the name of the parameter or of its file.
pub fn named_in_message(message: &[u8]) -> Option<TargetName<'_>> {
    memchr::memmem::find_iter(message, JOB_STATS).find_map(|leaf| {
        let (separator, before) = message[..leaf].split_last()?;
        if !b"./".contains(separator) {
            return None;
        }
        let begin = 1 + before.iter().rposition(|byte| !is_target_byte(*byte))?;
        let (path, name) = before.split_at(begin);
        let path = path.strip_suffix(&[*separator])?;
        let mut kinds = TargetKind::ALL.into_iter();
        let device = |kind: TargetKind| kind.prefix().strip_suffix(b".").unwrap_or_default();
        let kind = kinds.find(|kind| path.ends_with(device(*kind)))?;
        (!name.is_empty()).then_some(TargetName { kind, name })
    })
}

/// Returns true if a line that cannot be read can be the damaged name of a target's `job_stats`.
pub fn resembles_target(line: &[u8]) -> bool {
    let mut kinds = TargetKind::ALL.iter();
    let mut names = memchr::memmem::find_iter(line, JOB_STATS);
    kinds.any(|kind| line.starts_with(kind.prefix()))
        || names.any(|begin| {
            let (before, name) = line.split_at(begin);
            let after = &name[JOB_STATS.len()..];
            before.ends_with(b".") && (after.starts_with(b"=") || after.starts_with(b": "))
        })
}

fn classify(name: &[u8]) -> Parameter<'_> {
    of_target(name).unwrap_or(Parameter::Other {
        is_dotted: name.contains(&b'.'),
    })
}

fn of_target(name: &[u8]) -> Option<Parameter<'_>> {
    let mut kinds = TargetKind::ALL.into_iter();
    let (kind, rest) = kinds.find_map(|kind| Some((kind, name.strip_prefix(kind.prefix())?)))?;
    let dot = rest.iter().position(|byte| !is_target_byte(*byte))?;
    let (name, leaf) = rest.split_at(dot);
    let leaf = leaf.strip_prefix(b".")?;
    let target = TargetName { kind, name };
    (1..=TARGET_MAX)
        .contains(&dot)
        .then_some(Parameter::OfTarget(target, leaf))
}

/// Returns true for a byte of a parameter's name. Names can contain the characters of network identifiers and
/// devices, but no `=`, braces, quotes or commas.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"={}\"',".contains(&byte)
}
