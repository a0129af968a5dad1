//! The window of a question: its start, its end and its steps.

use jobstats_core::base::instant::{DAY, Micros, Span};
use jobstats_core::usage::Target;
use jobstats_core::usage::window::{
    LastObservation, Reach, StepError, StepWidth, reach, step_edges,
};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::Statements;
use crate::pg::time::{LONG_AGO, SessionClocks, now, timestamptz, window};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::params::Params;
use crate::query::question::Period;
use crate::query::state::State;
use crate::store;
use crate::store::views::pace_since;

/// The largest number of rows of an answer.
pub const ROW_LIMIT: usize = 1_000_000;

/// The largest number of steps of a window.
pub const STEP_LIMIT: usize = 100_000;

/// The largest number of steps of all targets together. Four times as many take minutes, whatever the answer is grouped
/// by.
const CELL_LIMIT: i64 = 1_000_000;

/// The number of steps that any number of targets may have.
const FEW_STEPS: usize = 1_000;

/// The time before now within which a window still ends now. A dashboard takes "now" from its own clock, and a while
/// before its query arrives.
const ALMOST_NOW: Micros = 10_000_000;

/// A window that is not empty.
#[derive(Debug, Clone, Default)]
pub struct Window {
    /// The edges of the steps: the start of the window, the start of every further step, and the end.
    pub edges: Vec<Micros>,
    /// The targets in scope that lower the coverage of a window up to now: without an observation, late or silent, each with the time since its last
    /// observation.
    pub behind: Vec<(String, Micros)>,
    /// The target that cut the window by more than a usual interval, and the length of the cut.
    pub cut: Option<(String, Micros)>,
    /// The time of the last observation, if the window reaches now and all targets in scope are late or silent.
    pub stalled: Option<Micros>,
    /// Set if the window reaches now and a target in scope was observed within the day before its start, or since then.
    pub observed_lately: bool,
}

impl Window {
    /// Creates a window of one step that is not cut to the observed time.
    pub fn whole(since: Micros, until: Micros) -> Self {
        Self::of_steps(vec![since, until])
    }

    /// Creates a window of steps between these edges that is not cut to the observed time.
    pub fn of_steps(edges: Vec<Micros>) -> Self {
        Self {
            edges,
            ..Self::default()
        }
    }

    /// Creates the window in which these targets were observed; `None` if they were not.
    pub fn of_targets<'t>(targets: impl Iterator<Item = &'t Target>) -> Option<Self> {
        let spans = targets.flat_map(|it| it.spans.iter().copied());
        let all = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        all.map(|(since, until)| Self::whole(since, until))
    }

    /// Returns the requested window. A window up to now ends at the time up to which the targets in scope have been [observed](reach). Returns `None`
    /// if that is before its start.
    ///
    /// # Errors
    /// - [`Error::empty_window`] if the window does not begin before its end.
    /// - [`Error::argument`] if the step is not positive, too long, or mixes months with days.
    /// - [`Error::TooManySteps`] if the window has more than 100,000 steps.
    pub fn resolve(
        client: &SpiClient<'_>,
        state: &State,
        period: &Period,
        filters: &Filters,
    ) -> Result<Option<Self>, Error> {
        let now = now()?;
        let (since, until) = clamped(state, window(period.since, period.until)?);
        let width = width(period.step.as_ref())?;
        let observations = if until >= now - ALMOST_NOW && !period.fixed {
            last_observations(client, since, filters)?
        } else {
            Vec::new()
        };
        let Reach { end, cut_by } = reach(&observations, since, now);
        let end = end.map_or(until, |end| end.min(until));
        if end <= since {
            return Ok(None);
        }
        let edges = edges((since, end), width)?;
        let (stalled, observed_lately) = (stalled(&observations), !observations.is_empty());
        let cut = cut_by.and_then(|position| observations.get(position));
        let cut = cut.map(|last| (last.target.clone(), now - last.time));
        let is_behind = |last: &LastObservation| {
            last.time <= since || (last.late || last.silent) && last.time < end
        };
        let behind = observations.into_iter().filter(is_behind);
        let behind = behind.map(|last| (last.target, now - last.time)).collect();
        Ok(Some(Self {
            edges,
            behind,
            cut,
            stalled,
            observed_lately,
        }))
    }

    /// Returns the start, which is not part of the window.
    pub fn since(&self) -> Micros {
        self.edges.first().copied().unwrap_or_default()
    }

    /// Returns the end.
    pub fn until(&self) -> Micros {
        self.edges.last().copied().unwrap_or_default()
    }

    /// Returns the start and the end as values of PostgreSQL.
    pub fn bounds(&self) -> Result<[TimestampWithTimeZone; 2], Error> {
        Ok([timestamptz(self.since())?, timestamptz(self.until())?])
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// Returns the start of a step and its width in seconds. Steps are counted from 0.
    pub fn step(&self, index: usize) -> (Micros, f64) {
        let (start, end) = (self.edges[index], self.edges[index + 1]);
        (start, (end - start) as f64 / 1e6)
    }
}

/// Returns a window with the start of the retained time in place of [`LONG_AGO`].
pub fn clamped(state: &State, (since, until): Span) -> Span {
    if since > LONG_AGO {
        return (since, until);
    }
    let observed = state.observed_since().unwrap_or(LONG_AGO);
    (observed.min(until.saturating_sub(1)), until)
}

/// Checks that the window does not have too many steps for the number of targets.
///
/// # Errors
/// [`Error::TooManyCells`] if the steps of all targets together are more than [`CELL_LIMIT`].
pub fn require_bearable(state: &State, window: &Window, filters: &Filters) -> Result<(), Error> {
    let steps = window.steps();
    if steps <= FEW_STEPS {
        return Ok(());
    }
    let targets = state.targets_of(filters).count() as i64;
    if targets.saturating_mul(steps as i64) > CELL_LIMIT {
        return Err(Error::TooManyCells { steps, targets });
    }
    Ok(())
}

/// Returns the edges of the steps of a window; without a width it has one.
pub fn edges(span: Span, width: Option<StepWidth>) -> Result<Vec<Micros>, Error> {
    let edges = match width {
        Some(width) => step_edges(span, width, &SessionClocks, STEP_LIMIT),
        None => Some(vec![span.0, span.1]),
    };
    edges.ok_or(Error::TooManySteps)
}

/// Returns the requested width of the steps.
///
/// # Errors
/// [`Error::argument`] if the interval cannot be one.
pub fn width(step: Option<&Interval>) -> Result<Option<StepWidth>, Error> {
    let width = step.map(|it| StepWidth::new(it.months(), it.days(), it.micros()));
    width.transpose().map_err(|error| {
        let hint = match error {
            StepError::NotPositive => {
                "Give a span of time such as '5 minutes', without negative parts."
            }
            StepError::Mixed => "Give months alone, such as '1 month', or days and hours alone.",
            StepError::TooLong => {
                "Give a span of time such as '5 minutes'; NULL is one step for the window."
            }
        };
        Error::argument(error.to_string(), hint)
    })
}

/// The memory that the last observation of a target takes.
const LAST_OBSERVATION_BYTES: usize = 512;

/// Returns the last observations of the targets in scope, the oldest first. A target or server outside of the unnamed cluster is shown with its
/// cluster. Retired targets do not count.
fn last_observations(
    client: &SpiClient<'_>,
    since: Micros,
    filters: &Filters,
) -> Result<Vec<LastObservation>, Error> {
    let params = Params::default();
    let [day_before, day_before_that] =
        [1, 2].map(|days| params.bind_time(&format!("{days} days before"), since - days * DAY));
    let statement = format!(
        "SELECT concat_ws('/', nullif(target.cluster, ''), target.name) AS target, concat_ws('/', nullif(target.cluster, ''), pace.server) AS server, \
         pace.last_observation, (extract(epoch FROM pace.usual_interval) * 1000000)::bigint AS usual_interval, pace.silent, pace.late \
         FROM ({}) pace JOIN jobstats.targets target ON target.target_id = pace.target_id \
         WHERE target.retired IS NULL{}{} ORDER BY pace.last_observation, target.cluster, target.name",
        pace_since([&day_before, &day_before_that], store::is_front(client)?),
        filters.conditions(Level::Target, "target", &params),
        filters.conditions(Level::Server, "pace", &params)
    );
    let rows = client.query(&statement, &params.take())?;
    require_room(rows.len(), LAST_OBSERVATION_BYTES)?;
    rows.map(|row| {
        Ok(LastObservation {
            target: row.get("target")?,
            time: row.time("last_observation")?,
            server: row.get("server")?,
            usual_interval: row.get("usual_interval")?,
            silent: row.get("silent")?,
            late: row.get("late")?,
        })
    })
    .collect()
}

/// Returns the time of the last observation if all targets are late or silent.
fn stalled(observations: &[LastObservation]) -> Option<Micros> {
    let behind = |last: &LastObservation| last.silent || last.late;
    let latest = observations.iter().map(|last| last.time).max();
    latest.filter(|_| observations.iter().all(behind))
}
