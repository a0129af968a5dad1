//! Finds the time span of the stored rows of a job.
//!
//! The search uses the rollups, which have an index by entry. It reads increments only where no rollup is up to date,
//! and inside the last bucket, to find the last row.

use jobstats_core::instant::{Micros, Span};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::rows::only_row;
use crate::pg::time::{DAY, EARLIEST, micros, timestamptz};
use crate::query::rows::EACH;
use crate::query::sources::Sources;
use crate::query::window::Window;
use crate::store;
use crate::store::rollup::LEVELS;

/// A time after every observation: 2200-01-01.
const LATEST: Micros = 7_258_118_400_000_000;

/// The result of searching a source: the earliest start of a row, and the span of the latest row, or of the bucket that
/// holds it.
struct Found {
    level: Option<usize>,
    first: Micros,
    latest: Span,
}

/// Returns the time span of the stored rows of a job, which has these entries. Where only rollups are kept, the span
/// reaches to the edges of their buckets.
pub fn of_job(client: &SpiClient<'_>, job: &str, entries: &[i64]) -> Result<Option<Span>, Error> {
    let Some(earliest) = earliest(client, job)? else {
        return Ok(None);
    };
    // A bucket may begin before the rows in it.
    let window = Window {
        edges: vec![earliest.saturating_sub(DAY).max(EARLIEST), LATEST],
    };
    let found = search(client, &window, entries)?;
    let first = found.iter().map(|it| it.first).min();
    let latest = found.iter().max_by_key(|it| it.latest);
    let (Some(first), Some(latest)) = (first, latest) else {
        return Ok(None);
    };
    let last = match latest.level {
        None => latest.latest.1,
        Some(level) => last_in_bucket(client, entries, level, latest.latest)?,
    };
    Ok(Some((known_since(client, first)?, last)))
}

/// Searches every source. Each search is limited to the window explicitly, so that the planner can leave out older
/// days.
fn search(client: &SpiClient<'_>, window: &Window, entries: &[i64]) -> Result<Vec<Found>, Error> {
    let sources = Sources::choose(client, window, false)?;
    let mut searches = vec![(0, "increments".to_owned(), "\"time\"", "since")];
    for (number, level) in (1..).zip(&LEVELS) {
        searches.push((number, level.relation(), "bucket", "first"));
    }
    let searches: Vec<String> = searches
        .iter()
        .map(|(source, relation, time, first)| {
            // The parameters of the increments, which are source 0, and of the rollups are next to each other.
            let lower = Sources::REST + 2 * source;
            format!(
                "SELECT {source}, min(i.first), max(i.latest) \
                 FROM unnest(${lower}, ${upper}) s (lower, upper) CROSS JOIN LATERAL (\
                 SELECT i.{first} AS first, i.{time} AS latest FROM jobstats.{relation} i \
                 WHERE i.{time} > s.lower AND i.{time} <= s.upper AND i.entry_id = ANY (${entries}) \
                 AND i.{time} > ${since}{EACH}) i",
                upper = lower + 1,
                entries = Sources::PARAMETERS + 1,
                since = Sources::PARAMETERS + 2,
            )
        })
        .collect();
    let mut parameters = sources.parameters()?;
    parameters.push(entries.to_vec().into());
    parameters.push(timestamptz(window.since())?.into());
    let rows = client.select(&searches.join(" UNION ALL "), None, &parameters)?;
    let mut found = Vec::new();
    for row in rows {
        let first = row.get::<TimestampWithTimeZone>(2)?;
        let latest = row.get::<TimestampWithTimeZone>(3)?;
        if let (Some(source), Some((first, latest))) = (row.get::<i32>(1)?, first.zip(latest)) {
            let level = usize::try_from(source - 1).ok();
            found.push(Found {
                level,
                first: micros(first)?,
                latest: match level {
                    Some(level) => bucket(client, level, latest)?,
                    None => (micros(latest)?, micros(latest)?),
                },
            });
        }
    }
    Ok(found)
}

/// Returns the time span of a bucket.
fn bucket(
    client: &SpiClient<'_>,
    level: usize,
    bucket: TimestampWithTimeZone,
) -> Result<Span, Error> {
    let end = client.select(
        "SELECT $1 + l.width - interval '1 microsecond' FROM jobstats.rollups l WHERE l.level = $2",
        Some(1),
        &[bucket.into(), LEVELS[level].name.into()],
    )?;
    let end = only_row(end, "rollups")?.get::<TimestampWithTimeZone>(1)?;
    Ok((micros(bucket)? - 1, end.map_or(micros(bucket), micros)?))
}

/// Returns the end of the last row in a bucket of a rollup. A finer rollup that does not have the row does not keep it
/// any more.
fn last_in_bucket(
    client: &SpiClient<'_>,
    entries: &[i64],
    level: usize,
    mut span: Span,
) -> Result<Micros, Error> {
    let latest = |column: &str, relation: &str, (from, to): Span| {
        let statement = format!(
            "SELECT max(i.{column}) FROM jobstats.{relation} i \
             WHERE i.{column} > $1 AND i.{column} <= $2 AND i.entry_id = ANY ($3)"
        );
        let parameters = [
            timestamptz(from)?.into(),
            timestamptz(to)?.into(),
            entries.to_vec().into(),
        ];
        let latest = client.select(&statement, Some(1), &parameters)?;
        Ok::<_, Error>(latest.first().get_one::<TimestampWithTimeZone>()?)
    };
    for (finer, rollup) in LEVELS.iter().enumerate().take(level).rev() {
        if let Some(found) = latest("bucket", &rollup.relation(), span)? {
            span = bucket(client, finer, found)?;
        }
    }
    latest("\"time\"", "increments", span)?.map_or(Ok(span.1), micros)
}

/// Returns `first` itself if increments are kept that long, otherwise the start of the bucket that holds it.
fn known_since(client: &SpiClient<'_>, first: Micros) -> Result<Micros, Error> {
    if first >= store::settings(client)?.kept_since {
        return Ok(first);
    }
    let start = client.select(
        "SELECT b.start FROM jobstats.rollups l \
         CROSS JOIN LATERAL date_bin(l.width, $1, '1970-01-01 00:00:00+00') AS b (start) \
         WHERE b.start >= l.dropped ORDER BY l.width LIMIT 1",
        Some(1),
        &[timestamptz(first)?.into()],
    )?;
    let start = start.into_iter().next();
    let start = start.map(|row| row.get::<TimestampWithTimeZone>(1));
    start.transpose()?.flatten().map_or(Ok(first), micros)
}

/// Returns a time before which no row of the job ends, so that nothing older has to be searched. Late text may have
/// come from up to `raw_retention` before the job was first seen; the result is the start of the observation that holds
/// this time.
fn earliest(client: &SpiClient<'_>, job: &str) -> Result<Option<Micros>, Error> {
    let first_seen = client
        .select(
            "SELECT min(e.first_seen) FROM jobstats.entries e WHERE e.job = $1",
            Some(1),
            &[job.into()],
        )?
        .first()
        .get_one::<TimestampWithTimeZone>()?;
    let Some(first_seen) = first_seen else {
        return Ok(None);
    };
    let late = store::settings(client)?.raw_retention;
    let possible = micros(first_seen)?.saturating_sub(late).max(EARLIEST);
    let observed_since = client
        .select(
            "SELECT min(o.since) FROM jobstats.targets t CROSS JOIN LATERAL (\
             SELECT o.since FROM jobstats.observations o WHERE o.target_id = t.target_id AND o.\"time\" > $1 \
             ORDER BY o.\"time\" LIMIT 1) o",
            Some(1),
            &[timestamptz(possible)?.into()],
        )?
        .first()
        .get_one::<TimestampWithTimeZone>()?;
    let since = observed_since.map(micros).transpose()?;
    Ok(Some(since.map_or(possible, |since| since.min(possible))))
}
