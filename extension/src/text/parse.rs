//! `jobstats_parse()` and `jobstats_problems()`: return as rows what the scanner finds.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::Write as _;

use jobstats_core::job_stats::{
    Clock, CounterLine, HISTOGRAM_LEN, Reason, Sink, Time, TimeLine, histogram_label, scan,
};
use jobstats_core::target::TargetName;
use pgrx::prelude::*;
use pgrx::{AnyNumeric, IntoDatum};

use crate::pg::ballast;
use crate::pg::error::Error;
use crate::pg::jsonb::jsonb;
use crate::pg::pause::PAUSE;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use jobstats_core::escape::escape;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_parse(body text) RETURNS TABLE (
    target text, entry text, snapshot_time numeric, start_time numeric, clock text, operation text, samples numeric,
    unit text, min numeric, max numeric, sum numeric, sumsq numeric, hist jsonb, line integer
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_parse(text) IS
'Splits a text of job_stats into rows, one per operation. Each line is as printed; only the lines that jobstats_problems() shows are left out. target is NULL where the text has no name, entry is empty where the identifier is blank. Times are in seconds on the clock epoch or boot (Lustre 2.15.0 and 2.15.1); what a line does not have is NULL. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';
"#)]
fn jobstats_parse(body: &str, rows: Rows) -> SqlResult<()> {
    Ok(tell(body, Told::Counters, rows)?)
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_problems(body text) RETURNS TABLE (
    line integer, target text, entry text, reason text, text text
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_problems(text) IS
'Lists the lines of a text of job_stats that cannot be used. Columns: line (from 1), target and entry where known, reason and the line itself, of a long one the first 64 kB. Other parameters of lctl, its error messages and unknown lines of the form key: value inside a record are not listed. Body NULL gives no row. Many rows go through a temporary file. Error: 53200 out of memory.';
"#)]
fn jobstats_problems(body: &str, rows: Rows) -> SqlResult<()> {
    Ok(tell(body, Told::Problems, rows)?)
}

/// The findings of the scanner that become rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Counters,
    Problems,
}

fn tell(body: &str, told: Told, rows: Rows) -> Result<(), Error> {
    ballast::hold()?;
    let mut teller = Teller {
        told,
        rows,
        target: None,
        entry: None,
        snapshot_time: None,
        start_time: None,
    };
    let Ok(()) = scan(body.as_bytes(), &mut teller, PAUSE);
    Ok(())
}

/// A sink that makes rows, and remembers the position of the scan in the text.
struct Teller {
    told: Told,
    rows: Rows,
    target: Option<String>,
    entry: Option<String>,
    snapshot_time: Option<Time>,
    start_time: Option<Time>,
}

impl Teller {
    fn clock(&self) -> Option<&'static str> {
        let time = self.snapshot_time.or(self.start_time)?;
        Some(match time.clock {
            Clock::Epoch => "epoch",
            Clock::Boot => "boot",
        })
    }
}

impl<'a> Sink<'a> for Teller {
    type Stop = Infallible;

    fn target(&mut self, _: u32, target: Option<TargetName<'a>>) -> Result<(), Infallible> {
        self.target = target.map(|target| escape(target.name).into_owned());
        self.entry = None;
        Ok(())
    }

    fn record(&mut self, _: u32, id: Cow<'a, str>, _: &'a [u8]) -> Result<(), Infallible> {
        self.entry = Some(id.into_owned());
        (self.snapshot_time, self.start_time) = (None, None);
        Ok(())
    }

    fn record_ends(&mut self) -> Result<(), Infallible> {
        self.entry = None;
        Ok(())
    }

    fn time(&mut self, _: u32, time: TimeLine) -> Result<(), Infallible> {
        match time {
            TimeLine::Snapshot(time) => self.snapshot_time = Some(time),
            TimeLine::Start(time) => self.start_time = Some(time),
            TimeLine::LastSeen(_) => {}
        }
        Ok(())
    }

    fn counter(
        &mut self,
        line: u32,
        counter: &CounterLine<'_>,
        _: &'a [u8],
    ) -> Result<(), Infallible> {
        if self.told != Told::Counters {
            return Ok(());
        }
        let (target, entry, clock) = (&self.target, &self.entry, self.clock());
        let (snapshot_time, start_time) = (self.snapshot_time, self.start_time);
        let number = |field: Option<u64>| field.map(AnyNumeric::from).into_datum();
        self.rows.put(|| {
            [
                target.as_deref().into_datum(),
                entry.as_deref().unwrap_or_default().into_datum(),
                snapshot_time.and_then(seconds).into_datum(),
                start_time.and_then(seconds).into_datum(),
                clock.into_datum(),
                counter.operation.into_datum(),
                number(Some(counter.samples)),
                counter.unit_name.into_datum(),
                number(counter.min),
                number(counter.max),
                number(counter.sum),
                number(counter.sumsq),
                counter.histogram.as_ref().and_then(hist),
                integer(line).into_datum(),
            ]
        });
        Ok(())
    }

    fn problem(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), Infallible> {
        if self.told != Told::Problems {
            return Ok(());
        }
        let (target, entry) = (&self.target, &self.entry);
        self.rows.put(|| {
            [
                integer(line).into_datum(),
                target.as_deref().into_datum(),
                entry.as_deref().into_datum(),
                reason.code().into_datum(),
                escape(text).as_ref().into_datum(),
            ]
        });
        Ok(())
    }
}

/// Returns the buckets that counted something, under Lustre's own names for them, as jsonb.
fn hist(histogram: &[u64; HISTOGRAM_LEN]) -> Option<pg_sys::Datum> {
    let mut text = String::from("{");
    let counted = histogram
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0);
    for (element, count) in counted {
        let separator = if text.len() > 1 { "," } else { "" };
        let label = histogram_label(element)?;
        let _ = write!(text, "{separator}\"{label}\":{count}");
    }
    text.push('}');
    jsonb(&text)
}

fn integer(line: u32) -> i32 {
    i32::try_from(line).unwrap_or(i32::MAX)
}

/// Converts a time to seconds, exactly: a double would lose the nanoseconds.
fn seconds(time: Time) -> Option<AnyNumeric> {
    let text = match time.nanos {
        0 => time.seconds.to_string(),
        nanos => format!("{}.{nanos:09}", time.seconds),
    };
    AnyNumeric::try_from(text.as_str()).ok()
}
