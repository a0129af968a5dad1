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

#[pg_extern(sql = false)]
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
