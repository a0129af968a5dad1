//! The rates of the largest operations, by target.

use std::collections::BTreeMap;

use jobstats_client::answers::{Dimension, RateRow, TotalRow};
use jobstats_core::base::operation::in_service_time;

use super::vocabulary::*;
use crate::show::chart::line::{LINES, lines as draw};

/// The number of operations besides bytes.
const SHOWN: usize = 6;

/// The largest number of rows of the answer.
const MOST: usize = 500_000;

/// The part of all work from which on an operation is drawn.
const LEAST: f64 = 0.01;

/// The largest number of steps.
const STEPS: usize = 97;

/// An operation that is drawn, with its part of all work; `None` for bytes.
type ChartedOperation = (String, Option<f64>);

/// Loads the charts: bytes read and written, and the operations with most service time.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let work = scope.work();
    let totals = work.totals(store, &names(scope))?;
    let chosen = chosen(&totals.rows);
    // An answer has at most a million rows.
    let most = MOST / (chosen.len() * scope.targets.len().max(1));
    let step = when::step(when::seconds(scope.window), 600, STEPS.min(most.max(1)));
    let operations: Vec<_> = chosen.iter().map(|(name, _)| name.as_str()).collect();
    let by = [Dimension::Kind, Dimension::Target];
    let rates = work.rates(store, &operations, &by, Some(step))?;
    let mut blocks = Vec::new();
    for chosen in &chosen {
        let rows = rates.rows.iter().filter(|row| row.operation == chosen.0);
        let rows: Vec<_> = rows.collect();
        let statement = (step, rates.statement.as_str());
        blocks.extend(figure(scope, chosen, &rows, statement));
    }
    blocks.push(Block::statement("All operations", totals.statement));
    Ok(blocks)
}

/// Returns the measures of operations: their times, or their counts if no server reports times.
fn names(scope: &Scope) -> Vec<String> {
    let suffix = if scope.measure.is_time() { "_time" } else { "" };
    in_service_time()
        .map(|it| format!("{}{suffix}", it.name))
        .collect()
}

/// Chooses bytes, and the operations with most work.
fn chosen(totals: &[TotalRow]) -> Vec<ChartedOperation> {
    let totals = totals.iter();
    let known = totals.filter_map(|row| Some((row, number(row.total?))));
    let mut largest: Vec<_> = known.filter(|(_, total)| *total > 0.0).collect();
    largest.sort_by(|one, other| other.1.total_cmp(&one.1));
    let whole: f64 = largest.iter().map(|(_, total)| total).sum();
    let mut chosen = vec![
        ("read_bytes".to_owned(), None),
        ("write_bytes".to_owned(), None),
    ];
    let largest = largest.iter().filter(|(_, total)| *total >= LEAST * whole);
    chosen.extend(largest.take(SHOWN).map(|(row, total)| {
        let name = row.operation.trim_end_matches("_time").to_owned();
        (name, Some(total / whole))
    }));
    chosen
}

fn figure(
    scope: &Scope,
    (operation, share): &ChartedOperation,
    rows: &[&RateRow],
    (step, statement): (i64, &str),
) -> Option<Block> {
    let lines = Lines::of(rows);
    if lines.drawn.is_empty() {
        return None;
    }
    let print = |value: f64| rate(value, operation);
    let name = match operation.as_str() {
        "read_bytes" => "Bytes read".to_owned(),
        "write_bytes" => "Bytes written".to_owned(),
        call => format!("Calls of {call}"),
    };
    let drawn = lines.drawn.iter().map(|series| shown(&series.name));
    let drawn = drawn.collect::<Vec<_>>().join(", ");
    let words = Words::new(
        format!("{name}, per second"),
        format!("The targets with most of it: {drawn}."),
    );
    let mut caption = lines.said(step);
    if let Some(share) = share {
        let of = match scope.measure.is_time() {
            true => "the time that servers spent on requests",
            false => "all requests",
        };
        caption = format!("{} of {of}. {caption}", percent(*share));
    }
    Some(Block::from(Figure {
        heading: name,
        caption,
        chart: draw(&words, &scope.axis(), &lines.drawn, print),
        table: steps(scope, ("steps", "Rate"), rows, operation),
        statements: vec![("All of these operations".to_owned(), statement.to_owned())],
    }))
}

/// The lines of an operation.
struct Lines {
    /// The targets with most work, and the mean of the others of a kind as the last line.
    drawn: Vec<Series>,
    /// The name of the mean, if there is one.
    mean: Option<String>,
    /// True if there are targets of another kind that did any of it, and are not drawn.
    leaves_out: bool,
}

impl Lines {
    /// Returns the busiest targets as lines, and the mean of the others as the last one. Their sum would hide how single targets differ.
    /// The mean covers one kind: an MDT with small files also serves reads, but is not comparable with OSTs.
    fn of(rows: &[&RateRow]) -> Self {
        let targets = by_target(rows.iter().copied()).into_iter();
        let targets = targets.map(|((kind, name), points)| {
            let name = name.to_owned();
            (kind, Series { name, points })
        });
        let mut targets: Vec<_> = targets.collect();
        let work = |series: &Series| work(&series.points);
        targets.sort_by(|(_, one), (_, other)| work(other).total_cmp(&work(one)));
        let busy = targets.iter().take_while(|(_, it)| work(it) > 0.0).count();
        let is_all = busy <= LINES;
        let others = targets.split_off(if is_all { busy } else { LINES - 1 });
        let mut lines = Self {
            drawn: targets.into_iter().map(|(_, series)| series).collect(),
            mean: None,
            leaves_out: false,
        };
        let Some((kind, _)) = others.first().filter(|_| !is_all) else {
            return lines;
        };
        let is_other = |(it, series): &(&str, Series)| it != kind && work(series) > 0.0;
        lines.leaves_out = others.iter().any(is_other);
        // A target that was idle is one of the others too.
        let is_known = |series: &&Series| series.points.iter().any(|point| point.value.is_some());
        let of_kind = others.iter().filter(|(it, _)| it == kind);
        let of_kind: Vec<_> = of_kind.map(|(_, series)| series).filter(is_known).collect();
        let ending = if of_kind.len() == 1 { "" } else { "s" };
        let name = format!("mean of {} other {kind}{ending}", of_kind.len());
        lines.drawn.push(mean_of(&of_kind, name.clone()));
        lines.mean = Some(name);
        lines
    }

    /// Names the lines.
    fn said(&self, step: i64) -> String {
        let step = when::width(step);
        let Some(mean) = &self.mean else {
            return format!("Rates in steps of {step}, of all targets that did any of it.");
        };
        let mut said =
            format!("Rates in steps of {step}, of the targets with most of it, and the {mean}.");
        if self.leaves_out {
            said.push_str(" Targets of another kind with less of it are only in the numbers.");
        }
        said
    }
}

/// Returns the mean of lines. A step that no target was observed in stays a gap.
fn mean_of(others: &[&Series], name: String) -> Series {
    let mut steps: BTreeMap<_, Vec<&Point>> = BTreeMap::new();
    for point in others.iter().flat_map(|series| &series.points) {
        steps.entry(point.time).or_default().push(point);
    }
    let points = steps.values().map(|step| Point {
        value: mean(step.iter().filter_map(|point| point.value)),
        ..*step[0]
    });
    Series {
        name,
        points: points.collect(),
    }
}

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Group;

    use super::*;

    #[test]
    fn the_mean_is_that_of_the_other_targets_of_one_kind() {
        let row = |kind: &str, number: usize, rate: f64| RateRow {
            seconds: 600.0,
            labels: Group {
                kind: Some(kind.to_owned()),
                target: Some(format!("scratch-{kind}{number:04x}")),
                ..Group::default()
            },
            rate: Some(rate),
            ..RateRow::default()
        };
        let mut rows: Vec<_> = (0..LINES - 1)
            .map(|number| row("OST", number, 100.0))
            .collect();
        rows.extend([
            row("OST", 10, 30.0),
            row("OST", 11, 0.0),
            row("MDT", 0, 1.0),
            row("MDT", 1, 0.0),
        ]);
        let lines = Lines::of(&rows.iter().collect::<Vec<_>>());
        let last = lines.drawn.last().unwrap();
        assert_eq!(
            (lines.drawn.len(), last.name.as_str()),
            (LINES, "mean of 2 other OSTs")
        );
        assert_eq!(last.points[0].value, Some(15.0));
        assert_eq!(
            lines.said(600),
            "Rates in steps of 10 min, of the targets with most of it, and the mean of 2 other OSTs. Targets \
             of another kind with less of it are only in the numbers."
        );
        let few: Vec<_> = rows.iter().take(2).collect();
        let lines = Lines::of(&few);
        assert_eq!((lines.drawn.len(), lines.mean.as_deref()), (2, None));
    }
}
