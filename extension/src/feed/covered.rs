//! Maintains `jobstats.covered`, the union of the spans that texts of jobs cover, for each cluster and source.

use jobstats_core::accounting::coverage::{GAP, Span, union};
use jobstats_core::base::instant::Micros;
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::{EARLIEST, timestamptz};

/// The origin of the covered span of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// Texts cover no span.
    Nothing,
    /// The sender states it.
    Stated,
    /// The sender states it, or else the records define it: texts are pieces of a growing file.
    Records,
}

/// Returns the span that the sender states, up to the time of the text.
pub fn stated(ingest: &Ingest<'_>) -> Option<Span> {
    let (since, until) = ingest.delivery.covers?;
    Span::stated(since, until, latest(ingest))
}

/// Records the span that a text covers, and returns it.
///
/// The caller holds the lock of feeds of jobs.
pub fn note(
    client: &mut SpiClient<'_>,
    covers: Covers,
    ingest: &Ingest<'_>,
) -> Result<Option<Span>, Error> {
    let times = ingest.times.span(latest(ingest));
    if is_before_covers(ingest) {
        return Ok(None);
    }
    let span = match (covers, ingest.delivery.covers, times) {
        (Covers::Nothing, ..) | (_, None, None) | (Covers::Stated, None, _) => None,
        (_, Some(_), _) => stated(ingest),
        (Covers::Records, None, Some(times)) => {
            // A late piece closes the gap to the next one, too.
            let next = neighbour(client, ingest, ">", "ASC")?;
            if let Some(gap) = next.and_then(|next| Span::between(times.until, next)) {
                add(client, ingest, gap)?;
            }
            Some(times.after(neighbour(client, ingest, "<", "DESC")?))
        }
    };
    if let Some(span) = span {
        add(client, ingest, span)?;
    }
    Ok(span)
}

/// Returns whether all records lie before the span that the sender states.
pub fn is_before_covers(ingest: &Ingest<'_>) -> bool {
    let covers = ingest.delivery.covers;
    covers.is_some_and(|(since, _)| ingest.times.lies_before(since))
}

/// Returns the latest time that a text can cover.
fn latest(ingest: &Ingest<'_>) -> Micros {
    ingest.delivery.time.min(ingest.now)
}

/// Returns the end of the span that the text next to this one covers, on the side and in the order that SQL names.
fn neighbour(
    client: &mut SpiClient<'_>,
    ingest: &Ingest<'_>,
    side: &str,
    order: &str,
) -> Result<Option<Micros>, Error> {
    let statement = format!(
        "SELECT upper(t.covers) AS until FROM jobstats.texts t \
         WHERE t.cluster = $1 AND t.source = $2 AND t.server = $3 AND t.\"time\" {side} $4 \
         AND t.covers IS NOT NULL AND t.records > 0 ORDER BY t.\"time\" {order} LIMIT 1"
    );
    let found = client.execute_opt(statement.as_str(), &ingest.delivery.key()?)?;
    found.map(|row| row.time("until")).transpose()
}

/// Adds a span to the union of its cluster and source.
fn add(client: &mut SpiClient<'_>, ingest: &Ingest<'_>, span: Span) -> Result<(), Error> {
    let [cluster, source, ..] = ingest.delivery.key()?;
    let near = client.execute_rows(
        "SELECT c.since, c.until FROM jobstats.covered c \
         WHERE c.cluster = $1 AND c.source = $2 AND c.until >= $3 AND c.since <= $4",
        &values![
            cluster,
            source,
            timestamptz(span.since.saturating_sub(GAP).max(EARLIEST))?,
            timestamptz(span.until.saturating_add(GAP))?
        ],
    )?;
    let near = near.map(|row| {
        Ok(Span {
            since: row.time("since")?,
            until: row.time("until")?,
        })
    });
    let Some(all) = union(span, &near.collect::<Result<Vec<_>, Error>>()?) else {
        return Ok(());
    };
    let [cluster, source, ..] = ingest.delivery.key()?;
    let (since, until) = (timestamptz(all.since)?, timestamptz(all.until)?);
    let arguments = [cluster, source, since.into(), until.into()];
    // All joined spans lie in the union.
    client.execute(
        "DELETE FROM jobstats.covered c \
         WHERE c.cluster = $1 AND c.source = $2 AND c.until >= $3 AND c.until <= $4",
        &arguments,
    )?;
    client.run(
        "INSERT INTO jobstats.covered (cluster, source, since, until) VALUES ($1, $2, $3, $4)",
        &arguments,
    )
}
