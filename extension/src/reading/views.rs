//! What the views `health` and `quality` take from Rust.

use jobstats_core::entry_id::likely_format;
use jobstats_core::operation::OPERATIONS;
use pgrx::prelude::*;

use crate::identify::{SAMPLE, advice};
use crate::reading::window::PACE;

/// Fills in what their definitions leave open.
pub fn complete(definition: &str) -> String {
    let calls: Vec<String> = OPERATIONS
        .iter()
        .filter(|operation| operation.in_service_time())
        .map(|operation| format!("coalesce(i.\"{}\", 0)", operation.name))
        .collect();
    definition
        .replace("@pace@", PACE)
        .replace("@calls@", &calls.join(" + "))
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_ids_remedy(names text[]) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_ids_remedy(text[]) IS
'Internal: advice on identifiers that match no format: the format that they look like, and the statement that adds it. Views in dumps of version 0.1.0 call it by this name.';
"#)]
fn jobstats_ids_remedy(names: Vec<Option<String>>) -> String {
    let known = names.iter().flatten().take(SAMPLE);
    let likely = likely_format(known.map(String::as_str));
    format!("Most identifiers match no known format; {}", advice(likely))
}
