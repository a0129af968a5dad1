//! The page about a job, a user or a target.

use jobstats_core::quantity::Quantity;

use super::{cell, made, section, sizes};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::chart::frame::TimeAxis;
use crate::show::chart::line::{Point, band};
use crate::show::chart::{Chart, Words};
use crate::show::html::{Block, Cell, Figure, Page, Table};
use crate::subject::sheet::{label, value};
use crate::subject::{COURSE, Kind, Ranking, Subject, number};
use crate::values::number::Number;
use crate::values::text::shown;
use crate::values::when::{self, Clock};

/// Makes the page.
///
/// # Errors
///
/// Fails if the store does.
pub fn page(store: &mut Store, subject: &Subject, clock: &Clock) -> Result<Page, Error> {
    let facts = subject.facts.iter().map(|fact| {
        let value = shown(&value(&fact.value, clock));
        (fact.label.to_owned(), value)
    });
    let mut sections = vec![section(
        "what",
        "What it did",
        vec![
            Block::Facts(facts.collect()),
            Block::Tables(vec![usage(subject)]),
        ],
    )];
    let said = subject.findings.iter().chain(&subject.notes);
    let said: Vec<_> = said.map(|note| shown(note)).collect();
    if !said.is_empty() {
        sections[0].blocks.push(Block::List(said));
    }
    if !subject.course.steps.is_empty() {
        sections.push(section("when", "When", course(subject, clock)));
        sections.push(section(
            "sizes",
            "Sizes of reads and writes",
            sizes::ask(store, subject.window, &subject.filters)?,
        ));
    }
    if !subject.rankings.is_empty() {
        sections.push(section(
            "where",
            "Where, and by whom",
            subject
                .rankings
                .iter()
                .map(|it| Block::Tables(vec![ranking(it)]))
                .collect(),
        ));
    }
    let statements = subject.statements.iter();
    let statements = statements.map(|(title, sql)| ((*title).to_owned(), sql.clone()));
    sections.push(section(
        "statements",
        "The same in SQL",
        vec![Block::Statements(statements.collect())],
    ));
    let name = shown(&subject.name);
    let mut about = vec![
        clock.window(subject.window),
        format!("All times are {}", clock.name()),
    ];
    about.extend(made(clock));
    Ok(Page {
        title: format!("{} {name}", subject.kind.name()),
        kind: "Use of Lustre".to_owned(),
        heading: format!("{} {name}", title(subject.kind)),
        lead: lead(subject),
        about,
        sections,
    })
}

const fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Job => "Job",
        Kind::User => "User",
        Kind::Target => "Target",
    }
}

/// Returns the sentence that says the most important.
fn lead(subject: &Subject) -> String {
    let total = |operation: &str| {
        let usage = subject.used(operation)?;
        let total = usage.total.map(number)?;
        Some(Number::of(Some(total), operation, Quantity::Total).text())
    };
    let mut said = Vec::new();
    for (operation, verb) in [
        ("read_bytes", "read"),
        ("write_bytes", "written"),
        ("metadata", "metadata requests"),
    ] {
        said.extend(total(operation).map(|total| format!("{total} {verb}")));
    }
    if let Some(rate) = subject.used("service_time").and_then(|usage| usage.rate) {
        let rate = Number::of(Some(rate), "service_time", Quantity::Rate).text();
        said.push(format!("{rate} requests in service on average"));
    }
    let first = subject.rankings.first().and_then(|ranking| {
        let row = ranking.rows.first()?;
        let name = shown(row.name.as_deref()?);
        let share = Number::percent(row.share).text();
        let by = if ranking.by == "user" { "by" } else { "on" };
        Some(match ranking.by {
            "job" => format!("{share} of it by job {name}"),
            _ => format!("{share} of it {by} {name}"),
        })
    });
    said.extend(first);
    match said.is_empty() {
        true => "No server observed any work.".to_owned(),
        false => format!("{}.", said.join(", ")),
    }
}

fn usage(subject: &Subject) -> Table {
    let rows = subject
        .usage
        .iter()
        .filter(|usage| usage.total.is_some())
        .map(|usage| {
            let name = usage.operation.as_str();
            let print = |value, quantity| cell(value, name, quantity);
            let highest = match COURSE.contains(&name) {
                true => print(subject.course.highest(name), Quantity::Rate),
                false => Cell::default(),
            };
            vec![
                Cell::text(label(name)),
                print(usage.total.map(number), Quantity::Total),
                print(usage.rate, Quantity::Rate),
                highest,
                print(usage.per_call, Quantity::PerCall),
            ]
        });
    let highest = format!("#Highest in {}", when::width(subject.course.step));
    let columns = ["Operation", "#Total", "#Mean", &highest, "#Per call"];
    let mut table = Table::new("Totals", &columns);
    table.rows = rows.collect();
    table
}

fn course(subject: &Subject, clock: &Clock) -> Vec<Block> {
    let axis = TimeAxis {
        window: subject.window,
        clock,
    };
    let step = when::width(subject.course.step);
    let blocks = COURSE.iter().enumerate().filter_map(|(place, operation)| {
        let points = subject.course.steps.iter().map(|step| Point {
            time: step.time,
            seconds: step.seconds,
            rate: step.rates[place],
        });
        let points: Vec<_> = points.collect();
        let highest = subject
            .course
            .highest(operation)
            .filter(|rate| *rate > 0.0)?;
        let print = |rate: f64| Number::of(Some(rate), operation, Quantity::Rate).text();
        let (heading, unit) = match *operation {
            "service_time" => ("Requests in service", "mean number"),
            "metadata" => ("Metadata requests", "per second"),
            other => (label(other), "bytes per second"),
        };
        let words = Words {
            title: format!("{heading}, {unit}"),
            description: format!("Highest: {}.", print(highest)),
        };
        let chart = Chart::new(|size| band(&words, &axis, (&points, &[]), &[], print, size));
        let rows = points.iter().map(|point| {
            let rate = cell(point.rate, operation, Quantity::Rate);
            let cells = vec![Cell::text(&clock.second(point.time)), rate];
            (point.rate.unwrap_or(-1.0), cells)
        });
        let statement = subject
            .statements
            .iter()
            .find(|(title, _)| *title == "Its course");
        Some(Block::Figure(Box::new(Figure {
            heading: heading.to_owned(),
            caption: format!("In steps of {step}; at most {}.", print(highest)),
            chart,
            table: Table::new("steps, largest first", &["Step", "#Rate"]).largest(rows.collect()),
            statements: statement
                .map(|(title, sql)| ((*title).to_owned(), sql.clone()))
                .into_iter()
                .collect(),
        })))
    });
    blocks.collect()
}

fn ranking(ranking: &Ranking) -> Table {
    let has_details = ranking.rows.iter().any(|row| row.detail.is_some());
    let rows = ranking.rows.iter().map(|row| {
        let name = row.name.as_ref().map(|name| shown(name));
        let name = name.unwrap_or_else(|| format!("(no {})", ranking.by));
        let total = |amount: Option<_>, name| cell(amount.map(number), name, Quantity::Total);
        let mut cells = vec![Cell::text(&name)];
        if has_details {
            cells.push(Cell::text(row.detail.as_deref().unwrap_or("–")));
        }
        cells.extend([
            Cell::bar(Number::percent(row.share).text(), row.share.unwrap_or(0.0)),
            total(row.service_time, "service_time"),
            total(row.read_bytes, "read_bytes"),
            total(row.write_bytes, "write_bytes"),
            total(row.metadata, "metadata"),
        ]);
        cells
    });
    let mut columns = vec!["Name"];
    if has_details {
        columns.push("Known as");
    }
    columns.extend(["#Part", "#Server time", "#Read", "#Written", "#Metadata"]);
    let mut table = Table::new(&format!("By {}", ranking.by), &columns);
    table.rows = rows.collect();
    table.more = ranking.more;
    table
}
