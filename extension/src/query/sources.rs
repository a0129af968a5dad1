//! Chooses the sources of a window: the coarsest rollups that give the same answer, and `increments` for the rest.

use jobstats_core::increment::Micros;
use jobstats_core::level::{self, Span};
use jobstats_core::step::{Coarse, reach};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::rows::only_row;
use crate::pg::time::{DAY, EARLIEST, micros, timestamptz};
use crate::query::window::Window;
use crate::store::rollup::{LEVELS, Rollup};

/// The spans of a window by their source.
pub struct Sources {
    /// The spans of whole buckets of each rollup.
    whole: Rollups,
    /// The spans of `increments`.
    rest: Vec<Span>,
    /// The spans of each rollup that may be parts of buckets.
    parts: Rollups,
    /// The spans without a source.
    lost: Vec<Span>,
    /// The time since which increments and observations are kept.
    kept_since: Micros,
    /// The spans in which rows of increments may cross edges of rollups.
    coarse: Vec<Coarse>,
    /// Set if no step is read from two buckets, or from a bucket and from increments.
    one_per_step: bool,
}

/// The spans of the rollups that are read, coarsest first.
type Rollups = Vec<(RollupTable, Vec<Span>)>;

/// The table of a rollup, by entry or by user.
#[derive(Debug, Clone, Copy)]
pub struct RollupTable {
    pub level: &'static Rollup,
    pub by_user: bool,
}

impl RollupTable {
    /// Returns the name of the table or continuous aggregate.
    pub fn relation(&self) -> String {
        if self.by_user {
            self.level.users()
        } else {
            self.level.relation()
        }
    }
}

impl Sources {
    /// Number of the parameter, among those of the sources, with the time since which observations are kept.
    pub const KEPT_SINCE: usize = 1;

    /// Number of the parameter with the starts of all spans that are read. The next parameter has the ends, here and
    /// below.
    pub const READ: usize = 2;

    /// Number of the parameter with the starts of spans of increments.
    pub const REST: usize = 4;

    /// Number of the parameter with the starts of whole buckets of the first of [`LEVELS`]; the other levels follow.
    pub const WHOLE: usize = Self::REST + 2;

    /// Number of the parameter with the starts of parts of buckets of the first of [`LEVELS`]; the other levels follow.
    pub const PARTS: usize = Self::WHOLE + 2 * LEVELS.len();

    /// Number of the parameter with the latest ends of rows that cross the ends of spans of increments.
    pub const REST_REACH: usize = Self::PARTS + 2 * LEVELS.len();

    /// The number of parameters.
    pub const PARAMETERS: usize = Self::REST_REACH;

    /// Chooses the sources of a question that rollups can answer, or, if `by_user`, that their sums by user can answer.
    pub fn choose(client: &SpiClient<'_>, window: &Window, by_user: bool) -> Result<Self, Error> {
        let coarse = coarse(client, window)?;
        let states = states(client, window, by_user, &coarse)?;
        let (levels, states) = states.into_iter().unzip();
        Self::divide(window, levels, states, coarse, kept_since(client)?)
    }

    /// Returns the sources of a question that only `increments` can answer.
    pub fn increments(client: &SpiClient<'_>, window: &Window) -> Result<Self, Error> {
        let coarse = coarse(client, window)?;
        Self::divide(window, Vec::new(), Vec::new(), coarse, kept_since(client)?)
    }

    fn divide(
        window: &Window,
        levels: Vec<RollupTable>,
        states: Vec<level::Level>,
        coarse: Vec<Coarse>,
        kept_since: Micros,
    ) -> Result<Self, Error> {
        let division = level::divide(&window.edges, &states, kept_since);
        let steps = || window.edges.windows(2).map(|edges| edges[1] - edges[0]);
        let mut whole = division.whole.iter().zip(&states);
        let one_per_step = whole
            .all(|(spans, level)| spans.is_empty() || steps().all(|width| width <= level.width))
            && division.parts.iter().all(Vec::is_empty);
        let of = |spans: Vec<Vec<Span>>| {
            let of_levels = levels.iter().copied().zip(spans);
            of_levels.filter(|(_, spans)| !spans.is_empty()).collect()
        };
        Ok(Self {
            whole: of(division.whole),
            rest: division.rest,
            parts: of(division.parts),
            lost: division.lost,
            kept_since,
            coarse,
            one_per_step,
        })
    }

    /// Returns whether the whole window is read from increments.
    pub fn is_plain(&self) -> bool {
        self.whole.is_empty() && self.parts.is_empty() && self.lost.is_empty()
    }

    /// Returns whether a rollup by user is read.
    pub fn has_users(&self) -> bool {
        self.whole().chain(self.parts()).any(|it| it.by_user)
    }

    /// Returns the rollups of which whole buckets are read.
    pub fn whole(&self) -> impl Iterator<Item = RollupTable> {
        self.whole.iter().map(|(rollup, _)| *rollup)
    }

    /// Returns whether there is at most one row per step, target and user, if the question asks for users only.
    pub fn has_one_row_per_step(&self) -> bool {
        self.one_per_step
    }

    /// Returns whether the whole buckets that are read of a rollup follow each other.
    pub fn is_one_span(&self, rollup: RollupTable) -> bool {
        let mut whole = self.whole.iter();
        whole.any(|(it, spans)| it.level.name == rollup.level.name && spans.len() == 1)
    }

    /// Returns the rollups of which parts of buckets may be read.
    pub fn parts(&self) -> impl Iterator<Item = RollupTable> {
        self.parts.iter().map(|(rollup, _)| *rollup)
    }

    /// Returns whether the spans that are read of a rollup [are short](is_short).
    pub fn is_short(&self, rollup: RollupTable) -> bool {
        let rollups = self.whole.iter().chain(&self.parts);
        let spans = rollups.filter(|(it, _)| it.level.name == rollup.level.name);
        is_short(spans.flat_map(|(_, spans)| spans))
    }

    /// Returns whether the spans of increments [are short](is_short).
    pub fn has_short_rest(&self) -> bool {
        is_short(&self.rest)
    }

    /// Returns whether increments are read. They are also read, without finding a row, if there is no other source.
    pub fn has_rest(&self) -> bool {
        !self.rest.is_empty() || self.whole.is_empty() && self.parts.is_empty()
    }

    /// Returns whether a part of the window is too old for any source.
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns the time since which increments are kept.
    pub fn kept_since(&self) -> Micros {
        self.kept_since
    }

    /// Returns the latest end of rows of increments that cross an instant.
    pub fn reach(&self, instant: Micros) -> Micros {
        reach(instant, &self.coarse)
    }

    /// Returns all spans that are read, from any source.
    fn read(&self) -> Vec<Span> {
        let rollups = self.whole.iter().chain(&self.parts);
        let spans = rollups.flat_map(|(_, spans)| spans);
        spans.chain(&self.rest).copied().collect()
    }

    /// Returns the parameters of a statement: the time since which observations are kept; the starts and ends of all
    /// spans that are read, of the spans of increments, of the whole buckets of each of [`LEVELS`], and of the parts of
    /// buckets of each of them; the latest ends of rows of increments.
    pub fn parameters(&self) -> Result<Vec<DatumWithOid<'static>>, Error> {
        let mut spans = vec![self.read(), self.rest.clone()];
        for rollups in [&self.whole, &self.parts] {
            for level in &LEVELS {
                let found = rollups.iter().find(|(it, _)| it.level.name == level.name);
                spans.push(found.map(|(_, spans)| spans.clone()).unwrap_or_default());
            }
        }
        let mut parameters = vec![timestamptz(self.kept_since)?.into()];
        for spans in spans {
            for instant in [|span: &Span| span.0, |span: &Span| span.1] {
                let times = spans.iter().map(|span| timestamptz(instant(span)));
                parameters.push(times.collect::<Result<Vec<_>, _>>()?.into());
            }
        }
        let reaches = self.rest.iter().map(|&(_, to)| timestamptz(self.reach(to)));
        parameters.push(reaches.collect::<Result<Vec<_>, _>>()?.into());
        Ok(parameters)
    }
}

/// Returns whether spans are so short that a bigint holds any sum over them of the operations on a target: all 33
/// operations together, at 2^40 a second (rule 14), stay below 2^63 for two days and a half.
fn is_short<'a>(spans: impl IntoIterator<Item = &'a Span>) -> bool {
    let length = spans
        .into_iter()
        .map(|(from, to)| to - from)
        .sum::<Micros>();
    length <= DAY
}

/// Returns the rollups, coarsest first, each with the spans in which it can be relied on.
fn states(
    client: &SpiClient<'_>,
    window: &Window,
    by_user: bool,
    coarse: &[Coarse],
) -> Result<Vec<(RollupTable, level::Level)>, Error> {
    let dirty = spans(client, "jobstats.dirty", "interval '0'", window)?;
    let mut states = Vec::new();
    for level in LEVELS.iter().rev() {
        let state = client
            .select(
                "SELECT (extract(epoch FROM width) * 1000000)::bigint, dropped, refreshed, \
                 users_refreshed >= refreshed FROM jobstats.rollups WHERE level = $1",
                Some(1),
                &[level.name.into()],
            )?
            .next();
        // A rollup whose row is lost is not read, as nothing is known of it.
        let Some(state) = state else { continue };
        let (Some(width), Some(dropped), Some(refreshed)) = (
            state.get::<i64>(1)?,
            state.get::<TimestampWithTimeZone>(2)?,
            state.get::<TimestampWithTimeZone>(3)?,
        ) else {
            continue;
        };
        let mut stale: Vec<Span> = dirty.iter().map(|(span, _)| *span).collect();
        let crossed = coarse.iter().filter(|coarse| coarse.width > width);
        stale.extend(crossed.map(|coarse| coarse.span));
        let by_user = by_user && state.get::<bool>(4)? == Some(true);
        let state = level::Level {
            width,
            since: micros(dropped)?,
            until: micros(refreshed)?,
            stale,
        };
        states.push((RollupTable { level, by_user }, state));
    }
    Ok(states)
}

/// Returns the time since which increments and observations are kept.
fn kept_since(client: &SpiClient<'_>) -> Result<Micros, Error> {
    let found = client.select("SELECT dropped FROM jobstats.refresh", Some(1), &[])?;
    let dropped = only_row(found, "refresh")?.get::<TimestampWithTimeZone>(1)?;
    dropped.map_or(Ok(EARLIEST), micros)
}

/// Returns the spans in which rows of increments may cross edges of rollups.
fn coarse(client: &SpiClient<'_>, window: &Window) -> Result<Vec<Coarse>, Error> {
    let spans = spans(client, "jobstats.coarse", "s.width", window)?;
    Ok(spans
        .into_iter()
        .map(|(span, width)| Coarse { span, width })
        .collect())
}

/// Returns the spans of a table that reach into a window, or into a bucket of it, each with an interval in
/// microseconds.
fn spans(
    client: &SpiClient<'_>,
    table: &str,
    interval: &str,
    window: &Window,
) -> Result<Vec<(Span, Micros)>, Error> {
    let found = client.select(
        &format!(
            "SELECT s.span_from, s.span_to, (extract(epoch FROM {interval}) * 1000000)::bigint FROM {table} s \
             WHERE s.span_to > $1 AND s.span_from < $2"
        ),
        None,
        &[
            timestamptz(window.since().saturating_sub(DAY))?.into(),
            timestamptz(window.until().saturating_add(DAY))?.into(),
        ],
    )?;
    let mut spans = Vec::with_capacity(found.len());
    for row in found {
        if let (Some(from), Some(to)) = (row.get::<TimestampWithTimeZone>(1)?, row.get(2)?) {
            let span = (micros(from)?, micros(to)?);
            spans.push((span, row.get(3)?.unwrap_or_default()));
        }
    }
    Ok(spans)
}
