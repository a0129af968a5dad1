//! `detail` as version 0.1 wrote it: with what follows from the columns.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jobstats_core::increment::{Column, Detail, leave_out};
use jobstats_core::operation::OPERATIONS;
use pgrx::JsonB;
use pgrx::prelude::*;
use serde_json::Value as Json;

use crate::columns::usecs_name;

/// What a `detail` looks like without what follows from the totals of its row, or of the parts of it, by column.
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.detail_in_brief(detail jsonb, totals jsonb) RETURNS jsonb
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.detail_in_brief(jsonb, jsonb) IS
'Internal: a detail of increments without what follows from the totals of its row, as it is stored since 0.2.';
"#)]
fn jobstats_detail_in_brief(detail: JsonB, totals: JsonB) -> Option<JsonB> {
    let parsed = serde_json::from_value::<BTreeMap<String, Detail>>(detail.0.clone());
    let Ok(operations) = parsed else {
        return Some(detail);
    };
    let mut operations = Vec::from_iter(operations);
    leave_out(&mut operations, |column| {
        totals.0.get(&*name(column)).and_then(Json::as_i64)
    });
    let operations = BTreeMap::from_iter(operations);
    let stays = (!operations.is_empty()).then(|| serde_json::to_value(operations).ok());
    stays.flatten().map(JsonB)
}

fn name(column: Column) -> Cow<'static, str> {
    match column {
        Column::Total(index) => OPERATIONS[index].name.into(),
        Column::Usecs(index) => usecs_name(&OPERATIONS[index]).into(),
    }
}
