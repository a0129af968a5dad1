//! Chooses the sources of a window: the coarsest rollups that give the same answer, and `increments` for the rest.

use jobstats_core::increment::{Coarse, reach};
use jobstats_core::instant::{DAY, Micros, Span};
use jobstats_core::window;

use crate::query::state::{State, Stored};
use crate::query::window::Window;
use crate::store::rollup::{ALL, Owner, ROLLUPS, Rollup};

/// The sources of a window.
pub struct Sources {
    /// The relations that are read, each with the parts of the window that it answers for.
    pub parts: Vec<Part>,
    /// All parts of the window that are read, from any source.
    pub read: Vec<Span>,
    /// Set if a part of the window is too old for any source.
    pub has_lost: bool,
}

/// A relation with rows of usage.
#[derive(Debug, Clone, Copy)]
pub struct Relation {
    /// The rollup; `None` for increments.
    pub rollup: Option<&'static Rollup>,
    /// The owner by which it has sums.
    pub owner: Option<Owner>,
    /// Set if it has what whole targets did, and not what their entries did.
    of_wholes: bool,
}

impl Relation {
    /// The increments of entries.
    const INCREMENTS: Self = Self {
        rollup: None,
        owner: None,
        of_wholes: false,
    };

    fn of(rollup: &'static Rollup) -> Self {
        Self {
            rollup: Some(rollup),
            ..Self::INCREMENTS
        }
    }

    /// Returns its name.
    pub fn name(&self) -> String {
        match (self.rollup, self.owner) {
            (None, _) if self.of_wholes => "target_increments".to_owned(),
            (None, _) => "increments".to_owned(),
            (Some(rollup), Some(owner)) => rollup.owned(owner),
            (Some(rollup), None) if self.of_wholes => rollup.wholes(),
            (Some(rollup), None) => rollup.relation(),
        }
    }

    /// Returns the name of the view that has this rollup and all others of its kind.
    pub fn of_all_levels(&self) -> String {
        let all = Self {
            rollup: Some(&ALL),
            ..*self
        };
        all.name()
    }

    /// Returns the width of its buckets, if it has any.
    pub fn width(&self) -> Option<Micros> {
        self.rollup.map(|it| it.micros)
    }
}

/// A relation, and the parts of a window that it answers for.
#[derive(Clone)]
pub struct Part {
    pub relation: Relation,
    pub spans: Vec<Span>,
    ends: Ends,
    coarse: Vec<Coarse>,
}

/// The rows that lie inside of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    All,
    /// All but those that cross an edge.
    Most,
    Unknown,
}

/// The way in which rows lie at the ends of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Whole buckets lie inside.
    Buckets,
    /// Rows may reach beyond both ends.
    Divided,
    /// Rows may begin before the start, and none reaches beyond the end, where an observation ends.
    Observation,
}

impl Part {
    /// Returns all buckets of the narrowest rollup in a span.
    pub fn of_finest(span: Span) -> Self {
        Self {
            relation: Relation::of(&ROLLUPS[0]),
            spans: vec![span],
            ends: Ends::Buckets,
            coarse: Vec::new(),
        }
    }

    /// Returns the increments of observations that end where spans do.
    pub fn of_observations(spans: Vec<Span>) -> Self {
        Self {
            relation: Relation::INCREMENTS,
            // Each is read once.
            spans: window::joined(spans),
            ends: Ends::Observation,
            coarse: Vec::new(),
        }
    }

    /// Returns the bounds by which the rows of a span are found: the start and the end, and the latest end of a row that reaches beyond.
    pub fn bounds(&self, (from, to): Span) -> [Micros; 3] {
        match (self.relation.width(), self.ends) {
            (Some(width), Ends::Divided) => [from - width + 1, to, to],
            (None, Ends::Divided) => [from, to, reach(to, &self.coarse)],
            _ => [from, to, to],
        }
    }

    /// Returns which of its rows lie inside of one of so many steps.
    pub fn inside(&self, steps: usize) -> Inside {
        match (self.relation.rollup, self.ends) {
            (Some(_), Ends::Buckets) => Inside::All,
            (None, Ends::Divided) if steps == 1 => Inside::Most,
            _ => Inside::Unknown,
        }
    }
}

impl Sources {
    /// Chooses the sources of a question that rollups can answer, or that their sums by an owner can answer.
    pub fn choose(state: &State, window: &Window, owner: Option<Owner>) -> Self {
        let coarse = coarse(state, window);
        let states = states(state, window, owner, &coarse);
        Self::divide(state, window, Relation::INCREMENTS, states, coarse)
    }

    /// Returns the sources of a question that only `increments` can answer.
    pub fn increments(state: &State, window: &Window) -> Self {
        let coarse = coarse(state, window);
        Self::divide(state, window, Relation::INCREMENTS, Vec::new(), coarse)
    }

    /// Chooses the sources of what whole targets did. Their sums are up to date at any moment.
    pub fn of_wholes(state: &State, window: &Window) -> Self {
        let coarse = coarse(state, window);
        let increments = Relation {
            of_wholes: true,
            ..Relation::INCREMENTS
        };
        let rollup = |it: &Stored| {
            let relation = Relation {
                rollup: Some(it.rollup),
                ..increments
            };
            let coverage = window::Coverage {
                width: it.rollup.micros,
                since: it.dropped,
                until: window.until().saturating_add(DAY),
                stale: crossed(&coarse, it.rollup.micros).collect(),
            };
            (relation, coverage)
        };
        let states = state.rollups.iter().map(rollup).collect();
        Self::divide(state, window, increments, states, coarse)
    }

    fn divide(
        state: &State,
        window: &Window,
        increments: Relation,
        states: Vec<(Relation, window::Coverage)>,
        coarse: Vec<Coarse>,
    ) -> Self {
        let (relations, states): (Vec<_>, Vec<_>) = states.into_iter().unzip();
        let division = window::divide(&window.edges, &states, state.kept_since);
        let part = |relation: Relation, spans: Vec<Span>, ends| Part {
            relation,
            spans,
            ends,
            coarse: coarse.clone(),
        };
        let whole = relations.iter().zip(division.whole);
        let whole = whole.map(|(it, spans)| part(*it, spans, Ends::Buckets));
        let divided = relations.iter().zip(division.parts);
        let divided = divided.map(|(it, spans)| part(*it, spans, Ends::Divided));
        let rest = part(increments, division.rest, Ends::Divided);
        let mut parts: Vec<Part> = whole.chain(divided).chain([rest]).collect();
        parts.retain(|it| !it.spans.is_empty());
        Self {
            read: parts.iter().flat_map(|it| it.spans.clone()).collect(),
            parts,
            has_lost: !division.lost.is_empty(),
        }
    }

    /// Returns the owner by which sums are read, if any are.
    pub fn owner(&self) -> Option<Owner> {
        self.parts.iter().find_map(|it| it.relation.owner)
    }

    /// Returns whether parts of buckets are read.
    pub fn divides_buckets(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|it| it.ends == Ends::Divided && it.relation.rollup.is_some())
    }
}

/// Returns the rollups, coarsest first, each with the spans in which it can be relied on.
fn states(
    state: &State,
    window: &Window,
    owner: Option<Owner>,
    coarse: &[Coarse],
) -> Vec<(Relation, window::Coverage)> {
    let dirty: Vec<Span> = state
        .dirty
        .iter()
        .copied()
        .filter(|it| is_near(*it, window))
        .collect();
    let days = state
        .changed_days
        .iter()
        .map(|it| (*it, it.saturating_add(DAY)));
    let of_others = days.filter(|it| owner.is_some() && is_near(*it, window));
    let of_others: Vec<Span> = of_others.collect();
    let mut states = Vec::new();
    for it in &state.rollups {
        let mut stale = dirty.clone();
        stale.extend(crossed(coarse, it.rollup.micros));
        let of_entries = window::Coverage {
            width: it.rollup.micros,
            since: it.dropped,
            until: it.refreshed,
            stale,
        };
        let mut of_users = of_entries.clone();
        of_users.until = of_users.until.min(it.users_refreshed);
        of_users.stale.extend(&of_others);
        let is_behind = of_users.until < of_entries.until || !of_others.is_empty();
        let of = |owner| Relation {
            owner,
            ..Relation::of(it.rollup)
        };
        let owned = owner.filter(|owner| it.rollup.owners().any(|it| it == *owner));
        if owned.is_some() {
            states.push((of(owned), of_users));
        }
        if owned.is_none() || is_behind {
            states.push((of(None), of_entries));
        }
    }
    states
}

/// Returns the spans in which rows of increments may cross edges of a rollup of this width.
fn crossed(coarse: &[Coarse], width: Micros) -> impl Iterator<Item = Span> {
    let crossed = coarse.iter().filter(move |coarse| coarse.width > width);
    crossed.map(|coarse| coarse.span)
}

/// Returns the spans in which rows of increments may cross edges of rollups. Some reach into the window, and others lie near it.
pub fn coarse(state: &State, window: &Window) -> Vec<Coarse> {
    let coarse = state.coarse.iter().copied();
    coarse.filter(|it| is_near(it.span, window)).collect()
}

/// Returns whether a span reaches into a window, or into a bucket of it.
fn is_near(span: Span, window: &Window) -> bool {
    span.1 > window.since().saturating_sub(DAY) && span.0 < window.until().saturating_add(DAY)
}
