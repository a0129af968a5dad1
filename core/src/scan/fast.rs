//! Lines exactly as Lustre prints them, which nearly all are.
//!
//! What is recognised here means the same to the careful way of reading ([`super::line`], [`super::counter`]): that is
//! tested. Whatever is not recognised is left to it: layouts that `lctl` or a terminal makes, damage, the end of a cut
//! text.

use super::counter::{CounterLine, OPERATION_MAX, Unit};
use super::digits;
use super::histogram::{self, HISTOGRAM_LEN};
use super::identifier::IDENTIFIER_MAX;
use super::time::{Time, TimeKey, TimeLine};
use crate::operation::{self, OperationIndex};

/// The counters of the records so far, by their place in them: all records of a target have the same ones in the same
/// order, and most without a call, so that most lines are the same again, byte for byte.
#[derive(Default)]
pub(super) struct Places<'a> {
    known: Vec<Known<'a>>,
    /// Of the counter that was read last.
    sizes: [u64; HISTOGRAM_LEN],
}

/// Counters of a record that are remembered; Lustre prints up to 28.
const REMEMBERED: usize = 64;

/// What is known of the counter at one place.
struct Known<'a> {
    name: Name<'a>,
    /// How its line begins, up to the number of calls.
    head: &'a [u8],
    /// Its line without any call, and what that says.
    zero: Option<(&'a [u8], CounterLine<'a>)>,
}

#[derive(Clone, Copy)]
struct Name<'a> {
    operation: &'a str,
    listed: Option<OperationIndex>,
}

impl<'a> Places<'a> {
    /// The counter without any call that the text begins with, if its line is known, and the rest.
    pub(super) fn zero<'t>(
        &self,
        place: usize,
        text: &'t [u8],
    ) -> Option<(&CounterLine<'a>, &'t [u8])> {
        let (line, counter) = self.known.get(place)?.zero.as_ref()?;
        Some((counter, text.strip_prefix(*line)?))
    }

    /// The counter that the text begins with, and the rest.
    pub(super) fn counter(
        &mut self,
        place: usize,
        text: &'a [u8],
    ) -> Option<(CounterLine<'_>, &'a [u8])> {
        let mut cursor = Cursor(text);
        let known = self.known.get(place).map(|known| (known.name, known.head));
        let known = known.filter(|(_, head)| cursor.eat(head).is_some());
        let is_known = known.is_some();
        let (name, head) = match known {
            Some(known) => known,
            None => (cursor.name()?, &text[..text.len() - cursor.0.len()]),
        };
        let mut counter = cursor.fields(name)?;
        let mut has_sizes = false;
        if cursor.eat(b", hist: { ").is_some() {
            has_sizes = cursor.histogram(&mut self.sizes)?;
            counter.histogram = Some(&NO_SIZES);
        }
        cursor.eat(b" }\n")?;
        let rest = cursor.0;
        let is_zero = counter.samples == 0 && !has_sizes;
        if is_zero || !is_known {
            let line = &text[..text.len() - rest.len()];
            let zero = is_zero.then(|| (line, counter.clone()));
            self.learn(place, Known { name, head, zero });
        }
        let histogram = if has_sizes {
            Some(&self.sizes)
        } else {
            counter.histogram
        };
        Some((
            CounterLine {
                histogram,
                ..counter
            },
            rest,
        ))
    }

    fn learn(&mut self, place: usize, counter: Known<'a>) {
        if let Some(known) = self.known.get_mut(place) {
            *known = counter;
        } else if place == self.known.len() && place < REMEMBERED {
            self.known.push(counter);
        }
    }
}

static NO_SIZES: [u64; HISTOGRAM_LEN] = [0; HISTOGRAM_LEN];

/// The identifier of the `job_id` line that the text begins with, as long as it has no escapes, and the rest.
pub(super) fn record(text: &[u8]) -> Option<(&str, &[u8])> {
    let mut cursor = Cursor(text);
    cursor.eat(b"- job_id:          ")?;
    let quoted = cursor.eat(b"\"").is_some();
    let id = cursor.take(|byte| LITERAL[usize::from(byte)])?;
    cursor.eat(if quoted { b"\"\n" } else { b"\n" })?;
    (id.len() <= IDENTIFIER_MAX).then_some((id, cursor.0))
}

/// Bytes that stand for themselves in an identifier.
static LITERAL: [bool; 256] = {
    let mut literal = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        literal[byte] = matches!(byte as u8, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'.' | b'@' | b'-' | b'_' | b':' | b'/');
        byte += 1;
    }
    literal
};

const TIMES: [(&[u8], TimeKey); 4] = [
    (b"  snapshot_time:   ", TimeKey::Snapshot),
    (b"  start_time:      ", TimeKey::Start),
    (b"  elapsed_time:    ", TimeKey::Elapsed),
    (b"  last_seen:       ", TimeKey::LastSeen),
];

/// The time line that the text begins with, what it says, and the rest.
pub(super) fn time(text: &[u8]) -> Option<(TimeKey, Option<TimeLine>, &[u8])> {
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

    fn time_key(&mut self) -> Option<TimeKey> {
        let is_eaten = |(begin, _): &(&[u8], _)| self.eat(begin).is_some();
        TIMES.into_iter().find(is_eaten).map(|(_, key)| key)
    }

    fn nanos(&mut self) -> Option<u32> {
        let (nanos, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        self.eat(b" secs.nsecs")?;
        let nanos = digits::padded::<9>(nanos).filter(|_| nanos[0] != b' ')?;
        u32::try_from(nanos).ok()
    }

    /// The name of a counter and what stands between that and the number of calls.
    fn name(&mut self) -> Option<Name<'a>> {
        self.eat(b"  ")?;
        let operation = self.word()?;
        if operation.len() > OPERATION_MAX || TimeKey::named(operation.as_bytes()).is_some() {
            return None;
        }
        self.eat(b":")?;
        self.skip_blanks();
        self.eat(b"{ samples:")?;
        let listed = operation::find(operation.as_bytes());
        Some(Name { operation, listed })
    }

    /// All fields but the histogram.
    fn fields(&mut self, name: Name<'a>) -> Option<CounterLine<'a>> {
        let samples = self.field::<11>()?;
        self.eat(b", unit:")?;
        let (unit, unit_name) = self.unit()?;
        let mut counter = CounterLine {
            operation: name.operation,
            listed: name.listed,
            unit,
            unit_name,
            samples,
            min: None,
            max: None,
            sum: None,
            sumsq: None,
            histogram: None,
        };
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
        Some(counter)
    }

    fn unit(&mut self) -> Option<(Unit, &'a str)> {
        for (name, unit) in [
            ("usecs", Unit::Microseconds),
            ("bytes", Unit::Bytes),
            (" reqs", Unit::Requests),
        ] {
            if let Some(rest) = self.0.strip_prefix(b" ")
                && let Some(rest @ [b' ' | b',', ..]) = rest.strip_prefix(name.as_bytes())
            {
                self.0 = rest;
                return Some((unit, name.trim_ascii_start()));
            }
        }
        self.skip_blanks();
        let name = self.word()?;
        Some((Unit::named(name), name))
    }

    /// A number with blanks before it, in a field of WIDTH bytes as long as it fits. Before 2.14.51 the field follows the
    /// colon, since then a blank.
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

    /// Buckets and the closing brace: whether any counted something.
    fn histogram(&mut self, sizes: &mut [u64; HISTOGRAM_LEN]) -> Option<bool> {
        if self.eat(b" }").is_some() {
            return Some(false);
        }
        *sizes = [0; HISTOGRAM_LEN];
        loop {
            let element = histogram::element(self.word()?.as_bytes())?;
            self.eat(b":")?;
            self.skip_blanks();
            let count = self.number()?;
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
