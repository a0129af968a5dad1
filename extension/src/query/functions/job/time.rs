//! Chooses the window of a job, and the buckets in which its rates are compared.
//!
//! Without a limit, a window is the time span of the stored rows of the job. The search for it uses the rollups, which have an index by entry.
//! It reads increments only where no rollup is up to date, and inside the last bucket, to find the last row.

use jobstats_core::base::instant::{DAY, MINUTE, Micros, Span};
use jobstats_core::usage::Layout;
use pgrx::datum::Interval;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::{EARLIEST, timestamptz};
use crate::query::functions::job::entries::Entries;
use crate::query::read::{self, Selection};
use crate::query::sources::{Sources, coarse};
use crate::query::state::State;
use crate::query::window::{Window, clamped, edges, width};
use crate::store;
use crate::store::rollup::ROLLUPS;

/// The width of a bucket of the narrowest rollup.
const BUCKET: Micros = 10 * MINUTE;

/// The largest number of buckets. A job of a week has as many.
const BUCKETS: usize = 1000;

/// The largest number of buckets of all entries together. The rollup has a row of each on each target; a job of thousands
/// of nodes would have millions.
const BUCKETS_OF_ENTRIES: usize = 50_000;

/// A time after every observation: 2200-01-01.
const LATEST: Micros = 7_258_118_400_000_000;

/// The start and the end of a time; `None` is unbounded.
pub type Limits = (Option<Micros>, Option<Micros>);

/// The requested time.
#[derive(Default)]
pub struct RequestedTime {
    pub limits: Limits,
    pub step: Option<Interval>,
}

/// The time that is answered for.
pub struct AnsweredTime {
    /// The window. Its steps are the requested steps, or else buckets if there are not too many.
    pub window: Window,
    /// Set if the steps are buckets.
    pub has_buckets: bool,
    /// Set if the window has the whole job.
    pub is_whole: bool,
}

impl RequestedTime {
    /// Returns what a notice adds if it is a part of the job's time, or if there are steps, several parts.
    pub fn in_this_window(&self) -> &'static str {
        match self.limits != (None, None) || self.step.is_some() {
            true => " in this window",
            false => "",
        }
    }
}

impl AnsweredTime {
    /// Chooses the window. Without a limit it begins or ends with the job's rows. All of them count, even if some targets have not yet been
    /// observed up to the end of the window. Returns `None` if the job has no rows in it.
    pub fn of_job(
        client: &SpiClient<'_>,
        entries: &Entries,
        (from, to): Limits,
        step: Option<&Interval>,
    ) -> Result<Option<Self>, Error> {
        let (span, is_whole) = match (from, to) {
            (Some(since), Some(until)) => ((since, until), false),
            _ => {
                let Some((first, last)) = span_of_job(client, entries)? else {
                    return Ok(None);
                };
                if from.is_some_and(|from| from >= last) || to.is_some_and(|to| to <= first) {
                    return Ok(None);
                }
                let is_whole = from.is_none_or(|it| it <= first) && to.is_none_or(|it| it >= last);
                ((from.unwrap_or(first), to.unwrap_or(last)), is_whole)
            }
        };
        if span.0 >= span.1 {
            return Err(Error::empty_window());
        }
        let span = clamped(&entries.state, span);
        let buckets = match step {
            Some(_) => None,
            None => buckets(span, entries),
        };
        let has_buckets = buckets.is_some();
        let edges = buckets.map_or_else(|| edges(span, width(step)?), Ok)?;
        Ok(Some(Self {
            window: Window::of_steps(edges),
            has_buckets,
            is_whole,
        }))
    }
}

/// Divides a span into buckets, unless they are too many, or too old to be stored. In gaps, buckets are as wide as the retained ones.
fn buckets((since, until): Span, entries: &Entries) -> Option<Vec<Micros>> {
    let first = (since.div_euclid(BUCKET) + 1).saturating_mul(BUCKET);
    let count = usize::try_from(until.saturating_sub(since) / BUCKET).unwrap_or(usize::MAX);
    let mut rollups = entries.state.rollups.iter();
    let is_dropped = rollups.any(|it| it.rollup.micros == BUCKET && it.dropped > since);
    if is_dropped
        || count > BUCKETS
        || count.saturating_mul(entries.nodes.len()) > BUCKETS_OF_ENTRIES
    {
        return None;
    }
    let coarse = coarse(&entries.state, &Window::whole(since, until));
    // The usage before and after an edge must be known.
    let is_known = |&edge: &Micros| {
        let is_inside = |(from, to): Span| from < edge && edge < to;
        let mut all = coarse.iter();
        all.all(|it| !is_inside(it.span) || edge % it.width == 0)
    };
    let inner = (0..).map(|n| first + n * BUCKET);
    let inner = inner.take_while(|&edge| edge < until).filter(is_known);
    Some([since].into_iter().chain(inner).chain([until]).collect())
}

/// Returns the time span of the stored rows of a job, which has these entries. Where only rollups are kept, the span
/// reaches to the edges of their buckets.
pub fn span_of_job(client: &SpiClient<'_>, entries: &Entries) -> Result<Option<Span>, Error> {
    let (state, ids) = (&entries.state, entries.ids());
    let Some(earliest) = earliest(client, state, &ids)? else {
        return Ok(None);
    };
    // A bucket may begin before the rows in it.
    let window = Window::whole(earliest.saturating_sub(DAY).max(EARLIEST), LATEST);
    let selection = Selection {
        activity: true,
        entries: Some(ids.clone()),
        ..Selection::default()
    };
    // The earliest start of a row, and the time in which the latest ends, which is the bucket that holds it, or an instant.
    let mut found: Option<(Micros, Span)> = None;
    for part in &Sources::choose(state, &window, None).parts {
        let has_buckets = part.relation.width().is_some();
        read::usage(part, &Layout::default(), &selection, &mut |row| {
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
        let parameters = values![timestamptz(from)?, timestamptz(to)?, entries.to_vec()];
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

/// Returns a time before which no row of the job ends, which limits the search. Late text may have come from up to `raw_retention` before the job was
/// first seen; older text has lowered that time. The result is the start of the observation that holds this time.
fn earliest(
    client: &SpiClient<'_>,
    state: &State,
    entries: &[i64],
) -> Result<Option<Micros>, Error> {
    let first_seen = client.query_time(
        "SELECT min(entry.first_seen) FROM jobstats.entries entry WHERE entry.entry_id = ANY ($1)",
        &values![entries.to_vec()],
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
    let since = client.query_time(statement, &values![timestamptz(possible)?])?;
    Ok(Some(since.map_or(possible, |since| since.min(possible))))
}
