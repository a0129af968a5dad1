//! Chooses the sources of a window: the coarsest rollups that give the same answer, and `increments` for the rest.

use jobstats_core::base::instant::{DAY, Micros, Span};
use jobstats_core::rules::increment::{Coarse, reach};
use jobstats_core::usage::window;

use crate::query::state::{RollupState, State};
use crate::query::window::Window;
use crate::store::rollup::{ALL, Owner, ROLLUPS, Rollup};

/// The sources of a window.
pub struct Sources {
    /// The relations that are read, each with the parts of the window that it answers for.
    pub parts: Vec<Part>,
    /// Set if a part of the window is too old for any source.
    pub has_lost: bool,
}

/// A relation with rows of usage.
#[derive(Debug, Clone, Copy)]
pub struct Relation {
    /// The rollup; `None` for increments.
    pub rollup: Option<&'static Rollup>,
    /// The owner of its sums.
    pub owner: Option<Owner>,
    /// Set if it has the counters of targets, and not the work of their entries.
    of_target_counters: bool,
}

impl Relation {
    /// The increments of entries.
    const INCREMENTS: Self = Self {
        rollup: None,
        owner: None,
        of_target_counters: false,
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
            (None, _) if self.of_target_counters => "target_increments".to_owned(),
            (None, _) => "increments".to_owned(),
            (Some(rollup), Some(owner)) => rollup.owned(owner),
            (Some(rollup), None) if self.of_target_counters => rollup.of_targets(),
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
    /// Set if rows may reach beyond both ends of spans. Otherwise whole buckets lie inside, or increments end by the end, at which an observation
    /// ends.
    divided: bool,
    coarse: Vec<Coarse>,
}

impl Part {
    /// Returns all buckets of the narrowest rollup in a span.
    pub fn of_finest(span: Span) -> Self {
        Self {
            relation: Relation::of(&ROLLUPS[0]),
            spans: vec![span],
            divided: false,
            coarse: Vec::new(),
        }
    }

    /// Returns the increments of observations that end where spans do.
    pub fn of_observations(spans: Vec<Span>) -> Self {
        Self {
            relation: Relation::INCREMENTS,
            // Each is read once.
            spans: window::joined(spans),
            divided: false,
            coarse: Vec::new(),
        }
    }

    /// Returns the bounds that find the rows of a span: the start and the end, and the latest end of a row that reaches beyond.
    pub fn bounds(&self, (from, to): Span) -> [Micros; 3] {
        match self.relation.width() {
            _ if !self.divided => [from, to, to],
            Some(width) => [from - width + 1, to, to],
            None => [from, to, reach(to, &self.coarse)],
        }
    }

    /// Returns whether its rows lie inside of one of so many steps: of increments most, except for rows that cross an edge.
    pub fn lies_inside(&self, steps: usize) -> bool {
        match self.relation.rollup {
            Some(_) => !self.divided,
            None => self.divided && steps == 1,
        }
    }
}

impl Sources {
    /// Chooses the sources of a question that rollups can answer, or that their sums by an owner can answer.
    pub fn choose(state: &State, window: &Window, owner: Option<Owner>) -> Self {
        let near = |it: &Span| is_near(*it, window);
        let dirty: Vec<Span> = state.dirty.iter().copied().filter(near).collect();
        let days = state.changed_days.iter();
        let days = days.map(|it| (*it, it.saturating_add(DAY))).filter(near);
        let of_others: Vec<Span> = days.filter(|_| owner.is_some()).collect();
        let mut rollups = Vec::new();
        for it in &state.rollups {
            let of = |owner| Relation {
                owner,
                ..Relation::of(it.rollup)
            };
            let owned = owner.filter(|owner| it.rollup.owners().any(|it| it == *owner));
            let until = it.refreshed.min(it.users_refreshed);
            let is_behind = until < it.refreshed || !of_others.is_empty();
            if owned.is_some() {
                let stale = [&dirty[..], &of_others].concat();
                rollups.push((of(owned), coverage(it, until, stale)));
            }
            if owned.is_none() || is_behind {
                rollups.push((of(None), coverage(it, it.refreshed, dirty.clone())));
            }
        }
        Self::divide(state, window, Relation::INCREMENTS, rollups)
    }

    /// Returns the sources of a question that only `increments` can answer.
    pub fn increments(state: &State, window: &Window) -> Self {
        Self::divide(state, window, Relation::INCREMENTS, Vec::new())
    }

    /// Chooses the sources of target counters. Their sums are always up to date.
    pub fn of_target_counters(state: &State, window: &Window) -> Self {
        let of = |rollup| Relation {
            rollup,
            of_target_counters: true,
            ..Relation::INCREMENTS
        };
        let until = window.until().saturating_add(DAY);
        let rollups = state.rollups.iter();
        let rollups = rollups.map(|it| (of(Some(it.rollup)), coverage(it, until, Vec::new())));
        Self::divide(state, window, of(None), rollups.collect())
    }

    /// Divides a window among rollups, coarsest first, each with the times at which it is up to date, and increments.
    fn divide(
        state: &State,
        window: &Window,
        increments: Relation,
        rollups: Vec<(Relation, window::Coverage)>,
    ) -> Self {
        let coarse = coarse(state, window);
        let (relations, mut rollups): (Vec<_>, Vec<_>) = rollups.into_iter().unzip();
        for it in &mut rollups {
            // Rows of increments may cross its edges there.
            let crossed = coarse.iter().filter(|coarse| coarse.width > it.width);
            it.stale.extend(crossed.map(|coarse| coarse.span));
        }
        let division = window::divide(&window.edges, &rollups, state.kept_since);
        let part = |relation: Relation, spans: Vec<Span>, divided| Part {
            relation,
            spans,
            divided,
            coarse: coarse.clone(),
        };
        let whole = relations.iter().zip(division.whole);
        let whole = whole.map(|(it, spans)| part(*it, spans, false));
        let divided = relations.iter().zip(division.parts);
        let divided = divided.map(|(it, spans)| part(*it, spans, true));
        let rest = part(increments, division.rest, true);
        let mut parts: Vec<Part> = whole.chain(divided).chain([rest]).collect();
        parts.retain(|it| !it.spans.is_empty());
        Self {
            parts,
            has_lost: !division.lost.is_empty(),
        }
    }

    /// Returns the parts of the window that are read, from any source, if others are too old.
    pub fn kept(&self) -> Option<Vec<Span>> {
        let spans = || self.parts.iter().flat_map(|it| it.spans.iter().copied());
        self.has_lost.then(|| spans().collect())
    }

    /// Returns the owner of the sums that are read, if any.
    pub fn owner(&self) -> Option<Owner> {
        self.parts.iter().find_map(|it| it.relation.owner)
    }

    /// Returns whether parts of buckets are read.
    pub fn divides_buckets(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|it| it.divided && it.relation.rollup.is_some())
    }
}

/// Returns the times that a rollup, or its sums, covers.
fn coverage(it: &RollupState, until: Micros, stale: Vec<Span>) -> window::Coverage {
    window::Coverage {
        width: it.rollup.micros,
        since: it.dropped,
        until,
        stale,
    }
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
