//! Sums of target counters, with a row per target and bucket.
//!
//! They are so few that a feed recomputes all buckets of its increments. So these tables always agree with
//! `jobstats.target_increments`, and maintenance only deletes old rows.

use std::sync::LazyLock;

use jobstats_core::base::instant::Micros;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::store;
use crate::store::installation::{Installation, divide_by_time};
use crate::store::rollup::{ROLLUPS, Rollup, operations};

/// The statements that recompute buckets of [`ROLLUPS`].
static SUMS: LazyLock<[String; ROLLUPS.len()]> =
    LazyLock::new(|| ROLLUPS.each_ref().map(statement));

/// Creates the table of the sums, or adds the columns of operations that it lacks.
pub(super) fn create(
    client: &mut SpiClient<'_>,
    installation: &Installation,
    rollup: &Rollup,
) -> Result<(), Error> {
    let relation = rollup.of_targets();
    if store::kind(client, &relation)?.is_some() {
        return store::add_operations(client, &relation);
    }
    let partitioned = installation.partitioned("bucket");
    client.execute(&table(&relation, &partitioned), &[])?;
    let width = rollup.chunk_width(&relation);
    divide_by_time(client, installation, &relation, "bucket", &width)
}

/// Returns the statements that create the table.
pub(super) fn table(relation: &str, partitioned: &str) -> String {
    sql!(
        "table_of_targets.sql",
        relation = relation,
        operations = operations(|name| format!("{name} bigint")),
        partitioned = partitioned,
    )
}

/// Recomputes all buckets of targets that a span `(from, to]` touches. `is_new` creates partitions if the span begins one.
pub fn sum(
    client: &mut SpiClient<'_>,
    targets: &[i32],
    (from, to): (Micros, Micros),
    is_new: bool,
) -> Result<(), Error> {
    for (rollup, statement) in ROLLUPS.iter().zip(SUMS.iter()) {
        let width = rollup.micros;
        let low = timestamptz(from.div_euclid(width) * width)?;
        let high = timestamptz((to - 1).div_euclid(width).saturating_add(1) * width)?;
        if is_new {
            client.execute(
                "SELECT jobstats_internal.add_partitions($1, $2, $3, $4)",
                &values![rollup.of_targets(), rollup.unit, low, high],
            )?;
        }
        let arguments = values![targets.to_vec(), low, high];
        plans::update(client, statement, &arguments)?;
    }
    Ok(())
}

/// Returns the statement that recomputes buckets of targets from the next narrower ones.
fn statement(rollup: &Rollup) -> String {
    let (source, time, resets) = match rollup.source {
        None => (
            "target_increments".to_owned(),
            "\"time\"",
            "count(*) FILTER (WHERE summed.reset)",
        ),
        Some(finer) => (
            format!("rollup_{finer}_targets"),
            "bucket",
            "sum(summed.resets)::bigint",
        ),
    };
    let names = operations(str::to_owned);
    sql!(
        "sums_of_targets.sql",
        relation = rollup.of_targets(),
        bucket = rollup.bucket(&format!("summed.{time}")),
        source = source,
        time = time,
        resets = resets,
        names = names,
        sums = operations(|name| format!("sum(summed.{name})::bigint")),
        excluded = operations(|name| format!("EXCLUDED.{name}")),
    )
}
