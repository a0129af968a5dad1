//! The parts of the views `health` and `quality` that are generated in Rust.

use jobstats_core::entry_id::likely_format;
use jobstats_core::operation::OPERATIONS;
use pgrx::prelude::*;

use crate::identify::{SAMPLE, advice};
use crate::reading::window::{last_since, pace};
use crate::short::Short;

/// Common table expressions with the work of the observations in another expression, `last`.
pub const LAST_WORK: &str = include_str!("../sql/last_work.sql");

/// The hour that holds an observation `o`, as in the index of observations by hour.
const HOUR: &str =
    "date_bin(interval '1 hour', o.\"time\", timestamptz '1970-01-01 00:00:00.000001+00')";

/// Fills in the placeholders of a view's definition.
pub fn complete(definition: &str) -> String {
    let calls: Vec<String> = OPERATIONS
        .iter()
        .filter(|operation| operation.in_service_time())
        .map(|operation| format!("coalesce(i.\"{}\", 0)", operation.name))
        .collect();
    definition
        .replace("@pace_of_last@", &pace("last"))
        .replace("@pace_of_a_day@", &pace("@last_of_a_day@"))
        .replace("@last_of_a_day@", &last_since("now() - interval '1 day'"))
        .replace("@last_work@", LAST_WORK)
        .replace("@hour@", HOUR)
        .replace("@calls@", &calls.join(" + "))
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_ids_remedy(names text[]) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_ids_remedy(text[]) IS
'Internal: advice on identifiers that match no format: the format that they look like, and the statement that adds it. Views in dumps of version 0.1.0 call it by this name.';
"#)]
fn jobstats_ids_remedy(names: Short<Vec<Option<String>>>) -> String {
    let known = names.iter().flatten().take(SAMPLE);
    let likely = likely_format(known.map(String::as_str));
    format!("Most identifiers match no known format; {}", advice(likely))
}
