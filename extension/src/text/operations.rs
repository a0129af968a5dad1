//! `jobstats_operations()`: returns the list of operations as a table.

use jobstats_core::operation::{Kind, OPERATIONS};
use pgrx::prelude::*;

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn jobstats_operations() -> TableIterator<
    'static,
    (
        name!(operation, &'static str),
        name!(kind, &'static str),
        name!(unit, &'static str),
        name!(mdt, bool),
        name!(ost, bool),
        name!(metadata, bool),
        name!(service_time, bool),
        name!(doubles, Option<&'static str>),
        name!(system_calls, &'static str),
        name!(meaning, &'static str),
        name!(since, &'static str),
    ),
> {
    TableIterator::new(OPERATIONS.iter().map(|operation| {
        let (kind, unit) = match operation.kind {
            Kind::Requests => ("requests", "calls"),
            Kind::Bytes => ("bytes", "bytes"),
        };
        (
            operation.name,
            kind,
            unit,
            operation.mdt,
            operation.ost,
            operation.metadata,
            operation.in_service_time(),
            operation.doubles,
            operation.system_calls,
            operation.meaning,
            operation.since,
        )
    }))
}
