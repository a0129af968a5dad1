//! Where the rows of a window are read: from the coarsest rollup that gives the same answer, and what no rollup can stand
//! for from `increments`.

use jobstats_core::increment::Micros;
use jobstats_core::level::{self, Span};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::error::Error;
use crate::reading::window::Window;
use crate::rollup::{LEVELS, Level};
use crate::time::{micros, timestamptz};

/// Spans of a window, by what is read for them.
pub struct Sources {
    /// Of each rollup, coarsest first.
    rollups: Vec<(&'static Level, Vec<Span>)>,
    /// Of `increments`.
    rest: Vec<Span>,
}

impl Sources {
    /// For rows that are asked no more than rollups know.
    pub fn choose(client: &SpiClient<'_>, window: &Window) -> Result<Self, Error> {
        let longest = window.edges.windows(2).map(|step| step[1] - step[0]).max();
        let (levels, states): (Vec<_>, Vec<_>) = states(client, window)?
            .into_iter()
            .filter(|(_, state)| longest.is_some_and(|step| step >= state.width))
            .unzip();
        let (spans, rest) = level::divide(&window.edges, &states);
        let rollups = levels.into_iter().zip(spans);
        Ok(Self {
            rollups: rollups.filter(|(_, spans)| !spans.is_empty()).collect(),
            rest,
        })
    }

    /// For rows that are asked what only `increments` knows.
    pub fn increments(window: &Window) -> Self {
        Self {
            rollups: Vec::new(),
            rest: vec![(window.since(), window.until())],
        }
    }

    /// Whether no rollup is read.
    pub fn is_plain(&self) -> bool {
        self.rollups.is_empty()
    }

    /// The rollups that are read.
    pub fn rollups(&self) -> impl Iterator<Item = &'static Level> {
        self.rollups.iter().map(|(level, _)| *level)
    }

    /// Whether increments are read.
    pub fn has_rest(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Parameters of a statement: starts and ends of the spans of increments, then of each of [`LEVELS`].
    pub fn parameters(&self) -> Result<Vec<DatumWithOid<'static>>, Error> {
        let of_level = |level: &Level| {
            let mut rollups = self.rollups.iter();
            rollups
                .find(|(it, _)| it.name == level.name)
                .map(|it| &it.1)
        };
        let none = Vec::new();
        let mut parameters = Vec::new();
        for spans in [Some(&self.rest)]
            .into_iter()
            .chain(LEVELS.iter().map(of_level))
        {
            let spans = spans.unwrap_or(&none);
            for instant in [|span: &Span| span.0, |span: &Span| span.1] {
                let times = spans.iter().map(|span| timestamptz(instant(span)));
                parameters.push(times.collect::<Result<Vec<_>, _>>()?.into());
            }
        }
        Ok(parameters)
    }
}

/// The rollups, coarsest first, and how far each can be relied on.
fn states(
    client: &SpiClient<'_>,
    window: &Window,
) -> Result<Vec<(&'static Level, level::Level)>, Error> {
    let dirty = spans(client, "jobstats.dirty", window)?;
    let mut states = Vec::new();
    for level in LEVELS.iter().rev() {
        let state = client
            .select(
                "SELECT (extract(epoch FROM width) * 1000000)::bigint, refreshed FROM jobstats.rollups WHERE level = $1",
                Some(1),
                &[level.name.into()],
            )?
            .first();
        // A store that an older version made has none.
        let (Some(width), Some(refreshed)) =
            (state.get::<i64>(1)?, state.get::<TimestampWithTimeZone>(2)?)
        else {
            continue;
        };
        let mut stale = dirty.clone();
        if level.is_finest() {
            stale.extend(spans(client, "jobstats.coarse", window)?);
        }
        let state = level::Level {
            width,
            until: micros(refreshed)?,
            stale,
        };
        states.push((level, state));
    }
    Ok(states)
}

/// The spans of a table that reach into a window, or into a bucket of it.
fn spans(client: &SpiClient<'_>, table: &str, window: &Window) -> Result<Vec<Span>, Error> {
    const DAY: Micros = 86_400_000_000;
    let found = client.select(
        &format!(
            "SELECT s.span_from, s.span_to FROM {table} s WHERE s.span_to > $1 AND s.span_from < $2"
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
            spans.push((micros(from)?, micros(to)?));
        }
    }
    Ok(spans)
}
