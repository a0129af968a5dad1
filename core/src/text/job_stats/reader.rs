//! Follows the names of parameters through a text, and assigns its lines to values of targets.
//!
//! Names come before values, as `lctl` prints them by default, with `-y` and with `-H`, or there are none (`-n`). Error messages may stand
//! between lines and in the middle of them, and values may end in the middle of a line.

use std::ops::Range;

use super::fast_path::UsualLines;
use super::grammar::counter;
use super::grammar::line::Line;
use super::lctl::lines::{Lines, Piece, trim};
use super::lctl::message;
use super::lctl::other::OpenValue;
use super::lctl::parameter::{self, JOB_STATS, Parameter};
use super::records::Records;
use super::{Reason, Sink};
use crate::base::pause::Pause;
use crate::base::target::TargetName;
use crate::text::additional_parameters as additional;

/// The name of the setting that is read too.
const CLEANUP_INTERVAL: &str = "job_cleanup_interval";

/// The part of the text that contains a line.
#[derive(Clone, Copy)]
enum Section<'a> {
    /// The beginning, before the first name.
    Start,
    /// A value of the parameter, which began at this byte.
    Value(Option<TargetName<'a>>, usize),
    /// The setting of a target, whose name began at this byte and whose value follows.
    Setting(TargetName<'a>, usize),
    /// The value of another parameter.
    Other,
}

/// Reads a text.
pub(super) struct Reader<'a, 's, 'p, S> {
    lines: Lines<'a, 'p>,
    records: Records<'s, 'p, S>,
    usual: UsualLines<'a>,
    section: Section<'a>,
    /// A line `name=value` without dots in the name, with its number: another parameter, or a damaged line of the value.
    aside: Option<(u32, &'a [u8])>,
    /// The value of another parameter that is read.
    other: Option<OpenValue<'a>>,
}

impl<'a, 's, 'p, S: Sink<'a>> Reader<'a, 's, 'p, S> {
    pub(super) fn new(text: &'a [u8], sink: &'s mut S, pause: Pause<'p>) -> Self {
        Self {
            lines: Lines::new(text, pause),
            records: Records::new(sink, pause),
            usual: UsualLines::default(),
            section: Section::Start,
            aside: None,
            other: None,
        }
    }

    pub(super) fn run(mut self) -> Result<(), S::Stop> {
        loop {
            // Lines that need no look at their neighbours are taken without one.
            if let (Section::Value(..), None) = (self.section, self.aside)
                && self.usual.take(&mut self.lines, &mut self.records)?
            {
                continue;
            }
            if self.lines.rest().starts_with(b"\n") {
                self.lines.take_empty();
                continue;
            }
            match self.lines.take() {
                Some(piece) => self.line(piece)?,
                None => {
                    self.end_other(self.lines.position)?;
                    return self.leave(self.lines.position);
                }
            }
        }
    }

    fn line(&mut self, piece: Piece<'a>) -> Result<(), S::Stop> {
        if message::is_message(piece.text) {
            return self.message(piece.from..piece.next);
        }
        let Some((parameter, value)) = parameter::parse(piece.text) else {
            return self.value(piece.text, piece);
        };
        if message::is_message(value) {
            self.parameter(parameter, b"", piece)?;
            return self.message(piece.offset_of(value)..piece.next);
        }
        let is_read = self.parameter(parameter, value, piece)?;
        if is_read {
            return Ok(());
        }
        self.message_within(piece.text, piece)
    }

    /// Handles a parameter's name with the rest of its line. Returns true if its value is read.
    fn parameter(
        &mut self,
        parameter: Parameter<'a>,
        value: &'a [u8],
        piece: Piece<'a>,
    ) -> Result<bool, S::Stop> {
        self.begin_other(value, piece)?;
        match parameter {
            Parameter::OfTarget(target, name) if name == JOB_STATS.as_bytes() => {
                self.named_value(target, value, piece)?;
                Ok(true)
            }
            Parameter::OfTarget(target, name) if name == CLEANUP_INTERVAL.as_bytes() => {
                self.leave(piece.from)?;
                self.section = Section::Setting(target, piece.from);
                self.setting(value, piece)?;
                Ok(true)
            }
            Parameter::OfTarget(..) | Parameter::Other { is_dotted: true } => {
                self.leave(piece.from)?;
                Ok(false)
            }
            Parameter::Other { is_dotted: false } => {
                self.aside.get_or_insert((piece.number, piece.text));
                Ok(false)
            }
        }
    }

    /// Ends the value of another parameter at a name, and begins another one if the name is such a parameter. `lctl -H`
    /// prints the name before each line.
    fn begin_other(&mut self, value: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        let name = piece.text.strip_suffix(value).unwrap_or(piece.text);
        let name = name.split_last().map(|(_, name)| name);
        let parameter = name.and_then(additional::Parameter::parse);
        let from = piece.offset_of(value);
        if let Some(open) = &mut self.other
            && parameter == Some(open.parameter)
            && !trim(value).is_empty()
        {
            open.go_on(self.lines.text, piece.from, from);
            return Ok(());
        }
        self.end_other(piece.from)?;
        self.other = parameter.map(|it| OpenValue::new(it, piece.number, from));
        Ok(())
    }

    fn end_other(&mut self, at: usize) -> Result<(), S::Stop> {
        let other = self.other.take();
        match other.and_then(|open| open.finish(self.lines.text, at)) {
            Some(other) => self.records.sink.other(other),
            None => Ok(()),
        }
    }

    /// Handles the name of the parameter that is read. `lctl -H` prints the name before each line, so that only a name
    /// without a value begins the parameter anew.
    fn named_value(
        &mut self,
        target: TargetName<'a>,
        value: &'a [u8],
        piece: Piece<'a>,
    ) -> Result<(), S::Stop> {
        let is_alone = trim(value).is_empty();
        self.aside = None;
        if is_alone || !self.is_within(target) {
            self.leave(piece.from)?;
            self.enter(Some(target), piece)?;
        }
        if is_alone {
            return Ok(());
        }
        self.value(value, piece)
    }

    /// Handles the text of a line in which the value of a setting is expected.
    fn setting(&mut self, value: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        let Section::Setting(target, from) = self.section else {
            return Ok(());
        };
        let value = trim(value);
        if value.is_empty() {
            return Ok(());
        }
        self.section = Section::Other;
        let seconds = counter::number(value)
            .ok()
            .and_then(|it| it.try_into().ok());
        let sink = &mut *self.records.sink;
        match seconds {
            Some(seconds) => sink.cleanup_interval(target, seconds, from..piece.next),
            None => sink.problem(piece.number, Reason::BadNumber, piece.text),
        }
    }

    /// Handles an error message.
    fn message(&mut self, range: Range<usize>) -> Result<(), S::Stop> {
        if let Some(open) = &mut self.other {
            open.leave_out(self.lines.text, range.clone());
        }
        let message = &self.lines.text[range.clone()];
        match parameter::named_in_message(message) {
            Some(target) if self.is_within(target) => self.records.sink.may_hide_records(),
            Some(target) => self.records.sink.read_failed(target, range),
            None => Ok(()),
        }
    }

    /// Handles an error message in the middle of a line that is skipped otherwise.
    fn message_within(&mut self, text: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        match message::merged(text) {
            Some(begin) => self.message(piece.offset_of(&text[begin..])..piece.next),
            None => Ok(()),
        }
    }

    fn is_within(&self, target: TargetName<'a>) -> bool {
        matches!(self.section, Section::Value(Some(here), _) if here == target)
    }

    fn enter(&mut self, target: Option<TargetName<'a>>, piece: Piece<'a>) -> Result<(), S::Stop> {
        self.section = Section::Value(target, piece.from);
        self.records.begin_target(piece.number, target)
    }

    /// Ends the value of a parameter.
    fn leave(&mut self, at: usize) -> Result<(), S::Stop> {
        self.aside = None;
        match std::mem::replace(&mut self.section, Section::Other) {
            Section::Value(_, from) => self.records.end_target(from..at),
            Section::Start | Section::Setting(..) | Section::Other => Ok(()),
        }
    }

    /// Handles a line of a value: the whole line, or the text after the name.
    fn value(&mut self, text: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        match self.section {
            Section::Start | Section::Value(..) => self.value_line(text, piece),
            Section::Setting(..) => self.setting(text, piece),
            Section::Other => {
                self.message_within(text, piece)?;
                match Line::of(text) {
                    Line::Record(_) => {
                        let reason = Reason::RecordWithoutTarget;
                        self.records.sink.problem(piece.number, reason, piece.text)
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn value_line(&mut self, text: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        if self.is_aside(text, piece)? {
            return self.message_within(text, piece);
        }
        if let Some(offset) = message::merged(text)
            && let (before, message) = text.split_at(offset)
            && let Some(joined) = self
                .lines
                .joined(before, piece.offset_of(message)..piece.next)
        {
            for message in &joined.messages {
                self.message(message.clone())?;
            }
            self.enter_nameless(&joined.text, piece)?;
            let is_readable = self.records.joined_line(piece, &joined)?;
            return self.after(is_readable, &joined.text, joined.ended);
        }
        self.enter_nameless(text, piece)?;
        let is_readable = self.records.line(piece, text, &mut self.lines)?;
        self.after(is_readable, text, piece.ended)
    }

    /// Returns true if a line belongs to the value of another parameter, one without dots in its name. A heading or an
    /// entry ends that value. A line from inside of an entry shows that the parameter was a damaged line of that entry.
    fn is_aside(&mut self, text: &[u8], piece: Piece<'a>) -> Result<bool, S::Stop> {
        let Some((number, damaged)) = self.aside else {
            return Ok(false);
        };
        match Line::of(text) {
            Line::Blank | Line::Field(_) | Line::Unreadable(_) => return Ok(true),
            Line::Header | Line::Record(_) => self.end_other(piece.from)?,
            Line::Time(..) | Line::Counter(..) => {
                self.other = None;
                let reason = Reason::UnreadableLine;
                self.records.suspicious(number, reason, damaged)?;
            }
        }
        self.aside = None;
        Ok(false)
    }

    /// Begins a value without a name if no name has been seen before a line that begins a value or an entry.
    fn enter_nameless(&mut self, text: &[u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        let is_start = matches!(self.section, Section::Start);
        if is_start && matches!(Line::of(text), Line::Header | Line::Record(_)) {
            return self.enter(None, piece);
        }
        Ok(())
    }

    /// Ends the value after a line that cannot be read and looks like the damaged name of a target.
    fn after(&mut self, is_readable: bool, text: &[u8], ended: bool) -> Result<(), S::Stop> {
        let is_within = matches!(self.section, Section::Value(..));
        if !is_readable && ended && is_within && parameter::resembles_target(text) {
            return self.leave(self.lines.position);
        }
        Ok(())
    }
}
