//! `jobstats_io_sizes()` reports how large reads and writes were.

use jobstats_core::usage::{Measures, SizesOfGroup};
use pgrx::AnyNumeric;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, values};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{ask, note, require_more};
use crate::query::dimension::By;
use crate::query::engine::Request;
use crate::query::filters::Filters;
use crate::query::labels::{Labels, rounded};
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question};

/// The operations with sizes.
const OPERATIONS: [&str; 2] = ["read_bytes", "write_bytes"];

#[pg_extern(sql = false)]
fn jobstats_io_sizes(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let by = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    let question = Question {
        period,
        by: By::parse(by, "")?,
        measures: Measures::named(OPERATIONS, None).map_err(Error::from)?,
        filters,
        wanted: AnswerShape::Sizes,
    };
    ask(question, &[], |client, question, plan| {
        let request = Request::new(client, question, plan)?;
        let mut of_groups = Vec::new();
        request.read_sizes(|sizes| of_groups.push(sizes))?;
        write(client, &question.by, &of_groups, &mut rows)?;
        // Only increments have histograms.
        if plan.window.since() < plan.state.kept_since {
            pgrx::notice!(
                "sizes of reads and writes are retained as long as increments; rollups lack them"
            );
        }
        let lacks_deviation = |it: &SizesOfGroup| it.calls > 0 && it.deviation.is_none();
        if of_groups.iter().any(lacks_deviation) {
            note_left_out(client, plan)?;
        }
        note(client, question, plan, rows.len)
    })
}

/// Raises a notice if the setting `keep` left sizes out in the window.
fn note_left_out(client: &SpiClient<'_>, plan: &Plan) -> Result<(), Error> {
    let [since, until] = plan.window.bounds()?;
    let is_brief: bool = client.query_value(
        "SELECT EXISTS (SELECT FROM jobstats.observations brief \
         WHERE brief.kept IS NOT NULL AND brief.\"time\" > $1 AND coalesce(brief.since, $1) < $2)",
        &values![since, until],
    )?;
    if is_brief {
        pgrx::notice!(
            "sizes or standard deviations were not stored for a part of the window (jobstats.settings.keep)"
        );
    }
    Ok(())
}

/// A row of the answer: the sizes are more than the first bound and up to the second; the calls, their mean and standard deviation, and the source.
type Row = ([Option<i64>; 2], u128, [Option<f64>; 2], &'static str);

/// Returns the rows of a group and an operation: of the sizes in a histogram, and of the calls outside of it.
fn rows_of(sizes: &SizesOfGroup) -> impl Iterator<Item = Row> + Clone {
    let last = sizes.histogram.len() - 1;
    let elements = sizes.histogram.iter().enumerate();
    let elements = elements.filter(|(_, calls)| **calls > 0);
    let elements = elements.map(move |(n, calls)| {
        let lower = if n == 0 { 0 } else { 1 << (n - 1) };
        let upper = (n < last).then(|| 1 << n);
        let none = [None, None];
        ([Some(lower), upper], (*calls).into(), none, "histogram")
    });
    let of_sizes = [sizes.mean, sizes.deviation];
    let sums = ([None, None], sizes.calls, of_sizes, "sums");
    elements.chain((sizes.calls > 0).then_some(sums))
}

/// Writes the rows of all groups.
fn write(
    client: &SpiClient<'_>,
    by: &By,
    of_groups: &[SizesOfGroup],
    rows: &mut Rows,
) -> Result<(), Error> {
    let labels = Labels::new(client, by.clone(), of_groups.iter().map(|it| &it.values))?;
    for it in of_groups {
        let of_group = rows_of(it);
        let all: u128 = of_group.clone().map(|it| it.1).sum();
        for ([lower, upper], calls, [mean, deviation], source) in of_group {
            require_more(rows)?;
            rows.put(|| {
                [
                    labels.name(&it.values, None).cell(),
                    OPERATIONS[it.operation].cell(),
                    lower.cell(),
                    upper.cell(),
                    AnyNumeric::from(calls).cell(),
                    rounded(calls as f64 / all as f64).cell(),
                    mean.cell(),
                    deviation.cell(),
                    source.cell(),
                    labels.labels(&it.values, None).cell(),
                ]
            });
        }
    }
    Ok(())
}
