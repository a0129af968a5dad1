//! The page that compares jobs, each from its own start.

use jiff::Timestamp;
use jobstats_client::answers::{Compare, CompareRow, Window, words};
use jobstats_core::output::quantity::Quantity;

use super::vocabulary::*;
use crate::show::chart::frame::most;
use crate::show::chart::line::{LINES, lines};
use crate::subject::chosen::chosen;
use crate::subject::{COURSE, Subject, label};

/// The largest number of steps.
const STEPS: usize = 97;

/// The start of each job on the axis of time: a Monday, from which steps are counted.
const START: Timestamp = Timestamp::constant(946_857_600, 0);

/// Creates the page. Fails if a job is unknown or ambiguous, or if the store fails.
pub fn page(
    store: &mut Store,
    jobs: &[String],
    scheduler: Option<&str>,
    clock: &Clock,
) -> Result<Page, Error> {
    let mut subjects = Vec::new();
    for job in jobs {
        let (subject, _) = chosen(store, job, scheduler, Window::default(), clock)?;
        subjects.push(subject);
    }
    // Jobs have the names that they were found by.
    let jobs: Vec<_> = subjects.iter().map(|it| it.name.clone()).collect();
    let lengths = subjects.iter().map(|it| when::seconds(it.work.window));
    let longest = lengths.fold(60.0, f64::max);
    let step = when::step(longest, 60, STEPS);
    let compared = store.ask(&Compare {
        jobs: jobs.clone(),
        step: Some(when::interval(step)),
        operations: words(COURSE),
        scheduler: scheduler.map(str::to_owned),
    })?;
    let names: Vec<_> = jobs.iter().map(|job| shown(job)).collect();
    let title = format!("Jobs {}", names.join(", "));
    let mut totals = vec![facts(&subjects, clock).into(), usage(&subjects).into()];
    totals.extend(Block::notes(&compared.notes));
    let figures = COURSE.iter().filter_map(|operation| {
        let rows = compared.rows.iter();
        let rows: Vec<_> = rows.filter(|row| row.operation == *operation).collect();
        figure(
            operation,
            &rows,
            &jobs,
            (longest, step),
            &compared.statement,
        )
    });
    Ok(Page {
        title: title.clone(),
        heading: title,
        lead: lead(&subjects),
        sections: vec![
            Section::new("what", "Comparison", totals),
            Section::new("when", "Over time", figures.collect()),
        ],
        ..made(clock)
    })
}

/// Names the largest difference between the jobs.
fn lead(subjects: &[Subject]) -> String {
    let ends = |operation: &'static str| {
        let totals = subjects.iter().map(|subject| {
            let usage = subject.used(operation)?;
            Some((shown(&subject.name), number(usage.total?)))
        });
        let mut totals: Vec<_> = totals.collect::<Option<_>>()?;
        totals.sort_by(|one, other| one.1.total_cmp(&other.1));
        let (least, most) = (totals.first()?.clone(), totals.pop()?);
        (least.1 > 0.0).then(|| (most.1 / least.1, most, least, operation))
    };
    let most = COURSE.iter().filter_map(|operation| ends(operation));
    let most = most.max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((times, most, least, operation)) = most else {
        return "The jobs have no data in common.".to_owned();
    };
    format!(
        "The largest difference is in {}: {} for job {}, {} times the {} of job {}.",
        match operation {
            "read_bytes" => "bytes read",
            "write_bytes" => "bytes written",
            "metadata" => "metadata requests",
            _ => "server time",
        },
        total(most.1, operation),
        most.0,
        ratio(times),
        total(least.1, operation),
        least.0
    )
}

/// Returns a row that has a cell for each job.
fn row(
    title: &str,
    name: &str,
    subjects: &[Subject],
    cell: impl Fn(&Subject) -> Cell,
) -> Vec<(String, Cell)> {
    let mut row = vec![(title.to_owned(), Cell::text(name))];
    row.extend(subjects.iter().map(|it| (shown(&it.name), cell(it))));
    row
}

fn facts(subjects: &[Subject], clock: &Clock) -> Table {
    let keys = [
        "job_name", "user", "account", "state", "nodes", "started", "run_time",
    ];
    let rows = keys.iter().filter_map(|key| {
        let fact = |subject: &Subject| subject.facts.iter().find(|fact| fact.key == *key).cloned();
        let label = subjects.iter().find_map(fact)?.label;
        Some(row("Job", label, subjects, |subject| Cell {
            is_number: true,
            ..Cell::name(fact(subject).map(|it| it.value.shown(clock)))
        }))
    });
    Table::new("The jobs", rows)
}

fn usage(subjects: &[Subject]) -> Table {
    let quantities = [
        (Quantity::Total, "total"),
        (Quantity::Rate, "mean"),
        (Quantity::PerCall, "per call"),
    ];
    let rows = COURSE.iter().flat_map(|operation| {
        quantities.iter().map(move |(quantity, title)| {
            let name = format!("{}, {title}", label(operation));
            row("Operation", &name, subjects, |subject| {
                let value = match (subject.used(operation), quantity) {
                    (Some(usage), Quantity::Total) => usage.total.map(number),
                    (Some(usage), Quantity::Rate) => usage.rate,
                    (Some(usage), Quantity::PerCall) => usage.per_call,
                    // A missing row is zero; only times may be unknown.
                    (None, Quantity::PerCall) => None,
                    (None, _) => (*operation != "service_time").then_some(0.0),
                };
                Cell::value(value, operation, *quantity)
            })
        })
    });
    Table::new("Totals", rows)
}

/// Draws the rates of the jobs over the time since each began.
fn figure(
    operation: &str,
    rows: &[&CompareRow],
    jobs: &[String],
    (longest, step): (f64, i64),
    statement: &str,
) -> Option<Block> {
    if rows.iter().all(|row| row.rate <= Some(0.0)) {
        return None;
    }
    let series = jobs.iter().map(|job| Series {
        name: format!("job {}", shown(job)),
        points: rows
            .iter()
            .filter(|row| row.job == *job)
            .map(|row| Point {
                time: START.saturating_add(row.since_start.0).unwrap_or(START),
                seconds: (longest - row.since_start.0.as_secs_f64()).min(step as f64),
                value: row.rate,
            })
            .collect(),
    });
    let series: Vec<_> = series.collect();
    let clock = Clock::stopwatch();
    let axis = TimeAxis::new((START, after(START, longest)), &clock);
    let print = |value: f64| rate(value, operation);
    let highest = |it: &Series| format!("{}: at most {}", it.name, print(most(&it.points)));
    let words = Words::new(
        format!("{}, by time since the start", label(operation)),
        joined(series.iter().map(highest)).unwrap_or_default(),
    );
    let width = when::width(step);
    let mut caption = format!("In steps of {width}, counted from the start of each job.");
    if jobs.len() > LINES {
        caption.push_str(&format!(
            " The first {LINES} jobs are drawn; the table has all."
        ));
    }
    let cells = |row: &&CompareRow| {
        let since = when::length(row.since_start.0.as_secs_f64());
        [
            ("Job", Cell::text(&row.job)),
            ("Since start", Cell::text(&since)),
            ("Rate", Cell::rate(row.rate, operation)),
        ]
    };
    Some(Block::from(Figure {
        heading: label(operation).to_owned(),
        caption,
        chart: lines(&words, &axis, &series, print),
        table: Table::largest("steps, largest first", rows, |row| row.rate, cells),
        statements: vec![("All jobs".to_owned(), statement.to_owned())],
    }))
}
