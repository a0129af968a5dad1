//! Names in messages.

use jobstats_core::nearest::{SUGGESTED, nearest};
use pgrx::prelude::*;

use crate::pg::argument::Short;
use crate::pg::error::escaped;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.nearest(name text, known text[]) RETURNS text[]
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.nearest(text, text[]) IS
'Internal: those of the known names that are most like a name, the nearest first.';
"#)]
fn jobstats_nearest(name: Short<&str>, known: Short<Vec<Option<String>>>) -> Vec<String> {
    let known = known.iter().flatten().map(String::as_str);
    let found = nearest(&name, known, SUGGESTED);
    found.into_iter().map(str::to_owned).collect()
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.escaped(sentence text) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.escaped(text) IS
'Internal: a sentence in which control characters, which names from texts can have, are escaped.';
"#)]
fn jobstats_escaped(sentence: Short<&str>) -> String {
    escaped(&sentence).into_owned()
}
