//! Finds the records of `lsb.acct`.
//!
//! A line that begins with a quote and a capital letter begins a record: a text never has such a line, because a quote in
//! it is doubled. So a damaged record ends before the next one at the latest.

use memchr::{memchr, memmem};

use super::fields::{Field, Fields, Wrap};
use super::{Job, Reason, Record, finish};
use crate::accounting::field::{FIRST_LINES, count_lines, first_lines};
use crate::base::pause::Pause;

/// The longest record that is read. Records of LSF have some kilobytes, and a name for each processor of a job.
const RECORD_MAX: usize = 16 << 20;

/// The types of records in this file.
const TYPES: [&[u8]; 3] = [b"JOB_FINISH", b"EVENT_ADRSV_FINISH", b"JOB_RESIZE"];

/// Returns whether a text looks like a part of `lsb.acct`: one of its first lines begins a record.
pub fn recognizes(text: &[u8]) -> bool {
    let mut lines = first_lines(text).take(FIRST_LINES);
    lines.any(|line| TYPES.contains(&kind(line).unwrap_or_default()))
}

/// Reads the records of a text in its order.
pub fn records<'a>(text: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    let mut rest = text;
    let mut line = 1_u32;
    let parts = std::iter::from_fn(move || {
        let (part, after) = rest.split_at(end_of_part(rest, pause));
        let first = line;
        line = line.saturating_add(count_lines(part));
        rest = after;
        (!part.is_empty()).then_some((first, part))
    });
    parts.flat_map(move |(line, part)| read(line, part, pause))
}

/// Returns the end of the lines that may belong to the record at the beginning of a text: the next line that begins a record.
fn end_of_part(text: &[u8], pause: Pause<'_>) -> usize {
    let begins = |place: &usize| {
        pause.now();
        text.get(place + 2).is_some_and(u8::is_ascii_uppercase)
    };
    let next = memmem::find_iter(text, b"\n\"").find(begins);
    next.map_or(text.len(), |place| place + 1)
}

/// Returns the type of the record that a line begins.
fn kind(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"\"")?;
    let end = memchr(b'"', rest)?;
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    let (kind, after) = (&rest[..end], rest.get(end + 1));
    let is_kind = kind.first()?.is_ascii_uppercase() && kind.iter().all(is_name);
    (is_kind && after.is_none_or(u8::is_ascii_whitespace)).then_some(kind)
}

/// Reads the record at the beginning of a part, and looks whether something that is no record comes after it.
fn read<'a>(line: u32, part: &'a [u8], pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    let (job, end) = kind(part).map_or((Ok(None), 0), |kind| record(kind, part));
    // Where a record ends that is damaged is unknown.
    let is_damaged = job.is_err();
    let rest = &part[end..];
    let stray = stray(rest, pause).filter(|_| !is_damaged);
    let record = job.transpose().map(|job| Record { line, job });
    let problem = stray.map(|place| Record {
        line: line.saturating_add(count_lines(&part[..end + place])),
        job: Err(Reason::UnreadableRecord),
    });
    record.into_iter().chain(problem)
}

/// Reads a record with its lines, and returns its end. A wrap does not show whether it is inside a word or between fields, so
/// both are tried.
fn record<'a>(kind: &[u8], part: &'a [u8]) -> (Result<Option<Job<'a>>, Reason>, usize) {
    let attempt = |wrap| {
        let mut fields = Fields::new(&part[..part.len().min(RECORD_MAX)], wrap);
        let job = match kind {
            b"JOB_FINISH" => fields.next().and_then(|_| finish::read(&mut fields)),
            _ => pass(&mut fields).map(|()| None),
        };
        (job, fields.place, fields.is_wrapped)
    };
    let (job, end, is_wrapped) = attempt(Wrap::InWord);
    if job.is_err() && is_wrapped {
        let (job, end, _) = attempt(Wrap::BetweenFields);
        return (job, end);
    }
    (job, end)
}

/// Passes over the fields of a record.
fn pass(fields: &mut Fields<'_>) -> Result<(), Reason> {
    fields.end_at_newline();
    while fields.next()?.is_some() {}
    Ok(())
}

/// Returns the place of the first line that is neither blank nor a comment, and continues no record.
fn stray(rest: &[u8], pause: Pause<'_>) -> Option<usize> {
    let mut place = 0;
    while place < rest.len() {
        pause.now();
        let line = &rest[place..];
        let length = match line[0] {
            b'\r' | b'\n' => 1,
            b'#' => memchr(b'\n', line).unwrap_or(line.len()),
            b' ' | b'\t' => {
                let mut fields = Fields::new(&line[..line.len().min(RECORD_MAX)], Wrap::Ends);
                let first = fields.next();
                if matches!(first, Ok(Some(Field::Word(word))) if word.first().is_some_and(u8::is_ascii_alphabetic))
                    || pass(&mut fields).is_err()
                {
                    return Some(place);
                }
                fields.place
            }
            _ => return Some(place),
        };
        place += length;
    }
    None
}
