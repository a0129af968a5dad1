//! Adds up the usage of the entries of a job by step, target and measure.
//!
//! Few rows are added up into many measures. A statement that adds them up takes longer to plan than to run (37 of 45
//! ms), so the statement only reads the rows.

use std::collections::{HashMap, HashSet};

use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::time::from_postgres;
use crate::pg::tuples::{INTEGERS, Tuples};
use crate::query::functions::job::entries::Entries;
use crate::query::functions::job::scope::Scope;
use crate::query::measure::Measures;
use crate::query::params::Query;
use crate::store::sum::Sum;

/// The memory that the usage in one place may take: a pointer for each measure, and some usage.
const PLACE_BYTES: usize = 4 << 10;

/// A place of usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The step, counted from 0.
    pub step: usize,
    /// The key of the target.
    pub target: i32,
    /// The number of the node, if nodes are told apart and it is known.
    pub node: Option<i64>,
}

/// The usage of one measure in one place.
#[derive(Debug, Clone)]
pub struct Done {
    /// The total.
    pub total: i128,
    /// The number of calls, if that is known.
    pub calls: Option<i128>,
    /// The bytes or microseconds that `per_call` divides by the calls.
    pub spent: Option<i128>,
    /// The start of the usage.
    pub first: Micros,
    /// The end of the usage.
    pub last: Micros,
    /// The numbers of the nodes.
    pub nodes: HashSet<i64>,
}

impl Done {
    /// Adds the usage in another place.
    pub fn add(&mut self, other: &Self) {
        self.total += other.total;
        add_known(&mut self.calls, other.calls);
        add_known(&mut self.spent, other.spent);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.nodes.extend(&other.nodes);
    }
}

fn add_known(sum: &mut Option<i128>, value: Option<i128>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0) + value);
    }
}

/// The sums of a measure in terms of columns.
struct Made {
    total: Added,
    calls: Option<Added>,
    spent: Option<Added>,
}

/// A sum over columns.
struct Added {
    /// The positions of the columns.
    columns: Vec<usize>,
    mdt_only: bool,
}

impl Added {
    fn new(sum: &Sum, columns: &mut Vec<String>) -> Self {
        let mut position = |name: &String| {
            columns.iter().position(|it| it == name).unwrap_or_else(|| {
                columns.push(name.clone());
                columns.len() - 1
            })
        };
        Self {
            columns: sum.columns.iter().map(&mut position).collect(),
            mdt_only: sum.mdt_only,
        }
    }

    /// Returns the value that a row adds; `None` if its columns have no value, as in [`Sum::over`].
    fn of(&self, row: &EntryUsage) -> Option<i128> {
        if self.mdt_only && !row.on_mdt {
            return None;
        }
        let value = |&column: &usize| row.values[column].map(i128::from);
        match self.columns.as_slice() {
            [column] => value(column),
            columns => {
                let sum = columns.iter().filter_map(value).sum();
                (sum != 0).then_some(sum)
            }
        }
    }
}

/// The position of the first value in a row.
const FIRST_VALUE: usize = 5;

/// The usage of an entry in a step.
struct EntryUsage {
    step: usize,
    target: i32,
    on_mdt: bool,
    node: Option<i64>,
    first: Micros,
    last: Micros,
    /// The values by column.
    values: Vec<Option<i64>>,
}

/// The usage of a job by place and measure.
pub struct Work {
    columns: Vec<String>,
    measures: Vec<Made>,
    by_node: bool,
    done: HashMap<Place, Vec<Option<Box<Done>>>>,
    /// The measures that are not zero on each target.
    used: HashSet<(i32, usize)>,
}

impl Work {
    /// Starts without any usage. The total of each measure must be a single term. `by_node` tells nodes apart.
    pub fn new(measures: &Measures, by_node: bool) -> Self {
        let mut columns = Vec::new();
        let mut added = |sum: &Sum| Added::new(sum, &mut columns);
        let mut made = Vec::new();
        for measure in &measures.list {
            made.extend(measure.total.iter().map(|term| Made {
                total: added(&term.sum),
                calls: measure.calls.as_ref().map(&mut added),
                spent: measure.spent.as_ref().map(&mut added),
            }));
        }
        Self {
            columns,
            measures: made,
            by_node,
            done: HashMap::new(),
            used: HashSet::new(),
        }
    }

    /// Returns the columns that the rows must have, each as a sum.
    pub fn columns(&self) -> Vec<Sum> {
        self.columns.iter().map(|it| Sum::column(it)).collect()
    }

    /// Returns the number of places of usage.
    pub fn places(&self) -> usize {
        self.done.len()
    }

    /// Returns the usage in each place by measure. It has calls that took nothing, unless no call on the target took anything: then their
    /// bytes or times are not known there.
    pub fn done(&self) -> impl Iterator<Item = (&Place, impl Iterator<Item = (usize, &Done)>)> {
        self.done.iter().map(|(place, done)| {
            let done = done.iter().enumerate();
            (
                place,
                done.filter(|(measure, _)| self.used.contains(&(place.target, *measure)))
                    .filter_map(|(measure, it)| Some((measure, it.as_deref()?))),
            )
        })
    }

    /// Returns the sum of the measures of these names.
    pub fn total(&self, measures: &Measures, names: &[&str]) -> i128 {
        let done = self.done().flat_map(|(_, done)| done);
        let is_asked = |measure: usize| names.contains(&measures.list[measure].name.as_str());
        let asked = done.filter(|&(measure, _)| is_asked(measure));
        asked.map(|(_, done)| done.total).sum()
    }

    /// Returns whether nothing was done.
    pub fn is_empty(&self) -> bool {
        let mut done = self.done().flat_map(|(_, done)| done);
        done.all(|(_, done)| done.total == 0 && done.calls.unwrap_or(0) == 0)
    }

    /// Returns the target that spent most time on the job or, where no time is reported, had most calls of it, and the number of its nodes.
    pub fn busiest(&self, measures: &Measures) -> (Option<i32>, usize) {
        let place = |name: &str| measures.list.iter().position(|it| it.name == name);
        let time = place("service_time");
        let mut loads: HashMap<i32, (i128, i128)> = HashMap::new();
        let mut nodes: HashSet<i64> = HashSet::new();
        for (place, done) in self.done() {
            for (measure, done) in done {
                let load = loads.entry(place.target).or_default();
                match time == Some(measure) {
                    true => load.0 += done.total,
                    false => load.1 += done.calls.unwrap_or(0),
                }
                nodes.extend(&done.nodes);
            }
        }
        let busiest = loads
            .into_iter()
            .max_by_key(|(target, load)| (*load, -target));
        (busiest.map(|(target, _)| target), nodes.len())
    }

    /// Adds the rows of a [statement](crate::query::statement::Statement::rows_of_entries).
    pub fn add_rows(
        &mut self,
        client: &SpiClient<'_>,
        usage: &Query,
        entries: &Entries,
        scope: &Scope,
    ) -> Result<(), Error> {
        let (statement, parameters) = (&*usage.sql, &*usage.params);
        Tuples::each_batch(client, statement, parameters, PLACE_BYTES, |rows| {
            for column in 0..FIRST_VALUE + self.columns.len() {
                rows.require(column, &INTEGERS)?;
            }
            for row in 0..rows.len() {
                pause();
                rows.read(row);
                if let Some(row) = self.row(rows, entries, scope) {
                    self.add(&row);
                }
            }
            Ok(())
        })
    }

    /// Returns the current row of a batch.
    fn row(&self, rows: &Tuples<'_>, entries: &Entries, scope: &Scope) -> Option<EntryUsage> {
        let target = i32::try_from(rows.integer(1)?).ok();
        let target = target.filter(|&it| scope.has(it))?;
        // Where entries are many, rows are those of all entries with the number of the job.
        let entry = rows.integer(2).filter(|&it| entries.has(it))?;
        let columns = FIRST_VALUE..FIRST_VALUE + self.columns.len();
        Some(EntryUsage {
            step: usize::try_from(rows.integer(0)? - 1).ok()?,
            target,
            on_mdt: scope.has_mdt(target),
            node: entries.node(entry),
            first: from_postgres(rows.integer(3)?)?,
            last: from_postgres(rows.integer(4)?)?,
            values: columns.map(|column| rows.integer(column)).collect(),
        })
    }

    fn add(&mut self, row: &EntryUsage) {
        let place = Place {
            step: row.step,
            target: row.target,
            node: row.node.filter(|_| self.by_node),
        };
        let done = self.done.entry(place);
        let done = done.or_insert_with(|| self.measures.iter().map(|_| None).collect());
        for (position, (measure, done)) in self.measures.iter().zip(done).enumerate() {
            let value = |sum: &Option<Added>| sum.as_ref().and_then(|it| it.of(row));
            let (total, calls) = (measure.total.of(row).unwrap_or(0), value(&measure.calls));
            if total != 0 {
                self.used.insert((row.target, position));
            } else if calls.unwrap_or(0) == 0 {
                continue;
            }
            let part = Done {
                total,
                calls,
                spent: value(&measure.spent),
                first: row.first,
                last: row.last,
                nodes: row.node.into_iter().collect(),
            };
            match done {
                Some(done) => done.add(&part),
                None => *done = Some(Box::new(part)),
            }
        }
    }
}
