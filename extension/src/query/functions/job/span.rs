//! Finds the time span of the stored rows of a job.
//!
//! The search uses the rollups, which have an index by entry. It reads increments only where no rollup is up to date,
//! and inside the last bucket, to find the last row.

use jobstats_core::instant::{DAY, Micros, Span};
use jobstats_core::usage::Layout;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::Statements;
use crate::pg::time::{EARLIEST, timestamptz};
use crate::query::functions::job::entries::Entries;
use crate::query::read::{self, Selection};
use crate::query::sources::Sources;
use crate::query::state::State;
use crate::query::window::Window;
use crate::store;
use crate::store::rollup::ROLLUPS;

/// A time after every observation: 2200-01-01.
const LATEST: Micros = 7_258_118_400_000_000;

/// Returns the time span of the stored rows of a job, which has these entries. Where only rollups are kept, the span
/// reaches to the edges of their buckets.
pub fn of_job(client: &SpiClient<'_>, entries: &Entries) -> Result<Option<Span>, Error> {
    let (state, ids) = (&entries.state, entries.ids());
    let Some(earliest) = earliest(client, state, &ids)? else {
        return Ok(None);
    };
    // A bucket may begin before the rows in it.
    let window = Window::whole(earliest.saturating_sub(DAY).max(EARLIEST), LATEST);
    let selection = Selection {
        activity: true,
        entries: Some(&ids),
        ..Selection::default()
    };
    // The earliest start of a row, and the time in which the latest ends, which is the bucket that holds it, or an instant.
    let mut found: Option<(Micros, Span)> = None;
    for part in &Sources::choose(state, &window, None).parts {
        let has_buckets = part.relation.width().is_some();
        read::usage(part, &Layout::default(), &selection, &mut |row| {
            pause();
            let (start, (since, until)) = (row.active.0, row.span);
            let end = (if has_buckets { since } else { until }, until);
            let (first, latest) = found.unwrap_or((start, end));
            found = Some((first.min(start), latest.max(end)));
            Ok(true)
        })?;
    }
    let Some((first, latest)) = found else {
        return Ok(None);
    };
    let last = last_in(client, &ids, latest)?;
    Ok(Some((known_since(state, first), last)))
}

/// Returns the end of the last row in a bucket of a rollup. A finer rollup that does not have the row does not keep it
/// any more. In an instant, the row ends there.
fn last_in(client: &SpiClient<'_>, entries: &[i64], mut span: Span) -> Result<Micros, Error> {
    let width = span.1 - span.0;
    if width == 0 {
        return Ok(span.1);
    }
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
    for finer in ROLLUPS.iter().rev().filter(|it| it.micros < width) {
        if let Some(found) = latest("bucket", &finer.relation(), span)? {
            span = (found - 1, found - 1 + finer.micros);
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
