//! Distribution of users' rates over time, in one chart.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jobstats_client::answers::{Densities, DensityRow};

use super::load::Load;
use super::vocabulary::*;
use crate::show::chart::frame::most;
use crate::show::chart::grid::counts;

/// The largest number of steps: a number fits into a cell.
const STEPS: usize = 49;

/// The number of powers of ten that are drawn. Smaller rates are in the lowest row.
const BUCKETS: i32 = 7;

/// The users by rate in steps.
struct Users<'s> {
    scope: &'s Scope,
    /// The width of the steps in seconds.
    step: i64,
    rows: Vec<DensityRow>,
    /// The lowest row, which has all smaller rates too.
    lowest: i32,
    highest: i32,
}

/// Loads the chart.
pub fn ask(store: &mut Store, scope: &Scope, load: &Load) -> Result<Block, Error> {
    let step = when::step(when::seconds(scope.window), 600, STEPS);
    let densities = store.ask(&Densities {
        window: scope.work().window(),
        operation: Some(scope.measure.name().to_owned()),
        step: Some(when::interval(step)),
        filter: scope.work().filters,
    })?;
    let buckets = densities.rows.iter().map(|row| row.bucket);
    let (Some(highest), Some(lowest)) = (buckets.clone().max(), buckets.min()) else {
        return Ok(Block::text("No user did I/O in this window."));
    };
    let users = Users {
        scope,
        step,
        rows: densities.rows,
        lowest: lowest.max(highest - BUCKETS + 1),
        highest,
    };
    Ok(users.figure(load, densities.statement))
}

impl Users<'_> {
    fn figure(&self, load: &Load, statement: String) -> Block {
        let rows = self.counts(load);
        let top = most(&rows[0].points);
        let measure = self.scope.title().to_lowercase();
        let description = format!(
            "At most {top:.0} users at a time had a rate of {}.",
            self.named(self.highest)
        );
        let words = Words::new(format!("Number of users by rate: {measure}"), description);
        Block::from(Figure {
            heading: "Number of users by rate".to_owned(),
            caption: format!(
                "Each number counts the users with that rate in {}. A small number near the top means that a few users did far more than \
                 the others.",
                when::width(self.step)
            ),
            chart: counts(&words, "users", &self.scope.axis(), &rows),
            table: self.table(),
            statements: vec![("Users by rate".to_owned(), statement)],
        })
    }

    /// Returns the name of a row of the picture.
    fn named(&self, bucket: i32) -> String {
        match bucket == self.lowest {
            true => format!("under {}", self.scope.power(bucket + 1)),
            false => range(self.scope, bucket),
        }
    }

    /// Returns the rows of the picture, those with the highest rates first.
    fn counts(&self, load: &Load) -> Vec<Series> {
        let end = load.now.last().map_or(self.scope.window.1, Point::end);
        let (since, clock) = (self.scope.window.0, &self.scope.clock);
        let mut steps = BTreeMap::new();
        let mut counts: BTreeMap<(i32, Timestamp), f64> = BTreeMap::new();
        for row in &self.rows {
            let end = clock.step_end(row.time, self.step, since).min(end);
            steps.insert(row.time, when::seconds((row.time, end)));
            let count = counts.entry((row.bucket.max(self.lowest), row.time));
            *count.or_default() += row.count as f64;
        }
        let idle = idle(&steps, self.scope.window, load);
        let rows = (self.lowest..=self.highest).rev().map(|bucket| {
            let known = steps.iter().map(|(time, seconds)| Point {
                time: *time,
                seconds: *seconds,
                value: Some(counts.get(&(bucket, *time)).copied().unwrap_or(0.0)),
            });
            let mut points: Vec<_> = known.chain(idle.iter().copied()).collect();
            points.sort_by_key(|point| point.time);
            Series {
                name: self.named(bucket),
                points,
            }
        });
        rows.collect()
    }

    fn table(&self) -> Table {
        let cells = |row: &DensityRow| {
            [
                ("Step", Cell::text(&self.scope.clock.minute(row.time))),
                ("Rate per user", Cell::text(&range(self.scope, row.bucket))),
                ("Users", Cell::number(row.count)),
            ]
        };
        let caption = "users by step and rate, highest rates first";
        Table::largest(caption, &self.rows, |row| Some(row.bucket.into()), cells)
    }
}

/// Returns the words for the rates of a bucket.
fn range(scope: &Scope, bucket: i32) -> String {
    format!("{} to {}", scope.power(bucket), scope.power(bucket + 1))
}

/// Returns steps for times without any rate: 0 where the load was observed, else no value.
fn idle(steps: &BTreeMap<Timestamp, f64>, window: Span, load: &Load) -> Vec<Point> {
    let mut points = Vec::new();
    let mut at = window.0;
    let last = (&window.1, &0.0);
    for (time, seconds) in steps.iter().chain([last]) {
        for point in &load.now {
            let (start, end) = (point.time.max(at), point.end().min(*time));
            if start < end {
                points.extend(Point::between(at, start, None));
                points.extend(Point::between(start, end, point.value.map(|_| 0.0)));
                at = end;
            }
        }
        points.extend(Point::between(at, *time, None));
        at = at.max(after(*time, *seconds));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{load, scope, time};

    #[test]
    fn small_rates_are_powers_of_ten() {
        let scope = scope(3600);
        let of = |bucket| range(&scope, bucket);
        assert_eq!(of(-3), "0.001 to 0.01");
        assert_eq!(of(-4), "1e-4 to 0.001");
        assert_eq!(of(-12), "1e-12 to 1e-11");
    }

    #[test]
    fn idle_time_is_zero_and_unobserved_time_is_unknown() {
        let load = load(&[
            (0, Some(1.0)),
            (600, Some(0.0)),
            (1200, None),
            (1800, Some(2.0)),
        ]);
        let steps = BTreeMap::from([(time(0), 600.0), (time(1800), 600.0)]);
        let cells = idle(&steps, scope(3600).window, &load);
        let cells = cells
            .iter()
            .map(|it| (it.time.as_second(), it.seconds, it.value));
        assert_eq!(
            cells.collect::<Vec<_>>(),
            [
                (600, 600.0, Some(0.0)),
                (1200, 600.0, None),
                (2400, 1200.0, None)
            ]
        );
    }

    #[test]
    fn rows_are_named_as_in_the_table() {
        let scope = scope(3600);
        let row = |bucket, count| DensityRow {
            time: time(0),
            bucket,
            count,
        };
        let users = Users {
            scope: &scope,
            step: 3600,
            rows: vec![row(1, 2), row(-1, 5), row(-2, 7)],
            lowest: -1,
            highest: 1,
        };
        let rows = users.counts(&load(&[]));
        let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["10 to 100", "1 to 10", "under 1"]);
        // A row without users has zeros, and the lowest row has all smaller rates.
        let values: Vec<_> = rows.iter().map(|row| row.points[0].value).collect();
        assert_eq!(values, [Some(2.0), Some(0.0), Some(12.0)]);
        let table = users.table();
        assert_eq!(
            (
                table.rows[0][1].text.as_str(),
                table.rows[2][1].text.as_str()
            ),
            ("10 to 100", "0.01 to 0.1")
        );
    }
}
