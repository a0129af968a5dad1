//! The load of a file system over time, beside that of a week before.

use jobstats_client::answers::{RateRow, Rates, Window};

use super::{Scope, points};
use crate::ask::error::Error;
use crate::ask::store::{Answered, Store};
use crate::report::standout::Spans;
use crate::show::chart::frame::TimeAxis;
use crate::show::chart::line::{Point, band};
use crate::show::chart::{Chart, Words};
use crate::show::html::{Block, Cell, Figure, Table};
use crate::subject::{interval, seconds};
use crate::values::when::{self, Clock};

/// The largest number of steps.
const STEPS: usize = 145;

/// The load.
pub struct Load {
    /// The width of the steps in seconds.
    pub step: i64,
    /// The load in the window.
    pub now: Vec<Point>,
    /// The load a week before, moved into the window; empty if nothing was observed then.
    pub before: Vec<Point>,
    /// The observed part of the window.
    pub coverage: f64,
    /// The mean in the window.
    pub mean: Option<f64>,
    /// The mean a week before.
    pub mean_before: Option<f64>,
    /// The notices of the store.
    pub notes: Vec<String>,
    /// The statements, with what each answers.
    pub statements: Vec<(String, String)>,
}

/// Asks for the load, and decides what measures it.
pub fn ask(store: &mut Store, scope: &mut Scope) -> Result<Load, Error> {
    let mut mean = rates(store, scope, scope.window, None)?;
    let is_known = |answer: &Answered<RateRow>| answer.rows.iter().any(|row| row.rate.is_some());
    if !is_known(&mean) {
        let measure = std::mem::replace(&mut scope.measure, "metadata");
        let without_times = rates(store, scope, scope.window, None)?;
        match is_known(&without_times) {
            true => mean = without_times,
            // Nothing was observed at all, so nobody knows whether servers report times.
            false => scope.measure = measure,
        }
    }
    let step = when::step(seconds(scope.window), 600, STEPS);
    let now = rates(store, scope, scope.window, Some(step))?;
    let before = rates(store, scope, scope.before(), Some(step))?;
    let mean_before = rates(store, scope, scope.before(), None)?;
    let moved = points(&before.rows).into_iter().map(|point| Point {
        time: point.time.saturating_add(super::WEEK).unwrap_or(point.time),
        ..point
    });
    let moved: Vec<_> = moved.collect();
    let is_known = moved.iter().any(|point| point.rate.is_some());
    let first = mean.rows.first();
    Ok(Load {
        step,
        now: points(&now.rows),
        before: if is_known { moved } else { Vec::new() },
        coverage: first.map_or(0.0, |row| row.coverage),
        mean: first.and_then(|row| row.rate),
        notes: mean.notes,
        mean_before: mean_before.rows.first().and_then(|row| row.rate),
        statements: vec![
            ("The window".to_owned(), now.statement),
            ("A week before".to_owned(), before.statement),
        ],
    })
}

fn rates(
    store: &mut Store,
    scope: &Scope,
    window: (jiff::Timestamp, jiff::Timestamp),
    step: Option<i64>,
) -> Result<Answered<RateRow>, Error> {
    Ok(store.ask(&Rates {
        window: Window::new(window.0, window.1),
        operations: Some(vec![scope.measure.to_owned()]),
        by: Some(Vec::new()),
        step: step.map(interval),
        filters: scope.filters(),
    })?)
}

impl Load {
    /// Returns the step with the highest load, unless nothing was done.
    pub fn highest(&self) -> Option<Point> {
        let known = self.now.iter().filter(|point| point.rate > Some(0.0));
        let rate = |point: &Point| point.rate.unwrap_or_default();
        // Of equal steps, the first.
        known
            .copied()
            .rev()
            .max_by(|one, other| rate(one).total_cmp(&rate(other)))
    }

    /// Returns the picture of the load.
    pub fn figure(&self, scope: &Scope, spans: &Spans, clock: &Clock) -> Block {
        let title = scope.title();
        let words = Words {
            title: title.clone(),
            description: format!(
                "Mean {} over the window, {} a week before. Steps of {}.",
                scope.rate(self.mean),
                scope.rate(self.mean_before),
                when::width(self.step)
            ),
        };
        let axis = TimeAxis {
            window: scope.window,
            clock,
        };
        let marks = spans.marks();
        let chart = Chart::new(|size| {
            band(
                &words,
                &axis,
                (&self.now, &self.before),
                &marks,
                |rate| scope.rate(Some(rate)),
                size,
            )
        });
        let mut caption = format!(
            "{title}: the mean number of requests that servers work on at once, in steps of {}.",
            when::width(self.step)
        );
        if scope.measure != "service_time" {
            caption = format!(
                "{title}, in steps of {}. No server reports times (Lustre before 2.14), so requests measure the load.",
                when::width(self.step)
            );
        }
        caption.push_str(match self.before.is_empty() {
            true => " There is no data for the week before.",
            false => " The line is the same time a week before.",
        });
        if !marks.is_empty() {
            caption.push_str(" Numbers mark what stands out.");
        }
        Block::Figure(Box::new(Figure {
            heading: "Load of the file system".to_owned(),
            caption,
            chart,
            table: self.table(scope, clock),
            statements: self.statements.clone(),
        }))
    }

    fn table(&self, scope: &Scope, clock: &Clock) -> Table {
        let rows = self.now.iter().map(|point| {
            let before = self.before.iter().find(|before| before.time == point.time);
            let before = before.and_then(|before| before.rate);
            let cells = vec![
                Cell::text(&clock.minute(point.time)),
                scope.cell(point.rate),
                scope.cell(before),
            ];
            (point.rate.unwrap_or(-1.0), cells)
        });
        Table::new(
            "load by step, largest first",
            &["Step", "#Load", "#A week before"],
        )
        .largest(rows.collect())
    }
}
