//! The plan of an answer: the window of a question and the sources of its rows.

use std::rc::Rc;

use jobstats_core::base::instant::Micros;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::spi::Statements;
use crate::pg::time::{now, timestamptz};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::jobs::{Jobs, note_arrays};
use crate::query::names::Names;
use crate::query::notice::{NAMED, hinted, listed};
use crate::query::params::Params;
use crate::query::question::Question;
use crate::query::sources::Sources;
use crate::query::state::State;
use crate::query::window::{Window, require_bearable};
use crate::store;
use crate::store::personal::Pseudonyms;

/// The window of a question and the sources of its rows.
pub struct Plan {
    /// The window.
    pub window: Window,
    /// The sources of the rows.
    pub sources: Sources,
    /// The ways in which the answer depends on jobs.
    pub jobs: Jobs,
    /// The columns of the owner, if the answer reads sums by owner.
    pub owner_columns: Vec<&'static str>,
    /// The names that the answer is about.
    pub names: Names,
    /// The targets in scope of nodes that are left out of a front. They count as not observed.
    pub missing: Vec<i32>,
    /// The pseudonyms, for a reader without names.
    pub pseudonyms: Option<Pseudonyms>,
    /// The state of the store when the question came.
    pub state: Rc<State>,
}

impl Plan {
    /// Finds the window and the sources of a question; `None` without a window or without operations.
    pub fn find(client: &SpiClient<'_>, question: &Question) -> Result<Option<Self>, Error> {
        store::require(client)?;
        let state = Rc::new(State::read(client)?);
        let window = Window::resolve(client, &state, &question.period, &question.filters)?;
        let window = window.filter(|_| !question.measures.list.is_empty());
        let plan = window.map(|it| Self::of(client, question, it, state));
        plan.transpose()
    }

    /// Finds the sources of another question in the same window and the same state of the store.
    pub fn again(&self, client: &SpiClient<'_>, question: &Question) -> Result<Self, Error> {
        Ok(Self {
            pseudonyms: self.pseudonyms,
            ..Self::of(client, question, self.window.clone(), self.state.clone())?
        })
    }

    /// Finds the sources of a question in this window, from the state of the store.
    pub fn of(
        client: &SpiClient<'_>,
        question: &Question,
        window: Window,
        state: Rc<State>,
    ) -> Result<Self, Error> {
        require_bearable(&state, &window, &question.filters)?;
        let sources = match question.needs_increments() {
            true => Sources::increments(&state, &window),
            false => Sources::choose(&state, &window, question.owner()),
        };
        let jobs = Jobs::find(client, question, &window, &state)?;
        let owner_columns = sources.owner().map(|it| jobs.owner_columns(it, question));
        Ok(Self {
            owner_columns: owner_columns.unwrap_or_default(),
            jobs,
            names: Names::find(question, &window, &state),
            missing: match state.is_front && store::leaves_out(client)? {
                true => missing(client, &question.filters, window.since())?,
                false => Vec::new(),
            },
            window,
            sources,
            pseudonyms: None,
            state,
        })
    }

    /// Raises notices if the answer does not cover all targets up to its end, or ends well before now, and if a filter names an element of an array
    /// whose elements cannot be distinguished.
    pub fn note(&self) -> Result<(), Error> {
        self.note_behind()?;
        note_arrays(&self.jobs.arrays);
        Ok(())
    }

    fn note_behind(&self) -> Result<(), Error> {
        if let Some(last) = self.window.stalled {
            hinted(
                format!(
                    "no target in scope has been read for {}",
                    rounded(now()? - last)
                ),
                format!(
                    "The last snapshot is of {}. See jobstats.health.",
                    timestamptz(last)?
                ),
            );
            return Ok(());
        }
        note_targets_behind(&self.window.behind);
        if let Some((target, age)) = &self.window.cut {
            let (target, age) = (shown(target), rounded(*age));
            pgrx::notice!("the window ends {age} ago, at the last observation of {target}");
        }
        Ok(())
    }

    /// Raises notices if the answer would have been different when the increments were still kept.
    pub fn note_age(&self) {
        let Ok(kept_since) = timestamptz(self.state.kept_since) else {
            return;
        };
        if self.sources.divides_buckets() {
            pgrx::notice!(
                "increments are retained since {kept_since}; older data is only available per bucket of a rollup, and values inside a \
                 bucket are interpolated"
            );
        }
        if self.sources.has_lost {
            pgrx::notice!(
                "increments are retained since {kept_since}; older data that is not in rollups counts as not observed"
            );
        }
    }

    /// Returns whether entries that have usage in the window may belong to several jobs or names, so that these are known for
    /// parts of their usage only.
    pub fn divides_entries(&self) -> bool {
        self.jobs.several || self.names.several
    }
}

/// Returns the targets of nodes that are left out which would have been observed, as far as is known: they were in the day before the
/// window, or in the day before their node last answered.
fn missing(client: &SpiClient<'_>, filters: &Filters, since: Micros) -> Result<Vec<i32>, Error> {
    let params = Params::default();
    let conditions = filters.conditions(Level::Target, "target", &params);
    let since = params.bind_time("since", since);
    let statement = format!(
        "SELECT target.target_id FROM jobstats.attached node JOIN jobstats.targets target \
         ON (target.target_id - 1) / 65536 = node.node \
         WHERE node.left_out_since IS NOT NULL \
         AND target.last_observation > least({since}, node.answered) - interval '1 day'{conditions}"
    );
    let found = client.query(&statement, &params.take())?;
    found.map(|row| row.at(1)).collect()
}

/// Raises a notice that lists targets that are behind, if there are any. The first are named.
fn note_targets_behind(targets: &[(String, Micros)]) {
    let verbs = match targets.len() {
        0 => return,
        1 => "target is behind and lowers",
        _ => "targets are behind and lower",
    };
    let name = |(name, age): &(String, _)| format!("{} ({})", shown(name), rounded(*age));
    let names: Vec<String> = targets.iter().map(name).collect();
    let (number, names) = (names.len(), listed(&names, NAMED));
    pgrx::notice!("{number} {verbs} the coverage: {names}");
}

/// Returns a time span in seconds, minutes or hours, rounded down.
fn rounded(span: Micros) -> String {
    let seconds = span / 1_000_000;
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}
