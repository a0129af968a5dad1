//! Finds the time span of the stored rows of a job.
//!
//! The search uses the rollups, which have an index by entry. It reads increments only where no rollup is up to date,
//! and inside the last bucket, to find the last row.

use jobstats_core::instant::{DAY, Micros, Span};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::pg::time::{EARLIEST, timestamptz, timestamptzs};
use crate::query::functions::job::entries::Entries;
use crate::query::params::Params;
use crate::query::sources::Sources;
use crate::query::state::State;
use crate::query::window::Window;
use crate::store;
use crate::store::rollup::ROLLUPS;

/// A time after every observation: 2200-01-01.
const LATEST: Micros = 7_258_118_400_000_000;

/// The result of searching a source: the earliest start of a row, and the span of the latest row, or of the bucket that
/// holds it, of a level.
type Found = (Micros, Span, Option<usize>);

/// Returns the time span of the stored rows of a job, which has these entries. Where only rollups are kept, the span
/// reaches to the edges of their buckets.
pub fn of_job(client: &SpiClient<'_>, entries: &Entries) -> Result<Option<Span>, Error> {
    let (state, ids) = (&entries.state, entries.ids());
    let Some(earliest) = earliest(client, state, &ids)? else {
        return Ok(None);
    };
    // A bucket may begin before the rows in it.
    let window = Window::whole(earliest.saturating_sub(DAY).max(EARLIEST), LATEST);
    let found = search(client, state, &window, &ids)?;
    let first = found.iter().map(|it| it.0).min();
    let Some((first, latest)) = first.zip(found.iter().max_by_key(|it| it.1)) else {
        return Ok(None);
    };
    let last = match *latest {
        (_, span, None) => span.1,
        (_, span, Some(level)) => last_in_bucket(client, &ids, level, span)?,
    };
    Ok(Some((known_since(state, first), last)))
}

/// Searches every source. Each search is limited to the window explicitly, so that the planner can leave out older
/// days.
fn search(
    client: &SpiClient<'_>,
    state: &State,
    window: &Window,
    entries: &[i64],
) -> Result<Vec<Found>, Error> {
    let sources = Sources::choose(state, window, None);
    let (params, since) = (Params::default(), timestamptz(window.since())?);
    let since = params.bind("since", || since);
    let ids = params.bind("entries", || entries.to_vec());
    let mut searches = Vec::new();
    for part in &sources.parts {
        let relation = part.relation.name();
        let level = part.relation.rollup;
        let level = level.and_then(|it| ROLLUPS.iter().position(|known| known.name == it.name));
        let lower = timestamptzs(part.spans.iter().map(|it| &it.0))?;
        let upper = timestamptzs(part.spans.iter().map(|it| &it.1))?;
        searches.push(sql!(
            "search.sql",
            source = level.map_or(0, |it| it + 1).to_string(),
            relation = relation,
            time = level.map_or("\"time\"", |_| "bucket"),
            first = level.map_or("since", |_| "first"),
            lower = params.bind(&format!("{relation} lower"), || lower),
            upper = params.bind(&format!("{relation} upper"), || upper),
            entries = ids,
            since = since,
        ));
    }
    let mut found = Vec::new();
    for row in client.query(&searches.join("\nUNION ALL\n"), &params.take())? {
        if let Some((first, latest)) = row.time_opt("first")?.zip(row.time_opt("latest")?) {
            let level = usize::try_from(row.get::<i32>("source")? - 1).ok();
            let span = level.map_or((latest, latest), |it| bucket(it, latest));
            found.push((first, span, level));
        }
    }
    Ok(found)
}

/// Returns the time span of a bucket.
fn bucket(level: usize, bucket: Micros) -> Span {
    (bucket - 1, bucket - 1 + ROLLUPS[level].micros)
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
            "SELECT max(usage.{column}) FROM jobstats.{relation} usage \
             WHERE usage.{column} > $1 AND usage.{column} <= $2 AND usage.entry_id = ANY ($3)"
        );
        let parameters = [
            timestamptz(from)?.into(),
            timestamptz(to)?.into(),
            entries.to_vec().into(),
        ];
        client.query_time(&statement, &parameters)
    };
    for (finer, rollup) in ROLLUPS.iter().enumerate().take(level).rev() {
        if let Some(found) = latest("bucket", &rollup.relation(), span)? {
            span = bucket(finer, found);
        }
    }
    Ok(latest("\"time\"", "increments", span)?.unwrap_or(span.1))
}

/// Returns `first` itself if increments are kept that long, otherwise the start of the bucket that holds it.
fn known_since(state: &State, first: Micros) -> Micros {
    if first >= state.kept_since {
        return first;
    }
    let finest_first = state.rollups.iter().rev();
    let buckets = finest_first.map(|it| (first - first.rem_euclid(it.rollup.micros), it.dropped));
    let mut kept = buckets.filter(|(start, dropped)| start >= dropped);
    kept.next().map_or(first, |it| it.0)
}

/// Returns a time before which no row of the job ends, so that nothing older has to be searched. Late text may have
/// come from up to `raw_retention` before the job was first seen; older text has lowered that time. The result is the start
/// of the observation that holds this time.
fn earliest(
    client: &SpiClient<'_>,
    state: &State,
    entries: &[i64],
) -> Result<Option<Micros>, Error> {
    let first_seen = client.query_time(
        "SELECT min(entry.first_seen) FROM jobstats.entries entry WHERE entry.entry_id = ANY ($1)",
        &[entries.to_vec().into()],
    )?;
    let Some(first_seen) = first_seen else {
        return Ok(None);
    };
    let late = store::settings(client)?.raw_retention;
    let possible = first_seen.saturating_sub(late).max(EARLIEST);
    // A node finds the observations that hold this time without telling of all later ones.
    let statement = if state.is_front {
        "SELECT min(o.since) FROM jobstats.observations o WHERE o.\"time\" > $1 AND o.since < $1"
    } else {
        "SELECT min(observation.since) FROM jobstats.targets target CROSS JOIN LATERAL ( \
            SELECT observation.since FROM jobstats.observations observation \
            WHERE observation.target_id = target.target_id AND observation.\"time\" > $1 \
            ORDER BY observation.\"time\" LIMIT 1) observation"
    };
    let since = client.query_time(statement, &[timestamptz(possible)?.into()])?;
    Ok(Some(since.map_or(possible, |since| since.min(possible))))
}
