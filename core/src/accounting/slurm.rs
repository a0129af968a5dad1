//! Reads the tables of Slurm's `sacct`: `sacct -P` and `-p` with a header.
//!
//! # Tables
//!
//! The header lists the columns, in any order. The delimiter is the shortest text after the first name that divides the header
//! into names; it may be any text that does not begin with a letter or a digit. `sacct -p` prints a delimiter after the last
//! field too. `sacct` neither quotes nor escapes, so a field may contain delimiters and ends of lines:
//!
//! - A row with a delimiter too many or too few has the wrong number of fields.
//! - A row that goes on in further lines is put together if the first column is a number of a job, the lines have as many
//!   delimiters as a row must have, and the end of line is in a column of free text. Otherwise the row cannot be used.
//! - A column that is requested twice must have the same value twice.
//! - A user may put a line into the name of a job that looks like a row. So the delimiter should be hard to guess;
//!   [`is_forgeable`] finds the usual ones.
//! - The last line counts only if its end is there: a cut has no other sign.
//!
//! Messages before the header, such as `sacct: error: …` where stderr is part of the text, are problems but hide no rows.
//!
//! Rows of steps are no jobs and are skipped, and so are blank lines. A further header with the same delimiter begins a further table.
//!
//! # Jobs
//!
//! `job` is the number that `job_stats` shows. For all components of a heterogeneous job that is the number of its leader,
//! because they all run with the `SLURM_JOB_ID` of the leader: `123+1` has `job` and `parent` `123`, and its own number is the
//! `JobIDRaw` in `extra`. The task `123_4` of an array has its raw number as `job`, and `123` as `parent`. If a table has no
//! column `JobIDRaw`, the numbers of tasks are unknown; their `job` is then the label, which is no number in `job_stats`.
//!
//! Times are seconds since 1970 (`SLURM_TIME_FORMAT=%s`) or `2024-07-01T12:00:00`, with `+0200` or without. A job that is
//! PENDING has no start; a job that ended at its start and has no nodes never ran, and has no start either. A job has no
//! end while it is PENDING, RUNNING or SUSPENDED.
//!
//! Personal or secret columns, such as `SubmitLine`, `WorkDir` and `Comment`, are discarded.

mod header;
mod row;
mod table;
#[cfg(test)]
mod tests;
mod time;

use memchr::{memchr, memmem};

use self::header::Header;

use crate::accounting::field::{count_lines, first_lines, lines};
use crate::accounting::zone::Zone;
use crate::accounting::{Reason, Record, Scheduler};
use crate::base::pause::Pause;

/// Slurm, whose `sacct` prints jobs.
pub const SCHEDULER: Scheduler = Scheduler {
    name: "slurm",
    recognizes,
    grows: false,
    records: |text, zone, pause| Box::new(records(text, zone, pause)),
};

/// Returns the jobs of a text one after another. Times without a zone are in `zone`.
pub fn records<'a>(
    text: &'a [u8],
    zone: &Zone,
    pause: Pause<'a>,
) -> impl Iterator<Item = Record<'a>> {
    let (messages, text) = split(text);
    let before = count_lines(messages);
    let records = table::jobs(text, zone, pause).map(move |record| Record {
        line: record.line.saturating_add(before),
        ..record
    });
    let messages = lines(messages, pause).filter(|(_, line)| !line.trim_ascii().is_empty());
    let messages = messages.map(|(line, _)| Record {
        line,
        job: Err(Reason::UnreadableRecord),
    });
    messages.chain(records)
}

/// Returns whether a text looks like one of `sacct`: it begins with a header that names jobs.
pub fn recognizes(text: &[u8]) -> bool {
    header(split(text).1).is_some()
}

/// Returns whether a text that is more than messages does not begin with a header that names jobs.
pub fn lacks_header(text: &[u8]) -> bool {
    let (_, text) = split(text);
    !text.is_empty() && header(text).is_none()
}

/// Returns whether users can write rows into the table: the delimiter is one character that can be typed, so that the name of a job with
/// an end of line and delimiters may look like the row of another job.
pub fn is_forgeable(text: &[u8]) -> bool {
    let header = header(split(text).1);
    let delimiter = header.and_then(|header| std::str::from_utf8(header.delimiter).ok());
    let mut characters = delimiter.unwrap_or_default().chars();
    let can_be_typed = |it: char| it == '\t' || !it.is_control();
    characters.next().is_some_and(can_be_typed) && characters.next().is_none()
}

fn header(text: &[u8]) -> Option<Header<'_>> {
    let mut lines = first_lines(text);
    let first = lines.find(|line| !line.trim_ascii().is_empty());
    first.and_then(Header::read)
}

/// Splits a text into the messages that programs printed to stderr before it, and the text itself. A row is no message, because users
/// could put a line that looks like a header into the name of a job.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = without_mark(text);
    while !rest.is_empty() {
        let end = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        if !is_message(&rest[..end]) {
            break;
        }
        rest = &rest[end..];
    }
    (&text[..text.len() - rest.len()], without_mark(rest))
}

/// Returns whether a line is blank or begins with the name of a program or a kind of message, as in `sacct: error: …`.
fn is_message(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let name = memmem::find(line, b": ").map_or(&[][..], |end| &line[..end]);
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(byte));
    line.is_empty() || is_name && Header::read(line).is_none()
}

/// Removes the mark that some editors put before UTF-8.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(text)
}
