//! Reports the truth to people and programs.

use std::fs::File;
use std::io::{self, Write};

use strum::VariantArray;

use crate::failure::Failure;
use crate::lustre::name_of;
use crate::store::compare::Comparison;
use crate::time::{SECOND, Span};
use crate::truth::tally::DISTURBANCES;
use crate::truth::{Cause, Cell, Happening, Quantity, TargetTruth};
use crate::world::{Cluster, Plan};

/// Writes the truth about entries as CSV: a row per target, entry and operation.
pub fn write_truth(cluster: &Cluster, truths: &[TargetTruth]) -> Result<(), Failure> {
    let mut csv = csv::Writer::from_writer(io::stdout().lock());
    let columns = ["cluster", "target", "entry", "operation", "truth"].into_iter();
    let causes = Cause::VARIANTS.iter().map(|cause| cause.into());
    csv.write_record(columns.chain(causes).chain(["stored"]))?;
    for (target, truth) in cluster.targets.iter().zip(truths) {
        for ((entry, column), cell) in &truth.cells {
            let names = [&cluster.name, &target.name, entry, &column.name()].map(String::clone);
            let amounts = [cell.truth]
                .into_iter()
                .chain(cell.excluded)
                .map(i128::from);
            let amounts = amounts.chain([cell.stored()]).map(|it| it.to_string());
            csv.write_record(names.into_iter().chain(amounts))?;
        }
    }
    Ok(csv.flush()?)
}

/// The number of cells that are not zero, and their sums of calls, bytes and microseconds.
fn amounts(truths: &[TargetTruth], amount: impl Fn(&Cell) -> u64) -> [u128; 4] {
    let mut amounts = [0; 4];
    for ((_, column), cell) in truths.iter().flat_map(|truth| &truth.cells) {
        let amount = u128::from(amount(cell));
        amounts[0] += u128::from(amount > 0);
        match column.quantity {
            Quantity::Calls => amounts[1] += amount,
            Quantity::Bytes => amounts[2] += amount,
            Quantity::Usecs => amounts[3] += amount,
            Quantity::Histogram => (),
        }
    }
    amounts
}

/// Returns the amounts that each cause excludes.
fn excluded(truths: &[TargetTruth]) -> impl Iterator<Item = (&'static str, [u128; 4])> {
    Cause::VARIANTS.iter().map(|cause| {
        let amounts = amounts(truths, |cell| cell.excluded[*cause as usize]);
        (cause.into(), amounts)
    })
}

/// Appends a comparison as a row to a table of cases. An empty table gets the names of the columns first.
pub fn write_case(
    cluster: &Cluster,
    span: Span,
    truths: &[TargetTruth],
    comparison: &Comparison,
    table: File,
) -> Result<(), Failure> {
    let mut row = vec![
        ("cluster".to_owned(), cluster.name.clone()),
        ("layout".to_owned(), name_of(&cluster.layout)),
    ];
    let mut put = |name: &str, value: u128| row.push((name.to_owned(), value.to_string()));
    put("seconds", (cluster.interval / SECOND) as u128);
    for (name, happening) in COUNTED {
        put(name, comparison.tally.get(happening).into());
    }
    let disturbances = Plan::new(cluster).server_disturbances(span);
    for ((_, name), times) in DISTURBANCES.into_iter().zip(disturbances) {
        put(name, times.into());
    }
    let [_, calls, bytes, _] = amounts(truths, |cell| cell.truth);
    put("increments", comparison.increments.into());
    put("counter_readings", comparison.counter_readings as u128);
    for (name, count) in [
        ("queue_cells", comparison.cells_of("jobstats_queues")),
        ("used_cells", comparison.cells_of("jobstats_space")),
        ("day_cells", comparison.cells_of("jobstats_space of days")),
        ("cells", comparison.cells()),
        ("differences", comparison.differences()),
        ("above_truth", comparison.above_truth()),
    ] {
        put(name, count as u128);
    }
    put("calls", calls);
    put("bytes", bytes);
    for (cause, [_, calls, bytes, _]) in excluded(truths) {
        put(&format!("{cause}_calls"), calls);
        put(&format!("{cause}_bytes"), bytes);
    }
    let is_new = table.metadata()?.len() == 0;
    let mut csv = csv::Writer::from_writer(table);
    if is_new {
        csv.write_record(row.iter().map(|(name, _)| name))?;
    }
    csv.write_record(row.iter().map(|(_, value)| value))?;
    Ok(csv.flush()?)
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

/// Shows the truth and the parts excluded from it by cause. A cell is one operation of one entry on one target.
pub fn show_causes(truths: &[TargetTruth], out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<20}{:>10}{:>16}{:>22}{:>20}",
        "", "cells", "calls", "bytes", "microseconds"
    )?;
    let truth = ("true", amounts(truths, |cell| cell.truth));
    for (name, [cells, calls, bytes, usecs]) in [truth].into_iter().chain(excluded(truths)) {
        writeln!(
            out,
            "{name:<20}{cells:>10}{calls:>16}{bytes:>22}{usecs:>20}"
        )?;
    }
    Ok(())
}
