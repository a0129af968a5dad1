//! What the database holds, compared with the truth.

use std::io::{self, Write};

use crate::cluster::Cluster;
use crate::database::{self, Store};
use crate::report::tally;
use crate::tally::Happening;
use crate::totals::Column;
use crate::truth::{Cell, TargetTruth};

/// A cell in which the database holds something else than a correct reader would.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    target: String,
    entry: String,
    column: String,
    cell: Cell,
    stored: i128,
}

/// What came out of comparing.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Texts delivered, and observations in the database.
    texts: (u64, u64),
    cells: usize,
    differences: Vec<Difference>,
    /// How many cells hold more than really happened.
    above_truth: usize,
}

impl Comparison {
    /// Everything is as it should be.
    pub fn is_exact(&self) -> bool {
        self.differences.is_empty() && self.texts.0 == self.texts.1
    }
}

/// Compares the database with the truth.
pub fn compare(
    store: &mut Store,
    cluster: &Cluster,
    truths: &[TargetTruth],
) -> Result<Comparison, database::Error> {
    let mut stored = store.increments(cluster, truths)?;
    let mut comparison = Comparison {
        texts: (
            tally(truths).get(Happening::Text),
            store.observations(cluster, truths)?,
        ),
        ..Comparison::default()
    };
    let mut judge = |target: &str, entry: &str, column: Column, cell: Cell, stored: i128| {
        comparison.cells += 1;
        comparison.above_truth += usize::from(stored > i128::from(cell.truth));
        if stored != cell.stored() {
            comparison.differences.push(Difference {
                target: target.to_owned(),
                entry: entry.to_owned(),
                column: column.name(),
                cell,
                stored,
            });
        }
    };
    for (target, truth) in cluster.targets.iter().zip(truths) {
        for ((entry, column), cell) in &truth.cells {
            let amount = stored
                .remove(&(target.name.clone(), entry.clone(), *column))
                .unwrap_or(0);
            judge(&target.name, entry, *column, *cell, amount);
        }
    }
    for ((target, entry, column), amount) in stored {
        judge(&target, &entry, column, Cell::default(), amount);
    }
    Ok(comparison)
}

impl Comparison {
    /// Shows what came out, with the first differences.
    pub fn show(&self, out: &mut impl Write) -> io::Result<()> {
        for difference in self.differences.iter().take(10) {
            writeln!(
                out,
                "{} {:?} {}: stored {}, should be {} (true {}, excluded {:?})",
                difference.target,
                difference.entry,
                difference.column,
                difference.stored,
                difference.cell.stored(),
                difference.cell.truth,
                difference.cell.excluded
            )?;
        }
        writeln!(out, "texts {}, observations {}", self.texts.0, self.texts.1)?;
        writeln!(
            out,
            "cells {}, differences {}, above the truth {}",
            self.cells,
            self.differences.len(),
            self.above_truth
        )
    }
}
