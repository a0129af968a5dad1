//! Text → events: one pass over bytes, without copying.
//!
//! [`scan`] tells a [`Sink`] what stands in the text, line by line and in the text's order: targets, records, their times
//! and counters, and what could not be used. It removes no duplicates and keeps nothing itself.
//!
//! The text is what `lctl get_param` of any version of Lustre prints for `*.*.job_stats`, possibly beside other
//! parameters (stepped over), with error messages merged in, damaged or cut. One bad line never hides another entry:
//! what follows it is either still certain to belong where it stands, or is reported.
//!
//! Identifiers are bytes in Lustre and text in a database: valid UTF-8 stands for itself, other bytes and NUL stay in
//! Lustre's own notation, `\xHH`.

mod counter;
mod digits;
mod fast;
mod histogram;
mod identifier;
mod line;
mod lines;
mod message;
mod parameter;
mod reason;
mod scanner;
mod time;

use std::borrow::Cow;
use std::ops::Range;

pub use counter::{CounterLine, Unit};
pub use fast::ZeroLine;
pub use histogram::{HISTOGRAM_LEN, label as histogram_label};
pub use identifier::{IDENTIFIER_MAX, print as print_identifier};
pub use parameter::{TargetKind, TargetName};
pub use reason::{Problem, Reason};
pub use time::{Clock, Time, TimeLine};

use crate::pause::Pause;

/// Receives what [`scan`] finds. An error stops the scan.
///
/// Lines are counted from 1. A range of lines is one of bytes of the text. Of a line of over 64 kB only so much is looked
/// at, and told.
pub trait Sink<'a> {
    /// Why the sink wants no more; [`std::convert::Infallible`] where it always does.
    type Stop;

    /// The parameter `job_stats` of a target begins; None where no name stands before its first line (`lctl -n`). The
    /// same target may begin any number of times.
    fn target(&mut self, line: u32, target: Option<TargetName<'a>>) -> Result<(), Self::Stop>;

    /// The target that began last ends; all its lines since are in `lines`.
    fn target_ends(&mut self, lines: Range<usize>) -> Result<(), Self::Stop> {
        let _ = lines;
        Ok(())
    }

    /// The parameter `job_cleanup_interval` of a target.
    fn cleanup_interval(
        &mut self,
        target: TargetName<'a>,
        seconds: u32,
        lines: Range<usize>,
    ) -> Result<(), Self::Stop> {
        let _ = (target, seconds, lines);
        Ok(())
    }

    /// An error message says that `job_stats` of this target could not be read, or not whole.
    fn read_failed(
        &mut self,
        target: TargetName<'a>,
        lines: Range<usize>,
    ) -> Result<(), Self::Stop> {
        let _ = (target, lines);
        Ok(())
    }

    /// A record begins; `text` is its `job_id` line.
    fn record(&mut self, line: u32, id: Cow<'a, str>, text: &'a [u8]) -> Result<(), Self::Stop>;

    /// The record that began last ends, at the latest with its target.
    fn record_ends(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// A time of the record.
    fn time(&mut self, line: u32, time: TimeLine) -> Result<(), Self::Stop>;

    /// A counter of the record; `text` is its line, or the first of them.
    fn counter(
        &mut self,
        line: u32,
        counter: &CounterLine<'_>,
        text: &'a [u8],
    ) -> Result<(), Self::Stop>;

    /// Counters of the record that counted nothing, on lines that follow each other. By default each is told as
    /// [`Sink::counter`].
    fn zeros(&mut self, line: u32, zeros: &[ZeroLine<'a>]) -> Result<(), Self::Stop> {
        let mut numbered = (0..).zip(zeros);
        numbered.try_for_each(|(before, zero)| {
            self.counter(line.saturating_add(before), &zero.counter, zero.text())
        })
    }

    /// A line that could not be used; inside of a record and a target if these have begun and not ended.
    fn problem(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), Self::Stop>;

    /// Something here may have hidden a record of the target: what the text says of it may not be all.
    fn may_hide_records(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }
}

/// Scan a text.
pub fn scan<'a, S: Sink<'a>>(
    text: &'a [u8],
    sink: &mut S,
    pause: Pause<'_>,
) -> Result<(), S::Stop> {
    scanner::Scanner::new(text, sink, pause).run()
}
