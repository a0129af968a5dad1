//! The number of users with which rate over time: the whole file system in one picture.

use std::collections::BTreeMap;

use jobstats_client::answers::{Densities, Window};
use jobstats_core::quantity::{Quantity, Readable};

use super::{Scope, by_user};
use crate::chart::frame::TimeAxis;
use crate::chart::grid::{Cell as Square, Row, counts};
use crate::chart::{Chart, Words};
use crate::html::{Block, Cell, Figure, Table};
use crate::inquiry::Error;
use crate::store::Store;
use crate::subject::{interval, seconds};
use crate::when::{self, Clock};

/// The largest number of steps: a number fits into a cell.
const STEPS: usize = 49;

/// The number of powers of ten that are drawn. Smaller rates are in the lowest row.
const BUCKETS: i32 = 7;

/// Asks for the picture.
pub fn ask(store: &mut Store, scope: &Scope, clock: &Clock) -> Result<Block, Error> {
    let step = when::step(seconds(scope.window), 600, STEPS);
    let densities = store.ask(&Densities {
        window: Window::new(scope.window.0, scope.window.1),
        operation: Some(scope.measure.to_owned()),
        by: Some(vec![by_user()[0]]),
        base: None,
        step: Some(interval(step)),
        filters: scope.filters(),
    })?;
    let highest = densities.rows.iter().map(|row| row.bucket).max();
    let Some(highest) = highest else {
        return Ok(Block::Text(
            "No user did anything in this window.".to_owned(),
        ));
    };
    let lowest = densities.rows.iter().map(|row| row.bucket).min();
    let lowest = lowest.unwrap_or(highest).max(highest - BUCKETS + 1);
    let mut buckets: BTreeMap<i32, BTreeMap<_, (f64, f64)>> = BTreeMap::new();
    for row in &densities.rows {
        let cell = buckets.entry(row.bucket.max(lowest)).or_default();
        let cell = cell.entry(row.time).or_insert((row.seconds, 0.0));
        cell.1 += row.count as f64;
    }
    let rate = |exponent: i32| {
        let rate = 10_f64.powi(exponent);
        match scope.measure {
            "service_time" if rate >= 1.0 => format!("{rate:.0}"),
            "service_time" => rate.to_string(),
            // An edge is exact, however small it is.
            measure => Readable::new(rate, measure, Quantity::Rate)
                .map_or_else(|| rate.to_string(), |it| it.to_string()),
        }
    };
    let named = |bucket: i32| match bucket {
        _ if bucket == lowest => format!("under {}", rate(bucket + 1)),
        _ => format!("from {}", rate(bucket)),
    };
    let rows = (lowest..=highest).rev().map(|bucket| Row {
        name: named(bucket),
        cells: buckets.get(&bucket).map_or_else(Vec::new, |cells| {
            let cells = cells.iter().map(|(time, (seconds, count))| Square {
                time: *time,
                seconds: *seconds,
                value: Some(*count),
            });
            cells.collect()
        }),
    });
    let rows: Vec<_> = rows.collect();
    let top: f64 = rows[0]
        .cells
        .iter()
        .filter_map(|cell| cell.value)
        .fold(0.0, f64::max);
    let words = Words {
        title: format!(
            "Users, by the rate of each: {}",
            scope.title().to_lowercase()
        ),
        description: format!(
            "At most {top:.0} users at a time had a rate {}.",
            named(highest)
        ),
    };
    let axis = TimeAxis {
        window: scope.window,
        clock,
    };
    let chart = Chart::new(|size| counts(&words, &axis, &rows, size));
    let numbers = densities.rows.iter().map(|row| {
        let cells = vec![
            Cell::text(&clock.minute(row.time)),
            Cell::text(&format!("{} to {}", rate(row.bucket), rate(row.bucket + 1))),
            Cell::number(row.count.to_string()),
        ];
        (f64::from(row.bucket), cells)
    });
    let columns = ["Step", "Rate of each", "#Users"];
    let table = Table::new("users by step and rate, highest rates first", &columns);
    Ok(Block::Figure(Box::new(Figure {
        heading: "How many users had which rate".to_owned(),
        caption: format!(
            "Each number counts the users with such a rate in {}. A small number near the top means that few \
             users did far more than the others.",
            when::width(step)
        ),
        charts: vec![chart],
        table: table.largest(numbers.collect()),
        statements: vec![("Users by rate".to_owned(), densities.statement)],
    })))
}
