//! The page about a job, a user or a target.

use jobstats_core::output::quantity::Quantity;

use super::space::{amount, change};
use super::vocabulary::*;
use super::{advice, sizes};
use crate::show::chart::line::band;
use crate::subject::sheet::{label, value};
use crate::subject::space::{Space, targets};
use crate::subject::{COURSE, Ranking, RankingRow, Subject, Usage};

/// Makes the page.
pub fn page(store: &mut Store, subject: &Subject, clock: &Clock) -> Result<Page, Error> {
    let facts = subject.facts.iter().map(|fact| {
        let value = shown(&value(&fact.value, clock));
        (fact.label.to_owned(), value)
    });
    let meanwhile = subject.meanwhile.iter().map(|it| {
        let sentences = it.sentences(clock, subject.work.window);
        Section::new("meanwhile", "While it ran", vec![Block::List(sentences)])
    });
    let mut what = vec![Block::Facts(facts.collect()), usage(subject).into()];
    what.extend(advice::of_subject(&subject.findings));
    what.extend(Block::notes(&subject.notes));
    let mut sections: Vec<_> = meanwhile.collect();
    sections.push(Section::new("what", "What it did", what));
    if !subject.course.steps.is_empty() {
        let sizes = sizes::ask(store, &subject.work)?;
        sections.extend([
            Section::new("when", "When", course(subject, clock)),
            Section::new("sizes", "Sizes of reads and writes", sizes),
        ]);
    }
    if let Some(space) = &subject.space {
        let owned = vec![owned(space, clock).into()];
        sections.push(Section::new("space", "Used space", owned));
    }
    if !subject.rankings.is_empty() {
        let rankings = subject.rankings.iter().map(ranking).map(Block::from);
        let rankings = rankings.collect();
        sections.push(Section::new("where", "Where, and by whom", rankings));
    }
    let statements = vec![Block::Statements(subject.statements.clone())];
    sections.push(Section::new("statements", "The same in SQL", statements));
    let (kind, name) = (subject.kind.name(), shown(&subject.name));
    Ok(Page {
        title: format!("{kind} {name}"),
        kind: "Use of Lustre",
        heading: format!("{}{} {name}", kind[..1].to_uppercase(), &kind[1..]),
        lead: lead(subject),
        about: vec![
            clock.window(subject.work.window),
            format!("All times are {}", clock.name()),
            made(clock),
        ],
        sections,
    })
}

/// Returns the main sentence.
fn lead(subject: &Subject) -> String {
    let mut said = Vec::new();
    for (operation, verb) in [
        ("read_bytes", "read"),
        ("write_bytes", "written"),
        ("metadata", "metadata requests"),
    ] {
        let amount = subject.used(operation).and_then(|usage| usage.total);
        let amount = amount.map(|amount| total(number(amount), operation));
        said.extend(amount.map(|amount| format!("{amount} {verb}")));
    }
    let busy = subject.used("service_time").and_then(|usage| usage.rate);
    said.extend(busy.map(|busy| format!("{} requests in service on average", ratio(busy))));
    let first = subject.rankings.first().and_then(|ranking| {
        let row = ranking.rows.first()?;
        let (name, share) = (shown(row.name.as_deref()?), percent(row.share));
        Some(match ranking.by {
            "job" => format!("{share} of it by job {name}"),
            "user" => format!("{share} of it by {name}"),
            _ => format!("{share} of it on {name}"),
        })
    });
    said.extend(first);
    match said.is_empty() {
        true => "No server observed any work.".to_owned(),
        false => format!("{}.", said.join(", ")),
    }
}

fn usage(subject: &Subject) -> Table {
    let highest_title = format!("Highest in {}", when::width(subject.course.step));
    let known = subject.usage.iter().filter(|usage| usage.total.is_some());
    let rows = known.map(|usage: &Usage| {
        let name = usage.operation.as_str();
        let highest = match COURSE.contains(&name) {
            true => Cell::rate(subject.course.highest(name), name),
            false => Cell::default(),
        };
        let total = usage.total.map(number);
        let per_call = Cell::value(usage.per_call, name, Quantity::PerCall);
        [
            ("Operation", Cell::text(label(name))),
            ("Total", Cell::value(total, name, Quantity::Total)),
            ("Mean", Cell::rate(usage.rate, name)),
            (highest_title.as_str(), highest),
            ("Per call", per_call),
        ]
    });
    Table::new("Totals", rows)
}

fn course(subject: &Subject, clock: &Clock) -> Vec<Block> {
    let statements = subject.statements.iter();
    let statements = statements.filter(|(title, _)| *title == "Its course");
    let statements: Statements = statements.take(1).cloned().collect();
    let axis = TimeAxis::new(subject.work.window, clock);
    let step = when::width(subject.course.step);
    let blocks = COURSE.iter().enumerate().filter_map(|(place, operation)| {
        let highest = subject.course.highest(operation);
        let highest = highest.filter(|highest| *highest > 0.0)?;
        let points = subject.course.steps.iter().map(|step| Point {
            time: step.time,
            seconds: step.seconds,
            value: step.rates[place],
        });
        let points: Vec<_> = points.collect();
        let print = |value: f64| rate(value, operation);
        let (heading, unit) = match *operation {
            "service_time" => ("Requests in service", "mean number"),
            "metadata" => ("Metadata requests", "per second"),
            other => (label(other), "bytes per second"),
        };
        let title = format!("{heading}, {unit}");
        let words = Words::new(title, format!("Highest: {}.", print(highest)));
        let cells = |point: &Point| {
            [
                ("Step", Cell::text(&clock.second(point.time))),
                ("Rate", Cell::rate(point.value, operation)),
            ]
        };
        Some(Block::from(Figure {
            heading: heading.to_owned(),
            caption: format!("In steps of {step}; at most {}.", print(highest)),
            chart: band(&words, &axis, (&points, &[]), &[], print),
            table: Table::largest("steps, largest first", &points, |point| point.value, cells),
            statements: statements.clone(),
        }))
    });
    blocks.collect()
}

fn owned(space: &Space, clock: &Clock) -> Table {
    let rows = space.answered.rows.iter().map(|row| {
        let share = space.share(row);
        let read = row.time.map(|read| clock.minute(read));
        [
            ("File system", Cell::text(&space.place(row))),
            ("Part of all", Cell::bar(share, share.unwrap_or(0.0))),
            ("Space", amount((Some(row.bytes), "bytes"))),
            ("Added", change((row.added_bytes, "bytes"))),
            ("Inodes", amount((row.inodes, "open"))),
            ("Added inodes", change((row.added_inodes, "open"))),
            ("Targets", Cell::number(targets(row))),
            ("Read at", Cell::name(read.as_ref())),
        ]
    });
    let since = space.since.map(|since| clock.minute(since));
    Table {
        note: since.map(|since| format!("Added: since {since}.")),
        ..Table::new("By file system", rows)
    }
}

fn ranking(ranking: &Ranking) -> Table {
    let has_details = ranking.rows.iter().any(|row| row.detail.is_some());
    let rows = ranking.rows.iter().map(|row: &RankingRow| {
        let mut cells = vec![("Name", Cell::text(&ranking.shown(row)))];
        if has_details {
            cells.push(("Known as", Cell::name(row.detail.as_ref())));
        }
        let part = Cell::bar(row.share, row.share.unwrap_or(0.0));
        cells.push(("Part", part));
        let titles = ["Server time", "Read", "Written", "Metadata"];
        let amounts = row.amounts().into_iter();
        cells.extend(titles.into_iter().zip(
            amounts.map(|(name, amount)| Cell::value(amount.map(number), name, Quantity::Total)),
        ));
        cells
    });
    Table {
        more: ranking.more,
        ..Table::new(&format!("By {}", ranking.by), rows)
    }
}
