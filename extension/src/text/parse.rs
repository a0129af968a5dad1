//! `jobstats_parse()`: returns as rows what the scanner finds.

use jobstats_core::base::escape::escape;
use jobstats_core::text::job_stats::{
    Clock, CounterLine, Lines, Place, Reason, Time, histogram_json, list,
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
    list(body.as_bytes(), &mut ListedRows(rows), PAUSE);
    Ok(())
}

/// The rows of a text.
struct ListedRows(Rows);

impl Lines for ListedRows {
    fn counter(&mut self, place: &Place, counter: &CounterLine<'_>) {
        let number = |field: Option<u64>| field.map(AnyNumeric::from).cell();
        self.0.put(|| {
            [
                integer(place.line).cell(),
                place.target.as_deref().cell(),
                place.entry.as_deref().unwrap_or_default().cell(),
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
                place.snapshot_time.and_then(seconds).cell(),
                place.start_time.and_then(seconds).cell(),
                place.clock().map(Clock::as_str).cell(),
                Cell::NULL,
                Cell::NULL,
            ]
        });
    }

    fn problem(&mut self, place: &Place, reason: Reason, text: &[u8]) {
        self.0.put(|| {
            let mut row = [Cell::NULL; 16];
            row[0] = integer(place.line).cell();
            row[1] = place.target.as_deref().cell();
            row[2] = place.entry.as_deref().cell();
            row[14] = reason.code().cell();
            row[15] = escape(text).as_ref().cell();
            row
        });
    }
}

fn integer(line: u32) -> i32 {
    i32::try_from(line).unwrap_or(i32::MAX)
}

/// Converts a time to seconds, exactly: a double would lose the nanoseconds.
fn seconds(time: Time) -> Option<AnyNumeric> {
    AnyNumeric::try_from(time.to_string().as_str()).ok()
}
