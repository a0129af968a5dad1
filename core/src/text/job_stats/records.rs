//! The records of a value: which line may follow which.

use std::borrow::Cow;
use std::ops::Range;

use super::grammar::counter::CounterLine;
use super::grammar::time::{TimeKey, TimeLine};
use super::{Reason, Sink};
use crate::base::pause::Pause;
use crate::base::target::TargetName;

/// The part of a record that has been read. Times stand before counters, and each time once. A line in another order
/// belongs to a record whose `job_id` line is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// No record has begun.
    None,
    /// The times so far, with one bit for each.
    Times(u8),
    /// The number of counters so far.
    Counters(usize),
}

/// Passes the lines of records to a sink, and follows where in a record they stand.
pub(super) struct Records<'s, 'p, S> {
    pub(super) sink: &'s mut S,
    pause: Pause<'p>,
    /// The number of records that have begun.
    begun: usize,
    pub(super) part: Progress,
    /// True inside of a value of a target.
    is_within: bool,
    /// True if an unreadable line may have been the beginning of a record, and no line since has shown that it was not.
    suspect: bool,
}

impl<'a, 's, 'p, S: Sink<'a>> Records<'s, 'p, S> {
    pub(super) const fn new(sink: &'s mut S, pause: Pause<'p>) -> Self {
        Self {
            sink,
            pause,
            begun: 0,
            part: Progress::None,
            is_within: false,
            suspect: false,
        }
    }

    /// Returns the number of counters of the current record so far.
    pub(super) const fn counters(&self) -> usize {
        match self.part {
            Progress::None | Progress::Times(_) => 0,
            Progress::Counters(counters) => counters,
        }
    }

    /// Begins the value of a target.
    pub(super) fn begin_target(
        &mut self,
        line: u32,
        target: Option<TargetName<'a>>,
    ) -> Result<(), S::Stop> {
        self.is_within = true;
        self.suspect = false;
        self.sink.target(line, target)
    }

    /// Ends the value of a target.
    pub(super) fn end_target(&mut self, lines: Range<usize>) -> Result<(), S::Stop> {
        self.end()?;
        self.is_within = false;
        self.sink.target_ends(lines)
    }

    /// Begins a record.
    pub(super) fn begin(
        &mut self,
        line: u32,
        id: Cow<'a, str>,
        text: &'a [u8],
    ) -> Result<(), S::Stop> {
        self.end()?;
        self.begun += 1;
        self.pause.after(self.begun);
        self.part = Progress::Times(0);
        self.sink.record(line, id, text)
    }

    /// Ends the current record, if there is one.
    pub(super) fn end(&mut self) -> Result<(), S::Stop> {
        if std::mem::take(&mut self.suspect) && self.is_within {
            self.sink.may_hide_records()?;
        }
        match std::mem::replace(&mut self.part, Progress::None) {
            Progress::None => Ok(()),
            Progress::Times(_) | Progress::Counters(_) => self.sink.record_ends(),
        }
    }

    /// Returns true if the current record can have a time of this key here, and notes the time.
    pub(super) const fn accepts_time(&mut self, key: TimeKey) -> bool {
        let bit = 1 << key as u8;
        match self.part {
            Progress::Times(seen) if seen & bit == 0 => {
                self.part = Progress::Times(seen | bit);
                self.suspect = false;
                true
            }
            _ => false,
        }
    }

    /// Adds a time that was [accepted](Self::accepts_time), unless it is not used.
    pub(super) fn time(&mut self, line: u32, time: Option<TimeLine>) -> Result<(), S::Stop> {
        match time {
            Some(time) => self.sink.time(line, time),
            None => Ok(()),
        }
    }

    /// Adds a counter to the current record.
    pub(super) fn counter(
        &mut self,
        line: u32,
        counter: &CounterLine<'_>,
        text: &'a [u8],
    ) -> Result<(), S::Stop> {
        self.has_counters(self.counters() + 1);
        self.sink.counter(line, counter, text)
    }

    /// Notes that the sink has received so many counters of the current record.
    pub(super) const fn has_counters(&mut self, counters: usize) {
        self.part = Progress::Counters(counters);
        self.suspect = false;
    }

    /// Reports a counter of the current record that cannot be used.
    pub(super) fn reject_counter(
        &mut self,
        line: u32,
        reason: Reason,
        text: &'a [u8],
    ) -> Result<(), S::Stop> {
        self.part = Progress::Counters(self.counters() + 1);
        self.suspect |= matches!(
            reason,
            Reason::CutLine | Reason::UnclosedCounter | Reason::UnreadableCounter
        );
        self.sink.problem(line, reason, text)
    }

    /// Reports a time or a counter that cannot be of the current record: the `job_id` line of its record is lost.
    pub(super) fn without_record(&mut self, line: u32, text: &'a [u8]) -> Result<(), S::Stop> {
        self.suspect = true;
        self.end()?;
        self.sink.problem(line, Reason::LineWithoutRecord, text)
    }

    /// Reports a line that may have been the beginning of a record.
    pub(super) fn suspicious(
        &mut self,
        line: u32,
        reason: Reason,
        text: &'a [u8],
    ) -> Result<(), S::Stop> {
        self.suspect = true;
        self.sink.problem(line, reason, text)
    }
}
