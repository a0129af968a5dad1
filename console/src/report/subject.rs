//! The page about a job, a user or a target.

use std::cmp::Reverse;

use jobstats_client::Decimal;
use jobstats_core::output::quantity::Quantity;

use super::space::amounts;
use super::vocabulary::*;
use super::{advice, sizes};
use crate::show::chart::line::band;
use crate::subject::questions::sum_of;
use crate::subject::space::{Space, targets};
use crate::subject::{COURSE, Ranking, RankingRow, Subject, Usage, json, label};

/// Returns a subject in this form.
pub fn written(
    store: &mut Store,
    subject: &Subject,
    form: Form,
    screen: Screen,
    clock: &Clock,
) -> Result<String, Error> {
    if form == Form::Json {
        return Ok(json::document(subject) + "\n");
    }
    let sizes = match subject.course.steps.is_empty() {
        true => Vec::new(),
        false => sizes::ask(store, &subject.work)?,
    };
    super::written(store, page(subject, sizes, clock), form, screen)
}

/// Makes the page, with the sizes of its reads and writes.
fn page(subject: &Subject, sizes: Vec<Block>, clock: &Clock) -> Page {
    let facts = subject.facts.iter().map(|fact| {
        let value = shown(&fact.value.shown(clock));
        (fact.label.to_owned(), value)
    });
    let mut overview = vec![Block::Facts(facts.collect())];
    overview.extend(Block::notes(&subject.notes));
    let meanwhile = subject.meanwhile.iter();
    let meanwhile = meanwhile.map(|it| Block::List(it.sentences(clock, subject.work.window)));
    let rankings = subject.rankings.iter().map(|it| ranking(it).into());
    let space = subject.space.iter().map(|it| owned(it, clock).into());
    let statements = vec![Block::Statements(subject.statements.clone())];
    let advice = advice::of_subject(&subject.findings).into_iter().collect();
    let mut what = operations(subject);
    what.extend(sizes);
    let mut sections = vec![
        Section::new("overview", "Overview", overview),
        Section::new("meanwhile", "While it ran", meanwhile.collect()),
        Section::new("advice", "Findings", advice),
        Section::new("what", "Operations", what),
        Section::new("when", "Over time", course(subject, clock)),
        Section::new("where", "Breakdown", rankings.collect()),
        Section::new("space", "Used space", space.collect()),
        Section::new("statements", "The same in SQL", statements),
    ];
    sections.retain(|it| !it.blocks.is_empty());
    let (kind, name) = (subject.kind.name(), shown(&subject.name));
    Page {
        title: format!("{kind} {name}"),
        heading: format!("{}{} {name}", kind[..1].to_uppercase(), &kind[1..]),
        lead: lead(subject),
        about: vec![clock.window(subject.work.window), clock.note()],
        sections,
        ..made(clock)
    }
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
        let amount = amount.filter(|amount| !amount.is_zero());
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
        true => "No I/O was observed.".to_owned(),
        false => format!("{}.", said.join(", ")),
    }
}

/// Returns the table of operations, if the subject did anything: bytes, metadata requests and server time, each sum with its parts, by
/// their time.
pub fn operations(subject: &Subject) -> Vec<Block> {
    let whole = |operation: &str| -> Option<Decimal> { subject.used(operation)?.total };
    let time = whole("service_time").map(number).filter(|time| *time > 0.0);
    let share = |usage: &Usage| {
        let is_timed = !["read_bytes", "write_bytes", "service_time"].contains(&&*usage.operation);
        let own = number(usage.total?) * usage.per_call?;
        time.filter(|_| is_timed).map(|time| own / time)
    };
    let known = subject.usage.iter();
    let known = known.filter(|usage| usage.total.is_none_or(|total| !total.is_zero()));
    let known = known.filter_map(|usage| Some((sum_of(&usage.operation)?, usage)));
    let mut known: Vec<_> = known.collect();
    let weight = |usage: &Usage| share(usage).unwrap_or(0.0);
    known.sort_by(|(_, one), (_, other)| {
        let weights = weight(other).total_cmp(&weight(one));
        weights.then_with(|| other.total.cmp(&one.total))
    });
    known.sort_by_key(|(sum, usage)| {
        let place = COURSE.iter().position(|it| it == sum);
        // Of reads and writes, the larger is first.
        let place = place.map_or(COURSE.len() - 2, |at| at.max(1));
        (place, Reverse(whole(sum)), usage.operation != *sum, *sum)
    });
    let highest_title = format!("Highest in {}", when::width(subject.course.step));
    let rows = known.iter().map(|(sum, usage)| {
        let name = usage.operation.as_str();
        let title = Cell {
            is_part: name != *sum,
            ..Cell::text(label(name))
        };
        let highest = match COURSE.contains(&name) {
            true => Cell::rate(subject.course.highest(name), name),
            false => Cell::default(),
        };
        let total = usage.total.map(number);
        let per_call = Cell::value(usage.per_call, name, Quantity::PerCall);
        [
            ("Operation", title),
            ("Total", Cell::value(total, name, Quantity::Total)),
            (
                "Time",
                share(usage).map_or_else(Cell::default, |it| Cell::percent(Some(it))),
            ),
            ("Mean", Cell::rate(usage.rate, name)),
            (highest_title.as_str(), highest),
            ("Per call", per_call),
        ]
    });
    match known.is_empty() {
        true => Vec::new(),
        false => vec![Table::new("Totals", rows).into()],
    }
}

fn course(subject: &Subject, clock: &Clock) -> Vec<Block> {
    let mut statements = subject.statements.iter();
    let statement = statements.find(|(title, _)| *title == "Rates over time");
    let axis = TimeAxis::new(subject.work.window, clock);
    let step = when::width(subject.course.step);
    let blocks = COURSE.iter().filter_map(|operation| {
        let highest = subject.course.highest(operation);
        let highest = highest.filter(|highest| *highest > 0.0)?;
        let points = subject.course.points(operation);
        let print = |value: f64| rate(value, operation);
        let heading = label(operation);
        let title = match *operation {
            "service_time" => "Requests in service, mean number".to_owned(),
            "metadata" => format!("{heading}, per second"),
            _ => format!("{heading}, bytes per second"),
        };
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
            statements: statement.into_iter().cloned().collect(),
        }))
    });
    blocks.collect()
}

fn owned(space: &Space, clock: &Clock) -> Table {
    let rows = space.answered.rows.iter().map(|row| {
        let place = ("File system", Cell::text(&space.place(row)));
        let targets = ("Targets", Cell::number(targets(row)));
        let cells = [place].into_iter().chain(amounts(space, row));
        cells.chain([targets])
    });
    let since = space.since.map(|since| clock.minute(since));
    let since = since.map(|since| format!(", added since {since}"));
    let read = space.read().map(|read| clock.minute(read));
    Table {
        note: read.map(|read| format!("Read at {read}{}.", since.unwrap_or_default())),
        ..Table::new("By file system", rows)
    }
}

fn ranking(ranking: &Ranking) -> Table {
    let is_used = |row: &&RankingRow| {
        let mut amounts = row.amounts.iter().flatten();
        amounts.any(|amount| !amount.is_zero())
    };
    let rows = ranking.rows.iter().filter(is_used).map(|row| {
        let total = |at: usize| {
            let total = row.amounts[at].map(number);
            Cell::value(total, COURSE[at], Quantity::Total)
        };
        [
            ("Name", Cell::text(&ranking.shown(row))),
            ("Detail", Cell::name(row.detail.as_ref())),
            ("Share", Cell::bar(row.share, row.share.unwrap_or(0.0))),
            // Server time, which ranks, comes first.
            ("Server time", total(3)),
            ("Read", total(0)),
            ("Written", total(1)),
            ("Metadata", total(2)),
        ]
    });
    Table {
        more: ranking.more,
        ..Table::new(&format!("By {}", ranking.by), rows)
    }
}

#[cfg(test)]
mod tests;
