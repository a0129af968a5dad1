//! Reads the lines of values by the grammar.

use std::borrow::Cow;

use super::grammar::line::Line;
use super::grammar::time::{self, TimeKey};
use super::grammar::{counter, identifier};
use super::lctl::lines::{Joined, Lines, Piece, trim};
use super::records::{Progress, Records};
use super::{Reason, Sink};
use crate::base::operation;

impl<'a, S: Sink<'a>> Records<'_, '_, S> {
    /// Handles a line of the value. `text` is the line, or its part after a name. Further lines can be taken from `lines`. Returns false
    /// if the line cannot be read: it may be the damaged name of a target, after which the value of another target begins.
    pub(super) fn line(
        &mut self,
        line: Piece<'a>,
        text: &'a [u8],
        lines: &mut Lines<'a, '_>,
    ) -> Result<bool, S::Stop> {
        match Line::of(text) {
            Line::Record(id) => self.record_line(identifier::parse(id), line)?,
            Line::Counter(name, open) => {
                let body = counter::body(lines, line, &text[open + 1..]);
                let body = body.ok_or_else(|| unclosed(!lines.is_cut()));
                self.counter_line(name, body, line)?;
            }
            other => return self.other_line(other, line),
        }
        Ok(true)
    }

    /// Handles a line of the value that error messages interrupted, as [`Self::line`] does. `line` is its first part.
    pub(super) fn joined_line(
        &mut self,
        line: Piece<'a>,
        joined: &Joined,
    ) -> Result<bool, S::Stop> {
        let mut at = line;
        at.ended = joined.ended;
        match Line::of(&joined.text) {
            Line::Record(id) => {
                let id = identifier::parse(id).map(|id| Cow::Owned(id.into_owned()));
                self.record_line(id, at)?;
            }
            Line::Counter(name, open) => {
                let body = counter::body_in(&joined.text[open + 1..]);
                let body = body.ok_or_else(|| unclosed(joined.ended));
                self.counter_line(name, body, at)?;
            }
            other => return self.other_line(other, at),
        }
        Ok(true)
    }

    fn record_line(&mut self, id: Option<Cow<'a, str>>, at: Piece<'a>) -> Result<(), S::Stop> {
        let reason = match id {
            Some(id) if at.ended => return self.begin(at.number, id, at.text),
            Some(_) => Reason::CutLine,
            None => Reason::LongIdentifier,
        };
        self.end()?;
        self.suspicious(at.number, reason, at.text)
    }

    /// Handles a counter of this name. `body` has the text inside of its braces and after them.
    fn counter_line(
        &mut self,
        name: &[u8],
        body: Result<(&[u8], &[u8]), Reason>,
        at: Piece<'a>,
    ) -> Result<(), S::Stop> {
        let (number, text) = (at.number, at.text);
        if self.part == Progress::None {
            return self.without_record(number, text);
        }
        let counter = match body {
            Ok((fields, after)) if trim(after).is_empty() => counter::parse(name, fields),
            Ok(_) => Err(Reason::UnreadableCounter),
            Err(reason) => Err(reason),
        };
        match counter {
            Ok(counter) => self.counter(number, &counter, text),
            Err(reason) => self.reject_counter(number, reason, text),
        }
    }

    /// Handles a line that is neither a record nor a counter.
    fn other_line(&mut self, line: Line<'_>, at: Piece<'a>) -> Result<bool, S::Stop> {
        match line {
            Line::Blank => {}
            Line::Header => self.end()?,
            Line::Time(key, value) => self.time_line(key, value, at)?,
            Line::Field(key) if at.ended && self.is_unknown_field(key) => {}
            Line::Unreadable(line) => {
                // The line can be the damaged beginning of a record.
                if trim(line).starts_with(b"-") {
                    self.end()?;
                }
                self.unreadable(at)?;
                return Ok(false);
            }
            _ => self.unreadable(at)?,
        }
        Ok(true)
    }

    fn time_line(&mut self, key: TimeKey, value: &[u8], at: Piece<'a>) -> Result<(), S::Stop> {
        let (number, text) = (at.number, at.text);
        if !self.accepts_time(key) {
            return self.without_record(number, text);
        }
        if !at.ended && !time::is_whole(value) {
            return self.unreadable(at);
        }
        match key.line(value) {
            Some(time) => self.time(number, time),
            None => self.sink.problem(number, Reason::BadTime, text),
        }
    }

    /// Returns true for a `key: value` line that a future version may print inside of a record. Such lines are ignored.
    fn is_unknown_field(&self, key: &[u8]) -> bool {
        self.part != Progress::None && operation::find(key).is_none()
    }

    fn unreadable(&mut self, at: Piece<'a>) -> Result<(), S::Stop> {
        let reason = if at.ended {
            Reason::UnreadableLine
        } else {
            Reason::CutLine
        };
        self.suspicious(at.number, reason, at.text)
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
