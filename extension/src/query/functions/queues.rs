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

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_queues(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    server text[] DEFAULT NULL, service text[] DEFAULT NULL, step interval DEFAULT NULL, cluster text[] DEFAULT NULL
) RETURNS TABLE (
    "time" timestamptz, seconds double precision, cluster text, server text, service text, requests numeric,
    wait double precision, depth double precision, active double precision, waiting double precision, coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_queues IS
'Shows how long requests waited for a thread of a server. In (since, until], or in steps of it, with a row for each service of a server that was read then. requests is their number, wait the seconds that one waited on the average before a thread took it; times in job_stats begin only then. depth and active are the numbers of requests in the queue and at work that a request found when it came, waiting is the mean number that waited at a time. wait, depth and active are NULL where there was no request. coverage is the part of the time in which the service was read, to which requests belong. Services are server-wide, not of a target. server, service and cluster are patterns with *. Parts of rows at edges are as jobstats_share() has them; where increments are not kept any more, parts of hours. An argument that is NULL counts as left out. Errors: 22023 for an empty window, a step that is not positive, 54000 for over a million rows or 100,000 steps, 55000 where there is no store.';
"#)]
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
