//! Reads the values of `job_stats` as events, in one pass over the bytes of a text and without copying.
//!
//! [`scan`] reports the content of the text to a [`Sink`], line by line and in the text's order: targets, records,
//! their times and counters, and lines that could not be used. It neither removes duplicates nor stores anything.
//!
//! Any version of Lustre may have printed the text, by `lctl get_param` of `*.*.job_stats`. It may contain other
//! parameters, which are skipped, and error messages, and it may be damaged or cut. One bad line never hides another
//! entry: a later line is either certain to belong to its place, or is reported.
//!
//! Identifiers are bytes in Lustre and text in a database. Valid UTF-8 is unchanged; other bytes and NUL stay in
//! Lustre's notation, `\xHH`.
//!
//! `reader` finds the lines of the values in the output of `lctl`, `parser` reads them by the rules in `grammar`, `fast_path` reads most
//! of them faster, and `records` knows which line may follow which.

mod fast_path;
mod grammar;
mod lctl;
mod parser;
mod problem;
mod reader;
mod records;

use std::borrow::Cow;
use std::ops::Range;

pub use fast_path::ZeroLine;
pub use grammar::counter::{CounterLine, Unit};
pub use grammar::histogram::{HISTOGRAM_LEN, json as histogram_json, label as histogram_label};
pub use grammar::identifier::{IDENTIFIER_MAX, print as print_identifier};
pub use grammar::time::{Clock, Time, TimeLine};
pub use problem::{Problem, Reason};

use crate::base::pause::Pause;
use crate::base::target::{TargetKind, TargetName};
use crate::text::additional_parameters::{Other, Parameter};

/// Receives what [`scan`] finds. An error stops the scan.
///
/// Lines are counted from 1. A range of lines is a range of bytes of the text. Only the first 64 kB of a line are read
/// and reported.
pub trait Sink<'a> {
    /// The error of the sink that stops the scan; [`std::convert::Infallible`] if it never does.
    type Stop;

    /// Receives the beginning of the parameter `job_stats` of a target. `target` is `None` without a name before the
    /// first line (`lctl -n`). A target may begin any number of times.
    fn target(&mut self, line: u32, target: Option<TargetName<'a>>) -> Result<(), Self::Stop>;

    /// Receives the end of the target that began last. `lines` has all its lines since then.
    fn target_ends(&mut self, lines: Range<usize>) -> Result<(), Self::Stop> {
        let _ = lines;
        Ok(())
    }

    /// Receives the parameter `job_cleanup_interval` of a target.
    fn cleanup_interval(
        &mut self,
        target: TargetName<'a>,
        seconds: u32,
        lines: Range<usize>,
    ) -> Result<(), Self::Stop> {
        let _ = (target, seconds, lines);
        Ok(())
    }

    /// Receives a value of another [`crate::text::additional_parameters::Parameter`].
    fn other(&mut self, other: Other<'a>) -> Result<(), Self::Stop> {
        let _ = other;
        Ok(())
    }

    /// Receives an error message: `job_stats` of this target could not be read, or only a part of it.
    fn read_failed(
        &mut self,
        target: TargetName<'a>,
        lines: Range<usize>,
    ) -> Result<(), Self::Stop> {
        let _ = (target, lines);
        Ok(())
    }

    /// Receives the beginning of a record. `text` is its `job_id` line.
    fn record(&mut self, line: u32, id: Cow<'a, str>, text: &'a [u8]) -> Result<(), Self::Stop>;

    /// Receives the end of the record that began last, at the latest with the end of its target.
    fn record_ends(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }

    /// Receives a time of the record.
    fn time(&mut self, line: u32, time: TimeLine) -> Result<(), Self::Stop>;

    /// Receives a counter of the record. `text` is its line, or the first of its lines.
    fn counter(
        &mut self,
        line: u32,
        counter: &CounterLine<'_>,
        text: &'a [u8],
    ) -> Result<(), Self::Stop>;

    /// Receives zero counters of the record, on consecutive lines. By default each counter is passed to
    /// [`Sink::counter`].
    fn zeros(&mut self, line: u32, zeros: &[ZeroLine<'a>]) -> Result<(), Self::Stop> {
        let mut numbered = (0..).zip(zeros);
        numbered.try_for_each(|(before, zero)| {
            self.counter(line.saturating_add(before), &zero.counter, zero.text())
        })
    }

    /// Receives a line that could not be used. The line belongs to the record and the target that have begun and not
    /// ended, if there are any.
    fn problem(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), Self::Stop>;

    /// Receives the notice that a record of the target may be hidden here, so that the text may not show all records.
    fn may_hide_records(&mut self) -> Result<(), Self::Stop> {
        Ok(())
    }
}

/// The number of lines, and of bytes, that are searched to recognize a text.
const FIRST_LINES: usize = 10;
const FIRST_BYTES: usize = 64 << 10;

/// Returns whether a text looks like `job_stats`: one of its first lines begins a record, or a parameter that is read.
pub fn is_job_stats(text: &[u8]) -> bool {
    let first = &text[..text.len().min(FIRST_BYTES)];
    let mut lines = first.split(|byte| *byte == b'\n').take(FIRST_LINES);
    lines.any(|line| {
        let begins = |start: &[u8]| line.starts_with(start);
        let of_target = TargetKind::ALL.iter().any(|kind| begins(kind.prefix()));
        let name = memchr::memchr(b'=', line).map(|end| &line[..end]);
        begins(b"job_stats:")
            || begins(b"- job_id:")
            || name.and_then(Parameter::parse).is_some()
            || (of_target && memchr::memmem::find(line, b".job_").is_some())
    })
}

/// Scans a text.
pub fn scan<'a, S: Sink<'a>>(
    text: &'a [u8],
    sink: &mut S,
    pause: Pause<'_>,
) -> Result<(), S::Stop> {
    reader::Reader::new(text, sink, pause).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_recognized_by_its_first_lines() {
        for text in [
            "obdfilter.fs-OST0000.job_stats=\njob_stats:\n",
            "mdt.fs-MDT0000.job_cleanup_interval=600\n",
            "job_stats:\n- job_id: a\n",
            "health_check=healthy\n",
            "mdt.fs-MDT0000.md_stats=\nsnapshot_time 1.2 secs.nsecs\n",
            "error: get_param: mdt.x: No such file\n- job_id: a\n",
        ] {
            assert!(is_job_stats(text.as_bytes()), "{text}");
        }
        let late = format!("{}job_stats:\n", "\n".repeat(FIRST_LINES));
        let far = format!("{}\njob_stats:\n", "x".repeat(FIRST_BYTES));
        for text in [
            "",
            "root:x:0:0:root:/root:/bin/bash\n",
            "mdt.fs-MDT0000.uuid=x\n",
            &late,
            &far,
        ] {
            assert!(!is_job_stats(text.as_bytes()), "{text}");
        }
    }
}
