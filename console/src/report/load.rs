//! The load of a file system over time, compared with a week before.

use jobstats_client::answers::RateRow;

use super::scope::WEEK;
use super::standout::Spans;
use super::vocabulary::*;
use crate::show::chart::line::band;

/// The largest number of steps.
const STEPS: usize = 145;

/// The load.
pub struct Load {
    /// The width of the steps in seconds.
    pub step: i64,
    /// The load in the window.
    pub now: Vec<Point>,
    /// The load a week before, shifted into the window; empty if not observed.
    pub before: Vec<Point>,
    /// The observed part of the window.
    pub coverage: f64,
    pub mean: Option<f64>,
    /// The mean a week before.
    pub mean_before: Option<f64>,
    /// The notices of the store.
    pub notes: Vec<String>,
    pub statements: Statements,
}

/// Loads the load and selects its measure: metadata requests if servers report no times.
pub fn ask(store: &mut Store, scope: &mut Scope) -> Result<Load, Error> {
    let (work, before) = (scope.work(), scope.week_before());
    let mut mean = work.rates(store, &[scope.measure.name()], &[], None)?;
    let is_known = |answer: &Answer<RateRow>| answer.rows.iter().any(|row| row.rate.is_some());
    if !is_known(&mean) {
        let without_times = work.rates(store, &[Measure::Metadata.name()], &[], None)?;
        // Without observations it is unknown whether servers report times.
        if is_known(&without_times) {
            (scope.measure, mean) = (Measure::Metadata, without_times);
        }
    }
    let measure = [scope.measure.name()];
    let step = when::step(when::seconds(scope.window), 600, STEPS);
    let now = work.rates(store, &measure, &[], Some(step))?;
    let steps_before = before.rates(store, &measure, &[], Some(step))?;
    let mean_before = before.rates(store, &measure, &[], None)?;
    let moved = steps_before.rows.iter().map(|row| Point {
        time: row.time.saturating_add(WEEK).unwrap_or(row.time),
        ..point(row)
    });
    let was_observed = is_known(&steps_before);
    let first = mean.rows.first();
    Ok(Load {
        step,
        now: now.rows.iter().map(point).collect(),
        before: moved.filter(|_| was_observed).collect(),
        coverage: first.map_or(0.0, |row| row.coverage),
        mean: first.and_then(|row| row.rate),
        notes: mean.notes,
        mean_before: mean_before.rows.first().and_then(|row| row.rate),
        statements: vec![
            ("The window".to_owned(), now.statement),
            ("A week before".to_owned(), steps_before.statement),
        ],
    })
}

impl Load {
    /// Returns the step with the highest load, unless it is 0.
    pub fn highest(&self) -> Option<Point> {
        let known = self.now.iter().filter(|point| point.value > Some(0.0));
        let rate = |point: &Point| point.value.unwrap_or_default();
        // Of equal steps, the first.
        known
            .copied()
            .rev()
            .max_by(|one, other| rate(one).total_cmp(&rate(other)))
    }

    /// Returns the picture of the load.
    pub fn figure(&self, scope: &Scope, spans: &Spans) -> Block {
        let (title, step) = (scope.title(), when::width(self.step));
        let description = format!(
            "Mean {} over the window, {} a week before. Steps of {step}.",
            scope.rate(self.mean),
            scope.rate(self.mean_before),
        );
        let words = Words::new(&title, description);
        let marks = spans.marks();
        let lines = (&self.now[..], &self.before[..]);
        let print = |rate: f64| scope.rate(rate);
        let mut caption = match scope.measure.is_time() {
            true => {
                format!("{title}: the mean number of requests handled at once, in steps of {step}.")
            }
            false => format!(
                "{title}, in steps of {step}. No server reports times (Lustre before 2.14), so requests measure the load."
            ),
        };
        caption.push_str(match self.before.is_empty() {
            true => " No data for the week before.",
            false => " The line is the same time a week before.",
        });
        if !marks.is_empty() {
            caption.push_str(" Numbers mark unusual spans.");
        }
        Block::from(Figure {
            heading: "Load".to_owned(),
            caption,
            chart: band(&words, &scope.axis(), lines, &marks, print),
            table: self.table(scope),
            statements: self.statements.clone(),
        })
    }

    fn table(&self, scope: &Scope) -> Table {
        let cells = |point: &Point| {
            let before = self.before.iter().find(|before| before.time == point.time);
            let before = before.and_then(|before| before.value);
            [
                ("Step", Cell::text(&scope.clock.minute(point.time))),
                ("Load", scope.cell(point.value)),
                ("A week before", scope.cell(before)),
            ]
        };
        let caption = "load by step, largest first";
        Table::largest(caption, &self.now, |point| point.value, cells)
    }
}
