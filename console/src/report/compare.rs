//! The page that compares jobs, each from its own start.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Compare, CompareRow, Window};
use jobstats_core::quantity::Quantity;

use super::{cell, made, section};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::chart::frame::TimeAxis;
use crate::show::chart::line::{LINES, Point, Series, lines};
use crate::show::chart::{Chart, Words};
use crate::show::html::{Block, Cell, Figure, Page, Table};
use crate::subject::chosen::chosen;
use crate::subject::sheet::{label, value};
use crate::subject::{COURSE, Subject, interval, number, seconds};
use crate::values::number::Number;
use crate::values::text::shown;
use crate::values::when::{self, Clock};

/// The largest number of steps.
const STEPS: usize = 97;

/// Makes the page.
///
/// # Errors
///
/// Fails if a job is unknown or that of several schedulers, or if the store does.
pub fn page(
    store: &mut Store,
    jobs: &[String],
    scheduler: Option<&str>,
    clock: &Clock,
) -> Result<Page, Error> {
    let mut subjects = Vec::new();
    for job in jobs {
        subjects.push(chosen(store, job, scheduler, Window::default(), clock)?);
    }
    let longest = subjects
        .iter()
        .map(|it| seconds(it.window))
        .fold(60.0, f64::max);
    let step = when::step(longest, 60, STEPS);
    let compared = store.ask(&Compare {
        jobs: jobs.to_vec(),
        step: Some(interval(step)),
        operations: Some(COURSE.map(str::to_owned).to_vec()),
        scheduler: scheduler.map(str::to_owned),
    })?;
    let names: Vec<_> = jobs.iter().map(|job| shown(job)).collect();
    let mut totals = vec![Block::Tables(vec![facts(&subjects, clock)])];
    totals.push(Block::Tables(vec![usage(&subjects)]));
    let notes: Vec<_> = compared.notes.iter().map(|note| shown(note)).collect();
    if !notes.is_empty() {
        totals.push(Block::List(notes));
    }
    let figures = COURSE.iter().filter_map(|operation| {
        figure(
            operation,
            &compared.rows,
            jobs,
            (longest, step),
            &compared.statement,
        )
    });
    Ok(Page {
        title: format!("Jobs {}", names.join(", ")),
        kind: "Use of Lustre".to_owned(),
        heading: format!("Jobs {}", names.join(", ")),
        lead: lead(&subjects),
        about: made(clock),
        sections: vec![
            section("what", "What they did", totals),
            section("when", "From the start of each", figures.collect()),
        ],
    })
}

/// Says in which number the jobs differ most.
fn lead(subjects: &[Subject]) -> String {
    let ratio = |operation: &str| {
        let totals = subjects.iter().map(|subject| {
            let usage = subject.used(operation)?;
            Some((shown(&subject.name), number(usage.total?)))
        });
        let totals: Vec<_> = totals.collect::<Option<_>>()?;
        let by_total = |one: &&(String, f64), other: &&(String, f64)| one.1.total_cmp(&other.1);
        let (least, most) = (
            totals.iter().min_by(by_total)?,
            totals.iter().max_by(by_total)?,
        );
        (least.1 > 0.0).then(|| {
            (
                most.1 / least.1,
                most.clone(),
                least.clone(),
                operation.to_owned(),
            )
        })
    };
    let most = COURSE.iter().filter_map(|operation| ratio(operation));
    let most = most.max_by(|one, other| one.0.total_cmp(&other.0));
    let Some((ratio, most, least, operation)) = most else {
        return "The jobs have no number in common.".to_owned();
    };
    let print = |total| Number::of(Some(total), &operation, Quantity::Total).text();
    format!(
        "The largest difference is in {}: {} for job {}, {} times the {} of job {}.",
        match operation.as_str() {
            "read_bytes" => "bytes read",
            "write_bytes" => "bytes written",
            "metadata" => "metadata requests",
            _ => "server time",
        },
        print(most.1),
        most.0,
        Number::of(Some(ratio), "service_time", Quantity::Rate).text(),
        print(least.1),
        least.0
    )
}

fn header(subjects: &[Subject], first: &str) -> Vec<(String, bool)> {
    let jobs = subjects.iter().map(|subject| (shown(&subject.name), true));
    std::iter::once((first.to_owned(), false))
        .chain(jobs)
        .collect()
}

fn facts(subjects: &[Subject], clock: &Clock) -> Table {
    let keys = [
        "job_name", "user", "account", "state", "nodes", "started", "run_time",
    ];
    let rows = keys.iter().filter_map(|key| {
        let fact = |subject: &Subject| subject.facts.iter().find(|fact| fact.key == *key).cloned();
        let label = subjects.iter().find_map(fact)?.label;
        let values = subjects.iter().map(|subject| {
            let value = fact(subject).map(|fact| value(&fact.value, clock));
            Cell {
                is_number: true,
                ..Cell::text(value.as_deref().unwrap_or("–"))
            }
        });
        Some(std::iter::once(Cell::text(label)).chain(values).collect())
    });
    Table {
        caption: "The jobs".to_owned(),
        columns: header(subjects, "Job"),
        rows: rows.collect(),
        ..Table::default()
    }
}

fn usage(subjects: &[Subject]) -> Table {
    let mut rows = Vec::new();
    for operation in COURSE {
        let rate = |quantity, title: &str| {
            let cells = subjects.iter().map(|subject| {
                let value = match (subject.used(operation), quantity) {
                    (Some(usage), Quantity::Total) => usage.total.map(number),
                    (Some(usage), Quantity::Rate) => usage.rate,
                    // A job without a row did nothing of it; times are not known of all servers.
                    (None, Quantity::Total | Quantity::Rate) if operation != "service_time" => {
                        Some(0.0)
                    }
                    (usage, _) => usage.and_then(|usage| usage.per_call),
                };
                cell(value, operation, quantity)
            });
            let label = format!("{}, {title}", label(operation));
            std::iter::once(Cell::text(&label))
                .chain(cells)
                .collect::<Vec<_>>()
        };
        rows.push(rate(Quantity::Total, "total"));
        rows.push(rate(Quantity::Rate, "mean"));
        rows.push(rate(Quantity::PerCall, "per call"));
    }
    Table {
        caption: "Totals".to_owned(),
        columns: header(subjects, "Operation"),
        rows,
        ..Table::default()
    }
}

/// Draws the rates of the jobs over the time since each began.
fn figure(
    operation: &str,
    rows: &[CompareRow],
    jobs: &[String],
    (longest, step): (f64, i64),
    statement: &str,
) -> Option<Block> {
    let rows = rows.iter().filter(|row| row.operation == operation);
    let rows: Vec<_> = rows.collect();
    // The axis counts from here.
    let start = Timestamp::UNIX_EPOCH;
    let since = |row: &CompareRow| start.saturating_add(row.since_start.0).unwrap_or(start);
    let series = jobs.iter().map(|job| Series {
        name: format!("job {}", shown(job)),
        points: rows
            .iter()
            .filter(|row| row.job == *job)
            .map(|row| Point {
                time: since(row),
                seconds: row.seconds,
                rate: row.rate,
            })
            .collect(),
    });
    let series: Vec<_> = series.collect();
    let does = |series: &Series| series.points.iter().any(|point| point.rate > Some(0.0));
    if !series.iter().any(does) {
        return None;
    }
    let clock = Clock::stopwatch();
    let length = SignedDuration::try_from_secs_f64(longest).unwrap_or_default();
    let axis = TimeAxis {
        window: (start, start.saturating_add(length).unwrap_or(start)),
        clock: &clock,
    };
    let print = |rate: f64| Number::of(Some(rate), operation, Quantity::Rate).text();
    let words = Words {
        title: format!("{}, by the time since the start", label(operation)),
        description: format!("Steps of {}.", when::width(step)),
    };
    let chart = Chart::new(|size| lines(&words, &axis, &series, print, size));
    let mut caption = format!(
        "In steps of {}, counted from the start of each job.",
        when::width(step)
    );
    if jobs.len() > LINES {
        caption.push_str(&format!(
            " The first {LINES} jobs are drawn; the numbers have all."
        ));
    }
    Some(Block::Figure(Box::new(Figure {
        heading: label(operation).to_owned(),
        caption,
        chart,
        table: steps(operation, &rows),
        statements: vec![("All jobs".to_owned(), statement.to_owned())],
    })))
}

fn steps(operation: &str, rows: &[&CompareRow]) -> Table {
    let cells = rows.iter().map(|row| {
        let cells = vec![
            Cell::text(&row.job),
            Cell::text(&when::length(row.since_start.0.as_secs_f64())),
            cell(row.rate, operation, Quantity::Rate),
        ];
        (row.rate.unwrap_or(-1.0), cells)
    });
    let table = Table::new("steps, largest first", &["Job", "Since its start", "#Rate"]);
    table.largest(cells.collect())
}
