//! `jobstats_parse()` and `jobstats_problems()`: what the scanner finds, as rows.

use std::borrow::Cow;
use std::convert::Infallible;

use jobstats_core::scan::{
    Clock, CounterLine, Reason, Sink, TargetName, Time, TimeLine, histogram_label, scan,
};
use pgrx::prelude::*;
use pgrx::{AnyNumeric, JsonB};

use crate::unpack::escape;

#[allow(clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_parse(body text) RETURNS TABLE (
    target text, entry text, snapshot_time numeric, start_time numeric, clock text, operation text, samples numeric,
    unit text, min numeric, max numeric, sum numeric, sumsq numeric, hist jsonb, line integer
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_parse(text) IS
'The text of job_stats as printed: one row per operation line, nothing left out but what jobstats_problems() shows, nothing counted together. target is NULL where the text has no name, entry is empty where the identifier is blank. Times are in seconds on the clock epoch or boot (Lustre 2.15.0 and 2.15.1); what a line does not have is NULL. Body NULL gives no row.';
"#)]
fn jobstats_parse(
    body: &str,
) -> TableIterator<
    'static,
    (
        name!(target, Option<String>),
        name!(entry, String),
        name!(snapshot_time, Option<AnyNumeric>),
        name!(start_time, Option<AnyNumeric>),
        name!(clock, Option<&'static str>),
        name!(operation, String),
        name!(samples, AnyNumeric),
        name!(unit, String),
        name!(min, Option<AnyNumeric>),
        name!(max, Option<AnyNumeric>),
        name!(sum, Option<AnyNumeric>),
        name!(sumsq, Option<AnyNumeric>),
        name!(hist, Option<JsonB>),
        name!(line, i32),
    ),
> {
    TableIterator::new(found(body).rows.into_iter().map(|row| {
        let CounterRow {
            target,
            entry,
            snapshot_time,
            start_time,
            operation,
            unit,
            samples,
            fields,
            hist,
            line,
        } = row;
        let [min, max, sum, sumsq] = fields.map(|field| field.map(AnyNumeric::from));
        let clock = snapshot_time.or(start_time).map(|time| match time.clock {
            Clock::Epoch => "epoch",
            Clock::Boot => "boot",
        });
        let [snapshot_time, start_time] =
            [snapshot_time, start_time].map(|time| time.and_then(seconds));
        (
            target,
            entry,
            snapshot_time,
            start_time,
            clock,
            operation,
            samples.into(),
            unit,
            min,
            max,
            sum,
            sumsq,
            hist.map(JsonB),
            line,
        )
    }))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_problems(body text) RETURNS TABLE (
    line integer, target text, entry text, reason text, text text
)
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_problems(text) IS
'What in a text of job_stats cannot be used: line (from 1), target and entry where known, reason and the line itself. Other parameters of lctl, its error messages and unknown lines of the form key: value inside of a record are no problem. Body NULL gives no row.';
"#)]
fn jobstats_problems(
    body: &str,
) -> TableIterator<
    'static,
    (
        name!(line, i32),
        name!(target, Option<String>),
        name!(entry, Option<String>),
        name!(reason, &'static str),
        name!(text, String),
    ),
> {
    TableIterator::new(found(body).problems.into_iter().map(|problem| {
        (
            problem.line,
            problem.target,
            problem.entry,
            problem.reason,
            problem.text,
        )
    }))
}

/// One operation line.
struct CounterRow {
    target: Option<String>,
    entry: String,
    snapshot_time: Option<Time>,
    start_time: Option<Time>,
    operation: String,
    unit: String,
    samples: u64,
    /// min, max, sum, sumsq.
    fields: [Option<u64>; 4],
    hist: Option<serde_json::Value>,
    line: i32,
}

/// One line that could not be used.
struct ProblemRow {
    line: i32,
    target: Option<String>,
    entry: Option<String>,
    reason: &'static str,
    text: String,
}

/// Everything in a text, and where the scan stands in it.
#[derive(Default)]
struct Found {
    rows: Vec<CounterRow>,
    problems: Vec<ProblemRow>,
    target: Option<String>,
    entry: Option<String>,
    snapshot_time: Option<Time>,
    start_time: Option<Time>,
}

fn found(body: &str) -> Found {
    let mut found = Found::default();
    let Ok(()) = scan(body.as_bytes(), &mut found);
    found
}

impl<'a> Sink<'a> for Found {
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
        self.rows.push(CounterRow {
            target: self.target.clone(),
            entry: self.entry.clone().unwrap_or_default(),
            snapshot_time: self.snapshot_time,
            start_time: self.start_time,
            operation: counter.operation.to_owned(),
            unit: counter.unit_name.to_owned(),
            samples: counter.samples,
            fields: [counter.min, counter.max, counter.sum, counter.sumsq],
            hist: counter.histogram.as_ref().map(|histogram| hist(histogram)),
            line: number(line),
        });
        Ok(())
    }

    fn problem(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), Infallible> {
        self.problems.push(ProblemRow {
            line: number(line),
            target: self.target.clone(),
            entry: self.entry.clone(),
            reason: reason.code(),
            text: escape(text).into_owned(),
        });
        Ok(())
    }
}

/// Buckets that counted something, under Lustre's own names for them.
fn hist(histogram: &[u64]) -> serde_json::Value {
    let counted = histogram
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0);
    let buckets = counted.filter_map(|(element, count)| {
        Some((histogram_label(element)?.to_owned(), (*count).into()))
    });
    serde_json::Value::Object(buckets.collect())
}

fn number(line: u32) -> i32 {
    i32::try_from(line).unwrap_or(i32::MAX)
}

/// Exactly: a double would lose the nanoseconds.
fn seconds(time: Time) -> Option<AnyNumeric> {
    let text = match time.nanos {
        0 => time.seconds.to_string(),
        nanos => format!("{}.{nanos:09}", time.seconds),
    };
    AnyNumeric::try_from(text.as_str()).ok()
}
