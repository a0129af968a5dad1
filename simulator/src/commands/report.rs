//! Reports the truth to people and programs.

use std::fs::File;
use std::io::{self, Write};

use clap::ValueEnum;
use jobstats_client::Options;
use strum::VariantArray;

use crate::failure::Failure;
use crate::lustre::name_of;
use crate::store::compare::Comparison;
use crate::store::database::connector;
use crate::time::{Nanos, SECOND, Span};
use crate::truth::queues::{ByService, Waits};
use crate::truth::tally::DISTURBANCES;
use crate::truth::target_counters::TargetCountersTruth;
use crate::truth::{Cause, Cell, Happening, Quantity, TargetTruth};
use crate::world::space::{OwnerKind, Space};
use crate::world::{Cluster, Plan, Workload};

/// Writes the truth as CSV: a row per target, entry and operation.
pub fn write_csv(
    cluster: &Cluster,
    truths: &[TargetTruth],
    out: impl Write,
    header: bool,
) -> Result<(), Failure> {
    let mut csv = csv::Writer::from_writer(out);
    if header {
        let names = ["cluster", "target", "entry", "operation", "truth"];
        let causes = Cause::VARIANTS.iter().map(|cause| cause.into());
        csv.write_record(names.into_iter().chain(causes).chain(["stored"]))?;
    }
    for (target, truth) in cluster.targets.iter().zip(truths) {
        for ((entry, column), cell) in &truth.cells {
            let column = column.name();
            let dimensions = [&cluster.name, &target.name, entry, &column].map(String::clone);
            let amounts = [cell.truth].into_iter().chain(cell.excluded);
            let amounts = amounts.map(|amount| amount.to_string());
            let stored = [cell.stored().to_string()];
            csv.write_record(dimensions.into_iter().chain(amounts).chain(stored))?;
        }
    }
    Ok(csv.flush()?)
}

/// Writes the truth about targets as a whole as CSV: a row per target and operation.
pub fn write_targets(
    cluster: &Cluster,
    truths: &[TargetCountersTruth],
    out: impl Write,
    header: bool,
) -> Result<(), Failure> {
    let mut csv = csv::Writer::from_writer(out);
    if header {
        let amounts = ["all", "metadata_servers", "clients", "unidentified"];
        let names = ["cluster", "target", "operation"].into_iter();
        csv.write_record(names.chain(amounts))?;
    }
    for (target, truth) in cluster.targets.iter().zip(truths) {
        let clients = truth.of_clients();
        for (column, amount) in truth.all.amounts() {
            let parts = [&truth.servers, &clients, &truth.unidentified];
            let parts = parts.map(|totals| totals.get(column));
            let amounts = [amount].into_iter().chain(parts);
            let amounts = amounts.map(|amount| amount.to_string());
            let names = [cluster.name.clone(), target.name.clone(), column.name()];
            csv.write_record(names.into_iter().chain(amounts))?;
        }
    }
    Ok(csv.flush()?)
}

/// Writes the truth about the queues of services as CSV: a row per server and service.
pub fn write_queues(
    cluster: &Cluster,
    grown: &ByService,
    out: impl Write,
    header: bool,
) -> Result<(), Failure> {
    let mut csv = csv::Writer::from_writer(out);
    if header {
        csv.write_record("cluster server service requests wait_usecs depth active".split(' '))?;
    }
    for ((server, service), grown) in grown {
        let waits: Waits = grown.iter().sum();
        let server = &cluster.servers[*server].name;
        let names = [&cluster.name, server, service.name()].map(str::to_owned);
        let amounts = waits.amounts().map(|amount| amount.to_string());
        csv.write_record(names.into_iter().chain(amounts))?;
    }
    Ok(csv.flush()?)
}

/// Writes who owns the space of targets at a time as CSV: a row per target and owner.
pub fn write_space(
    cluster: &Cluster,
    time: Nanos,
    out: impl Write,
    header: bool,
) -> Result<(), Failure> {
    let mut csv = csv::Writer::from_writer(out);
    if header {
        csv.write_record("cluster target kind id kbytes inodes".split(' '))?;
    }
    let workload = Workload::new(cluster);
    for (index, target) in cluster.targets.iter().enumerate() {
        let space = Space::at(&workload, index, time);
        for kind in OwnerKind::value_variants() {
            for (id, used) in space.by(*kind) {
                let names = [cluster.name.clone(), target.name.clone(), name_of(kind)];
                let amounts = [u64::from(id), used.kbytes, used.inodes];
                let amounts = amounts.map(|amount| amount.to_string());
                csv.write_record(names.into_iter().chain(amounts))?;
            }
        }
    }
    Ok(csv.flush()?)
}

/// Copies a truth into a table with the columns of its CSV, which `write` writes.
pub fn copy_into(
    table: &str,
    options: &Options,
    write: impl FnOnce(&mut dyn Write, bool) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut client = connector(options)?.client()?;
    let statement = format!("COPY {table} FROM STDIN (FORMAT csv)");
    let mut copy = client.copy_in(&statement)?;
    write(&mut copy, false)?;
    copy.finish()?;
    Ok(())
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
    put(
        "queue_cells",
        comparison.cells_of("jobstats_queues") as u128,
    );
    put("used_cells", comparison.cells_of("jobstats_space") as u128);
    put(
        "day_cells",
        comparison.cells_of("jobstats_space of days") as u128,
    );
    put("cells", comparison.cells() as u128);
    put("differences", comparison.differences() as u128);
    put("above_truth", comparison.above_truth() as u128);
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
