//! The usage of some entries, such as the entries of a job.

use std::collections::HashMap;

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::usage::dimension::Dimension;
use jobstats_core::usage::{
    Activity, Amount, Cells, Conditions, Entry, Groups, Layout, Line, MeasurePlan, Measures,
    Observed, Owners, Row, Scope, Subject, SubjectKind, Values,
};

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::query::dimension::{By, Level};
use crate::query::functions::job::entries::Entries;
use crate::query::read::{self, RowOwner, Selection};
use crate::query::sources::Part;
use crate::query::window::ROW_LIMIT;

/// The usage of entries by step, target and, for groups by node, node.
pub struct Work<'w> {
    pub entries: &'w Entries,
    pub measures: Measures,
    pub scope: Scope,
    /// The usage as a whole; `None` if no targets are in scope.
    pub whole: Option<Line>,
    /// The dimensions of targets, and the node.
    by: By,
    cells: Cells,
}

/// The work of a group in a step.
pub struct GroupUsage {
    /// The values of the dimensions; empty for the whole job.
    pub group: Values,
    pub step: usize,
    /// The start and the end of the step.
    pub span: Span,
    /// For how long its targets were observed.
    pub observed: Observed,
    /// The amounts of measures with usage, by position.
    pub amounts: Vec<(usize, Amount)>,
    /// The rates in buckets by measure.
    pub rates: Option<Vec<Vec<f64>>>,
}

impl GroupUsage {
    /// Returns the amounts that have a row: operations with usage.
    pub fn used(&self) -> impl Iterator<Item = &(usize, Amount)> {
        self.amounts.iter().filter(|it| it.1.total != Some(0))
    }
}

impl<'w> Work<'w> {
    /// Adds up the rows of entries from parts of sources, on targets in scope, by these dimensions. Activity counts in the span that `during`
    /// returns for an entry and the time of a row; if that is `None`, the row is left out.
    pub fn read(
        entries: &'w Entries,
        measures: Measures,
        by: &By,
        scope: Scope,
        parts: &[Part],
        during: impl Fn(i64, Micros) -> Option<Span>,
    ) -> Result<Self, Error> {
        let plan = MeasurePlan::new(&measures.list, true, true);
        let layout = Layout::new(&plan.sums, false);
        let mut cells = Cells::new(plan.sums.len(), Activity::OfSums, entries.state.limit);
        let selection = Selection {
            by_owner: true,
            activity: true,
            entries: Some(entries.ids()),
            ..Selection::default()
        };
        for part in parts.iter().filter(|_| !entries.is_empty()) {
            read::usage(part, &layout, &selection, &mut |row| {
                if let RowOwner::Entry(entry) = row.owner
                    && let Some(target) = scope.position(row.target, None)
                    && let Some((since, until)) = during(entry, row.at)
                {
                    let node = entries.node(entry);
                    let row = Row {
                        target,
                        subject: subject(by, node),
                        span: row.span,
                        part: row.part,
                        active: (row.active.0.max(since), row.active.1.min(until).max(since)),
                        node,
                        values: row.values,
                    };
                    cells.add(&scope, &layout, &row)?;
                }
                Ok(true)
            })?;
        }
        let mut work = Self {
            entries,
            measures,
            scope,
            whole: None,
            by: by.clone(),
            cells,
        };
        let (mut whole, conditions) = (None, Conditions::default());
        let (plan, scope) = (work.plan(), work.scope.together(true, true));
        let groups = work.groups(&[], &conditions)?;
        groups.lines(&plan, &scope, &work.cells, true, |line| {
            whole = Some(line);
            Ok::<_, Error>(())
        })?;
        work.whole = whole;
        Ok(work)
    }

    fn plan(&self) -> MeasurePlan<'_> {
        MeasurePlan::new(&self.measures.list, true, true)
    }

    /// Returns the groups of nodes. Usage of a node that is not known belongs to the whole job alone.
    fn groups<'g>(
        &self,
        by: &'g [&'static Dimension],
        conditions: &'g Conditions,
    ) -> Result<Groups<'g>, Error> {
        let known = Owners::new(by.iter().copied(), None, Micros::MAX, Vec::new());
        let mut groups = Groups::new(by, conditions, None, &self.cells, self.entries.state.limit)?;
        for node in groups.ids(SubjectKind::Entry) {
            let name = self.entries.node_name(node);
            if name.is_some() || by.is_empty() {
                let entry = Entry {
                    values: vec![name.map(str::to_owned)],
                    ..Entry::default()
                };
                groups.put(&known, (SubjectKind::Entry, node), &entry, None)?;
            }
        }
        Ok(groups)
    }

    /// Returns the usage in the order of groups and steps, by these dimensions or of the whole job. With `in_buckets`, all steps are one, with the
    /// rates in each.
    pub fn done(
        &self,
        by: &[&'static Dimension],
        in_buckets: bool,
    ) -> Result<Vec<GroupUsage>, Error> {
        let (plan, conditions) = (self.plan(), Conditions::default());
        let groups = self.groups(by, &conditions)?;
        let in_steps = self.scope.together(false, by.is_empty());
        let scope = in_steps.together(in_buckets, false);
        let mut rates = match in_buckets {
            true => groups.rates_by_step(&plan, &in_steps, &self.cells)?,
            false => HashMap::new(),
        };
        let (mut done, mut rows) = (Vec::new(), 0);
        groups.lines(&plan, &scope, &self.cells, false, |line| {
            pause();
            let amounts = line.amounts.into_iter().enumerate();
            let amounts: Vec<_> = amounts.filter(|it| it.1.active.is_some()).collect();
            rows += amounts.len();
            if rows > ROW_LIMIT {
                return Err(Error::TooManyRows);
            }
            let of_group = GroupUsage {
                group: groups.values(&scope, line.group),
                step: line.step,
                span: (scope.edges[line.step], scope.edges[line.step + 1]),
                observed: line.observed,
                amounts,
                rates: rates.remove(&line.group),
            };
            done.push((line.group, of_group));
            Ok(())
        })?;
        done.sort_by(|(one, of_one), (other, of_other)| {
            let by_group = groups.compare(&scope, *one, *other);
            by_group.then(of_one.step.cmp(&of_other.step))
        });
        Ok(done.into_iter().map(|it| it.1).collect())
    }

    /// Returns the group of a target and an entry.
    pub fn group(&self, target: i32, entry: i64) -> Option<Values> {
        let position = self.scope.position(target, None)?;
        let mut values = self.scope.iter().nth(position)?.0.group.clone();
        if self.by.has(Level::Entry) {
            let node = self.entries.node(entry);
            let name = node.and_then(|it| self.entries.node_name(it.into()));
            values.push(name.map(str::to_owned));
        }
        Some(values)
    }

    /// Returns the amounts of the whole by measure.
    pub fn amounts(&self) -> &[Amount] {
        self.whole.as_ref().map_or(&[], |it| &it.amounts)
    }

    /// Returns the sum of the measures of these names.
    pub fn total(&self, names: &[&str]) -> i128 {
        let amounts = self.measures.list.iter().zip(self.amounts());
        let named = amounts.filter(|(measure, _)| names.contains(&measure.name.as_str()));
        named.filter_map(|(_, amount)| amount.total).sum()
    }
}

/// Returns the subject of the usage of a node: all, unless nodes are distinguished. An unknown node has the number 0.
fn subject(by: &By, node: Option<u32>) -> Subject {
    match by.has(Level::Entry) {
        true => Subject {
            kind: SubjectKind::Entry,
            days: 0,
            id: node.map_or(0, i64::from),
        },
        false => Subject::ALL,
    }
}
