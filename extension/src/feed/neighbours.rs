//! The stored neighbours of new snapshots of target counters and of services.

use std::cmp::Ordering;

use jobstats_core::base::instant::{DAY, Micros};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::Row;
use crate::pg::template::sql;
use crate::pg::time::timestamptz;

/// The stored snapshots before, at and after a time.
pub struct Neighbours<T> {
    pub before: Option<T>,
    pub same: Option<T>,
    pub next: Option<T>,
}

/// Returns the statement of [`find`] for a table and the type of its keys.
pub fn statement(table: &str, key: &str, kind: &str, columns: &str) -> String {
    sql!(
        "neighbours.sql",
        table = table,
        key = key,
        type = kind,
        columns = columns,
    )
}

/// Returns the neighbours of times, in this order; predecessors are at most `gap` older. `statement` is from [`statement`] and
/// takes `arguments` after the times: the keys, and the common parameters of all keys.
///
/// # Errors
/// Errors of PostgreSQL, and of `read`.
pub fn find<T>(
    client: &mut SpiClient<'_>,
    statement: &str,
    arguments: Vec<DatumWithOid<'_>>,
    times: &[Micros],
    gap: Micros,
    read: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<Neighbours<T>>, Error> {
    let earliest = times.iter().min().copied().unwrap_or_default();
    let stamps = times.iter().map(|time| timestamptz(*time));
    let stamps = stamps.collect::<Result<Vec<_>, Error>>()?;
    let mut all = vec![timestamptz(0)?.into(), stamps.into()];
    all.extend(arguments);
    let mut found = Vec::new();
    // Nearly always the predecessor is less than a day old: looking there first opens no older partition.
    for back in [DAY.min(gap), gap] {
        all[0] = timestamptz(earliest.saturating_sub(back).max(0))?.into();
        found.clear();
        let none = || Neighbours {
            before: None,
            same: None,
            next: None,
        };
        found.resize_with(times.len(), none);
        for row in plans::rows(client, statement, &all)? {
            let position = row.get::<i64>("position")? as usize - 1;
            let Some((around, own)) = found.get_mut(position).zip(times.get(position)) else {
                continue;
            };
            let time = row.time("time")?;
            let place = match time.cmp(own) {
                Ordering::Less if time < own.saturating_sub(gap) => continue,
                Ordering::Less => &mut around.before,
                Ordering::Equal => &mut around.same,
                Ordering::Greater => &mut around.next,
            };
            if place.is_none() {
                *place = Some(read(&row)?);
            }
        }
        if found.iter().all(|around| around.before.is_some()) {
            break;
        }
    }
    Ok(found)
}
