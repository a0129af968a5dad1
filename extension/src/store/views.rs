//! The views of the store and the feed, and the queries that they have in common with the reading functions.

use jobstats_core::entry_id::likely_format;
use jobstats_core::operation::OPERATIONS;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::store::columns::operation_columns;
use crate::store::formats::{SAMPLE, advice};
use crate::store::rollup;

extension_sql_file!("views/put_views.sql", name = "put_views");

/// The plain views, which only show what is in the tables.
const VIEWS: [(&str, &str); 5] = [
    ("raw_text", include_str!("views/raw_text.sql")),
    ("rates", include_str!("views/rates.sql")),
    (
        "maintenance_state",
        include_str!("views/maintenance_state.sql"),
    ),
    ("health", include_str!("views/health.sql")),
    ("quality", include_str!("views/quality.sql")),
];

/// Common table expressions with the work of the observations in another expression, `last`.
pub const LAST_WORK: &str = include_str!("views/last_work.sql");

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

/// Returns a SELECT that says, for each target, on which server and how often it was observed, and whether it is
/// late or silent. `last` is a relation with an observation of each target, as a rule the last one.
pub fn pace(last: &str) -> String {
    include_str!("views/pace.sql").replace("@last@", last)
}

/// Returns a SELECT, in parentheses, of the last observation of each target that was observed after an instant.
pub fn last_since(instant: &str) -> String {
    format!(
        "(SELECT t.target_id, o.\"time\" FROM jobstats.targets t CROSS JOIN LATERAL (\
         SELECT o.\"time\" FROM jobstats.observations o WHERE o.target_id = t.target_id AND o.\"time\" > {instant} \
         ORDER BY o.\"time\" DESC LIMIT 1) o)"
    )
}

/// Creates the feed and the views. Existing ones are replaced in place, so that grants and views on top of them stay. Views
/// whose columns were renamed or removed since are dropped and created with the same grants.
///
/// # Errors
/// An error of PostgreSQL (2BP01) that lists all objects of others that depend on a view which would be dropped.
pub fn create(client: &mut SpiClient<'_>, schema: &str) -> Result<(), Error> {
    client.execute(include_str!("views/feed.sql"), &[])?;
    let rates: Vec<String> = operation_columns()
        .map(|(_, name)| format!("    i.\"{name}\" / s.seconds AS \"{name}\""))
        .collect();
    let plain = VIEWS.iter().map(|&(name, definition)| {
        let definition = complete(definition)
            .replace("@extschema@", schema)
            .replace("@operation_rates@", &rates.join(",\n"));
        (name.to_owned(), definition)
    });
    let of_rollups = rollup::ROLLUPS.iter().flat_map(rollup::Rollup::views);
    let (names, definitions): (Vec<String>, Vec<String>) = of_rollups.chain(plain).unzip();
    client.execute(
        "SELECT jobstats_internal.put_views($1, $2)",
        &[names.into(), definitions.into()],
    )?;
    Ok(())
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
