//! The gapless spans of observation of targets, `jobstats.spans`. Writers hold the lock of the target.

use jobstats_core::base::instant::{Micros, Span};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// Begins a span at a baseline. At the newest observation, the open span ends at the previous one.
pub fn begin(client: &mut SpiClient<'_>, target_id: i32, time: Micros) -> Result<(), Error> {
    plans::run(
        client,
        "WITH ended AS (UPDATE jobstats.spans s SET until = t.last_observation FROM jobstats.targets t \
             WHERE t.target_id = $1 AND t.last_observation < $2 AND s.target_id = $1 AND s.until IS NULL) \
         INSERT INTO jobstats.spans (target_id, since, until) \
         SELECT $1, $2, CASE WHEN t.last_observation > $2 THEN $2 END FROM jobstats.targets t WHERE t.target_id = $1 \
         ON CONFLICT DO NOTHING",
        &values![target_id, timestamptz(time)?],
    )
}

/// Joins the span that ends at an observation with the one that begins at the next, which ceases to be a baseline.
pub fn join(client: &mut SpiClient<'_>, target_id: i32, (end, next): Span) -> Result<(), Error> {
    plans::run(
        client,
        "WITH before AS (DELETE FROM jobstats.spans b WHERE b.target_id = $1 AND b.until = $2 RETURNING b.since) \
         UPDATE jobstats.spans s SET since = coalesce((SELECT before.since FROM before), $2) WHERE s.target_id = $1 AND s.since = $3",
        &values![target_id, timestamptz(end)?, timestamptz(next)?],
    )
}

/// Corrects the spans of a target that differ from its observations in a window.
pub fn mend(client: &mut SpiClient<'_>, target_id: i32, window: Span) -> Result<(), Error> {
    client.run(
        "SELECT jobstats_internal.note_spans($1, $2, $3)",
        &values![timestamptz(window.0)?, timestamptz(window.1)?, target_id],
    )
}
