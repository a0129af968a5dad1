//! Reads the rows of a table, and joins rows that span several lines.

use std::borrow::Cow;
use std::iter::Peekable;

use super::header::{Column, Header};
use super::row::{Fields, is_step, keep, known_text};
use crate::accounting::field::lines;
use crate::accounting::zone::Zone;
use crate::accounting::{Job, Reason, Record};
use crate::base::pause::Pause;

/// The longest row in bytes. The longest lists of nodes have less than a tenth.
const ROW_MAX: usize = 1 << 20;

/// A line with its number.
type Line<'a> = (u32, &'a [u8]);

/// Returns the jobs of a table.
pub fn jobs<'a>(text: &'a [u8], zone: &Zone, pause: Pause<'a>) -> impl Iterator<Item = Record<'a>> {
    let mut table = Table {
        text,
        zone,
        lines: lines(text, pause).peekable(),
    };
    let mut header = None;
    let mut is_done = false;
    std::iter::from_fn(move || {
        while !is_done {
            let (line, row) = table.next_line()?;
            if let Some(new) = new_header(header.as_ref(), row) {
                header = Some(new);
                continue;
            }
            let job = match &header {
                Some(header) => table.job(header, row),
                None => Some(Err(Reason::NoHeader)),
            };
            is_done = header.is_none();
            if let Some(job) = job {
                return Some(Record { line, job });
            }
        }
        None
    })
}

/// Returns the header that a line is. The rows of a table need not be looked at whole for that. A further header has the
/// delimiter of the first, which those who name jobs need not know.
fn new_header<'a>(header: Option<&Header<'a>>, line: &'a [u8]) -> Option<Header<'a>> {
    let is_row = header.is_some_and(|header| header.begins_row(line));
    let new = if is_row { None } else { Header::read(line) };
    new.filter(|new| header.is_none_or(|header| header.delimiter == new.delimiter))
}

/// A table that is read line by line.
struct Table<'a, 'z, L: Iterator<Item = Line<'a>>> {
    text: &'a [u8],
    zone: &'z Zone,
    lines: Peekable<L>,
}

impl<'a, L: Iterator<Item = Line<'a>>> Table<'a, '_, L> {
    /// Returns the next line that is not blank.
    fn next_line(&mut self) -> Option<Line<'a>> {
        self.lines.find(|(_, line)| !line.trim_ascii().is_empty())
    }

    /// Reads the row that begins with a line; `None` if it is one of a step.
    fn job(&mut self, header: &Header<'a>, line: &'a [u8]) -> Option<Result<Job<'a>, Reason>> {
        let count = header.count(line);
        let row = if count == header.delimiters() {
            Some(line)
        } else {
            self.join(header, line, count)
        };
        let row = row
            .ok_or(Reason::WrongFields)
            .and_then(|row| self.whole(header, row));
        match row {
            Ok(row) => job(header, row, self.zone).transpose(),
            Err(reason) => Some(Err(reason)),
        }
    }

    /// Puts together a row that goes on in further lines, and passes over lines that belong to no row.
    ///
    /// A line that begins a row is never taken for a further line, so that a damaged row costs no other.
    fn join(&mut self, header: &Header<'a>, first: &'a [u8], mut count: usize) -> Option<&'a [u8]> {
        let is_numbered = header.begins_with_number();
        let is_open = is_numbered && header.begins_row(first) && count < header.delimiters();
        let goes_on = |line: &[u8]| {
            if is_numbered {
                !header.begins_row(line) && (is_open || Header::read(line).is_none())
            } else {
                header.count(line) != header.delimiters() && Header::read(line).is_none()
            }
        };
        while let Some((_, line)) = self.lines.next_if(|(_, line)| goes_on(line)) {
            count = count.saturating_add(header.count(line));
            if is_open && count == header.delimiters() {
                return self
                    .text
                    .get(self.place(first)..self.place(line) + line.len());
            }
        }
        None
    }

    /// Returns a row if its end is there and it is not too long.
    fn whole(&self, header: &Header<'a>, row: &'a [u8]) -> Result<&'a [u8], Reason> {
        let is_last = self.place(row) + row.len() == self.text.len();
        match header.is_ended {
            true if !row.ends_with(header.delimiter) => Err(Reason::WrongFields),
            false if is_last => Err(Reason::UnreadableRecord),
            _ if row.len() > ROW_MAX => Err(Reason::UnreadableRecord),
            _ => Ok(row),
        }
    }

    /// Returns the place of a part of the text.
    fn place(&self, part: &[u8]) -> usize {
        part.as_ptr().addr() - self.text.as_ptr().addr()
    }
}

/// Reads a row; `None` if it is one of a step.
fn job<'a>(header: &Header<'a>, row: &'a [u8], zone: &Zone) -> Result<Option<Job<'a>>, Reason> {
    let mut fields = Fields::default();
    let mut others = Vec::new();
    for (column, field) in header.columns.iter().zip(header.fields(row)) {
        match *column {
            Column::OfJob(_) if column.is_number_of_job() && is_step(field) => return Ok(None),
            Column::OfJob(_)
                if !column.is_free_text() && memchr::memchr(b'\n', field).is_some() =>
            {
                return Err(Reason::WrongFields);
            }
            Column::OfJob(known) => fields.set(known, field)?,
            Column::Other(name) => others.push((name, field)),
            Column::Private => {}
        }
    }
    let mut job = fields.job(zone)?;
    for (name, field) in others {
        if let Some(value) = known_text(field) {
            keep(&mut job, Cow::Borrowed(name), value);
        }
    }
    Ok(Some(job))
}
