//! The truth, printed; and what the database holds, compared with it.

use std::collections::BTreeMap;
use std::io::{self, Write};

use jiff::Timestamp;
use postgres::{Client, NoTls};
use thiserror::Error;

use crate::cluster::{Cluster, TargetIndex};
use crate::feed::database_message;
use crate::parallel::each_target;
use crate::schedule::Span;
use crate::tally::{Happening, Tally};
use crate::time::timestamp;
use crate::totals::{Column, Quantity};
use crate::truth::{self, CAUSES, Cell, TargetTruth};
use crate::workload::Workload;

/// Why the truth could not be told or compared.
#[derive(Debug, Error)]
pub enum Error {
    /// The database.
    #[error("database: {}", database_message(.0))]
    Database(#[from] postgres::Error),
    /// Writing output.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Writing CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

/// The truth about every target, in their order.
pub fn truths(cluster: &Cluster, span: Span, workers: usize) -> Vec<TargetTruth> {
    let workload = Workload::new(cluster);
    let one = |_: &mut (), target: TargetIndex| {
        Ok::<_, std::convert::Infallible>(truth::of_target(&workload, cluster, target, span))
    };
    match each_target(cluster, workers, || Ok(()), one) {
        Ok(truths) => truths,
    }
}

/// Everything that happened, counted.
pub fn tally(truths: &[TargetTruth]) -> Tally {
    let mut tally = Tally::default();
    truths.iter().for_each(|truth| tally.plus(&truth.tally));
    tally
}

/// Writes the truth as CSV: a row per target, entry and operation.
pub fn write_csv(
    cluster: &Cluster,
    truths: &[TargetTruth],
    out: impl Write,
    header: bool,
) -> Result<(), Error> {
    let mut csv = csv::Writer::from_writer(out);
    if header {
        let causes = CAUSES.iter().map(|cause| cause.name());
        let names = ["cluster", "target", "entry", "operation", "truth"];
        csv.write_record(names.into_iter().chain(causes).chain(["stored"]))?;
    }
    for (target, truth) in cluster.targets.iter().zip(truths) {
        for ((entry, column), cell) in &truth.cells {
            let dimensions = [
                cluster.name.clone(),
                target.name.clone(),
                entry.clone(),
                column.name(),
            ];
            let amounts = [cell.truth]
                .into_iter()
                .chain(cell.excluded)
                .map(|amount| amount.to_string());
            csv.write_record(
                dimensions
                    .into_iter()
                    .chain(amounts)
                    .chain([cell.stored().to_string()]),
            )?;
        }
    }
    csv.flush()?;
    Ok(())
}

/// Copies the truth into a table whose columns are those of the CSV.
pub fn copy_into(
    table: &str,
    url: &str,
    cluster: &Cluster,
    truths: &[TargetTruth],
) -> Result<(), Error> {
    let mut client = Client::connect(url, NoTls)?;
    let mut copy = client.copy_in(&format!("COPY {table} FROM STDIN (FORMAT csv)"))?;
    write_csv(cluster, truths, &mut copy, false)?;
    copy.finish()?;
    Ok(())
}

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

/// Entry and column of a target.
type Stored = BTreeMap<(String, String, Column), i128>;

/// Compares the database with the truth.
pub fn compare(url: &str, cluster: &Cluster, truths: &[TargetTruth]) -> Result<Comparison, Error> {
    let mut client = Client::connect(url, NoTls)?;
    let mut stored = stored(&mut client, cluster, truths)?;
    let mut comparison = Comparison {
        texts: (
            tally(truths).get(Happening::Text),
            observations(&mut client, cluster, truths)?,
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

/// Names of targets with the times of their first and last text.
fn spans(
    cluster: &Cluster,
    truths: &[TargetTruth],
) -> (Vec<String>, Vec<Timestamp>, Vec<Timestamp>) {
    let mut spans = (Vec::new(), Vec::new(), Vec::new());
    for (target, truth) in cluster.targets.iter().zip(truths) {
        if let Some((first, last)) = truth.observed {
            spans.0.push(target.name.clone());
            spans.1.push(timestamp(first));
            spans.2.push(timestamp(last));
        }
    }
    spans
}

const OBSERVED: &str = r#"
    FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) AS s(name, first, last)
    JOIN jobstats.targets t ON t.cluster = $1 AND t.name = s.name"#;

fn observations(
    client: &mut Client,
    cluster: &Cluster,
    truths: &[TargetTruth],
) -> Result<u64, Error> {
    let (names, first, last) = spans(cluster, truths);
    let row = client.query_one(
        &format!(
            r#"SELECT count(*) {OBSERVED}
               JOIN jobstats.observations o ON o.target_id = t.target_id AND o."time" BETWEEN s.first AND s.last"#
        ),
        &[&cluster.name, &names, &first, &last],
    )?;
    Ok(row.get::<_, i64>(0).unsigned_abs())
}

/// What the database holds, where it is not zero.
fn stored(client: &mut Client, cluster: &Cluster, truths: &[TargetTruth]) -> Result<Stored, Error> {
    let existing: Vec<String> = client
        .query(
            "SELECT attname::text FROM pg_attribute
             WHERE attrelid = 'jobstats.increments'::regclass AND attnum > 0 AND NOT attisdropped",
            &[],
        )?
        .iter()
        .map(|row| row.get(0))
        .collect();
    let columns: Vec<Column> = Column::all()
        .filter(|column| existing.contains(&column.parts().0))
        .collect();
    let sums: Vec<String> = columns.iter().map(|column| sum(*column)).collect();
    let (names, first, last) = spans(cluster, truths);
    let rows = client.query(
        &format!(
            r#"SELECT t.name, e.name, {} {OBSERVED}
               JOIN jobstats.increments i ON i.target_id = t.target_id AND i.observed BETWEEN s.first AND s.last
               JOIN jobstats.entries e ON e.entry_id = i.entry_id
               GROUP BY t.name, e.name"#,
            sums.join(", ")
        ),
        &[&cluster.name, &names, &first, &last],
    )?;
    let mut stored = Stored::new();
    for row in &rows {
        for (index, column) in columns.iter().enumerate() {
            if let Some(amount) = row
                .get::<_, Option<i64>>(index + 2)
                .filter(|amount| *amount != 0)
            {
                stored.insert((row.get(0), row.get(1), *column), i128::from(amount));
            }
        }
    }
    Ok(stored)
}

fn sum(column: Column) -> String {
    match column.parts() {
        (name, Some(element)) => format!(r#"sum(i."{name}"[{element}])::bigint"#),
        (name, None) => format!(r#"sum(i."{name}")::bigint"#),
    }
}

/// Sums of one kind of quantity over many cells.
#[derive(Default)]
struct Amounts {
    cells: usize,
    calls: u128,
    bytes: u128,
    usecs: u128,
}

impl Amounts {
    fn of(truths: &[TargetTruth], amount: impl Fn(&Cell) -> u64) -> Self {
        let mut amounts = Self::default();
        let cells = truths.iter().flat_map(|truth| &truth.cells);
        for ((_, column), cell) in cells {
            let amount = u128::from(amount(cell));
            amounts.cells += usize::from(amount > 0);
            match column.quantity() {
                Quantity::Calls => amounts.calls += amount,
                Quantity::Bytes => amounts.bytes += amount,
                Quantity::Usecs => amounts.usecs += amount,
                Quantity::Histogram => (),
            }
        }
        amounts
    }
}

/// Shows what is true, and what of it is excluded by cause. A cell is one operation of one entry on one target.
pub fn show_causes(truths: &[TargetTruth], out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<20}{:>10}{:>16}{:>22}{:>20}",
        "", "cells", "calls", "bytes", "microseconds"
    )?;
    let mut line = |name: &str, amounts: Amounts| {
        writeln!(
            out,
            "{name:<20}{:>10}{:>16}{:>22}{:>20}",
            amounts.cells, amounts.calls, amounts.bytes, amounts.usecs
        )
    };
    line("true", Amounts::of(truths, |cell| cell.truth))?;
    for (index, cause) in CAUSES.iter().enumerate() {
        line(
            cause.name(),
            Amounts::of(truths, |cell| cell.excluded[index]),
        )?;
    }
    Ok(())
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
