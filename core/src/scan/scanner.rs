//! Interprets each line by the place where it stands.

use std::borrow::Cow;
use std::ops::Range;

use super::counter::{self, CounterLine};
use super::fast::{self, Places};
use super::line::{Line, trim};
use super::lines::{Joined, Lines, Piece, closing};
use super::parameter::{self, Parameter, TargetName};
use super::time::{self, TimeKey, TimeLine};
use super::{Reason, Sink, identifier, message};
use crate::operation;
use crate::pause::Pause;

/// The place of a line in the output of `lctl`.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// The beginning, before the first name.
    Start,
    /// The value of `job_stats`, which began at this byte.
    Within(Option<TargetName<'a>>, usize),
    /// The line after the name of `job_cleanup_interval`, which began at this byte and has its value on that line.
    Interval(TargetName<'a>, usize),
    /// The value of another parameter.
    Elsewhere,
}

/// The part of a record that has been read. Times stand before counters, and each time once. A line in another order
/// belongs to a record whose `job_id` line is lost.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Record {
    None,
    /// The times so far, with one bit for each.
    Times(u8),
    /// The number of counters so far.
    Counters(usize),
}

impl Record {
    const fn counters(self) -> usize {
        match self {
            Self::None | Self::Times(_) => 0,
            Self::Counters(counters) => counters,
        }
    }
}

pub(super) struct Scanner<'a, 's, 'p, S> {
    lines: Lines<'a, 'p>,
    sink: &'s mut S,
    pause: Pause<'p>,
    /// The number of records that have begun.
    records: usize,
    /// The number of the current line.
    line: u32,
    place: Place<'a>,
    record: Record,
    /// True if an unreadable line may have been the beginning of a record, and no line since has shown that it was not.
    suspect: bool,
    /// A line `name=value` without dots in the name, with its number: another parameter, or a damaged line of a record.
    aside: Option<(u32, &'a [u8])>,
    places: Places<'a>,
}

impl<'a, 's, 'p, S: Sink<'a>> Scanner<'a, 's, 'p, S> {
    pub(super) fn new(text: &'a [u8], sink: &'s mut S, pause: Pause<'p>) -> Self {
        Self {
            lines: Lines::new(text, pause),
            sink,
            pause,
            records: 0,
            line: 1,
            place: Place::Start,
            record: Record::None,
            suspect: false,
            aside: None,
            places: Places::default(),
        }
    }

    pub(super) fn run(mut self) -> Result<(), S::Stop> {
        loop {
            self.line = self.lines.number;
            if self.plain_line()? {
                continue;
            }
            if self.lines.rest().starts_with(b"\n") {
                self.lines.take_empty();
                continue;
            }
            match self.lines.take() {
                Some(piece) => self.step(piece)?,
                None => return self.leave(self.lines.position),
            }
        }
    }

    /// Takes a line of a record that is exactly as Lustre prints it. Returns true if there is one.
    fn plain_line(&mut self) -> Result<bool, S::Stop> {
        let text = self.lines.rest();
        if self.aside.is_some() || !matches!(self.place, Place::Within(..)) {
            return Ok(false);
        }
        match (text, self.record) {
            ([b'-', ..], _) => self.plain_record(text),
            ([b' ', ..], Record::Times(_)) => {
                Ok(self.plain_time(text)? || self.plain_counters(text)?)
            }
            ([b' ', ..], Record::Counters(_)) => self.plain_counters(text),
            _ => Ok(false),
        }
    }

    fn plain_record(&mut self, text: &'a [u8]) -> Result<bool, S::Stop> {
        let Some((id, rest)) = fast::record(text) else {
            return Ok(false);
        };
        let line = self.lines.take_known(rest);
        self.begin_record(Cow::Borrowed(id), line)?;
        Ok(true)
    }

    fn plain_time(&mut self, text: &'a [u8]) -> Result<bool, S::Stop> {
        let Some((key, time, rest)) = fast::time(text) else {
            return Ok(false);
        };
        let line = self.lines.take_known(rest).text;
        if self.accepts_time(key) {
            self.say_time(time)?;
        } else {
            self.without_record(line)?;
        }
        Ok(true)
    }

    /// Takes the counters, one after the other, that are exactly as Lustre prints them. Returns true if there is any.
    fn plain_counters(&mut self, text: &'a [u8]) -> Result<bool, S::Stop> {
        let (mut place, mut text) = (self.record.counters(), text);
        let first = place;
        loop {
            let (zeros, rest) = self.places.zeros(place, text);
            if !zeros.is_empty() {
                self.line = self.lines.number;
                self.lines.take_known_lines(rest, zeros.len());
                place += zeros.len();
                self.sink.zeros(self.line, zeros)?;
            }
            let Some((counter, rest)) = self.places.counter(place, rest) else {
                break;
            };
            self.line = self.lines.number;
            let line = self.lines.take_known(rest).text;
            place += 1;
            self.sink.counter(self.line, counter, line)?;
            text = rest;
        }
        if place > first {
            self.record = Record::Counters(place);
            self.suspect = false;
        }
        Ok(place > first)
    }

    fn step(&mut self, piece: Piece<'a>) -> Result<(), S::Stop> {
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
        self.parameter(parameter, value, piece)?;
        match parameter {
            Parameter::Other { .. } => self.message_within(piece.text, piece),
            Parameter::JobStats(_) | Parameter::CleanupInterval(_) => Ok(()),
        }
    }

    fn parameter(
        &mut self,
        parameter: Parameter<'a>,
        value: &'a [u8],
        piece: Piece<'a>,
    ) -> Result<(), S::Stop> {
        match parameter {
            Parameter::JobStats(target) => self.job_stats(target, value, piece),
            Parameter::CleanupInterval(target) => {
                self.leave(piece.from)?;
                self.place = Place::Interval(target, piece.from);
                self.interval(value, piece)
            }
            Parameter::Other { dotted } => {
                if dotted {
                    self.leave(piece.from)?;
                } else {
                    self.aside.get_or_insert((self.line, piece.text));
                }
                Ok(())
            }
        }
    }

    /// Handles an error message.
    fn message(&mut self, range: Range<usize>) -> Result<(), S::Stop> {
        match parameter::named_in_message(&self.lines.text()[range.clone()]) {
            Some(target) if self.is_within(target) => self.sink.may_hide_records(),
            Some(target) => self.sink.read_failed(target, range),
            None => Ok(()),
        }
    }

    fn is_within(&self, target: TargetName<'a>) -> bool {
        matches!(self.place, Place::Within(Some(here), _) if here == target)
    }

    /// Handles the parameter `job_stats`. `lctl -H` prints the name before each line, so that only a name without a
    /// value begins the parameter anew.
    fn job_stats(
        &mut self,
        target: TargetName<'a>,
        value: &'a [u8],
        piece: Piece<'a>,
    ) -> Result<(), S::Stop> {
        let is_alone = trim(value).is_empty();
        self.aside = None;
        if is_alone || !self.is_within(target) {
            self.leave(piece.from)?;
            self.enter(Some(target), piece.from)?;
        }
        if is_alone {
            return Ok(());
        }
        self.value(value, piece)
    }

    fn interval(&mut self, value: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        let Place::Interval(target, from) = self.place else {
            return Ok(());
        };
        if trim(value).is_empty() {
            return Ok(());
        }
        self.place = Place::Elsewhere;
        match parameter::interval(value) {
            Some(seconds) => self
                .sink
                .cleanup_interval(target, seconds, from..piece.next),
            None => self.sink.problem(self.line, Reason::BadNumber, piece.text),
        }
    }

    fn enter(&mut self, target: Option<TargetName<'a>>, from: usize) -> Result<(), S::Stop> {
        self.place = Place::Within(target, from);
        self.sink.target(self.line, target)
    }

    /// Ends the value of a parameter.
    fn leave(&mut self, at: usize) -> Result<(), S::Stop> {
        self.aside = None;
        self.end_record()?;
        let place = std::mem::replace(&mut self.place, Place::Elsewhere);
        if let Place::Within(_, from) = place {
            self.sink.target_ends(from..at)?;
        }
        Ok(())
    }

    /// Handles a line of a value: the whole line, or the text after the name.
    fn value(&mut self, text: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        match self.place {
            Place::Start | Place::Within(..) => self.job_stats_line(text, piece),
            Place::Interval(..) => self.interval(text, piece),
            Place::Elsewhere => {
                self.message_within(text, piece)?;
                match Line::of(text) {
                    Line::Record(_) => {
                        self.sink
                            .problem(self.line, Reason::RecordWithoutTarget, piece.text)
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Handles an error message in the middle of a line that is skipped otherwise.
    fn message_within(&mut self, text: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        match message::merged(text) {
            Some(begin) => self.message(piece.offset_of(&text[begin..])..piece.next),
            None => Ok(()),
        }
    }

    fn job_stats_line(&mut self, text: &'a [u8], piece: Piece<'a>) -> Result<(), S::Stop> {
        let line = Line::of(text);
        if self.steps_over(&line)? {
            return self.message_within(text, piece);
        }
        if let Some(offset) = message::merged(text)
            && let (before, message) = text.split_at(offset)
            && let Some(joined) = self
                .lines
                .joined(before, piece.offset_of(message)..piece.next)
        {
            return self.joined_line(joined, piece);
        }
        match line {
            Line::Record(id) => self.record(identifier::parse(id), piece.ended, piece),
            Line::Counter(name, open) => {
                let body = self.lines.counter(piece, &text[open + 1..]);
                let body = body.ok_or_else(|| unclosed(!self.lines.is_cut()));
                self.counter(name, body, piece.text)
            }
            other => self.other_line(other, piece.ended, piece),
        }
    }

    /// Returns true if a line belongs to the value of another parameter, one without dots in its name. A header or a
    /// record ends that value. A time or a counter shows that the parameter was a damaged line of a record.
    fn steps_over(&mut self, line: &Line<'a>) -> Result<bool, S::Stop> {
        let Some((number, text)) = self.aside else {
            return Ok(false);
        };
        match line {
            Line::Blank | Line::Field(_) | Line::Unreadable(_) => return Ok(true),
            Line::Header | Line::Record(_) => {}
            Line::Time(..) | Line::Counter(..) => {
                self.suspect = true;
                self.sink.problem(number, Reason::UnreadableLine, text)?;
            }
        }
        self.aside = None;
        Ok(false)
    }

    fn joined_line(&mut self, joined: Joined, piece: Piece<'a>) -> Result<(), S::Stop> {
        for message in joined.messages {
            self.message(message)?;
        }
        match Line::of(&joined.text) {
            Line::Record(id) => {
                let id = identifier::parse(id).map(|id| Cow::Owned(id.into_owned()));
                self.record(id, joined.ended, piece)
            }
            Line::Counter(name, open) => {
                let fields = &joined.text[open + 1..];
                let close = closing(fields, &mut 1);
                let body = close.map(|close| (&fields[..close], &fields[close + 1..]));
                let body = body.ok_or_else(|| unclosed(joined.ended));
                self.counter(name, body, piece.text)
            }
            other => self.other_line(other, joined.ended, piece),
        }
    }

    fn record(
        &mut self,
        id: Option<Cow<'a, str>>,
        ended: bool,
        piece: Piece<'a>,
    ) -> Result<(), S::Stop> {
        let reason = match id {
            Some(id) if ended => return self.begin_record(id, piece),
            Some(_) => Reason::CutLine,
            None => Reason::LongIdentifier,
        };
        self.end_record()?;
        self.enter_nameless(piece)?;
        self.suspect = true;
        self.sink.problem(self.line, reason, piece.text)
    }

    fn begin_record(&mut self, id: Cow<'a, str>, piece: Piece<'a>) -> Result<(), S::Stop> {
        self.end_record()?;
        self.enter_nameless(piece)?;
        self.records += 1;
        self.pause.after(self.records);
        self.record = Record::Times(0);
        self.sink.record(self.line, id, piece.text)
    }

    /// Begins a target without a name if no name has been seen before a line that can only be of `job_stats`.
    fn enter_nameless(&mut self, piece: Piece<'a>) -> Result<(), S::Stop> {
        match self.place {
            Place::Start => self.enter(None, piece.from),
            _ => Ok(()),
        }
    }

    fn end_record(&mut self) -> Result<(), S::Stop> {
        if std::mem::take(&mut self.suspect) && matches!(self.place, Place::Within(..)) {
            self.sink.may_hide_records()?;
        }
        match std::mem::replace(&mut self.record, Record::None) {
            Record::None => Ok(()),
            Record::Times(_) | Record::Counters(_) => self.sink.record_ends(),
        }
    }

    /// Handles a counter of this name. `body` has the text inside of its braces and after them.
    fn counter(
        &mut self,
        name: &[u8],
        body: Result<(&[u8], &[u8]), Reason>,
        text: &'a [u8],
    ) -> Result<(), S::Stop> {
        if self.record == Record::None {
            return self.without_record(text);
        }
        let counter = match body {
            Ok((fields, after)) if trim(after).is_empty() => counter::parse(name, fields),
            Ok(_) => Err(Reason::UnreadableCounter),
            Err(reason) => Err(reason),
        };
        let reason = match counter {
            Ok(counter) => return self.accept(&counter, text),
            Err(reason) => reason,
        };
        self.record = Record::Counters(self.record.counters() + 1);
        self.suspect |= matches!(
            reason,
            Reason::CutLine | Reason::UnclosedCounter | Reason::UnreadableCounter
        );
        self.sink.problem(self.line, reason, text)
    }

    fn accept(&mut self, counter: &CounterLine<'_>, text: &'a [u8]) -> Result<(), S::Stop> {
        self.record = Record::Counters(self.record.counters() + 1);
        self.suspect = false;
        self.sink.counter(self.line, counter, text)
    }

    fn without_record(&mut self, text: &'a [u8]) -> Result<(), S::Stop> {
        self.suspect = true;
        self.end_record()?;
        self.sink
            .problem(self.line, Reason::LineWithoutRecord, text)
    }

    fn time(
        &mut self,
        key: TimeKey,
        value: &[u8],
        ended: bool,
        text: &'a [u8],
    ) -> Result<(), S::Stop> {
        if !self.accepts_time(key) {
            return self.without_record(text);
        }
        if !ended && !time::is_whole(value) {
            return self.unreadable(false, text);
        }
        match key.line(value) {
            Some(time) => self.say_time(time),
            None => self.sink.problem(self.line, Reason::BadTime, text),
        }
    }

    /// Returns true if the current record can have a time of this key here, and notes the time.
    fn accepts_time(&mut self, key: TimeKey) -> bool {
        let bit = 1 << key as u8;
        match self.record {
            Record::Times(seen) if seen & bit == 0 => {
                self.record = Record::Times(seen | bit);
                self.suspect = false;
                true
            }
            _ => false,
        }
    }

    fn say_time(&mut self, time: Option<TimeLine>) -> Result<(), S::Stop> {
        match time {
            Some(time) => self.sink.time(self.line, time),
            None => Ok(()),
        }
    }

    /// Handles a line that is neither a record nor a counter.
    fn other_line(&mut self, line: Line<'_>, ended: bool, piece: Piece<'a>) -> Result<(), S::Stop> {
        match line {
            Line::Blank => Ok(()),
            Line::Header => {
                self.end_record()?;
                self.enter_nameless(piece)
            }
            Line::Time(key, value) => self.time(key, value, ended, piece.text),
            Line::Field(key) if ended && self.is_unknown_field(key) => Ok(()),
            Line::Unreadable(line) => self.unknown_line(line, ended, piece),
            _ => self.unreadable(ended, piece.text),
        }
    }

    /// Handles a line that cannot be read. The line can be the damaged beginning of a record or of a target.
    fn unknown_line(&mut self, line: &[u8], ended: bool, piece: Piece<'a>) -> Result<(), S::Stop> {
        if trim(line).starts_with(b"-") {
            self.end_record()?;
        }
        self.unreadable(ended, piece.text)?;
        let within = matches!(self.place, Place::Within(..));
        if ended && within && parameter::resembles_target(line) {
            self.leave(self.lines.position)?;
        }
        Ok(())
    }

    /// Returns true for a `key: value` line that a future version may print inside of a record. Such lines are ignored.
    fn is_unknown_field(&self, key: &[u8]) -> bool {
        self.record != Record::None && operation::find(key).is_none()
    }

    fn unreadable(&mut self, ended: bool, text: &'a [u8]) -> Result<(), S::Stop> {
        let reason = if ended {
            Reason::UnreadableLine
        } else {
            Reason::CutLine
        };
        self.suspect = true;
        self.sink.problem(self.line, reason, text)
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
