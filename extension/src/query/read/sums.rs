//! Makes the statement that adds up rows on the nodes of a front.

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::usage::columns::sum::Sum;

use super::{Columns, Places, RowOwner, Selection, are_sized, arguments, bounds, of, spans, value};
use crate::pg::error::Error;
use crate::pg::receive::{self, Received, Type};
use crate::pg::template::sql;
use crate::pg::time::{from_postgres, timestamptzs};
use crate::query::sources::Part;

/// Rows of usage that were added up.
pub struct Sums<'r> {
    pub target: i32,
    /// The step, counted from 0.
    pub step: usize,
    pub owner: RowOwner<'r>,
    /// The times between which there was activity, where these are wanted.
    pub active: Option<Span>,
    pub sums: &'r [i128],
}

/// Passes the sums of rows inside of the steps between edges to `each`. Several parts belong to rollups of one kind.
pub fn sums(
    parts: &[&Part],
    sums: &[Sum],
    selection: &Selection<'_>,
    edges: &[Micros],
    each: &mut dyn FnMut(Sums<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(part) = parts.first() else {
        return Ok(());
    };
    let has_steps = edges.len() > 2;
    let (statement, types, places) = statement(parts, part, sums, selection, has_steps);
    let mut arguments = arguments(parts, selection)?;
    arguments.push(timestamptzs(edges)?.into());
    let mut found = vec![0; sums.len()];
    receive::each(&statement, &arguments, &types, &mut |row| {
        for (place, value) in found.iter_mut().enumerate() {
            *value = row.numeric(places.values + place)?.unwrap_or(0);
        }
        let step = match has_steps {
            true => row.integer(1).unwrap_or(1) - 1,
            false => 0,
        };
        if let (Some(target), Ok(step)) = (row.integer(0), usize::try_from(step)) {
            each(Sums {
                target: target as i32,
                step,
                owner: places.owner(part, selection, row),
                active: selection.activity.then(|| active(row, &places)).flatten(),
                sums: &found,
            })?;
        }
        Ok(true)
    })
}

/// Returns the statement, the types of its columns and their places.
fn statement(
    parts: &[&Part],
    part: &Part,
    sums: &[Sum],
    selection: &Selection<'_>,
    has_steps: bool,
) -> (String, Vec<Type>, Places) {
    let mut columns = Columns::default();
    columns.column("target_id", Type::Integer);
    if has_steps {
        columns.add("width_bucket(usage.bucket, $8)", Type::Integer);
    }
    let owner = columns.owner(part, selection);
    let keys: Vec<String> = (1..=columns.types.len()).map(|it| it.to_string()).collect();
    let activity = columns.types.len();
    let select = std::mem::take(&mut columns.select);
    if selection.activity {
        columns.add("min(usage.first)", Type::Time);
        columns.add("max(usage.last)", Type::Time);
    }
    let values = columns.types.len();
    for sum in sums {
        let value = on_node(sum, part.relation.owner.is_some());
        columns.add(&format!("sum({value})"), Type::Numeric);
    }
    let places = Places {
        owner,
        activity,
        values,
        ..Places::default()
    };
    let statement = sql!(
        "sums.sql",
        columns = select,
        sums = columns.select,
        relation = match parts.len() {
            1 => part.relation.name(),
            _ => part.relation.of_all_levels(),
        },
        spans = spans_of(parts),
        of = of(
            part,
            selection,
            are_sized(sums.iter().flat_map(|it| &it.columns))
        ),
        keys = keys.join(", "),
    );
    (statement, columns.types, places)
}

/// Returns the condition that rows lie inside of the spans of parts: of several, rows of their levels.
fn spans_of(parts: &[&Part]) -> String {
    let mut first = 1;
    let each = parts.iter().map(|part| {
        let inside = spans(part, first, Some(true));
        first += bounds(part).len();
        match part.relation.rollup {
            Some(rollup) if parts.len() > 1 => {
                format!("usage.level = '{}' AND ({inside})", rollup.name)
            }
            _ => inside,
        }
    });
    each.collect::<Vec<_>>().join(" OR ")
}

fn active(row: &Received, places: &Places) -> Option<Span> {
    let time = |column: usize| from_postgres(row.integer(column)?);
    Some((time(places.activity)?, time(places.activity + 1)?))
}

/// Returns an expression for the value that a row adds to a sum on a node, which computes no coalesce().
fn on_node(sum: &Sum, by_owner: bool) -> String {
    match (sum.combined().filter(|_| by_owner), sum.columns.as_slice()) {
        (Some(combined), _) => value(combined),
        (None, [one]) => value(one),
        (None, columns) => {
            let terms = columns.iter().map(|it| value(it));
            let terms = terms.map(|it| format!("CASE WHEN {it} IS NULL THEN 0 ELSE {it} END"));
            terms.collect::<Vec<_>>().join(" + ")
        }
    }
}
