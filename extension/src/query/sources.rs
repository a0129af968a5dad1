//! Chooses the sources of a window: the coarsest rollups that give the same answer, and `increments` for the rest.

use jobstats_core::increment::{Coarse, reach};
use jobstats_core::instant::{DAY, Micros, Span};
use jobstats_core::operation::OPERATIONS;
use jobstats_core::window;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::{EARLIEST, timestamptz, timestamptzs};
use crate::query::window::Window;
use crate::store::rollup::{Owner, ROLLUPS, Rollup};

/// The spans of a window by their source.
pub struct Sources {
    /// The spans of whole buckets of each rollup.
    whole: Rollups,
    /// The spans that are read from `increments`.
    pub rest: Rest,
    /// The spans of each rollup that may be parts of buckets.
    parts: Rollups,
    /// All spans that are read, from any source.
    pub read: Spans,
    /// Set if a part of the window is too old for any source.
    pub has_lost: bool,
    /// The time since which increments and observations are kept.
    pub kept_since: Micros,
    /// The spans in which rows of increments may cross edges of rollups.
    coarse: Vec<Coarse>,
    /// Set if what whole targets did is read, and not what their entries did.
    pub of_wholes: bool,
}

/// The spans of the rollups that are read, coarsest first.
type Rollups = Vec<(RollupTable, Spans)>;

/// The table of a rollup by entry, or of its sums by owner, or of those of whole targets.
#[derive(Debug, Clone, Copy)]
pub struct RollupTable {
    pub rollup: &'static Rollup,
    pub owner: Option<Owner>,
    of_wholes: bool,
}

impl RollupTable {
    /// Returns the name of the table or continuous aggregate.
    pub fn relation(&self) -> String {
        match self.owner {
            Some(owner) => self.rollup.owned(owner),
            None if self.of_wholes => self.rollup.wholes(),
            None => self.rollup.relation(),
        }
    }
}

/// Spans of one source, as values of PostgreSQL.
pub struct Spans {
    /// The starts of the spans.
    pub lower: Vec<TimestampWithTimeZone>,
    /// The ends of the spans.
    pub upper: Vec<TimestampWithTimeZone>,
    /// The length of all together.
    length: Micros,
    /// Set if they are of whole buckets, each of which is a step: no other source tells anything of these steps.
    are_steps: bool,
}

/// Spans of `increments`.
pub struct Rest {
    /// The spans.
    pub spans: Spans,
    /// The latest ends of rows that cross the ends of the spans.
    pub reaches: Vec<TimestampWithTimeZone>,
    /// The numbers of the steps, counted from 1, in which the spans lie, if each of them lies inside of one step.
    pub steps: Option<Vec<i32>>,
}

/// The number of spans inside of one step that are searched one by one. So many searches cost less than to compute the
/// steps of each row.
const FEW_PIECES: usize = 100;

impl Rest {
    fn new(rest: &[Span], edges: &[Micros], coarse: &[Coarse]) -> Result<Self, Error> {
        let (numbers, pieces): (Vec<usize>, Vec<Span>) =
            window::pieces(rest, edges).take(FEW_PIECES + 1).unzip();
        let are_few = pieces.len() <= FEW_PIECES;
        let spans = if are_few { &pieces } else { rest };
        let reaches: Vec<Micros> = spans.iter().map(|&(_, to)| reach(to, coarse)).collect();
        // Few pieces may have large numbers, but never as many as there are integers.
        let numbers = numbers
            .into_iter()
            .map(|it| i32::try_from(it).unwrap_or(i32::MAX));
        Ok(Self {
            spans: Spans::new(spans)?,
            reaches: timestamptzs(&reaches)?,
            steps: are_few.then(|| numbers.collect()),
        })
    }
}

/// The longest time over which a bigint holds any sum of the operations on a target, all of them together at 2^40 a second (rule 14).
const FITS_BIGINT: Micros = 2 * DAY;

/// Returns whether a bigint holds any sum over such a time.
pub fn fits_bigint(length: Micros) -> bool {
    length <= FITS_BIGINT
}

const _: () = assert!(
    ((OPERATIONS.len() as i64) << 40)
        .checked_mul(FITS_BIGINT / 1_000_000)
        .is_some()
);

impl Spans {
    fn new(spans: &[Span]) -> Result<Self, Error> {
        let length: Micros = spans.iter().map(|(from, to)| to - from).sum();
        Ok(Self {
            lower: timestamptzs(spans.iter().map(|(from, _)| from))?,
            upper: timestamptzs(spans.iter().map(|(_, to)| to))?,
            length,
            are_steps: false,
        })
    }

    /// Returns whether a bigint holds any sum over the spans.
    pub fn are_short(&self) -> bool {
        fits_bigint(self.length)
    }
}

impl Sources {
    /// Chooses the sources of a question that rollups can answer, or that their sums by an owner can answer.
    pub fn choose(
        client: &SpiClient<'_>,
        window: &Window,
        owner: Option<Owner>,
    ) -> Result<Self, Error> {
        let coarse = coarse(client, window)?;
        let states = states(client, window, owner, &coarse)?;
        Self::divide(client, window, states, coarse)
    }

    /// Returns the sources of a question that only `increments` can answer.
    pub fn increments(client: &SpiClient<'_>, window: &Window) -> Result<Self, Error> {
        let coarse = coarse(client, window)?;
        Self::divide(client, window, Vec::new(), coarse)
    }

    /// Chooses the sources of what whole targets did. Their sums are up to date at any moment.
    pub fn of_wholes(client: &SpiClient<'_>, window: &Window) -> Result<Self, Error> {
        let coarse = coarse(client, window)?;
        let state = |state: Stored| {
            let table = RollupTable {
                rollup: state.rollup,
                owner: None,
                of_wholes: true,
            };
            let coverage = window::Coverage {
                width: state.width,
                since: state.dropped,
                until: window.until().saturating_add(DAY),
                stale: crossed(&coarse, state.width).collect(),
            };
            (table, coverage)
        };
        let states = stored(client)?.into_iter().map(state).collect();
        let sources = Self::divide(client, window, states, coarse)?;
        Ok(Self {
            of_wholes: true,
            ..sources
        })
    }

    /// Returns the name of the table of increments.
    pub fn increments_table(&self) -> &'static str {
        match self.of_wholes {
            true => "target_increments",
            false => "increments",
        }
    }

    fn divide(
        client: &SpiClient<'_>,
        window: &Window,
        states: Vec<(RollupTable, window::Coverage)>,
        coarse: Vec<Coarse>,
    ) -> Result<Self, Error> {
        let kept_since = kept_since(client)?;
        let (levels, states): (Vec<_>, Vec<_>) = states.into_iter().unzip();
        let division = window::divide(&window.edges, &states, kept_since);
        let rollups = division.whole.iter().chain(&division.parts).flatten();
        let read: Vec<Span> = rollups.chain(&division.rest).copied().collect();
        let of = |spans: &[Vec<Span>]| -> Result<Rollups, Error> {
            let of_levels = levels.iter().zip(&states).zip(spans);
            let of_levels = of_levels.filter(|(_, spans)| !spans.is_empty());
            let of_levels = of_levels.map(|((table, level), spans)| {
                let are_steps = window::are_steps(spans, level.width, &window.edges);
                Ok((
                    *table,
                    Spans {
                        are_steps,
                        ..Spans::new(spans)?
                    },
                ))
            });
            of_levels.collect()
        };
        Ok(Self {
            whole: of(&division.whole)?,
            rest: Rest::new(&division.rest, &window.edges, &coarse)?,
            parts: of(&division.parts)?,
            read: Spans::new(&read)?,
            has_lost: !division.lost.is_empty(),
            kept_since,
            coarse,
            of_wholes: false,
        })
    }

    /// Returns whether the whole window is read from increments.
    pub fn is_plain(&self) -> bool {
        self.whole.is_empty() && self.parts.is_empty() && !self.has_lost
    }

    /// Returns the owner by which sums are read, if any are.
    pub fn owner(&self) -> Option<Owner> {
        self.whole()
            .chain(self.parts())
            .find_map(|(it, _)| it.owner)
    }

    /// Returns the rollups of which whole buckets are read, with their spans.
    pub fn whole(&self) -> impl Iterator<Item = (RollupTable, &Spans)> {
        self.whole.iter().map(|(rollup, spans)| (*rollup, spans))
    }

    /// Returns the rollups whose buckets are steps, with their spans: nothing else is read of these steps. If sums by owner are
    /// read, these rollups are such sums.
    pub fn steps(&self) -> impl Iterator<Item = (RollupTable, &Spans)> {
        self.whole().filter(|it| self.are_steps(it))
    }

    /// Returns the rollups of which further whole buckets are read, with their spans.
    pub fn inside_of_steps(&self) -> impl Iterator<Item = (RollupTable, &Spans)> {
        self.whole().filter(|it| !self.are_steps(it))
    }

    fn are_steps(&self, (table, spans): &(RollupTable, &Spans)) -> bool {
        spans.are_steps && (table.owner.is_some() || self.owner().is_none())
    }

    /// Returns whether a bigint holds any sum over steps that are no buckets.
    pub fn has_short_rest(&self) -> bool {
        let others = self.inside_of_steps().chain(self.parts());
        let others: Micros = others.map(|(_, spans)| spans.length).sum();
        fits_bigint(others + self.rest.spans.length)
    }

    /// Returns the rollups of which parts of buckets may be read, with their spans.
    pub fn parts(&self) -> impl Iterator<Item = (RollupTable, &Spans)> {
        self.parts.iter().map(|(rollup, spans)| (*rollup, spans))
    }

    /// Returns whether increments are read. They are also read, without finding a row, if there is no other source.
    pub fn has_rest(&self) -> bool {
        !self.rest.spans.lower.is_empty() || self.whole.is_empty() && self.parts.is_empty()
    }

    /// Returns the latest end of rows of increments that cross an instant.
    pub fn reach(&self, instant: Micros) -> Micros {
        reach(instant, &self.coarse)
    }
}

/// Returns the rollups, coarsest first, each with the spans in which it can be relied on.
fn states(
    client: &SpiClient<'_>,
    window: &Window,
    owner: Option<Owner>,
    coarse: &[Coarse],
) -> Result<Vec<(RollupTable, window::Coverage)>, Error> {
    let dirty = spans(client, DIRTY, "interval '0'", window)?;
    let of_others = match owner {
        Some(_) => spans(client, DIRTY_USERS, "interval '0'", window)?,
        None => Vec::new(),
    };
    let only =
        |spans: &[(Span, Micros)]| -> Vec<Span> { spans.iter().map(|(span, _)| *span).collect() };
    let mut states = Vec::new();
    for state in stored(client)? {
        let (level, width) = (state.rollup, state.width);
        let mut stale = only(&dirty);
        stale.extend(crossed(coarse, width));
        let of_entries = window::Coverage {
            width,
            since: state.dropped,
            until: state.refreshed,
            stale,
        };
        let mut of_users = of_entries.clone();
        of_users.until = of_users.until.min(state.users_refreshed);
        of_users.stale.extend(only(&of_others));
        let is_behind = of_users.until < of_entries.until || !of_others.is_empty();
        let of = |owner| RollupTable {
            rollup: level,
            owner,
            of_wholes: false,
        };
        let owned = owner.filter(|owner| level.owners().any(|it| it == *owner));
        if owned.is_some() {
            states.push((of(owned), of_users));
        }
        if owned.is_none() || is_behind {
            states.push((of(None), of_entries));
        }
    }
    Ok(states)
}

/// A row of `jobstats.rollups`.
struct Stored {
    rollup: &'static Rollup,
    width: Micros,
    /// The time since which it is kept, and those up to which it and its sums by owner are up to date.
    dropped: Micros,
    refreshed: Micros,
    users_refreshed: Micros,
}

/// Returns the rollups, coarsest first. One whose row is lost is not read, as nothing is known of it.
fn stored(client: &SpiClient<'_>) -> Result<Vec<Stored>, Error> {
    let found = client.query(
        "SELECT rollup.level, (extract(epoch FROM rollup.width) * 1000000)::bigint AS width, rollup.dropped, rollup.refreshed, \
         rollup.users_refreshed \
         FROM jobstats.rollups rollup ORDER BY rollup.width DESC",
        &[],
    )?;
    let mut stored = Vec::new();
    for row in found {
        let level: String = row.get("level")?;
        if let Some(rollup) = ROLLUPS.iter().find(|it| it.name == level) {
            stored.push(Stored {
                rollup,
                width: row.get("width")?,
                dropped: row.time("dropped")?,
                refreshed: row.time("refreshed")?,
                users_refreshed: row.time_opt("users_refreshed")?.unwrap_or(EARLIEST),
            });
        }
    }
    Ok(stored)
}

/// Returns the spans in which rows of increments may cross edges of a rollup of this width.
fn crossed(coarse: &[Coarse], width: Micros) -> impl Iterator<Item = Span> {
    let crossed = coarse.iter().filter(move |coarse| coarse.width > width);
    crossed.map(|coarse| coarse.span)
}

/// Returns the time since which increments and observations are kept.
fn kept_since(client: &SpiClient<'_>) -> Result<Micros, Error> {
    let statement = "SELECT refresh.dropped FROM jobstats.refresh";
    let refresh = client.query_only(statement, &[], "refresh")?;
    Ok(refresh.time_opt("dropped")?.unwrap_or(EARLIEST))
}

/// Returns the spans in which rows of increments may cross edges of rollups, because a target was not read for long: usage is known
/// by hours or days only. Some reach into the window, and others lie near it.
pub fn coarse(client: &SpiClient<'_>, window: &Window) -> Result<Vec<Coarse>, Error> {
    let spans = spans(client, "jobstats.coarse", "span.width", window)?;
    Ok(spans
        .into_iter()
        .map(|(span, width)| Coarse { span, width })
        .collect())
}

/// The spans of `jobstats.dirty` in SQL, merged: a day of late text makes thousands of rows.
const DIRTY: &str = "(SELECT lower(merged.span) AS span_from, upper(merged.span) AS span_to FROM ( \
     SELECT unnest(range_agg(tstzrange(dirty.span_from, dirty.span_to))) AS span FROM jobstats.dirty) merged)";

/// The days of `jobstats.dirty_users` as spans, on which sums by owner cannot be relied on.
const DIRTY_USERS: &str = "(SELECT DISTINCT dirty.day AS span_from, dirty.day + interval '24 hours' AS span_to \
     FROM jobstats.dirty_users dirty)";

/// Returns the spans of a table that reach into a window, or into a bucket of it, each with an interval in
/// microseconds.
fn spans(
    client: &SpiClient<'_>,
    table: &str,
    interval: &str,
    window: &Window,
) -> Result<Vec<(Span, Micros)>, Error> {
    let statement = format!(
        "SELECT span.span_from, span.span_to, (extract(epoch FROM {interval}) * 1000000)::bigint AS micros \
         FROM {table} span WHERE span.span_to > $1 AND span.span_from < $2"
    );
    let found = client.query(
        &statement,
        &[
            timestamptz(window.since().saturating_sub(DAY))?.into(),
            timestamptz(window.until().saturating_add(DAY))?.into(),
        ],
    )?;
    found
        .map(|row| {
            let span = (row.time("span_from")?, row.time("span_to")?);
            Ok((span, row.get("micros")?))
        })
        .collect()
}
