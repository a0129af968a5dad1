//! Answers questions: reads rows, and gives them to core, which adds them up.

use std::cmp::Ordering;
use std::collections::HashMap;

use jobstats_core::base::instant::Span;
use jobstats_core::usage::columns::sum::Sum;
use jobstats_core::usage::dimension::{Level, ValueType};
use jobstats_core::usage::{
    Cells, Conditions, Groups, Line, MeasurePlan, Scope, Shown, Target, Untracked,
    target_counter_sums, untracked,
};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::query::engine::reading::Reading;
use crate::query::entries::few;
use crate::query::labels::Group;
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Question};
use crate::query::sources::{Part, Sources};
use crate::store::personal::Pseudonyms;

mod divided;
mod names;
mod reading;
mod scope;
mod sizes;

/// Returns the pseudonyms of names.
fn shown(pseudonyms: Pseudonyms) -> Shown {
    Box::new(
        move |dimension, value| match (dimension.value_type, value.parse()) {
            (ValueType::Number, Ok(number)) if dimension.is_user() => {
                Some(pseudonyms.of_user(number).to_string())
            }
            (ValueType::Text, _) if dimension.names_people() => Some(pseudonyms.of_job(value)),
            _ => None,
        },
    )
}

/// The usage in a window, ready to be put together in groups.
pub struct Usage<'u> {
    pub plan: MeasurePlan<'u>,
    pub scope: Scope,
    pub cells: Cells,
    pub groups: Groups<'u>,
}

impl Usage<'_> {
    /// Gives each group in each step to `take`, in the order of steps.
    pub fn each(
        &self,
        idle: bool,
        mut take: impl FnMut(Line) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (plan, scope, cells) = (&self.plan, &self.scope, &self.cells);
        self.groups.lines(plan, scope, cells, idle, |line| {
            pause();
            take(line)
        })
    }

    /// Compares groups by their values.
    pub fn compare(&self, one: &Line, other: &Line) -> Ordering {
        self.groups.compare(&self.scope, one.group, other.group)
    }

    /// Returns the values of the dimensions of a group.
    pub fn values(&self, line: &Line) -> Group {
        self.groups.values(&self.scope, line.group)
    }

    /// Returns the load of each target with rows, whatever was filtered out.
    pub fn loads(&self) -> HashMap<i32, Load> {
        let all_time = Sum::service_time();
        let load = |values: Vec<i128>| {
            let mut load = Load::default();
            for (sum, value) in self.plan.sums.iter().zip(values) {
                match sum.time {
                    true if *sum == all_time => load.time += value,
                    true => {}
                    false => load.calls += value,
                }
            }
            load
        };
        let of_targets = self.scope.iter().zip(self.cells.of_targets(&self.scope));
        let loads = of_targets.filter_map(|(it, values)| Some((it.0.id, load(values?))));
        loads.collect()
    }
}

/// The work of all entries on a target: the microseconds spent, and the calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct Load {
    pub time: i128,
    pub calls: i128,
}

/// A question with its plan and its reader.
pub struct Request<'u> {
    question: &'u Question,
    plan: &'u Plan,
    conditions: Conditions,
    /// The entries that the conditions let through or, if sums by owner are read, the users; `None` if they may be many.
    few: Option<Vec<i64>>,
    /// The last observation of each target, if the question is about these instead of a window.
    lasts: Option<HashMap<i32, Span>>,
}

impl<'u> Request<'u> {
    /// Looks up whom the question is about.
    pub fn new(
        client: &SpiClient<'_>,
        question: &'u Question,
        plan: &'u Plan,
    ) -> Result<Self, Error> {
        let few = few(client, plan)?;
        Ok(Self::of(question, plan, few))
    }

    /// Starts with these entries, if they are few.
    pub fn of(question: &'u Question, plan: &'u Plan, few: Option<Vec<i64>>) -> Self {
        Self {
            question,
            plan,
            conditions: plan.jobs.filters.on_entries(),
            few,
            lasts: None,
        }
    }

    /// Reads the usage in the window.
    pub fn read(&self) -> Result<Usage<'_>, Error> {
        self.read_parts(self.scope()?, &self.plan.sources.parts)
    }

    fn read_parts(&self, mut scope: Scope, parts: &[Part]) -> Result<Usage<'_>, Error> {
        let wanted = self.question.wanted;
        let plan = MeasurePlan::new(
            &self.question.measures.list,
            wanted.has_row_per_measure(),
            matches!(wanted, AnswerShape::Summary),
        );
        let reading = Reading::new(self, &scope)?;
        let cells = reading.cells(&scope, parts, &plan.sums)?;
        plan.note_times(&mut scope, &cells);
        if plan.probe.is_some() && self.reads_some() {
            self.find_times(&mut scope, &self.probed(parts))?;
        }
        if scope.untimed().next().is_some() {
            self.find_calls(&mut scope, &self.probed(parts))?;
        }
        Ok(Usage {
            groups: self.groups(reading, &cells, cells.bytes())?,
            plan,
            scope,
            cells,
        })
    }

    /// Returns the groups of the cells that were read; `bytes` of the limit are taken already.
    fn groups(&self, read: Reading<'_>, cells: &Cells, bytes: usize) -> Result<Groups<'_>, Error> {
        let by = self.question.by.list();
        let shown = self.plan.pseudonyms.map(shown);
        let limit = self.plan.state.limit.saturating_sub(bytes);
        let mut groups = Groups::new(by, &self.conditions, shown, cells, limit)?;
        self.name(&mut groups, read.known, read.owners.into_inner())?;
        Ok(groups)
    }

    /// Reads the usage in the last observation of each of these targets, which is its only span.
    pub fn read_last(&mut self, targets: Vec<Target>) -> Result<Usage<'_>, Error> {
        let spans = targets.iter().flat_map(|it| it.spans.first().copied());
        let part = Part::of_observations(spans.clone().collect());
        self.lasts = Some(targets.iter().map(|it| it.id).zip(spans).collect());
        let window = &self.plan.window;
        let scope = Scope::new(vec![window.since(), window.until()], targets, None);
        self.read_parts(scope, &[part])
    }

    /// Compares the counters of targets with the work of their entries.
    pub fn untracked(&self, usage: &Usage<'_>) -> Result<Vec<Untracked>, Error> {
        let (plan, scope) = (&usage.plan, &usage.scope);
        let sources = Sources::of_target_counters(&self.plan.state, &self.plan.window);
        let reading = Reading::new(self, scope)?;
        let counters = reading.cells(scope, &sources.parts, &target_counter_sums(plan))?;
        Ok(untracked(plan, scope, &usage.cells, &counters)?)
    }

    /// Reads the targets in scope, without any usage.
    pub fn read_targets(&self) -> Result<Usage<'_>, Error> {
        self.read_parts(self.scope()?, &[])
    }

    /// Returns whether rows are distinguished by entry or owner. A filter does not need that if the selected entries are few, and if it selects all
    /// usage of an entry or no usage.
    fn asks_entries(&self) -> bool {
        let selects_entries = self.plan.sources.owner().is_none() && !self.plan.divides_entries();
        let reads_selected = self.few.is_some() && selects_entries;
        self.question.by.has(Level::Entry)
            || self.question.filters.has(Level::Entry) && !reads_selected
            || matches!(self.question.wanted, AnswerShape::Summary)
    }

    /// Returns whether the rows of some entries or owners alone are read.
    fn reads_some(&self) -> bool {
        self.question.filters.has(Level::Entry) && (self.few.is_some() || self.uids().is_some())
    }

    /// Returns the entries to read; `None` for all, and if sums by owner are read.
    fn entry_ids(&self) -> Option<Vec<i64>> {
        let few = self.few.clone();
        few.filter(|_| self.plan.sources.owner().is_none())
    }

    /// Returns the users to read from sums by owner; `None` for all.
    fn uids(&self) -> Option<Vec<i64>> {
        self.plan.sources.owner()?;
        let uids = self.conditions.uids();
        self.few.clone().or(uids)
    }
}
