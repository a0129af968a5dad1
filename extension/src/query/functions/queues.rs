//! `jobstats_queues()` reports how long requests waited for a thread of a server.

use jobstats_core::instant::{HOUR, Micros, Span};
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::template::sql;
use crate::pg::time::{self, timestamptz, timestamptzs};
use crate::pg::tuplestore::Rows;
use crate::query::answer::{read_wholes, write_rows};
use crate::query::notice::hinted;
use crate::query::question::Period;
use crate::query::window::edges;
use crate::store;

#[pg_extern(sql = false)]
fn jobstats_queues(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let mut period = Period::take(&mut arguments)?;
    let (server, service) = (arguments.take()?, arguments.take()?);
    period.step = arguments.take()?;
    let patterns: [Option<Vec<Option<String>>>; 3] = [server, service, arguments.take()?];
    read_wholes(|client| {
        store::require(client)?;
        let span = time::window(period.since, period.until)?;
        let edges = edges(span, period.step.as_ref())?;
        let kept_since = store::settings(client)?.kept_since;
        let [fine, gone]: [(Vec<_>, Vec<_>); 2] =
            divided(&edges, kept_since).map(|hours| hours.into_iter().unzip());
        let mut parameters: Vec<DatumWithOid<'_>> = Vec::new();
        for times in [&edges, &fine.0, &fine.1, &gone.0, &gone.1] {
            parameters.push(timestamptzs(times)?.into());
        }
        parameters.extend(patterns.map(DatumWithOid::from));
        let filter = |(number, name)| {
            format!(
                "(${number}::text[] IS NULL OR part.{name} LIKE ANY (jobstats_internal.as_like(${number})))"
            )
        };
        let filters: Vec<String> = (6..)
            .zip(["server", "service", "cluster"])
            .map(filter)
            .collect();
        let schema = store::extension_schema()?;
        let part = |name| {
            format!(
                "CASE WHEN piece.since >= $1[piece.step] AND piece.\"time\" <= $1[piece.step + 1] THEN piece.{name} \
             ELSE {schema}.jobstats_share(piece.{name}, piece.since, piece.\"time\", $1[piece.step], $1[piece.step + 1]) END"
            )
        };
        let parts = ["requests", "wait_usecs", "depth", "active", "observed"].map(part);
        let statement = sql!(
            "queues/queues.sql",
            filters = filters.join(" AND "),
            parts = parts.join(", ")
        );
        if write_rows(client, &statement, &parameters, &mut rows)? == 0 {
            explain(client)?;
        }
        Ok(())
    })
}

/// Returns the hours that lie in several steps, or cross an end of the window, as spans: those of which increments are kept, and
/// those of which only sums are.
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

/// Raises a notice that says why there is no row.
fn explain(client: &SpiClient<'_>) -> Result<(), Error> {
    let row = client.query_only(
        "SELECT min(hour.bucket) AS first, max(hour.bucket) + interval '1 hour' AS last FROM jobstats.server_hours hour",
        &[],
        "server_hours",
    )?;
    let (first, last) = (row.time_opt("first")?, row.time_opt("last")?);
    match first.zip(last) {
        None => hinted(
            "no server's queues were read",
            "jobstats-shipper asks for the stats of services, unless its option --parameters says otherwise. Since Lustre 2.12 it needs root or CAP_DAC_READ_SEARCH to read them. Two texts of a server make a row.",
        ),
        Some((first, last)) => hinted(
            "no service was read in this window, or none fits server, service and cluster",
            format!(
                "Services were read between {} and {}.",
                timestamptz(first - 1)?,
                timestamptz(last - 1)?
            ),
        ),
    }
    Ok(())
}
