//! `jobstats_queues()` reports how long requests waited for a thread of a server.

use jobstats_core::base::instant::{HOUR, Micros, Span};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::template::sql;
use crate::pg::time::{timestamptz, timestamptzs, window};
use crate::pg::tuplestore::Rows;
use crate::query::answer::{with_settings, write_rows};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::notice::hinted;
use crate::query::params::Params;
use crate::query::question::Period;
use crate::query::state::State;
use crate::query::window::{ROW_LIMIT, clamped, edges, width};
use crate::store;
use crate::store::rights::caller::as_any_reader;

#[pg_extern(sql = false)]
fn jobstats_queues(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    period.step = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    filters.require_keys(&["server", "cluster"])?;
    // Everybody may know of servers.
    let answer = |client: &SpiClient<'_>| {
        store::require(client)?;
        let span = clamped(&State::read(client)?, window(period.since, period.until)?);
        let edges = edges(span, width(period.step.as_ref())?)?;
        let kept_since = store::settings(client)?.kept_since;
        let [fine, gone]: [(Vec<_>, Vec<_>); 2] =
            divided(&edges, kept_since).map(|hours| hours.into_iter().unzip());
        let params = Params::default();
        for (name, times) in [
            ("edges", &edges),
            ("fine since", &fine.0),
            ("fine until", &fine.1),
            ("gone since", &gone.0),
            ("gone until", &gone.1),
        ] {
            let times = timestamptzs(times)?;
            params.bind(name, || times);
        }
        let conditions = filters.conditions(Level::Server, "part", &params)
            + &filters.conditions(Level::Target, "part", &params);
        let part = |name| {
            format!(
                "CASE WHEN piece.since >= $1[piece.step] AND piece.\"time\" <= $1[piece.step + 1] THEN piece.{name} \
             ELSE jobstats_internal.share(piece.{name}, piece.since, piece.\"time\", $1[piece.step], $1[piece.step + 1]) END"
            )
        };
        let parts = ["requests", "wait_usecs", "depth", "observed"].map(part);
        let statement = sql!(
            "queues/queues.sql",
            conditions = conditions,
            parts = parts.join(", ")
        );
        write_rows(&statement, &params.take(), &mut rows, ROW_LIMIT)?;
        match rows.len {
            0 => explain(client),
            _ => Ok(()),
        }
    };
    Ok(as_any_reader(|_| with_settings(answer))?)
}

/// Returns the hours that lie in several steps, or cross an end of the window, as spans: with increments, and with sums only.
fn divided(edges: &[Micros], kept_since: Micros) -> [Vec<Span>; 2] {
    let mut divided = [Vec::new(), Vec::new()];
    for edge in edges.iter().filter(|edge| *edge % HOUR != 0) {
        let low = edge.div_euclid(HOUR) * HOUR;
        let hours: &mut Vec<Span> = &mut divided[usize::from(low < kept_since)];
        match hours.last_mut() {
            Some(last) if last.1 >= low => last.1 = low.saturating_add(HOUR),
            _ => hours.push((low, low.saturating_add(HOUR))),
        }
    }
    divided
}

/// Raises a notice that explains an answer without rows.
fn explain(client: &SpiClient<'_>) -> Result<(), Error> {
    let row = client.query_only(
        "SELECT min(hour.bucket) AS first, max(hour.bucket) + interval '1 hour' AS last FROM jobstats.server_hours hour",
        &[],
        "server_hours",
    )?;
    let (first, last) = (row.time_opt("first")?, row.time_opt("last")?);
    match first.zip(last) {
        None => hinted(
            "no server queues were read",
            "jobstats-shipper reads the stats of services, unless --parameters excludes them. Since Lustre 2.12 this needs root or CAP_DAC_READ_SEARCH. A row needs two scrapes of a server.",
        ),
        Some((first, last)) => hinted(
            "no service that matches the filter was read in this window",
            format!(
                "Services were read between {} and {}.",
                timestamptz(first - 1)?,
                timestamptz(last - 1)?
            ),
        ),
    }
    Ok(())
}
