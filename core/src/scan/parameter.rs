//! The names of parameters, as `lctl` prints them before values.

use super::line::{is_blank, trim};

/// The kind of target that reports: `mdt.*` or `obdfilter.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// A metadata target.
    Mdt,
    /// An object storage target.
    Ost,
}

const KINDS: [(&[u8], TargetKind); 2] =
    [(b"mdt.", TargetKind::Mdt), (b"obdfilter.", TargetKind::Ost)];

/// A target as the text names it: `mdt.scratch-MDT0000.job_stats` is `scratch-MDT0000` of kind MDT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetName<'a> {
    /// The kind, which is the first part of the parameter's name.
    pub kind: TargetKind,
    /// The name, which is the second part: ASCII letters, digits, `-` and `_`.
    pub name: &'a [u8],
}

/// The number of bytes that are read of a parameter's name in the middle of a line.
const PARAMETER_MAX: usize = 128;

/// The largest number of bytes of a target's name. Names in Lustre have up to 16.
const TARGET_MAX: usize = 64;

/// A parameter's name before a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter<'a> {
    JobStats(TargetName<'a>),
    CleanupInterval(TargetName<'a>),
    /// Another parameter. A name without dots can be a damaged line of a record, a name with dots a damaged name of a
    /// target.
    Other {
        dotted: bool,
    },
}

/// Splits a line `name=value` or `name: value` (`lctl -y`, only if the name has dots) into the parameter and the value.
pub(super) fn parse(line: &[u8]) -> Option<(Parameter<'_>, &[u8])> {
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
    (ends_here && parameter != Parameter::Other { dotted: false }).then_some((parameter, value))
}

/// Returns the position, after the first byte, at which a parameter of a target begins. An older `lctl` that fails to
/// read goes on with the next parameter in the middle of a line.
///
/// Only names like those that Lustre gives are found, because identifiers can contain what a user likes.
pub(super) fn glued(line: &[u8]) -> Option<usize> {
    if line.len() < b"mdt.x-MDT0000.x=".len() {
        return None;
    }
    memchr::memchr(b'=', line)?;
    let mut earliest = None;
    for (prefix, _) in KINDS {
        // The second kind is only searched before the first: this function is also called for what follows.
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
    let begins_again = |(prefix, _): &(&[u8], _)| memchr::memmem::find(leaf, prefix).is_some();
    !filesystem.is_empty()
        && (index.starts_with(b"-MDT") || index.starts_with(b"-OST"))
        && index[4..].iter().all(u8::is_ascii_hexdigit)
        && leaf.starts_with(b".")
        && leaf.ends_with(b"=")
        && !KINDS.iter().any(begins_again)
}

/// Returns the target whose `job_stats` an error message is about, by the name of the parameter or of its file.
pub(super) fn named_in_message(message: &[u8]) -> Option<TargetName<'_>> {
    memchr::memmem::find_iter(message, b"job_stats").find_map(|leaf| {
        let (separator, before) = message[..leaf].split_last()?;
        if !b"./".contains(separator) {
            return None;
        }
        let begin = 1 + before.iter().rposition(|byte| !is_target_byte(*byte))?;
        let (path, name) = before.split_at(begin);
        let (_, kind) = KINDS.into_iter().find(|(prefix, _)| {
            let path = path.strip_suffix(&[*separator]);
            path.is_some_and(|path| path.ends_with(&prefix[..prefix.len() - 1]))
        })?;
        (!name.is_empty()).then_some(TargetName { kind, name })
    })
}

/// Returns true if a line that cannot be read can be the damaged name of a target's `job_stats`.
pub(super) fn resembles_target(line: &[u8]) -> bool {
    let contains = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    KINDS.iter().any(|(prefix, _)| line.starts_with(prefix))
        || contains(b".job_stats=")
        || contains(b".job_stats: ")
}

fn classify(name: &[u8]) -> Parameter<'_> {
    target_and_leaf(name).unwrap_or(Parameter::Other {
        dotted: name.contains(&b'.'),
    })
}

fn target_and_leaf(name: &[u8]) -> Option<Parameter<'_>> {
    let (kind, rest) = KINDS
        .into_iter()
        .find_map(|(prefix, kind)| Some((kind, name.strip_prefix(prefix)?)))?;
    let dot = rest.iter().position(|byte| !is_target_byte(*byte))?;
    let target = TargetName {
        kind,
        name: &rest[..dot],
    };
    match &rest[dot..] {
        _ if dot == 0 || dot > TARGET_MAX => None,
        b".job_stats" => Some(Parameter::JobStats(target)),
        b".job_cleanup_interval" => Some(Parameter::CleanupInterval(target)),
        _ => None,
    }
}

fn is_target_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Returns true for a byte of a parameter's name. Names can contain what network identifiers and devices contain, but
/// no `=`, braces, quotes or commas.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"={}\"',".contains(&byte)
}

/// Reads the seconds of a `job_cleanup_interval`.
pub(super) fn interval(value: &[u8]) -> Option<u32> {
    super::counter::number(trim(value)).ok()?.try_into().ok()
}
