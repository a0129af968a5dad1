//! `jobstats_parse()`: returns as rows what the scanner finds.

use std::borrow::Cow;
use std::convert::Infallible;

use jobstats_core::base::escape::escape;
use jobstats_core::base::target::TargetName;
use jobstats_core::text::job_stats::{
    Clock, CounterLine, Reason, Sink, Time, TimeLine, histogram_json, scan,
};
use pgrx::AnyNumeric;
use pgrx::prelude::*;

use crate::pg::ballast;
use crate::pg::jsonb::Jsonb;
use crate::pg::pause::PAUSE;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::{Cell, IntoCell, Rows};

#[pg_extern(sql = false)]
fn jobstats_parse(body: &str, rows: Rows) -> SqlResult<()> {
    ballast::hold()?;
    let mut listed = ListedRows {
        rows,
        target: None,
        entry: None,
        snapshot_time: None,
        start_time: None,
    };
    let Ok(()) = scan(body.as_bytes(), &mut listed, PAUSE);
    Ok(())
}

/// The rows of a text, and the place that the scan has reached.
struct ListedRows<'a> {
    rows: Rows,
    target: Option<String>,
    /// The identifier of the record, if one has begun.
    entry: Option<Cow<'a, str>>,
    snapshot_time: Option<Time>,
    start_time: Option<Time>,
}

impl<'a> Sink<'a> for ListedRows<'a> {
    type Stop = Infallible;

    fn target(&mut self, _: u32, target: Option<TargetName<'a>>) -> Result<(), Infallible> {
        self.target = target.map(TargetName::shown);
        Ok(())
    }

    fn record(&mut self, _: u32, id: Cow<'a, str>, _: &'a [u8]) -> Result<(), Infallible> {
        self.entry = Some(id);
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
        let number = |field: Option<u64>| field.map(AnyNumeric::from).cell();
        let clock = self.snapshot_time.or(self.start_time).map(|it| it.clock);
        self.rows.put(|| {
            [
                integer(line).cell(),
                self.target.as_deref().cell(),
                self.entry.as_deref().unwrap_or_default().cell(),
                counter.operation.cell(),
                number(Some(counter.samples)),
                counter.unit_name.cell(),
                number(counter.min),
                number(counter.max),
                number(counter.sum),
                number(counter.sumsq),
                counter
                    .histogram
                    .as_ref()
                    .and_then(|histogram| Jsonb::of_text(&histogram_json(histogram)))
                    .cell(),
                self.snapshot_time.and_then(seconds).cell(),
                self.start_time.and_then(seconds).cell(),
                clock.map(Clock::as_str).cell(),
                Cell::NULL,
                Cell::NULL,
            ]
        });
        Ok(())
    }

    fn problem(&mut self, line: u32, reason: Reason, text: &'a [u8]) -> Result<(), Infallible> {
        self.rows.put(|| {
            let mut row = [Cell::NULL; 16];
            row[0] = integer(line).cell();
            row[1] = self.target.as_deref().cell();
            row[2] = self.entry.as_deref().cell();
            row[14] = reason.code().cell();
            row[15] = escape(text).as_ref().cell();
            row
        });
        Ok(())
    }
}

fn integer(line: u32) -> i32 {
    i32::try_from(line).unwrap_or(i32::MAX)
}

/// Converts a time to seconds, exactly: a double would lose the nanoseconds.
fn seconds(time: Time) -> Option<AnyNumeric> {
    AnyNumeric::try_from(time.to_string().as_str()).ok()
}
