//! The truth, for people and for programs.

use std::io::{self, Write};

use postgres::{Client, NoTls};
use thiserror::Error;

use crate::cluster::Cluster;
use crate::database::message;
use crate::tally::Tally;
use crate::totals::Quantity;
use crate::truth::{CAUSES, Cell, TargetTruth};

/// Why the truth could not be written.
#[derive(Debug, Error)]
pub enum Error {
    /// The database.
    #[error("database: {}", message(.0))]
    Database(#[from] postgres::Error),
    /// Writing output.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Writing CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
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
