//! Reads lines that are exactly as Lustre prints them, which nearly all are.
//!
//! A line that is recognised here means the same by the grammar ([`super::grammar`]), as tests check. All other lines
//! are left to the grammar: layouts that `lctl` or a terminal makes, damage, the end of a cut text.

mod digits;

use std::borrow::Cow;

use super::Sink;
use super::grammar::counter::{CounterLine, OPERATION_MAX, Unit};
use super::grammar::histogram::{self, HISTOGRAM_LEN};
use super::grammar::identifier::IDENTIFIER_MAX;
use super::grammar::time::{Time, TimeKey, TimeLine};
use super::lctl::lines::Lines;
use super::records::{Progress, Records};
use crate::base::operation;

/// The counters of the records so far, by their position in the record. All records of a target have the same counters
/// in the same order, most of them without a call, so that most lines repeat byte for byte.
#[derive(Default)]
pub(super) struct UsualLines<'a> {
    counters: Vec<Template<'a>>,
    /// The zero counters, at the positions of `counters`.
    zeros: Vec<ZeroLine<'a>>,
}

/// The number of counters of a record that are remembered. The last position serves all counters that follow; Lustre
/// prints up to 28.
const REMEMBERED: usize = 64;

/// The counter that was last read at one position.
#[derive(Default, Clone)]
struct Template<'a> {
    /// The beginning of the counter's line, up to the number of calls; empty if no line has been seen.
    head: &'a [u8],
    /// The counter as it was last read. Each counter is read into this memory, because moving it takes as long as
    /// reading it.
    counter: CounterLine<'a>,
}

/// The line of a zero counter.
#[derive(Debug, Default, Clone)]
pub struct ZeroLine<'a> {
    /// The counter on the line.
    pub counter: CounterLine<'a>,
    /// The line with its end; empty if no line has been seen.
    line: &'a [u8],
}

impl<'a> ZeroLine<'a> {
    /// Returns the line without its end.
    pub fn text(&self) -> &'a [u8] {
        self.line.strip_suffix(b"\n").unwrap_or(self.line)
    }
}

impl<'a> UsualLines<'a> {
    /// Takes the next line of a record, or its next counters, if they are exactly as Lustre prints them. Returns true
    /// if there is such a line.
    pub(super) fn take<S: Sink<'a>>(
        &mut self,
        lines: &mut Lines<'a, '_>,
        records: &mut Records<'_, '_, S>,
    ) -> Result<bool, S::Stop> {
        match (lines.rest(), records.part) {
            ([b'-', ..], _) => take_record(lines, records),
            ([b' ', ..], Progress::Times(_)) => {
                Ok(take_time(lines, records)? || self.take_counters(lines, records)?)
            }
            ([b' ', ..], Progress::Counters(_)) => self.take_counters(lines, records),
            _ => Ok(false),
        }
    }

    fn take_counters<S: Sink<'a>>(
        &mut self,
        lines: &mut Lines<'a, '_>,
        records: &mut Records<'_, '_, S>,
    ) -> Result<bool, S::Stop> {
        let (first, mut text) = (records.counters(), lines.rest());
        let mut position = first;
        loop {
            let (zeros, rest) = self.zeros(position, text);
            if !zeros.is_empty() {
                let line = lines.number;
                lines.take_known_lines(rest, zeros.len());
                position += zeros.len();
                records.sink.zeros(line, zeros)?;
            }
            let Some((counter, rest)) = self.counter(position, rest) else {
                break;
            };
            let line = lines.take_known(rest);
            position += 1;
            records.sink.counter(line.number, counter, line.text)?;
            text = rest;
        }
        let is_any = position > first;
        if is_any {
            records.has_counters(position);
        }
        Ok(is_any)
    }

    /// Returns the zero counters with known lines at the beginning of the text, and the rest of the text.
    fn zeros<'t>(&self, position: usize, text: &'t [u8]) -> (&[ZeroLine<'a>], &'t [u8]) {
        let lines = self.zeros.get(position..).unwrap_or_default();
        let (mut rest, mut count) = (text, 0);
        for zero in lines {
            match rest.strip_prefix(zero.line) {
                Some(after) if !zero.line.is_empty() => rest = after,
                _ => break,
            }
            count += 1;
        }
        (&lines[..count], rest)
    }

    /// Returns the counter at the beginning of the text, and the rest.
    fn counter(&mut self, position: usize, text: &'a [u8]) -> Option<(&CounterLine<'a>, &'a [u8])> {
        let position = position.min(REMEMBERED - 1);
        if position >= self.counters.len() {
            self.counters.resize(position + 1, Template::default());
            self.zeros.resize(position + 1, ZeroLine::default());
        }
        let (template, zero) = (&mut self.counters[position], &mut self.zeros[position]);
        let mut cursor = Cursor(text);
        if template.head.is_empty() || cursor.eat(template.head).is_none() {
            template.counter.operation = cursor.name()?;
            template.counter.listed = operation::find(template.counter.operation.as_bytes());
            template.head = &text[..text.len() - cursor.0.len()];
        }
        cursor.fields(&mut template.counter)?;
        if template.counter.is_zero() {
            zero.counter = template.counter.clone();
            zero.line = &text[..text.len() - cursor.0.len()];
        }
        Some((&template.counter, cursor.0))
    }
}

fn take_record<'a, S: Sink<'a>>(
    lines: &mut Lines<'a, '_>,
    records: &mut Records<'_, '_, S>,
) -> Result<bool, S::Stop> {
    let Some((id, rest)) = record(lines.rest()) else {
        return Ok(false);
    };
    let line = lines.take_known(rest);
    records.begin(line.number, Cow::Borrowed(id), line.text)?;
    Ok(true)
}

fn take_time<'a, S: Sink<'a>>(
    lines: &mut Lines<'a, '_>,
    records: &mut Records<'_, '_, S>,
) -> Result<bool, S::Stop> {
    let Some((key, time, rest)) = time(lines.rest()) else {
        return Ok(false);
    };
    let line = lines.take_known(rest);
    if records.accepts_time(key) {
        records.time(line.number, time)?;
    } else {
        records.without_record(line.number, line.text)?;
    }
    Ok(true)
}

/// Returns the identifier of the `job_id` line at the beginning of the text, if it has no escapes, and the rest.
fn record(text: &[u8]) -> Option<(&str, &[u8])> {
    let mut cursor = Cursor(text);
    cursor.eat(b"- job_id:          ")?;
    let longest = cursor.0.len().min(IDENTIFIER_MAX + b"\"\"\n".len());
    let end = memchr::memchr(b'\n', &cursor.0[..longest])?;
    let (printed, rest) = (&cursor.0[..end], &cursor.0[end + 1..]);
    let id = match printed.strip_prefix(b"\"") {
        Some(quoted) => quoted.strip_suffix(b"\"")?,
        None => printed,
    };
    let is_literal = id
        .iter()
        .fold(true, |all, byte| all & LITERAL[usize::from(*byte)]);
    let id = std::str::from_utf8(id).ok()?;
    (is_literal && (1..=IDENTIFIER_MAX).contains(&id.len())).then_some((id, rest))
}

/// The bytes that stand for themselves in an identifier.
static LITERAL: [bool; 256] = {
    let mut literal = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        literal[byte] = matches!(byte as u8, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'.' | b'@' | b'-' | b'_' | b':' | b'/');
        byte += 1;
    }
    literal
};

const TIMES: [(&[u8; 19], TimeKey); 4] = [
    (b"  snapshot_time:   ", TimeKey::Snapshot),
    (b"  start_time:      ", TimeKey::Start),
    (b"  elapsed_time:    ", TimeKey::Elapsed),
    (b"  last_seen:       ", TimeKey::LastSeen),
];

/// Returns the key and the content of the time line at the beginning of the text, and the rest.
fn time(text: &[u8]) -> Option<(TimeKey, Option<TimeLine>, &[u8])> {
    let mut cursor = Cursor(text);
    let key = cursor.time_key()?;
    let seconds = cursor.number()?;
    let nanos = match cursor.eat(b".") {
        Some(()) => Some(cursor.nanos()?),
        None => None,
    };
    cursor.eat(b"\n")?;
    Some((key, key.says(Time::new(seconds, nanos))?, cursor.0))
}

/// The units of Lustre as they are printed.
static UNITS: [(&[u8; 13], Unit, &str); 3] = [
    (b", unit: usecs", Unit::Microseconds, "usecs"),
    (b", unit: bytes", Unit::Bytes, "bytes"),
    (b", unit:  reqs", Unit::Requests, "reqs"),
];

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn eat(&mut self, literal: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(literal)?;
        Some(())
    }

    fn skip_blanks(&mut self) {
        while let [b' ', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = self.0.iter().position(|byte| !is_part(byte))?;
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        std::str::from_utf8(taken)
            .ok()
            .filter(|taken| !taken.is_empty())
    }

    fn time_key(&mut self) -> Option<TimeKey> {
        let (begin, rest) = self.0.split_first_chunk()?;
        let (_, key) = TIMES.iter().find(|(time, _)| *time == begin)?;
        self.0 = rest;
        Some(*key)
    }

    fn nanos(&mut self) -> Option<u32> {
        let (nanos, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        self.eat(b" secs.nsecs")?;
        let nanos = digits::padded::<9>(nanos).filter(|_| nanos[0] != b' ')?;
        u32::try_from(nanos).ok()
    }

    /// Takes the name of a counter and the text between the name and the number of calls.
    fn name(&mut self) -> Option<&'a str> {
        self.eat(b"  ")?;
        let operation = self.word()?;
        if operation.len() > OPERATION_MAX || TimeKey::find(operation).is_some() {
            return None;
        }
        self.eat(b":")?;
        self.skip_blanks();
        self.eat(b"{ samples:")?;
        Some(operation)
    }

    /// Reads all fields up to the end of the line.
    fn fields(&mut self, counter: &mut CounterLine<'a>) -> Option<()> {
        counter.samples = self.field::<11>()?;
        (counter.unit, counter.unit_name) = self.unit()?;
        (counter.min, counter.max) = (None, None);
        (counter.sum, counter.sumsq) = (None, None);
        if self.eat(b", min:").is_some() {
            counter.min = Some(self.field::<8>()?);
            self.eat(b", max:")?;
            counter.max = Some(self.field::<8>()?);
            self.eat(b", sum:")?;
            counter.sum = Some(self.field::<16>()?);
            if self.eat(b", sumsq:").is_some() {
                counter.sumsq = Some(self.field::<18>()?);
            }
        }
        counter.histogram = None;
        if self.eat(b", hist: { ").is_some() {
            self.histogram(counter.histogram.insert([0; HISTOGRAM_LEN]))?;
        }
        self.eat(b" }\n")
    }

    fn unit(&mut self) -> Option<(Unit, &'a str)> {
        for (begin, unit, name) in &UNITS {
            if let Some((chunk, rest @ [b' ' | b',', ..])) = self.0.split_first_chunk()
                && chunk == *begin
            {
                self.0 = rest;
                return Some((*unit, name));
            }
        }
        self.eat(b", unit:")?;
        self.skip_blanks();
        let name = self.word()?;
        Some((Unit::find(name).unwrap_or(Unit::Other), name))
    }

    /// Takes a number after blanks, in a field of WIDTH bytes if it fits there. Before Lustre 2.14.51 the field follows
    /// the colon, since then a blank.
    fn field<const WIDTH: usize>(&mut self) -> Option<u64> {
        let text = match self.0.get(WIDTH) {
            Some(b',' | b' ') => self.0,
            _ => self.0.strip_prefix(b" ").unwrap_or(self.0),
        };
        if let Some((field, rest @ [b',' | b' ', ..])) = text.split_first_chunk()
            && let Some(number) = digits::padded::<WIDTH>(field)
        {
            self.0 = rest;
            return Some(number);
        }
        self.skip_blanks();
        self.number()
    }

    fn number(&mut self) -> Option<u64> {
        let (number, rest) = digits::number(self.0)?;
        self.0 = rest;
        Some(number)
    }

    /// Reads the buckets and the closing brace.
    fn histogram(&mut self, sizes: &mut [u64; HISTOGRAM_LEN]) -> Option<()> {
        if self.eat(b" }").is_some() {
            return Some(());
        }
        loop {
            let element = histogram::element(self.word()?.as_bytes())?;
            self.eat(b":")?;
            self.skip_blanks();
            let count = self.number()?;
            if std::mem::replace(&mut sizes[element], count) != 0 {
                return None;
            }
            if self.eat(b", ").is_none() {
                return self.eat(b" }");
            }
        }
    }
}
