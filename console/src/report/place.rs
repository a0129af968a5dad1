//! The load of each target over time.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Dimension, Filters, RateRow, Rates, Window};

use super::Scope;
use crate::ask::error::Error;
use crate::ask::store::{Answered, Store};
use crate::show::chart::frame::TimeAxis;
use crate::show::chart::grid::{Cell as Square, Row, heat};
use crate::show::chart::{Chart, Words};
use crate::show::html::{Block, Cell, Figure, Table};
use crate::subject::{interval, seconds};
use crate::values::text::shown;
use crate::values::when::{self, Clock};

/// The largest number of steps.
const STEPS: usize = 145;

/// The largest number of targets of a kind that are drawn.
const TARGETS: usize = 48;

/// The load of each target.
pub struct Place {
    /// The question that the load answers.
    pub scope: Scope,
    /// The rates of each target in steps.
    pub rates: Answered<RateRow>,
    /// The width of the steps in seconds.
    step: i64,
}

impl Place {
    /// Asks for the load of each target.
    pub fn ask(store: &mut Store, scope: Scope) -> Result<Self, Error> {
        let step = when::step(seconds(scope.window), 600, STEPS);
        let rates = store.ask(&Rates {
            window: Window::new(scope.window.0, scope.window.1),
            operations: Some(vec![scope.measure.to_owned()]),
            by: Some(vec![Dimension::Kind, Dimension::Target]),
            step: Some(interval(step)),
            filters: Filters {
                // Without times, only targets of one kind report what is measured.
                kind: match scope.measure {
                    "metadata" => Some(vec!["MDT".to_owned()]),
                    "bytes" => Some(vec!["OST".to_owned()]),
                    _ => None,
                },
                ..scope.filters()
            },
        })?;
        Ok(Self { scope, rates, step })
    }

    /// Returns the heat map.
    pub fn figure(&self, clock: &Clock) -> Block {
        let scope = &self.scope;
        let (groups, left_out) = groups(&self.rates.rows, scope.window);
        let words = Words {
            title: scope.title(),
            description: self.hottest(clock).unwrap_or_default(),
        };
        let axis = TimeAxis {
            window: scope.window,
            clock,
        };
        let power = |exponent| scope.power(exponent);
        let chart = Chart::new(|size| heat(&words, scope.measure, &axis, &groups, power, size));
        let mut caption = format!(
            "Each row is a target, MDTs above OSTs, in steps of {}, on one logarithmic scale. {} A row near the upper end of \
             the scale is a target that is busier than its peers; such a column is a time at which all were busy.",
            when::width(self.step),
            words.description
        );
        if left_out > 0 {
            caption.push_str(&format!(
                " The {TARGETS} busiest of each kind are drawn; {left_out} are left out."
            ));
        }
        Block::Figure(Box::new(Figure {
            heading: format!("Each target, by {}", scope.words()),
            caption,
            chart,
            table: table(scope, &self.rates.rows, clock),
            statements: vec![(
                "Each target over time".to_owned(),
                self.rates.statement.clone(),
            )],
        }))
    }

    /// Says which target had the highest load, and when.
    fn hottest(&self, clock: &Clock) -> Option<String> {
        let known = self.rates.rows.iter().filter(|row| row.rate.is_some());
        let rate = |row: &RateRow| row.rate.unwrap_or_default();
        let row = known.max_by(|one, other| rate(one).total_cmp(&rate(other)))?;
        Some(format!(
            "Highest: {} on {} at {}.",
            self.scope.rate(row.rate),
            shown(row.group.target.as_deref().unwrap_or_default()),
            clock.within(row.time, self.scope.window)
        ))
    }
}

/// Collects rows by kind and target: the busiest of each kind, by name.
fn groups(rows: &[RateRow], window: (Timestamp, Timestamp)) -> (Vec<Vec<Row>>, usize) {
    let mut left_out = 0;
    let kinds = ["MDT", "OST"].map(|kind| {
        let mut targets: Vec<Row> = Vec::new();
        for row in rows
            .iter()
            .filter(|row| row.group.kind.as_deref() == Some(kind))
        {
            let name = row.group.target.clone().unwrap_or_default();
            let at = targets.iter().position(|target| target.name == name);
            let at = at.unwrap_or_else(|| {
                targets.push(Row {
                    name,
                    cells: Vec::new(),
                });
                targets.len() - 1
            });
            targets[at].cells.push(Square {
                time: row.time,
                seconds: row.seconds,
                value: row.rate,
            });
        }
        let work = |row: &Row| row.cells.iter().filter_map(|cell| cell.value).sum::<f64>();
        targets.sort_by(|one, other| work(other).total_cmp(&work(one)));
        left_out += targets.len().saturating_sub(TARGETS);
        targets.truncate(TARGETS);
        for target in &mut targets {
            target.cells.sort_by_key(|cell| cell.time);
            fill(&mut target.cells, window);
        }
        targets.sort_by(|one, other| one.name.cmp(&other.name));
        targets
    });
    let kinds = kinds.into_iter().filter(|kind| !kind.is_empty());
    (kinds.collect(), left_out)
}

/// Adds a cell without data for the rest of the window. An answer ends with the last observation of any target.
fn fill(cells: &mut Vec<Square>, window: (Timestamp, Timestamp)) {
    let Some(last) = cells.last() else {
        return;
    };
    let width = SignedDuration::try_from_secs_f64(last.seconds).unwrap_or_default();
    let end = last.time.saturating_add(width).unwrap_or(last.time);
    let seconds = window.1.duration_since(end).as_secs_f64();
    if seconds >= 1.0 {
        cells.push(Square {
            time: end,
            seconds,
            value: None,
        });
    }
}

fn table(scope: &Scope, rows: &[RateRow], clock: &Clock) -> Table {
    let rows = rows.iter().map(|row| {
        let cells = vec![
            Cell::text(row.group.target.as_deref().unwrap_or_default()),
            Cell::text(&clock.minute(row.time)),
            scope.cell(row.rate),
        ];
        (row.rate.unwrap_or(-1.0), cells)
    });
    Table::new("cells, largest first", &["Target", "Step", "#Load"]).largest(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_window_has_no_data() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let mut cells = vec![Square {
            time: time(0),
            seconds: 600.0,
            value: Some(1.0),
        }];
        fill(&mut cells, (time(0), time(600)));
        assert_eq!(cells.len(), 1);
        fill(&mut cells, (time(0), time(2000)));
        assert_eq!(
            (cells[1].time, cells[1].seconds, cells[1].value),
            (time(600), 1400.0, None)
        );
    }
}
