//! Where the rows of a window are read: from the coarsest rollup that gives the same answer, and what no rollup can stand
//! for from `increments`.

use jobstats_core::increment::Micros;
use jobstats_core::level::{self, Span};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::error::Error;
use crate::reading::window::Window;
use crate::rollup::{LEVELS, Level};
use crate::time::{EARLIEST, micros, timestamptz};

/// Spans of a window, by what is read for them.
pub struct Sources {
    /// Of each rollup, coarsest first.
    rollups: Vec<(&'static Level, Vec<Span>)>,
    /// Of `increments`.
    rest: Vec<Span>,
    /// Of nothing, because what could tell is not kept so long.
    lost: Vec<Span>,
    /// Since when increments and observations are kept.
    kept_since: Micros,
}

impl Sources {
    /// For rows that are asked no more than rollups know.
    pub fn choose(client: &SpiClient<'_>, window: &Window) -> Result<Self, Error> {
        let kept_since = kept_since(client)?;
        let longest = window.edges.windows(2).map(|step| step[1] - step[0]).max();
        let (levels, states): (Vec<_>, Vec<_>) = states(client, window)?
            .into_iter()
            .filter(|(_, state)| longest.is_some_and(|step| step >= state.width))
            .unzip();
        let division = level::divide(&window.edges, &states, kept_since);
        let rollups = levels.into_iter().zip(division.levels);
        Ok(Self {
            rollups: rollups.filter(|(_, spans)| !spans.is_empty()).collect(),
            rest: division.rest,
            lost: division.lost,
            kept_since,
        })
    }

    /// For rows that are asked what only `increments` knows.
    pub fn increments(client: &SpiClient<'_>, window: &Window) -> Result<Self, Error> {
        let kept_since = kept_since(client)?;
        let division = level::divide(&window.edges, &[], kept_since);
        Ok(Self {
            rollups: Vec::new(),
            rest: division.rest,
            lost: division.lost,
            kept_since,
        })
    }

    /// Whether the whole window is read from increments.
    pub fn is_plain(&self) -> bool {
        self.rollups.is_empty() && self.lost.is_empty()
    }

    /// Since when increments are kept, if that is too late for part of the window.
    pub fn begins_late(&self) -> Option<Micros> {
        (!self.lost.is_empty()).then_some(self.kept_since)
    }

    /// The rollups that are read.
    pub fn rollups(&self) -> impl Iterator<Item = &'static Level> {
        self.rollups.iter().map(|(level, _)| *level)
    }

    /// Whether increments are read, be it in vain.
    pub fn has_rest(&self) -> bool {
        !self.rest.is_empty() || self.rollups.is_empty()
    }

    /// What is read, from wherever.
    fn read(&self) -> Vec<Span> {
        let rollups = self.rollups.iter().flat_map(|(_, spans)| spans);
        rollups.chain(&self.rest).copied().collect()
    }

    /// Parameters of a statement: since when observations are kept; starts and ends of what is read, of the spans of
    /// increments, then of each of [`LEVELS`].
    pub fn parameters(&self) -> Result<Vec<DatumWithOid<'static>>, Error> {
        let of_level = |level: &Level| {
            let mut rollups = self.rollups.iter();
            rollups
                .find(|(it, _)| it.name == level.name)
                .map(|it| &it.1)
        };
        let none = Vec::new();
        let read = self.read();
        let mut parameters = vec![timestamptz(self.kept_since)?.into()];
        for spans in [Some(&read), Some(&self.rest)]
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
                "SELECT (extract(epoch FROM width) * 1000000)::bigint, dropped, refreshed FROM jobstats.rollups \
                 WHERE level = $1",
                Some(1),
                &[level.name.into()],
            )?
            .first();
        // A store that an older version made has none.
        let (Some(width), Some(dropped), Some(refreshed)) = (
            state.get::<i64>(1)?,
            state.get::<TimestampWithTimeZone>(2)?,
            state.get::<TimestampWithTimeZone>(3)?,
        ) else {
            continue;
        };
        let mut stale = dirty.clone();
        if level.is_finest() {
            stale.extend(spans(client, "jobstats.coarse", window)?);
        }
        let state = level::Level {
            width,
            since: micros(dropped)?,
            until: micros(refreshed)?,
            stale,
        };
        states.push((level, state));
    }
    Ok(states)
}

/// Since when increments and observations are kept.
fn kept_since(client: &SpiClient<'_>) -> Result<Micros, Error> {
    let dropped = client
        .select("SELECT dropped FROM jobstats.refresh", Some(1), &[])?
        .first()
        .get_one::<TimestampWithTimeZone>()?;
    dropped.map_or(Ok(EARLIEST), micros)
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
