//! Adds up the usage of the entries of a job by target and measure.
//!
//! Few rows are added up into many measures. A statement that adds them up takes longer to plan than to run (37 of 45
//! ms), so the statement only reads the rows.

use std::collections::{HashMap, HashSet};

use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Statements, connect};
use crate::pg::time::from_postgres;
use crate::pg::tuples::{INTEGERS, Tuples};
use crate::query::measure::Measures;
use crate::query::params::Query;
use crate::store::sum::Sum;

/// The number of rows in memory at a time. All rows of a large job on a large cluster would fill the memory.
const BATCH: usize = 10_000;

/// The entries of a job, each with the number of its node.
pub struct Entries(HashMap<i64, Option<i64>>);

impl Entries {
    /// Returns all entries of the job that were ever seen.
    pub fn of_job(client: &SpiClient<'_>, job: &str) -> Result<Self, Error> {
        let entries = client.query(
            "SELECT e.entry_id, CASE WHEN e.node IS NOT NULL THEN dense_rank() OVER (ORDER BY e.node) END AS node \
             FROM jobstats.entries e WHERE e.job = $1",
            &[job.into()],
        )?;
        let mut nodes = HashMap::new();
        for entry in entries {
            nodes.insert(entry.at(1)?, entry.at(2)?);
        }
        Ok(Self(nodes))
    }

    /// Returns the keys of the entries.
    pub fn ids(&self) -> Vec<i64> {
        self.0.keys().copied().collect()
    }

    fn node(&self, entry: i64) -> Option<i64> {
        self.0.get(&entry).copied().flatten()
    }
}

/// The usage of one measure on one target.
#[derive(Debug)]
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

/// The usage of an entry.
struct EntryUsage {
    target: i32,
    on_mdt: bool,
    node: Option<i64>,
    first: Micros,
    last: Micros,
    /// The values by column.
    values: Vec<Option<i64>>,
}

/// The usage of a job by target and measure.
pub struct Work {
    columns: Vec<String>,
    measures: Vec<Made>,
    done: HashMap<i32, Vec<Option<Done>>>,
}

impl Work {
    /// Starts without any usage. The total of each measure must be a single term.
    pub fn new(measures: &Measures) -> Self {
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
            done: HashMap::new(),
        }
    }

    /// Returns the columns that the rows must have, each as a sum.
    pub fn columns(&self) -> Vec<Sum> {
        self.columns.iter().map(|it| Sum::column(it)).collect()
    }

    /// Returns the usage on a target by measure.
    pub fn on(&self, target: i32) -> &[Option<Done>] {
        self.done.get(&target).map_or(&[], Vec::as_slice)
    }

    /// Adds the rows of a [statement](crate::query::statement::Statement::rows_of_entries).
    pub fn add_rows(
        &mut self,
        client: &SpiClient<'_>,
        usage: &Query,
        entries: &Entries,
        mdts: &HashSet<i32>,
    ) -> Result<(), Error> {
        let cursor = client.try_open_cursor(&*usage.sql, &usage.params)?;
        let name = cursor.detach_into_name();
        // Fetched rows are freed when a connection ends.
        while connect(|client| {
            let mut cursor = client.find_cursor(&name)?;
            let mut rows = Tuples::fetch(&mut cursor, BATCH)?;
            let more = rows.len() > 0;
            for column in 0..4 + self.columns.len() {
                rows.require(column, &INTEGERS)?;
            }
            for row in 0..rows.len() {
                pause();
                rows.read(row);
                if let Some(row) = self.row(&rows, entries, mdts) {
                    self.add(&row);
                }
            }
            if more {
                cursor.detach_into_name();
            }
            Ok::<_, Error>(more)
        })? {}
        Ok(())
    }

    /// Returns the current row of a batch.
    fn row(&self, rows: &Tuples<'_>, entries: &Entries, mdts: &HashSet<i32>) -> Option<EntryUsage> {
        let target = i32::try_from(rows.integer(0)?).ok()?;
        let columns = 4..4 + self.columns.len();
        Some(EntryUsage {
            target,
            on_mdt: mdts.contains(&target),
            node: entries.node(rows.integer(1)?),
            first: from_postgres(rows.integer(2)?)?,
            last: from_postgres(rows.integer(3)?)?,
            values: columns.map(|column| rows.integer(column)).collect(),
        })
    }

    fn add(&mut self, row: &EntryUsage) {
        let done = self.done.entry(row.target);
        let done = done.or_insert_with(|| self.measures.iter().map(|_| None).collect());
        for (measure, done) in self.measures.iter().zip(done) {
            let Some(part) = measure.total.of(row).filter(|&part| part != 0) else {
                continue;
            };
            let done = done.get_or_insert_with(|| Done {
                total: 0,
                calls: None,
                spent: None,
                first: row.first,
                last: row.last,
                nodes: HashSet::new(),
            });
            done.total += part;
            for (sum, counted) in [
                (&mut done.calls, &measure.calls),
                (&mut done.spent, &measure.spent),
            ] {
                if let Some(value) = counted.as_ref().and_then(|it| it.of(row)) {
                    *sum = Some(sum.unwrap_or(0) + value);
                }
            }
            done.first = done.first.min(row.first);
            done.last = done.last.max(row.last);
            done.nodes.extend(row.node);
        }
    }
}
