//! `jobstats_operations()`: returns the list of operations as a table.

use jobstats_core::operation::{Kind, OPERATIONS};
use pgrx::prelude::*;

#[allow(clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_operations() RETURNS TABLE (
    operation text, kind text, unit text, mdt boolean, ost boolean, metadata boolean, service_time boolean,
    doubles text, system_calls text, meaning text, since text
)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_operations() IS
'Lists the operations that Lustre counts. kind is requests or bytes, unit that of the column of the same name; mdt and ost say which targets report it, metadata and service_time whether it is part of that derived operation, doubles names the operation in which its calls are also counted, since the first Lustre release that reports it.';
"#)]
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
