//! Reads a line of colons.
//!
//! Grid Engine does not escape. A colon inside the name of the job, its account, its options or its command shifts the
//! fields that follow. One thing cannot shift: a row of 24 numbers, from the priority to the context switches, with the
//! numbers of slots, task and usage three fields further on. The fields in front of it are counted from the left, up to
//! the owner; the number of the job is between two texts. If that leaves more than one reading, the line is a problem.
//!
//! The fields are 43 (SGE 6.0), 45, 46, 55 (UGE 8.6) or 74; the first 43 are the same.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::super::{Job, Reason, field};
use super::{Line, Text, is_slave};

/// The most fields of a line. There is a colon for each directory of a search path in a command.
const FIELDS_MAX: usize = 4_096;

/// The number of fields from the priority to `ru_nivcsw`.
const ROW: usize = 24;

/// The byte that UGE writes for a colon in an option.
const UGE_COLON: u8 = 0xFF;

/// Places of fields, counted from the priority.
mod at {
    pub const SUBMITTED: usize = 1;
    pub const STARTED: usize = 2;
    pub const ENDED: usize = 3;
    pub const FAILED: usize = 4;
    pub const EXIT_STATUS: usize = 5;
    pub const PROJECT: usize = 24;
    pub const DEPARTMENT: usize = 25;
    pub const GRANTED_PE: usize = 26;
    pub const SLOTS: usize = 27;
    pub const TASK: usize = 28;
    pub const CPU: usize = 29;
    pub const MEM: usize = 30;
    pub const IO: usize = 31;
    /// The options of the job are in front of it, so that it may stand further to the right.
    pub const PE_TASKID: usize = 34;
}

/// Reads a line; `None` for a slave task.
pub fn job(line: &[u8]) -> Result<Option<Job<'_>>, Reason> {
    let fields = Fields::split(line).ok_or(Reason::WrongFields)?;
    let row = fields.row().ok_or(Reason::WrongFields)?;
    if fields.is_slave(row)? {
        return Ok(None);
    }
    let number = fields.number(row)?;
    let get = |place: usize| fields.get(row + place);
    let time = |place: usize| field::number(get(place)).ok_or(Reason::BadTime);
    let line = Line {
        job_number: field::number(fields.get(number)),
        task_number: field::number(get(at::TASK)).ok_or(Reason::BadJob)?,
        submission_time: time(at::SUBMITTED)?,
        start_time: time(at::STARTED)?,
        end_time: time(at::ENDED)?,
        failed: field::number(get(at::FAILED)).ok_or(Reason::WrongFields)?,
        owner: text(fields.get(3)),
        group: text(fields.get(2)),
        account: text(fields.join(number + 1, row)),
        project: text(get(at::PROJECT)),
        department: text(get(at::DEPARTMENT)),
        qname: text(fields.get(0)),
        hostname: text(fields.get(1)),
        granted_pe: text(get(at::GRANTED_PE)),
        slots: field::number(get(at::SLOTS)),
        job_name: text(fields.join(4, number)),
        priority: text(get(0)),
        exit_status: text(get(at::EXIT_STATUS)),
        usage: [at::CPU, at::MEM, at::IO].map(|place| text(get(place))),
        ..Line::default()
    };
    line.into_job().map(Some)
}

/// The fields of a line.
struct Fields<'a> {
    line: &'a [u8],
    /// The places where the fields begin, and last the one where a field behind the line would begin.
    starts: Vec<usize>,
}

impl<'a> Fields<'a> {
    /// Splits a line at its colons; `None` if it has too many.
    fn split(line: &'a [u8]) -> Option<Self> {
        let mut starts = Vec::with_capacity(76);
        starts.push(0);
        starts.extend(
            memchr_iter(b':', line)
                .take(FIELDS_MAX)
                .map(|place| place + 1),
        );
        starts.push(line.len() + 1);
        (starts.len() <= FIELDS_MAX + 1).then_some(Self { line, starts })
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns a field; empty if it is missing.
    fn get(&self, place: usize) -> &'a [u8] {
        self.join(place, place + 1)
    }

    /// Returns the fields from one to before another, with the colons between them.
    fn join(&self, from: usize, to: usize) -> &'a [u8] {
        let bounds = self.starts.get(from).zip(self.starts.get(to));
        let range = bounds.map(|(from, to)| *from..to.saturating_sub(1));
        range
            .and_then(|range| self.line.get(range))
            .unwrap_or_default()
    }

    /// Returns the place of the priority, where the row of numbers begins; `None` if it is missing or ambiguous.
    fn row(&self) -> Option<usize> {
        // Queue, host, group, owner, name, number and account are in front of it.
        const FIRST: usize = 7;
        let mut numbers = 0;
        let mut found = None;
        for place in FIRST..self.count() {
            numbers = if is_number(self.get(place)) {
                numbers + 1
            } else {
                0
            };
            let row = (place + 1).saturating_sub(ROW);
            if numbers >= ROW && (at::SLOTS..=at::IO).all(|next| is_number(self.get(row + next))) {
                if found.is_some() {
                    return None;
                }
                found = Some(row);
            }
        }
        found
    }

    /// Returns whether the line is a slave task.
    ///
    /// # Errors [`Reason::WrongFields`] if there is no `pe_taskid` between two numbers, or if there are several that say
    /// different things.
    fn is_slave(&self, row: usize) -> Result<bool, Reason> {
        let mut found = None;
        for place in row + at::PE_TASKID..self.count() {
            let slave = match self.get(place) {
                b"NONE" => false,
                field if std::str::from_utf8(field).is_ok_and(is_slave) => true,
                _ => continue,
            };
            if !is_number(self.get(place - 1)) || !is_number(self.get(place + 1)) {
                continue;
            }
            if found.is_some_and(|known| known != slave) {
                return Err(Reason::WrongFields);
            }
            found = Some(slave);
        }
        found.ok_or(Reason::WrongFields)
    }

    /// Returns the place of the number of the job: the only number between the name of the job and the account.
    fn number(&self, row: usize) -> Result<usize, Reason> {
        let is_digits = |place: &usize| field::is_number(self.get(*place));
        let mut places = (5..row.saturating_sub(1)).filter(is_digits);
        let place = places.next().ok_or(Reason::BadJob)?;
        match places.next() {
            None => Ok(place),
            Some(_) => Err(Reason::WrongFields),
        }
    }
}

/// Returns whether a field is a number, with or without a sign and a fraction.
fn is_number(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    let (whole, fraction) = field::split_once(digits, b'.').unwrap_or((digits, b"0"));
    field::is_number(whole) && field::is_number(fraction)
}

/// Returns a field, with the colons that UGE replaced.
fn text(field: &[u8]) -> Option<Text<'_>> {
    if memchr(UGE_COLON, field).is_none() {
        return Some(Text(Cow::Borrowed(field)));
    }
    let with_colon = |byte: &u8| if *byte == UGE_COLON { b':' } else { *byte };
    Some(Text(field.iter().map(with_colon).collect()))
}
