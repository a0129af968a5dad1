//! Reports the truth to people and programs.

use std::fs::File;
use std::io::{self, Write};

use jobstats_client::Options;
use thiserror::Error;

use crate::lustre::name_of;
use crate::store::compare::Comparison;
use crate::store::database::connector;
use crate::time::SECOND;
use crate::truth::tally::Happening;
use crate::truth::totals::Quantity;
use crate::truth::{CAUSES, Cell, TargetTruth};
use crate::world::cluster::Cluster;
use crate::world::plan::Plan;
use crate::world::schedule::Span;

/// An error that prevents writing the truth.
#[derive(Debug, Error)]
pub enum Error {
    /// The database failed.
    #[error("database: {0}")]
    Database(#[from] jobstats_client::Error),
    /// Output could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// CSV could not be written.
    #[error(transparent)]
    Csv(#[from] csv::Error),
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

/// Copies the truth into a table with the columns of the CSV.
pub fn copy_into(
    table: &str,
    options: &Options,
    cluster: &Cluster,
    truths: &[TargetTruth],
) -> Result<(), Error> {
    let mut client = connector(options)?.client()?;
    let statement = format!("COPY {table} FROM STDIN (FORMAT csv)");
    let mut copy = client
        .copy_in(&statement)
        .map_err(jobstats_client::Error::from)?;
    write_csv(cluster, truths, &mut copy, false)?;
    copy.finish().map_err(jobstats_client::Error::from)?;
    Ok(())
}

/// The sums of each quantity over many cells.
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

/// Appends a comparison as a row to a table of cases. An empty table gets the names of the columns first.
pub fn write_case(
    cluster: &Cluster,
    span: Span,
    truths: &[TargetTruth],
    comparison: &Comparison,
    table: File,
) -> Result<(), Error> {
    let tally = &comparison.tally;
    let true_amounts = Amounts::of(truths, |cell| cell.truth);
    let mut row: Vec<(String, String)> = vec![
        ("cluster".to_owned(), cluster.name.clone()),
        ("layout".to_owned(), name_of(&cluster.layout)),
        (
            "seconds".to_owned(),
            (cluster.interval / SECOND).to_string(),
        ),
    ];
    let mut put = |name: &str, value: u128| row.push((name.to_owned(), value.to_string()));
    for (name, happening) in COUNTED {
        put(name, tally.get(happening).into());
    }
    let disturbances = Plan::new(cluster).server_disturbances(span.from, span.until);
    for (name, (_, times)) in DISTURBED.into_iter().zip(disturbances) {
        put(name, times.into());
    }
    put("increments", comparison.increments.into());
    put("cells", comparison.cells() as u128);
    put("differences", comparison.differences() as u128);
    put("above_truth", comparison.above_truth() as u128);
    put("calls", true_amounts.calls);
    put("bytes", true_amounts.bytes);
    for (index, cause) in CAUSES.iter().enumerate() {
        let amounts = Amounts::of(truths, |cell| cell.excluded[index]);
        put(&format!("{}_calls", cause.name()), amounts.calls);
        put(&format!("{}_bytes", cause.name()), amounts.bytes);
    }
    let is_new = table.metadata()?.len() == 0;
    let mut csv = csv::Writer::from_writer(table);
    if is_new {
        csv.write_record(row.iter().map(|(name, _)| name))?;
    }
    csv.write_record(row.iter().map(|(_, value)| value))?;
    csv.flush()?;
    Ok(())
}

/// The counts in a table of cases, by column name.
const COUNTED: [(&str, Happening); 10] = [
    ("texts", Happening::Text),
    ("smaller_resets", Happening::SmallerReset),
    ("larger_resets", Happening::LargerReset),
    ("skipped", Happening::SkippedRecord),
    ("doubled", Happening::DoubledRecord),
    ("cut", Happening::CutText),
    ("failed", Happening::FailedRead),
    ("moved", Happening::MovedTarget),
    ("headers_missing", Happening::MissingHeader),
    ("headers_extra", Happening::ExtraHeader),
];
/// The columns for the disturbances of servers, in the order of [`Plan::server_disturbances`].
const DISTURBED: [&str; 4] = ["gaps", "failovers", "clock_steps", "clears"];

/// Shows the truth and the parts excluded from it by cause. A cell is one operation of one entry on one target.
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
