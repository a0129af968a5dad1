//! The window of a job, and the buckets in which its rates are compared.

use jobstats_core::instant::{MINUTE, Micros, Span};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::time::{micros, timestamptz};
use crate::query::filters::Filters;
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::span;
use crate::query::question::Period;
use crate::query::sources::coarse;
use crate::query::window::Window;

/// The width of a bucket: that of the narrowest rollup.
const BUCKET: Micros = 10 * MINUTE;

/// The largest number of buckets. A job of a week has as many.
const BUCKETS: usize = 1000;

/// The largest number of buckets of all entries together. The rollup has a row of each on each target; a job of thousands
/// of nodes would have millions.
const BUCKETS_OF_ENTRIES: usize = 50_000;

/// The time that is asked for.
#[derive(Default)]
pub struct Asked {
    pub since: Option<TimestampWithTimeZone>,
    pub until: Option<TimestampWithTimeZone>,
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
    /// Returns the start and the end that are given.
    pub fn bounds(&self) -> Result<[Option<Micros>; 2], Error> {
        let [since, until] = [self.since, self.until].map(|time| time.map(micros).transpose());
        Ok([since?, until?])
    }

    /// Returns whether it is a part of the job's time, or if there are steps, several parts.
    pub fn is_limited(&self) -> bool {
        self.since.is_some() || self.until.is_some() || self.step.is_some()
    }

    /// Returns the window. A bound that is NULL is the first or last time of the job's rows. Returns `None` if the job
    /// has no rows in the window.
    pub fn choose(
        &self,
        client: &SpiClient<'_>,
        entries: &Entries,
        filters: &Filters,
    ) -> Result<Option<Chosen>, Error> {
        let Some((period, is_whole)) = self.period(client, entries)? else {
            return Ok(None);
        };
        let Some(window) = Window::resolve(client, &entries.state, &period, filters)? else {
            return Ok(None);
        };
        let buckets = match self.step {
            Some(_) => None,
            None => buckets(&window, entries),
        };
        Ok(Some(Chosen {
            has_buckets: buckets.is_some(),
            window: buckets.unwrap_or(window),
            is_whole,
        }))
    }

    /// Returns the period, and whether it has the whole job.
    fn period(
        &self,
        client: &SpiClient<'_>,
        entries: &Entries,
    ) -> Result<Option<(Period, bool)>, Error> {
        let period = |since, until| Period {
            since,
            until,
            step: self.step,
            // All stored usage of the job counts, even if some targets have not yet been observed up to the end of the
            // window.
            fixed: true,
        };
        if self.since.is_some() && self.until.is_some() {
            return Ok(Some((period(self.since, self.until), false)));
        }
        let [from, to] = self.bounds()?;
        let span = span::of_job(client, entries)?;
        let reaches = |&(first, last): &Span| {
            from.is_none_or(|from| last > from) && to.is_none_or(|to| first < to)
        };
        let Some((first, last)) = span.filter(reaches) else {
            return Ok(None);
        };
        let is_whole = from.is_none_or(|from| from <= first) && to.is_none_or(|to| to >= last);
        let (first, last) = (timestamptz(first)?, timestamptz(last)?);
        let period = period(self.since.or(Some(first)), self.until.or(Some(last)));
        Ok(Some((period, is_whole)))
    }
}

/// Divides a window into buckets, unless they are too many, or too old to be stored. In gaps the buckets are as wide as
/// those that the store still has.
fn buckets(window: &Window, entries: &Entries) -> Option<Window> {
    let (since, until) = (window.since(), window.until());
    let first = (since.div_euclid(BUCKET) + 1).saturating_mul(BUCKET);
    let count = usize::try_from(until.saturating_sub(since) / BUCKET).unwrap_or(usize::MAX);
    let mut rollups = entries.state.rollups.iter();
    let is_dropped = rollups.any(|it| it.rollup.micros == BUCKET && it.dropped > since);
    if is_dropped || count > BUCKETS || count.saturating_mul(entries.len()) > BUCKETS_OF_ENTRIES {
        return None;
    }
    let coarse = coarse(&entries.state, window);
    // It must be known what was done before an edge, and what after it.
    let is_known = |&edge: &Micros| {
        let is_inside = |(from, to): Span| from < edge && edge < to;
        let mut all = coarse.iter();
        all.all(|it| !is_inside(it.span) || edge % it.width == 0)
    };
    let inner = (0..).map(|n| first + n * BUCKET);
    let mut edges = vec![since];
    edges.extend(inner.take_while(|&edge| edge < until).filter(is_known));
    edges.push(until);
    Some(Window {
        edges,
        ..Window::whole(since, until)
    })
}
