//! Reads the lines of values by the grammar.

use std::borrow::Cow;
use std::ops::Range;

use super::fast_path::UsualLines;
use super::grammar::line::Line;
use super::grammar::time::{self, TimeKey};
use super::grammar::{counter, identifier};
use super::records::{Progress, Records};
use super::{Reason, Sink};
use crate::base::operation;
use crate::base::pause::Pause;
use crate::base::target::TargetName;
use crate::text::additional_parameters::Other;
use crate::text::lctl::{Joined, LineKind, Lines, Outcome, Outside, Piece, Values, trim};

/// Reads values of `job_stats`, and `job_cleanup_interval`.
pub(super) struct Parser<'a, 's, 'p, S> {
    records: Records<'s, 'p, S>,
    usual: UsualLines<'a>,
}

impl<'a, 's, 'p, S: Sink<'a>> Parser<'a, 's, 'p, S> {
    pub(super) fn new(sink: &'s mut S, pause: Pause<'p>) -> Self {
        Self {
            records: Records::new(sink, pause),
            usual: UsualLines::default(),
        }
    }

    fn record(&mut self, id: Option<Cow<'a, str>>, at: Piece<'a>) -> Result<Outcome, S::Stop> {
        let reason = match id {
            Some(id) if at.ended => {
                self.records.begin(at.number, id, at.text)?;
                return Ok(Outcome::Belongs);
            }
            Some(_) => Reason::CutLine,
            None => Reason::LongIdentifier,
        };
        self.records.end()?;
        self.records.suspicious(at.number, reason, at.text)?;
        Ok(Outcome::Belongs)
    }

    /// Handles a counter of this name. `body` has the text inside of its braces and after them.
    fn counter(
        &mut self,
        name: &[u8],
        body: Result<(&[u8], &[u8]), Reason>,
        at: Piece<'a>,
    ) -> Result<Outcome, S::Stop> {
        let (number, text) = (at.number, at.text);
        if self.records.part() == Progress::None {
            self.records.without_record(number, text)?;
            return Ok(Outcome::Belongs);
        }
        let counter = match body {
            Ok((fields, after)) if trim(after).is_empty() => counter::parse(name, fields),
            Ok(_) => Err(Reason::UnreadableCounter),
            Err(reason) => Err(reason),
        };
        match counter {
            Ok(counter) => self.records.counter(number, &counter, text)?,
            Err(reason) => self.records.reject_counter(number, reason, text)?,
        }
        Ok(Outcome::Belongs)
    }

    /// Handles a line that is neither a record nor a counter.
    fn other_line(&mut self, line: Line<'_>, at: Piece<'a>) -> Result<Outcome, S::Stop> {
        match line {
            Line::Blank => {}
            Line::Header => self.records.end()?,
            Line::Time(key, value) => self.time(key, value, at)?,
            Line::Field(key) if at.ended && self.is_unknown_field(key) => {}
            Line::Unreadable(line) => {
                // The line can be the damaged beginning of a record.
                if trim(line).starts_with(b"-") {
                    self.records.end()?;
                }
                self.unreadable(at)?;
                return Ok(Outcome::Unreadable);
            }
            _ => self.unreadable(at)?,
        }
        Ok(Outcome::Belongs)
    }

    fn time(&mut self, key: TimeKey, value: &[u8], at: Piece<'a>) -> Result<(), S::Stop> {
        let (number, text) = (at.number, at.text);
        if !self.records.accepts_time(key) {
            return self.records.without_record(number, text);
        }
        if !at.ended && !time::is_whole(value) {
            return self.unreadable(at);
        }
        match key.line(value) {
            Some(time) => self.records.time(number, time),
            None => self.records.sink().problem(number, Reason::BadTime, text),
        }
    }

    /// Returns true for a `key: value` line that a future version may print inside of a record. Such lines are ignored.
    fn is_unknown_field(&self, key: &[u8]) -> bool {
        self.records.part() != Progress::None && operation::find(key).is_none()
    }

    fn unreadable(&mut self, at: Piece<'a>) -> Result<(), S::Stop> {
        let reason = if at.ended {
            Reason::UnreadableLine
        } else {
            Reason::CutLine
        };
        self.records.suspicious(at.number, reason, at.text)
    }
}

impl<'a, S: Sink<'a>> Values<'a> for Parser<'a, '_, '_, S> {
    type Stop = S::Stop;

    const PARAMETER: &'static str = "job_stats";
    const SETTING: Option<&'static str> = Some("job_cleanup_interval");

    fn kind(line: &[u8]) -> LineKind<'_> {
        match Line::of(line) {
            Line::Header => LineKind::Heading,
            Line::Record(id) => LineKind::Entry(id),
            Line::Time(..) | Line::Counter(..) => LineKind::Inner,
            Line::Blank | Line::Field(_) | Line::Unreadable(_) => LineKind::Any,
        }
    }

    fn begin(&mut self, line: u32, target: Option<TargetName<'a>>) -> Result<(), S::Stop> {
        self.records.begin_target(line, target)
    }

    fn end(&mut self, lines: Range<usize>) -> Result<(), S::Stop> {
        self.records.end_target(lines)
    }

    fn take(&mut self, lines: &mut Lines<'a, '_>) -> Result<bool, S::Stop> {
        self.usual.take(lines, &mut self.records)
    }

    fn line(
        &mut self,
        line: Piece<'a>,
        text: &'a [u8],
        lines: &mut Lines<'a, '_>,
    ) -> Result<Outcome, S::Stop> {
        match Line::of(text) {
            Line::Record(id) => self.record(identifier::parse(id), line),
            Line::Counter(name, open) => {
                let body = counter::body(lines, line, &text[open + 1..]);
                let body = body.ok_or_else(|| unclosed(!lines.is_cut()));
                self.counter(name, body, line)
            }
            other => self.other_line(other, line),
        }
    }

    fn joined_line(&mut self, line: Piece<'a>, joined: &Joined) -> Result<Outcome, S::Stop> {
        let mut at = line;
        at.ended = joined.ended;
        match Line::of(&joined.text) {
            Line::Record(id) => {
                let id = identifier::parse(id).map(|id| Cow::Owned(id.into_owned()));
                self.record(id, at)
            }
            Line::Counter(name, open) => {
                let body = counter::body_in(&joined.text[open + 1..]);
                let body = body.ok_or_else(|| unclosed(joined.ended));
                self.counter(name, body, at)
            }
            other => self.other_line(other, at),
        }
    }

    fn outside(&mut self, line: u32, text: &'a [u8], reason: Outside) -> Result<(), S::Stop> {
        match reason {
            Outside::Damaged => self.records.suspicious(line, Reason::UnreadableLine, text),
            Outside::OtherParameter => {
                let sink = self.records.sink();
                sink.problem(line, Reason::RecordWithoutTarget, text)
            }
        }
    }

    fn setting(
        &mut self,
        target: TargetName<'a>,
        value: &'a [u8],
        line: Piece<'a>,
        lines: Range<usize>,
    ) -> Result<(), S::Stop> {
        let sink = self.records.sink();
        let seconds =
            counter::number(value).and_then(|it| it.try_into().map_err(|_| Reason::BadNumber));
        match seconds {
            Ok(seconds) => sink.cleanup_interval(target, seconds, lines),
            Err(reason) => sink.problem(line.number, reason, line.text),
        }
    }

    fn other(&mut self, other: Other<'a>) -> Result<(), S::Stop> {
        self.records.sink().other(other)
    }

    fn read_failed(
        &mut self,
        target: TargetName<'a>,
        message: Range<usize>,
        is_inside: bool,
    ) -> Result<(), S::Stop> {
        let sink = self.records.sink();
        if is_inside {
            sink.may_hide_records()
        } else {
            sink.read_failed(target, message)
        }
    }
}

/// Returns the reason why a counter cannot be used whose brace does not close before the end of its lines.
const fn unclosed(ended: bool) -> Reason {
    if ended {
        Reason::UnclosedCounter
    } else {
        Reason::CutLine
    }
}
