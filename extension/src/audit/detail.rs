//! Shortens a `detail` of version 0.1, which also stored values that follow from the columns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jobstats_core::increment::{Column, Detail, leave_out};
use jobstats_core::operation::OPERATIONS;
use pgrx::prelude::*;
use serde_json::Value as Json;

use crate::pg::jsonb::Jsonb;
use crate::store::columns::usecs_name;

/// The largest detail that is read, in bytes of text. The details of this extension have some hundred bytes at most.
const LIMIT: usize = 1 << 20;

/// Removes from a `detail` the values that follow from the totals of its row by column; if the increment was divided
/// into several rows, these are the sums over them. Returns `None` if no value is left.
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.detail_in_brief(detail jsonb, totals jsonb) RETURNS jsonb
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.detail_in_brief(jsonb, jsonb) IS
'Internal: a detail of increments without what follows from the totals of its row, as it is stored since 0.2.';
"#)]
fn jobstats_detail_in_brief<'a>(detail: Jsonb<'a>, totals: Jsonb<'a>) -> Option<Jsonb<'a>> {
    let parsed = detail
        .read(LIMIT)
        .and_then(|detail| serde_json::from_value::<BTreeMap<String, Detail>>(detail).ok());
    let (Some(operations), Some(totals)) = (parsed, totals.read(LIMIT)) else {
        return Some(detail);
    };
    let mut operations = Vec::from_iter(operations);
    leave_out(&mut operations, |column| {
        totals.get(&*name(column)).and_then(Json::as_i64)
    });
    let operations = BTreeMap::from_iter(operations);
    if operations.is_empty() {
        return None;
    }
    let brief = serde_json::to_value(operations).ok();
    Some(brief.as_ref().and_then(Jsonb::of).unwrap_or(detail))
}

fn name(column: Column) -> Cow<'static, str> {
    match column {
        Column::Total(index) => OPERATIONS[index].name.into(),
        Column::Usecs(index) => usecs_name(&OPERATIONS[index]).into(),
    }
}
