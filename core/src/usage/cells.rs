//! Sums by step, target and subject.

use std::hash::BuildHasherDefault;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use super::measure_plan::position;
use super::scope::Scope;
use super::{UsageError, require_room};
use crate::base::instant::{Micros, Span};
use crate::rules::increment::share;
use crate::usage::columns::sum::Sum;

/// The columns of a relation that are read, and which of them add up to which sum.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The positions of the columns of each sum.
    sums: Vec<Vec<usize>>,
}

impl Layout {
    /// Finds the columns of sums. `combined` is set for relations that have columns for [wide sums](crate::usage::columns::sum::COMBINED).
    pub fn new(sums: &[Sum], combined: bool) -> Self {
        let mut layout = Self::default();
        for sum in sums {
            let columns = match sum.combined().filter(|_| combined) {
                Some(column) => vec![column.to_owned()],
                None => sum.columns.clone(),
            };
            let places = columns.iter().map(|it| position(&mut layout.columns, it));
            layout.sums.push(places.collect());
        }
        layout
    }

    /// Reads these columns, without any sum.
    pub fn of_columns(columns: Vec<String>) -> Self {
        Self {
            columns,
            sums: Vec::new(),
        }
    }
}

/// The entry or owner of rows, on days with the same jobs and names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// The kind.
    pub kind: SubjectKind,
    /// The index of these days, from 1; 0 if the same is known on any day.
    pub days: u32,
    /// The entry, or the number of an owner.
    pub id: i64,
}

/// A kind of subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKind {
    /// All entries together.
    All,
    /// An entry.
    Entry,
    /// The owner of sums.
    Owner,
}

impl Subject {
    /// All entries together.
    pub const ALL: Self = Self {
        kind: SubjectKind::All,
        days: 0,
        id: 0,
    };
}

/// A row of increments or of a rollup.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r> {
    /// The position of the target in the [scope](Scope).
    pub target: usize,
    /// The entry or owner.
    pub subject: Subject,
    /// The time in which the values were counted: after the first instant, up to and including the second.
    pub span: Span,
    /// The part of the window that its source answers for. Of a row that reaches beyond, the part inside counts.
    pub part: Span,
    /// The times between which there was activity.
    pub active: Span,
    /// The number of the node, where nodes are counted by measure.
    pub node: Option<u32>,
    /// The values by column; NULL is 0.
    pub values: &'r [i64],
}

/// The times of activity that a cell keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Activity {
    /// None.
    #[default]
    Unknown,
    /// The times of all rows of a cell together.
    OfCells,
    /// The times and the nodes of each sum: of rows in which the sum is not 0. Each measure then has separate activity and nodes, and a total
    /// of 0 is no usage. Calls of zero duration count, unless no call on the target took any time in any step: then the time of its calls is
    /// unknown.
    OfSums,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub step: u32,
    pub target: u32,
    /// The position of the subject among all.
    pub subject: u32,
}

/// Sums by step, target and subject.
#[derive(Debug, Default)]
pub struct Cells {
    /// The number of sums of a cell.
    width: usize,
    pub(super) activity: Activity,
    pub(super) places: FxHashMap<Place, u32>,
    numbers: FxHashMap<Subject, u32>,
    pub(super) subjects: Vec<Subject>,
    /// The sums of all cells, modulo 2^64, and how often those wrapped that did.
    low: Vec<u64>,
    high: FxHashMap<usize, u64>,
    /// The times between which there was activity, by cell or by the place of a sum.
    spans: Vec<Span>,
    /// The numbers of nodes by the place of a sum, and how many there are of all.
    nodes: FxHashMap<usize, FxHashSet<u32>>,
    node_count: usize,
    /// The memory that a cell takes, and that all may take.
    cell_bytes: usize,
    limit: usize,
}

/// The memory of a place and of a subject in tables that are half full.
pub(super) const CELL_BYTES: usize = 2 * (size_of::<(Place, u32)>() + 1);
pub(super) const SUBJECT_BYTES: usize =
    2 * (size_of::<(Subject, u32)>() + 1) + size_of::<Subject>();
/// The memory of a node that a sum has.
const NODE_BYTES: usize = 16;

impl Cells {
    /// Starts without rows. Each cell has so many sums; all together take at most `limit` bytes.
    pub fn new(width: usize, activity: Activity, limit: usize) -> Self {
        let mut cells = Self {
            width,
            activity,
            limit,
            ..Self::default()
        };
        let spans = cells.spans_of_cell() * size_of::<Span>();
        cells.cell_bytes = CELL_BYTES + width * size_of::<u64>() + spans;
        cells
    }

    /// Returns the number of times of activity that a cell has.
    fn spans_of_cell(&self) -> usize {
        match self.activity {
            Activity::Unknown => 0,
            Activity::OfCells => 1,
            Activity::OfSums => self.width,
        }
    }

    /// Returns the memory that cells take, in bytes.
    pub fn bytes(&self) -> usize {
        let cells = self.places.len() * self.cell_bytes + self.subjects.len() * SUBJECT_BYTES;
        cells + self.node_count * NODE_BYTES
    }

    /// Adds the parts of a row to the steps in which they lie.
    ///
    /// # Errors
    /// [`UsageError::Memory`]
    pub fn add(&mut self, scope: &Scope, layout: &Layout, row: &Row<'_>) -> Result<(), UsageError> {
        for (step, part) in parts(&scope.edges, row.part, row.span) {
            self.add_part(step, layout, row, part)?;
        }
        Ok(())
    }

    /// Adds sums of rows that lie inside of a step, and the times between which there was activity.
    ///
    /// # Errors
    /// [`UsageError::Memory`]
    pub fn add_sums(
        &mut self,
        (step, target): (usize, usize),
        subject: Subject,
        active: Option<Span>,
        sums: &[i128],
    ) -> Result<(), UsageError> {
        let cell = self.cell(step, target, subject)?;
        for (number, sum) in sums.iter().enumerate() {
            self.add_to(cell * self.width + number, (*sum).max(0) as u128);
        }
        if let Some(active) = active.filter(|_| self.activity == Activity::OfCells) {
            self.add_span(cell, active);
        }
        Ok(())
    }

    fn add_span(&mut self, cell: usize, active: Span) {
        let span = &mut self.spans[cell];
        *span = (span.0.min(active.0), span.1.max(active.1));
    }

    fn add_part(
        &mut self,
        step: usize,
        layout: &Layout,
        row: &Row<'_>,
        part: Span,
    ) -> Result<(), UsageError> {
        let cell = self.cell(step, row.target, row.subject)?;
        let is_whole = part == row.span;
        let first = cell * self.width;
        for (number, columns) in layout.sums.iter().enumerate() {
            let values = columns.iter().map(|&column| row.values[column]);
            let sum = match is_whole {
                true => total(values),
                false => {
                    let (since, time) = row.span;
                    total(values.map(|it| share(it, since, time, part.0, part.1)))
                }
            };
            self.add_to(first + number, sum);
            if self.activity == Activity::OfSums && sum > 0 {
                self.add_span(first + number, row.active);
                self.add_node(first + number, row.node)?;
            }
        }
        if self.activity == Activity::OfCells {
            self.add_span(cell, row.active);
        }
        Ok(())
    }

    fn add_node(&mut self, place: usize, node: Option<u32>) -> Result<(), UsageError> {
        if let Some(node) = node
            && self.nodes.entry(place).or_default().insert(node)
        {
            self.node_count += 1;
            self.require_room()?;
        }
        Ok(())
    }

    fn add_to(&mut self, place: usize, sum: u128) {
        let (low, wrapped) = self.low[place].overflowing_add(sum as u64);
        self.low[place] = low;
        let high = (sum >> u64::BITS) as u64 + u64::from(wrapped);
        if high > 0 {
            *self.high.entry(place).or_default() += high;
        }
    }

    /// Returns the number of a cell, which may be the next one.
    pub(super) fn cell(
        &mut self,
        step: usize,
        target: usize,
        subject: Subject,
    ) -> Result<usize, UsageError> {
        let number = match self.numbers.get(&subject) {
            Some(&known) => known,
            None => self.add_subject(subject)?,
        };
        // Steps and targets are few, and so are cells, by the memory that they take.
        let place = Place {
            step: step as u32,
            target: target as u32,
            subject: number,
        };
        if let Some(&cell) = self.places.get(&place) {
            return Ok(cell as usize);
        }
        let cell = self.places.len();
        self.require_room()?;
        self.places.insert(place, cell as u32);
        self.low.resize(self.low.len() + self.width, 0);
        let spans = self.spans.len() + self.spans_of_cell();
        self.spans.resize(spans, (Micros::MAX, Micros::MIN));
        Ok(cell)
    }

    fn add_subject(&mut self, subject: Subject) -> Result<u32, UsageError> {
        self.require_room()?;
        let number = self.subjects.len() as u32;
        self.subjects.push(subject);
        self.numbers.insert(subject, number);
        Ok(number)
    }

    fn require_room(&self) -> Result<(), UsageError> {
        let is_room = self.bytes() < self.limit && self.places.len() < u32::MAX as usize;
        is_room
            .then_some(())
            .ok_or(UsageError::Memory(self.limit))?;
        // Tables double.
        let count = self.places.len() + self.subjects.len() + self.node_count;
        match count.is_power_of_two() {
            true => require_room(2 * self.bytes()),
            false => Ok(()),
        }
    }

    /// Returns the cells, each with its number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, u32)> {
        self.places.iter().map(|(place, &number)| (*place, number))
    }

    /// Returns the cell of all entries together.
    pub(super) fn of_all(&self, step: usize, target: usize) -> Option<u32> {
        let place = Place {
            step: step as u32,
            target: target as u32,
            subject: *self.numbers.get(&Subject::ALL)?,
        };
        self.places.get(&place).copied()
    }

    /// Returns a sum of a cell.
    pub(super) fn sum(&self, cell: u32, sum: usize) -> i128 {
        let place = cell as usize * self.width + sum;
        let high = match self.high.is_empty() {
            true => 0,
            false => self.high.get(&place).copied().unwrap_or(0),
        };
        i128::from(high) << u64::BITS | i128::from(self.low[place])
    }

    /// Returns the sums of each target over all cells, in the order of the scope; `None` for one without rows.
    pub fn of_targets(&self, scope: &Scope) -> Vec<Option<Vec<i128>>> {
        let mut all = vec![None; scope.targets.len()];
        for (place, cell) in self.iter() {
            let sums = all[place.target as usize].get_or_insert_with(|| vec![0; self.width]);
            for (number, sum) in sums.iter_mut().enumerate() {
                *sum += self.sum(cell, number);
            }
        }
        all
    }

    /// Returns the times between which there was activity in a cell, if cells have them.
    pub(super) fn span(&self, cell: u32) -> Option<Span> {
        (self.activity == Activity::OfCells).then(|| self.spans[cell as usize])
    }

    /// Returns the times between which there was activity of a sum, and its nodes; `None` if the sum is 0.
    pub(super) fn activity(&self, cell: u32, sum: usize) -> Option<(Span, &FxHashSet<u32>)> {
        static NOWHERE: FxHashSet<u32> = FxHashSet::with_hasher(FxBuildHasher);
        let place = cell as usize * self.width + sum;
        let span = self.spans[place];
        // Most sums are 0.
        (span.0 != Micros::MAX).then(|| (span, self.nodes.get(&place).unwrap_or(&NOWHERE)))
    }
}

/// Returns the steps into which a row reaches, each with the part of it that lies there, of a part of the window.
pub(super) fn parts(
    edges: &[Micros],
    within: Span,
    row: Span,
) -> impl Iterator<Item = (usize, Span)> + '_ {
    let (from, until) = (row.0.max(within.0), row.1.min(within.1));
    let after = edges.partition_point(|&edge| edge <= from);
    let steps = (after.saturating_sub(1)..).zip(edges.windows(2).skip(after.saturating_sub(1)));
    let parts = steps.map(move |(step, edges)| (step, (from.max(edges[0]), until.min(edges[1]))));
    let parts = parts.take_while(move |(_, part)| part.0 < until);
    parts.filter(|(_, part)| part.0 < part.1)
}

fn total(values: impl Iterator<Item = i64>) -> u128 {
    // No counter grows by less than 0.
    values.map(|it| it.max(0) as u128).sum()
}

/// A hasher for numbers that no user chooses.
pub(super) type Hasher = BuildHasherDefault<FxHasher>;
