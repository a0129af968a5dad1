//! `jobstats_operations()`: returns the list of operations as a table.

use jobstats_core::base::operation::{Kind, OPERATIONS};
use pgrx::prelude::*;

use crate::pg::tuplestore::{IntoCell, Rows};

#[pg_extern(sql = false)]
fn jobstats_operations(mut rows: Rows) {
    for operation in OPERATIONS {
        let (kind, unit) = match operation.kind {
            Kind::Requests => ("requests", "calls"),
            Kind::Bytes => ("bytes", "bytes"),
        };
        rows.put(|| {
            [
                operation.name.cell(),
                kind.cell(),
                unit.cell(),
                operation.mdt.cell(),
                operation.ost.cell(),
                operation.metadata.cell(),
                operation.in_service_time().cell(),
                operation.doubles.cell(),
                operation.system_calls.cell(),
                operation.meaning.cell(),
                operation.since.cell(),
            ]
        });
    }
}
