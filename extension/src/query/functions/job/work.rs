//! The usage of some entries, as of those of a job.

use std::collections::{BTreeSet, HashMap};

use jobstats_core::instant::{Micros, Span};
use jobstats_core::usage::{
    Activity, Amount, Asked, Cells, Conditions, Entry, Groups, Known, Layout, Line, Row, Scope,
    Subject, SubjectKind, Values,
};

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::query::dimension::{By, Level};
use crate::query::functions::job::entries::Entries;
use crate::query::measure::Measures;
use crate::query::read::{self, Selection, Whose};
use crate::query::sources::Part;
use crate::query::window::ROW_LIMIT;

/// The usage of entries by step, target and, where nodes are told apart, node.
pub struct Work<'w> {
    pub measures: Measures,
    pub scope: Scope,
    /// The usage as a whole; `None` if no targets are in scope.
    pub whole: Option<Line>,
    /// The dimensions of targets, and the node.
    by: By,
    pub entries: &'w Entries,
    cells: Cells,
    limit: usize,
}

/// The groups whose usage is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The whole job.
    Whole,
    /// Each group. Usage of a node that is not known belongs to none.
    Groups,
}

/// The time for which usage is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum In {
    /// Each step.
    Steps,
    /// All steps together, with the rates in each.
    Buckets,
}

/// The work of a group.
pub struct Done {
    /// The values of the dimensions; none for the whole job.
    pub group: Values,
    /// The step and the coverage, without amounts.
    pub line: Line,
    /// The amounts of measures with usage, by position.
    pub amounts: Vec<(usize, Amount)>,
    /// The rates in buckets by measure.
    pub rates: Option<Vec<Vec<f64>>>,
}

impl<'w> Work<'w> {
    /// Starts without any usage on targets in scope, by these dimensions.
    pub fn new(
        measures: Measures,
        by: &By,
        entries: &'w Entries,
        scope: Scope,
        limit: usize,
    ) -> Self {
        let width = Asked::by_measure(&measures.list).sums().len();
        Self {
            cells: Cells::new(width, Activity::OfSums, limit),
            by: by.clone(),
            whole: None,
            measures,
            entries,
            scope,
            limit,
        }
    }

    /// Adds the rows of entries from parts of sources. Activity counts in the span that `during` returns for an entry and the time of a row;
    /// if that is `None`, the row is left out.
    pub fn read(
        mut self,
        parts: &[Part],
        ids: &[i64],
        during: impl Fn(i64, Micros) -> Option<Span>,
    ) -> Result<Self, Error> {
        let layout = Layout::new(Asked::by_measure(&self.measures.list).sums(), false);
        let selection = Selection {
            whose: true,
            activity: true,
            entries: Some(ids),
            ..Selection::default()
        };
        for part in parts.iter().filter(|_| !ids.is_empty()) {
            read::usage(part, &layout, &selection, &mut |row| {
                pause();
                if let Whose::Entry(entry) = row.whose
                    && let Some(target) = self.scope.position(row.target, None)
                    && let Some((since, until)) = during(entry, row.at)
                {
                    let node = self.entries.node(entry);
                    let active = (row.active.0.max(since), row.active.1.min(until).max(since));
                    let row = Row {
                        target,
                        subject: self.subject(node),
                        span: row.span,
                        part: row.part,
                        active,
                        node: node.and_then(|it| u32::try_from(it).ok()),
                        values: row.values,
                    };
                    self.cells.add(&self.scope, &layout, &row)?;
                }
                Ok(true)
            })?;
        }
        let conditions = Conditions::default();
        let (asked, scope) = (
            Asked::by_measure(&self.measures.list),
            self.scope.together(true, true),
        );
        let (groups, mut whole) = (self.groups(&[], &conditions)?, None);
        groups.lines(&asked, &scope, &self.cells, true, |line| {
            whole = Some(line);
            Ok::<_, Error>(())
        })?;
        drop(groups);
        self.whole = whole;
        Ok(self)
    }

    /// Returns whose usage of a node is: that of anybody, unless nodes are told apart. One that is not known has the number 0.
    fn subject(&self, node: Option<i64>) -> Subject {
        match self.by.has(Level::Entry) {
            true => Subject {
                kind: SubjectKind::Entry,
                days: 0,
                id: node.unwrap_or(0),
            },
            false => Subject::ALL,
        }
    }

    fn groups<'g>(
        &self,
        by: &'g [&'static jobstats_core::dimension::Dimension],
        conditions: &'g Conditions,
    ) -> Result<Groups<'g>, Error> {
        let known = Known::new(by.iter().copied(), None, Vec::new());
        let mut groups = Groups::new(by, conditions, None, &self.cells, self.limit);
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

    /// Gives `take` what was done, by group and step.
    pub fn each(
        &self,
        of: Of,
        during: In,
        mut take: impl FnMut(Done) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (conditions, asked) = (
            Conditions::default(),
            Asked::by_measure(&self.measures.list),
        );
        let by = if of == Of::Whole { &[] } else { self.by.list() };
        let groups = self.groups(by, &conditions)?;
        let together = |steps| self.scope.together(steps, of == Of::Whole);
        let scope = together(during == In::Buckets);
        let mut rates = match during {
            In::Steps => HashMap::new(),
            In::Buckets => groups.rates_by_step(&asked, &together(false), &self.cells)?,
        };
        let (mut lines, mut rows) = (Vec::new(), 0);
        groups.lines(&asked, &scope, &self.cells, false, |mut line| {
            let amounts = std::mem::take(&mut line.amounts).into_iter().enumerate();
            let amounts: Vec<_> = amounts.filter(|it| it.1.active.is_some()).collect();
            rows += amounts.len();
            lines.push((line, amounts));
            if rows > ROW_LIMIT {
                return Err(Error::TooManyRows);
            }
            Ok(())
        })?;
        lines.sort_by(|(one, _), (other, _)| {
            let by_group = groups.compare(&scope, one.group, other.group);
            by_group.then(one.step.cmp(&other.step))
        });
        for (line, amounts) in lines {
            pause();
            take(Done {
                group: groups.values(&scope, line.group),
                rates: rates.remove(&line.group),
                line,
                amounts,
            })?;
        }
        Ok(())
    }

    /// Returns the group of a target and an entry.
    pub fn group(&self, target: i32, entry: i64) -> Option<Values> {
        let position = self.scope.position(target, None)?;
        let mut values = self.scope.iter().nth(position)?.0.group.clone();
        if self.by.has(Level::Entry) {
            let node = self.entries.node(entry);
            let name = node.and_then(|it| self.entries.node_name(it));
            values.push(name.map(str::to_owned));
        }
        Some(values)
    }

    /// Returns the steps with usage.
    pub fn steps(&self) -> Result<BTreeSet<usize>, Error> {
        let mut steps = BTreeSet::new();
        self.each(Of::Whole, In::Steps, |done| {
            steps.extend(done.amounts.first().map(|_| done.line.step));
            Ok(())
        })?;
        Ok(steps)
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
