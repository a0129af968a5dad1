//! `jobstats_balance()` reports how evenly targets are used, and who leads on each.

use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::query::answer::answer;
use crate::query::dimension::By;
use crate::query::filters::Filters;
use crate::query::measure::Measures;
use crate::query::question::{Period, Question, Wanted};

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_balance(
    since timestamptz DEFAULT now() - interval '10 minutes', until timestamptz DEFAULT now(),
    operation text DEFAULT 'write_bytes',
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, target text[] DEFAULT NULL
) RETURNS TABLE (
    cluster text, filesystem text, kind text, target text, rate double precision, ratio double precision,
    workload text, uid bigint, user_name text, account text, share double precision, coverage double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_balance IS
'Shows which targets are busier than others, and who uses them most. In (since, until], with a row for each target that the filters select, of the kinds that report the operation unless kind names others, also where nothing was done (0) or nothing was observed (NULL). ratio is that to the median of the observed targets of the same cluster, file system and kind, NULL where that is 0. workload, uid, user_name and account name who did most of it there, and share is their part. The targets that are farthest above their median come first. An argument that is NULL counts as left out. Errors: 22023 for an unknown operation or an empty window, 54000 for over a million rows, 55000 where there is no store.';
"#)]
fn jobstats_balance(mut arguments: Arguments<'_>, rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let operation = arguments.take::<String>()?;
    let operation = operation.as_deref().unwrap_or("write_bytes");
    let measures = Measures::parse_one(operation, None)?;
    let mut filters = Filters::default();
    for name in ["cluster", "filesystem"] {
        filters = filters.any_of(name, arguments.take()?);
    }
    let kinds = arguments.take()?.or_else(|| kinds(&measures));
    let filters = filters
        .any_of("kind", kinds)
        .any_of("target", arguments.take()?);
    let question = Question {
        period,
        by: By::these(&[
            "cluster",
            "filesystem",
            "kind",
            "target",
            "workload",
            "uid",
            "user_name",
            "account",
        ]),
        filters,
        measures,
        wanted: Wanted::Leading,
    };
    answer(question, rows)
}

/// Returns the kind of the targets that report the operation; `None` if both kinds do.
fn kinds(measures: &Measures) -> Option<Vec<Option<String>>> {
    let kind = match measures.on() {
        (true, false) => "MDT",
        (false, true) => "OST",
        _ => return None,
    };
    Some(vec![Some(kind.to_owned())])
}
