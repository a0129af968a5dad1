//! Chooses the window of a job, and the buckets in which its rates are compared.

use jobstats_core::instant::{MINUTE, Micros, Span};
use pgrx::datum::Interval;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::span;
use crate::query::sources::coarse;
use crate::query::window::{Window, clamped, edges};

/// The width of a bucket: that of the narrowest rollup.
const BUCKET: Micros = 10 * MINUTE;

/// The largest number of buckets. A job of a week has as many.
const BUCKETS: usize = 1000;

/// The largest number of buckets of all entries together. The rollup has a row of each on each target; a job of thousands
/// of nodes would have millions.
const BUCKETS_OF_ENTRIES: usize = 50_000;

/// The start and the end of a time. One that is `None` has no bound there.
pub type Limits = (Option<Micros>, Option<Micros>);

/// The time that is asked for.
#[derive(Default)]
pub struct Asked {
    pub limits: Limits,
    pub step: Option<Interval>,
}

/// The time that is answered for.
pub struct Chosen {
    /// The window. Its steps are those that are asked for, or else buckets if there are not too many of them.
    pub window: Window,
    /// Set if the steps are buckets.
    pub has_buckets: bool,
    /// Set if the window has the whole job.
    pub is_whole: bool,
}

impl Asked {
    /// Returns what a notice adds if it is a part of the job's time, or if there are steps, several parts.
    pub fn in_this_window(&self) -> &'static str {
        match self.limits != (None, None) || self.step.is_some() {
            true => " in this window",
            false => "",
        }
    }
}

impl Chosen {
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
                let Some((first, last)) = span::of_job(client, entries)? else {
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
        let edges = buckets.map_or_else(|| edges(span, step), Ok)?;
        Ok(Some(Self {
            window: Window::of_steps(edges),
            has_buckets,
            is_whole,
        }))
    }
}

/// Divides a span into buckets, unless they are too many, or too old to be stored. In gaps the buckets are as wide as
/// those that the store still has.
fn buckets((since, until): Span, entries: &Entries) -> Option<Vec<Micros>> {
    let first = (since.div_euclid(BUCKET) + 1).saturating_mul(BUCKET);
    let count = usize::try_from(until.saturating_sub(since) / BUCKET).unwrap_or(usize::MAX);
    let mut rollups = entries.state.rollups.iter();
    let is_dropped = rollups.any(|it| it.rollup.micros == BUCKET && it.dropped > since);
    if is_dropped || count > BUCKETS || count.saturating_mul(entries.len()) > BUCKETS_OF_ENTRIES {
        return None;
    }
    let coarse = coarse(&entries.state, &Window::whole(since, until));
    // It must be known what was done before an edge, and what after it.
    let is_known = |&edge: &Micros| {
        let is_inside = |(from, to): Span| from < edge && edge < to;
        let mut all = coarse.iter();
        all.all(|it| !is_inside(it.span) || edge % it.width == 0)
    };
    let inner = (0..).map(|n| first + n * BUCKET);
    let inner = inner.take_while(|&edge| edge < until).filter(is_known);
    Some([since].into_iter().chain(inner).chain([until]).collect())
}
