//! Lines exactly as Lustre prints them, which nearly all are.
//!
//! What is recognised here means the same to the careful way of reading ([`super::line`], [`super::counter`]): that is
//! tested. Whatever is not recognised is left to it: layouts that `lctl` or a terminal makes, damage, the end of a cut
//! text.

use super::counter::{CounterLine, OPERATION_MAX};
use super::histogram::{self, HISTOGRAM_LEN};
use super::identifier::IDENTIFIER_MAX;
use super::time::{TimeKey, TimeLine};

static NO_SIZES: [u64; HISTOGRAM_LEN] = [0; HISTOGRAM_LEN];

/// The counters without any samples of the record before, by their place in it: most lines are the same, byte for byte.
#[derive(Default)]
pub(super) struct Zeros<'a>(Vec<(&'a [u8], CounterLine<'a>)>);

/// Counters of a record whose lines are remembered; Lustre prints up to 28.
const REMEMBERED: usize = 64;

impl<'a> Zeros<'a> {
    /// The counter that the text begins with, if its line is known, and the rest of the text.
    pub(super) fn find<'t>(
        &self,
        place: usize,
        text: &'t [u8],
    ) -> Option<(CounterLine<'a>, &'t [u8])> {
        let (line, counter) = self.0.get(place)?;
        Some((counter.clone(), text.strip_prefix(*line)?))
    }

    /// Remember a line.
    pub(super) fn learn(&mut self, place: usize, line: &'a [u8], counter: CounterLine<'a>) {
        if counter.samples != 0 {
            return;
        }
        if let Some(known) = self.0.get_mut(place) {
            *known = (line, counter);
        } else if place == self.0.len() && place < REMEMBERED {
            self.0.push((line, counter));
        }
    }
}

/// A counter's line: the counter, without the sizes of a histogram that is not empty, and the rest of the text.
pub(super) struct Counter<'a> {
    pub(super) line: CounterLine<'a>,
    /// Whether the histogram is not empty.
    pub(super) has_sizes: bool,
    pub(super) rest: &'a [u8],
}

/// The counter that the text begins with; its sizes are put where they are asked for.
pub(super) fn counter<'a>(text: &'a [u8], sizes: &mut [u64; HISTOGRAM_LEN]) -> Option<Counter<'a>> {
    let mut cursor = Cursor(text);
    cursor.eat(b"  ")?;
    let operation = cursor.word()?;
    if operation.len() > OPERATION_MAX || TimeKey::named(operation.as_bytes()).is_some() {
        return None;
    }
    cursor.eat(b":")?;
    cursor.skip_blanks();
    let mut line = CounterLine {
        operation,
        unit: "",
        samples: cursor.field(b"{ samples:")?,
        min: None,
        max: None,
        sum: None,
        sumsq: None,
        histogram: None,
    };
    cursor.eat(b", unit:")?;
    cursor.skip_blanks();
    line.unit = cursor.word()?;
    let mut has_sizes = false;
    if cursor.0.starts_with(b", min:") {
        line.min = Some(cursor.field(b", min:")?);
        line.max = Some(cursor.field(b", max:")?);
        line.sum = Some(cursor.field(b", sum:")?);
        if cursor.0.starts_with(b", sumsq:") {
            line.sumsq = Some(cursor.field(b", sumsq:")?);
        }
        if cursor.eat(b", hist: { ").is_some() {
            has_sizes = cursor.histogram(sizes)?;
            line.histogram = Some(&NO_SIZES);
        }
    }
    cursor.eat(b" }\n")?;
    Some(Counter {
        line,
        has_sizes,
        rest: cursor.0,
    })
}

/// The identifier of the `job_id` line that the text begins with, as long as it has no escapes, and the rest.
pub(super) fn record(text: &[u8]) -> Option<(&str, &[u8])> {
    let mut cursor = Cursor(text);
    cursor.eat(b"- job_id:          ")?;
    let quoted = cursor.eat(b"\"").is_some();
    let id = cursor.take(|byte| byte.is_ascii_alphanumeric() || b".@-_:/".contains(&byte))?;
    cursor.eat(if quoted { b"\"\n" } else { b"\n" })?;
    (id.len() <= IDENTIFIER_MAX).then_some((id, cursor.0))
}

/// The time line that the text begins with, what it says, and the rest.
pub(super) fn time(text: &[u8]) -> Option<(TimeKey, Option<TimeLine>, &[u8])> {
    let mut cursor = Cursor(text);
    cursor.eat(b"  ")?;
    let key = TimeKey::named(cursor.word()?.as_bytes())?;
    cursor.eat(b":")?;
    let feed = memchr::memchr(b'\n', cursor.0).filter(|feed| *feed > 0)?;
    let (value, rest) = (&cursor.0[..feed], &cursor.0[feed + 1..]);
    if value.ends_with(b"\r") {
        return None;
    }
    Some((key, key.line(value)?, rest))
}

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

    /// The bytes, at least one, that satisfy a condition, which only ASCII does.
    fn take(&mut self, is_part: impl Fn(u8) -> bool) -> Option<&'a str> {
        let end = self.0.iter().position(|byte| !is_part(*byte))?;
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        std::str::from_utf8(taken)
            .ok()
            .filter(|taken| !taken.is_empty())
    }

    fn word(&mut self) -> Option<&'a str> {
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }

    /// A number of at most 19 digits: none of these exceeds 64 bits.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        let mut digits = 0;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.0
            && digits < 19
        {
            number = number * 10 + u64::from(digit - b'0');
            digits += 1;
            self.0 = rest;
        }
        (digits > 0).then_some(number)
    }

    fn field(&mut self, name: &[u8]) -> Option<u64> {
        self.eat(name)?;
        self.skip_blanks();
        self.number()
    }

    /// Buckets and the closing brace: whether any counted something.
    fn histogram(&mut self, sizes: &mut [u64; HISTOGRAM_LEN]) -> Option<bool> {
        if self.eat(b" }").is_some() {
            return Some(false);
        }
        *sizes = [0; HISTOGRAM_LEN];
        loop {
            let element = histogram::element(self.word()?.as_bytes())?;
            let count = self.field(b":")?;
            if std::mem::replace(&mut sizes[element], count) != 0 {
                return None;
            }
            if self.eat(b", ").is_none() {
                self.eat(b" }")?;
                return Some(sizes.iter().any(|count| *count != 0));
            }
        }
    }
}
