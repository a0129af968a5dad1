//! The load of each target over time.

use std::collections::BTreeMap;

use jobstats_client::answers::{Dimension, RateRow};

use super::vocabulary::*;
use crate::show::chart::grid::heat;

/// The largest number of steps.
const STEPS: usize = 145;

/// The largest number of targets of a kind that are drawn.
const TARGETS: usize = 48;

/// The load of each target.
pub struct Heatmap {
    /// The question that the load answers.
    pub scope: Scope,
    /// The rates of each target in steps.
    pub rates: Answer<RateRow>,
    /// The width of the steps in seconds.
    step: i64,
}

impl Heatmap {
    /// Loads the load of each target.
    pub fn ask(store: &mut Store, scope: Scope) -> Result<Self, Error> {
        let step = when::step(when::seconds(scope.window), 600, STEPS);
        // Without times, only targets of one kind report the operation.
        let kind = match scope.measure {
            Measure::ServiceTime => None,
            Measure::Metadata => Some(vec!["MDT".to_owned()]),
            Measure::Bytes => Some(vec!["OST".to_owned()]),
        };
        let work = scope.work().part(|filters| filters.kind = kind);
        let by = [Dimension::Kind, Dimension::Target];
        let rates = work.rates(store, &[scope.measure.name()], &by, Some(step))?;
        Ok(Self { scope, rates, step })
    }

    /// Returns the heat map.
    pub fn figure(&self) -> Block {
        let scope = &self.scope;
        let rows = &self.rates.rows;
        let (groups, left_out) = groups(rows, scope.window);
        let hottest = self.hottest().unwrap_or_default();
        let mut caption = format!(
            "Each row is a target, MDTs above OSTs, in steps of {}, on one logarithmic scale. {hottest} A row of high values is a \
             target busier than its peers; a column of high values is a time when all were busy.",
            when::width(self.step)
        );
        if left_out > 0 {
            caption.push_str(&format!(
                " The {TARGETS} busiest of each kind are drawn; {left_out} are left out."
            ));
        }
        let words = Words::new(scope.title(), hottest);
        let name = scope.measure.name();
        let power = |exponent| scope.power(exponent);
        let cells = |row: &RateRow| {
            [
                ("Target", Cell::text(target(row))),
                ("Step", Cell::text(&scope.clock.minute(row.time))),
                ("Load", scope.cell(row.rate)),
            ]
        };
        let statement = self.rates.statement.clone();
        Block::from(Figure {
            heading: format!("Each target, by {}", scope.measure.words()),
            caption,
            chart: heat(&words, name, &scope.axis(), &groups, power),
            table: Table::largest("cells, largest first", rows, |row| row.rate, cells),
            statements: vec![("Each target over time".to_owned(), statement)],
        })
    }

    /// Names the target with the highest load, and the time.
    fn hottest(&self) -> Option<String> {
        let known = self.rates.rows.iter();
        let known = known.filter_map(|row| Some((row, row.rate?)));
        let (row, rate) = known.max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(format!(
            "Highest: {} on {} at {}.",
            self.scope.rate(rate),
            shown(target(row)),
            self.scope.moment(row.time)
        ))
    }
}

/// Collects rows by kind and target: the busiest of each kind, by name. Returns the number of the others too.
fn groups(rows: &[RateRow], window: Span) -> (Vec<Vec<Series>>, usize) {
    let mut kinds: BTreeMap<&str, Vec<Series>> = BTreeMap::new();
    for ((kind, name), points) in by_target(rows) {
        let name = name.to_owned();
        let points = filled(points, window);
        kinds.entry(kind).or_default().push(Series { name, points });
    }
    let work = |target: &Series| {
        let values = target.points.iter().filter_map(|point| point.value);
        values.sum::<f64>()
    };
    let mut left_out = 0;
    for targets in kinds.values_mut() {
        targets.sort_by(|one, other| work(other).total_cmp(&work(one)));
        left_out += targets.len().saturating_sub(TARGETS);
        targets.truncate(TARGETS);
        targets.sort_by(|one, other| one.name.cmp(&other.name));
    }
    (kinds.into_values().collect(), left_out)
}

/// Adds a step without data for the rest of the window. An answer ends with the last observation of any target.
fn filled(mut points: Vec<Point>, window: Span) -> Vec<Point> {
    let end = points.last().map_or(window.1, Point::end);
    points.extend(Point::between(end, window.1, None));
    points
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn the_rest_of_a_window_has_no_data() {
        let time = |second| Timestamp::from_second(second).unwrap();
        let point = Point {
            time: time(0),
            seconds: 600.0,
            value: Some(1.0),
        };
        let until = |second| filled(vec![point], (time(0), time(second)));
        assert_eq!(until(600), [point]);
        let rest = until(2000)[1];
        assert_eq!(
            (rest.time, rest.seconds, rest.value),
            (time(600), 1400.0, None)
        );
    }
}
