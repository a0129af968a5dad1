//! The rates of the largest operations, by target.

use std::collections::BTreeMap;

use jobstats_client::answers::{Dimension, RateRow, Rates, TotalRow, Totals, Window};
use jobstats_core::operation::{Kind, OPERATIONS};
use jobstats_core::quantity::Quantity;

use super::Scope;
use crate::chart::frame::TimeAxis;
use crate::chart::line::{LINES, Point, Series, lines};
use crate::chart::{Chart, Words};
use crate::html::{Block, Cell, Figure, Table};
use crate::inquiry::Error;
use crate::number::Number;
use crate::store::Store;
use crate::subject::{interval, number, seconds};
use crate::text::shown;
use crate::when::{self, Clock};

/// The number of operations besides bytes.
const SHOWN: usize = 6;

/// The largest number of rows of the answer.
const MOST: usize = 500_000;

/// The part of all work from which on an operation is drawn.
const LEAST: f64 = 0.01;

/// The largest number of steps.
const STEPS: usize = 97;

/// Asks for the pictures: bytes read and written, and the operations that took most of the servers' time.
pub fn ask(store: &mut Store, scope: &Scope, clock: &Clock) -> Result<Vec<Block>, Error> {
    let window = Window::new(scope.window.0, scope.window.1);
    let is_timed = scope.measure == "service_time";
    let requests = OPERATIONS
        .iter()
        .filter(|operation| operation.kind == Kind::Requests && operation.doubles.is_none());
    let names = requests.map(|operation| match is_timed {
        true => format!("{}_time", operation.name),
        false => operation.name.to_owned(),
    });
    let totals = store.ask(&Totals {
        window,
        operations: Some(names.collect()),
        by: Some(Vec::new()),
        filters: scope.filters(),
    })?;
    let mut largest: Vec<_> = totals
        .rows
        .iter()
        .filter(|row| row.total.is_some_and(|total| !total.is_zero()))
        .collect();
    largest.sort_by_key(|row| std::cmp::Reverse(row.total));
    let whole: f64 = largest.iter().filter_map(|row| row.total).map(number).sum();
    let mut blocks = Vec::new();
    let mut chosen = vec![
        ("read_bytes".to_owned(), None),
        ("write_bytes".to_owned(), None),
    ];
    let matters = |row: &&&TotalRow| {
        row.total
            .is_some_and(|total| number(total) >= LEAST * whole)
    };
    chosen.extend(largest.iter().filter(matters).take(SHOWN).map(|row| {
        let name = row.operation.trim_end_matches("_time").to_owned();
        (name, row.total.map(|total| number(total) / whole))
    }));
    // An answer has at most a million rows.
    let most = MOST / (chosen.len() * scope.targets.len().max(1));
    let step = when::step(seconds(scope.window), 600, STEPS.min(most.max(1)));
    let rates = store.ask(&Rates {
        window,
        operations: Some(chosen.iter().map(|(name, _)| name.clone()).collect()),
        by: Some(vec![Dimension::Target]),
        step: Some(interval(step)),
        filters: scope.filters(),
    })?;
    for (operation, share) in chosen {
        let rows = rates.rows.iter().filter(|row| row.operation == operation);
        let rows: Vec<_> = rows.collect();
        blocks.extend(figure(
            scope,
            clock,
            (&operation, share),
            &rows,
            (step, &rates.statement),
        ));
    }
    blocks.push(Block::Statements(vec![(
        "All operations".to_owned(),
        totals.statement,
    )]));
    Ok(blocks)
}

fn figure(
    scope: &Scope,
    clock: &Clock,
    (operation, share): (&str, Option<f64>),
    rows: &[&RateRow],
    (step, statement): (i64, &str),
) -> Option<Block> {
    let series = series(rows);
    if series.is_empty() {
        return None;
    }
    let print = |rate: Option<f64>| Number::of(rate, operation, Quantity::Rate).text();
    let name = match operation {
        "read_bytes" => "Bytes read".to_owned(),
        "write_bytes" => "Bytes written".to_owned(),
        call => format!("Calls of {call}"),
    };
    let words = Words {
        title: format!("{name}, per second"),
        description: format!(
            "The targets with most of it: {}.",
            series
                .iter()
                .map(|series| shown(&series.name))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    let axis = TimeAxis {
        window: scope.window,
        clock,
    };
    let chart = Chart::new(|size| lines(&words, &axis, &series, |rate| print(Some(rate)), size));
    let mut caption = format!(
        "Rates in steps of {}, of the targets with most of it, and the mean of all others.",
        when::width(step)
    );
    if let Some(share) = share {
        let share = Number::percent(Some(share)).text();
        let of = match scope.measure {
            "service_time" => "the time that servers spent on requests",
            _ => "all requests",
        };
        caption = format!("{share} of {of}. {caption}");
    }
    let cells = rows.iter().map(|row| {
        let cells = vec![
            Cell::text(row.group.target.as_deref().unwrap_or_default()),
            Cell::text(&clock.minute(row.time)),
            Cell::number(print(row.rate)),
        ];
        (row.rate.unwrap_or(-1.0), cells)
    });
    let table = Table::new("steps, largest first", &["Target", "Step", "#Rate"]);
    Some(Block::Figure(Box::new(Figure {
        heading: name,
        caption,
        charts: vec![chart],
        table: table.largest(cells.collect()),
        statements: vec![("All of these operations".to_owned(), statement.to_owned())],
    })))
}

/// Returns the targets with most work as lines, and the mean of the others as the last one. A sum of them would be far above
/// every single target, and hide how these differ.
fn series(rows: &[&RateRow]) -> Vec<Series> {
    let mut targets: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    for row in rows {
        let name = row.group.target.as_deref().unwrap_or_default();
        targets.entry(name).or_default().push(Point {
            time: row.time,
            seconds: row.seconds,
            rate: row.rate,
        });
    }
    let series = targets.into_iter().map(|(name, points)| Series {
        name: name.to_owned(),
        points,
    });
    let work = |series: &Series| {
        let work = series
            .points
            .iter()
            .filter_map(|point| Some(point.rate? * point.seconds));
        work.sum::<f64>()
    };
    let mut series: Vec<_> = series.filter(|series| work(series) > 0.0).collect();
    series.sort_by(|one, other| work(other).total_cmp(&work(one)));
    for series in &mut series {
        series.points.sort_by_key(|point| point.time);
    }
    if series.len() > LINES {
        let others = series.split_off(LINES - 1);
        series.push(mean(&others));
    }
    series
}

/// Returns the mean of lines. A step that no target was observed in stays a gap.
fn mean(others: &[Series]) -> Series {
    let mut points: BTreeMap<_, (f64, f64, u32)> = BTreeMap::new();
    for point in others.iter().flat_map(|series| &series.points) {
        let sum = points.entry(point.time).or_insert((point.seconds, 0.0, 0));
        if let Some(rate) = point.rate {
            sum.1 += rate;
            sum.2 += 1;
        }
    }
    let points = points
        .into_iter()
        .map(|(time, (seconds, sum, count))| Point {
            time,
            seconds,
            rate: (count > 0).then(|| sum / f64::from(count)),
        });
    Series {
        name: format!("mean of {} others", others.len()),
        points: points.collect(),
    }
}
