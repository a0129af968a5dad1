//! Reports: pages about a file system in a window, about a job, a user or a target, and about several jobs side by side.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jobstats_client::answers::{Dimension, Group, RateRow};

use crate::subject::questions::ask_totals;

use events::Events;
use heatmap::Heatmap;
pub use load::Load;
#[cfg(test)]
pub use scope::Measure;
pub use scope::Scope;
use standout::Spans;
use vocabulary::*;

mod advice;
mod balance;
mod burst;
mod changes;
pub mod compare;
mod density;
pub mod events;
pub mod form;
mod heatmap;
mod leader;
mod leaders;
mod load;
mod operations;
mod quality;
mod scope;
mod sizes;
mod space;
mod standout;
pub mod subject;
mod trust;
mod waiting;

/// The words of all parts of a report: questions, numbers, tables and pictures.
mod vocabulary {
    pub use super::scope::{Measure, Scope};
    pub(super) use super::{
        Load, by_target, change, counted, made, named, page_of, point, steps, target, user, work,
    };
    pub use crate::ask::error::Error;
    pub use crate::ask::store::{Answer, Store};
    pub use crate::show::chart::frame::{Point, Series, TimeAxis};
    pub use crate::show::chart::{Chart, Words};
    pub use crate::show::html::{Block, Cell, Figure, Page, Section, Statements, Table};
    pub use crate::subject::number;
    pub use crate::subject::questions::Selection;
    pub use crate::values::number::{
        Number, UNKNOWN, calls, difference, mean, per_call, percent, rate, ratio, total,
    };
    pub use crate::values::text::{cut, joined, shown};
    pub use crate::values::when::{self, Clock, Span, after};
}

/// Makes the report about a file system.
pub fn filesystem(store: &mut Store, mut scope: Scope) -> Result<Page, Error> {
    let load = load::ask(store, &mut scope)?;
    let health = trust::Health::ask(store, &scope)?;
    match load.mean {
        Some(_) => observed(store, scope, &load, Some(&health)),
        None => Ok(empty(&scope, &load, &health)),
    }
}

/// Creates the report of a user's usage. Fails without usage.
pub fn own(store: &mut Store, mut scope: Scope) -> Result<Page, Error> {
    let totals = ask_totals(store, &scope.work())?;
    if totals.rows.is_empty() {
        let name = match scope.filesystem.as_str() {
            "" => "in this window".to_owned(),
            filesystem => format!("on {} in this window", shown(filesystem)),
        };
        return Err(Error::Unknown {
            kind: "your work",
            name,
            notes: totals.notes,
        });
    }
    let load = load::ask(store, &mut scope)?;
    observed(store, scope, &load, None)
}

/// Makes the report of a load. The health of targets, and the sections that compare users or targets, are of a whole file system.
fn observed(
    store: &mut Store,
    mut scope: Scope,
    load: &Load,
    health: Option<&trust::Health>,
) -> Result<Page, Error> {
    let (heatmaps, spans) = places(store, &scope, load)?;
    if health.is_none() {
        let rows = heatmaps.iter().flat_map(|heatmap| &heatmap.rates.rows);
        let targets = by_target(rows).into_keys();
        scope.targets = targets.map(|(_, name)| name.to_owned()).collect();
    }
    let scope = &scope;
    let mut first = Vec::new();
    first.extend(health.and_then(|health| health.silence(scope, load)));
    first.extend(course(store, scope, load, &spans)?);
    let mut title = "Load, and what made it";
    if health.is_some() {
        title = "Load, and who made it";
        first.extend(waiting::ask(store, scope, load)?);
    }
    let events = Events::ask(store, scope)?;
    let lead = standout::lead(store, scope, load, &spans, &events)?;
    let places = heatmaps.iter().map(Heatmap::figure).collect();
    let mut sections = vec![
        Section::new("changes", "What changed", changes::ask(store, scope, load)?),
        Section::new("load", title, first),
        Section::new("events", "Events", events.blocks(scope)),
        Section::new("advice", "Advice", advice::ask(store, scope)?),
        Section::new("targets", "Where and when", places),
    ];
    if let Some(health) = health {
        let users = vec![density::ask(store, scope, load)?];
        sections.extend([
            Section::new("users", "Users by rate", users),
            Section::new("space", "Used space", space::ask(store, scope)?),
            health.section(scope, load),
        ]);
    }
    let operations = operations::ask(store, scope)?;
    let sizes = sizes::ask(store, &scope.work())?;
    sections.extend([
        Section::new("operations", "Operations by target", operations),
        Section::new("sizes", "Sizes of reads and writes", sizes),
    ]);
    if health.is_some() {
        let (balance, quality) = (balance::ask(store, scope)?, quality::ask(store, scope)?);
        sections.extend([
            Section::new("balance", "Balance of targets", balance),
            Section::new("quality", "Quality of the data", quality),
        ]);
    }
    sections.retain(|it| !it.blocks.is_empty());
    Ok(page(scope, lead, sections))
}

/// Loads the heat map of targets, and peaks.
fn places(store: &mut Store, scope: &Scope, load: &Load) -> Result<(Vec<Heatmap>, Spans), Error> {
    let mut spans = standout::ask(store, scope, load)?;
    let heatmaps = scope.all().into_iter();
    let heatmaps = heatmaps.map(|scope| Heatmap::ask(store, scope));
    let heatmaps = heatmaps.collect::<Result<Vec<_>, _>>()?;
    spans.bursts = burst::ask(store, &heatmaps, &spans)?;
    Ok((heatmaps, spans))
}

/// Returns the load over time, with its peaks and main users.
fn course(
    store: &mut Store,
    scope: &Scope,
    load: &Load,
    spans: &Spans,
) -> Result<Vec<Block>, Error> {
    let mut blocks = vec![load.figure(scope, spans)];
    blocks.extend(spans.blocks());
    blocks.extend(Block::notes(&load.notes));
    for scope in scope.all() {
        blocks.extend(leaders::ask(store, &scope, !load.before.is_empty())?);
    }
    Ok(blocks)
}

/// Returns the page of a window without observations.
fn empty(scope: &Scope, load: &Load, health: &trust::Health) -> Page {
    let notes = load.notes.iter().map(|note| format!(" {}", shown(note)));
    let notes: String = notes.collect();
    let lead = format!("Nothing was observed in this window.{notes}");
    page(scope, lead, vec![health.section(scope, load)])
}

fn page(scope: &Scope, lead: String, sections: Vec<Section>) -> Page {
    let on = shown(&scope.filesystem);
    let (kind, what) = match scope.filters.uid.as_deref() {
        Some([uid]) if on.is_empty() => ("Use of Lustre", format!("User {uid}")),
        Some([uid]) => ("Use of Lustre", format!("User {uid} on {on}")),
        _ => ("Lustre file system", on),
    };
    let mdts = scope.targets.iter().filter(|name| name.contains("-MDT"));
    let mdts = mdts.count();
    let targets = format!("{mdts} MDTs, {} OSTs", scope.targets.len() - mdts);
    page_of(scope, (kind, &what), lead, Some(targets), sections)
}

/// Returns the page about a subject in the window.
fn page_of(
    scope: &Scope,
    (kind, what): (&'static str, &str),
    lead: String,
    targets: Option<String>,
    sections: Vec<Section>,
) -> Page {
    let window = scope.clock.window(scope.window);
    let about = [Some(scope.clock.note()), targets, Some(made(&scope.clock))];
    Page {
        title: format!("{what}: {window}"),
        kind,
        heading: format!("{what}, {window}"),
        lead,
        about: about.into_iter().flatten().collect(),
        sections,
    }
}

/// Returns the time and the program that made a page.
fn made(clock: &Clock) -> String {
    let made = clock.minute(Timestamp::now());
    let version = env!("CARGO_PKG_VERSION");
    format!("Made {made} by jobstats-console {version}")
}

/// Returns the name of a user.
fn user(group: &Group) -> String {
    named(group, Dimension::User, "user")
}

/// Returns the value of a group in a dimension.
fn named(group: &Group, by: Dimension, word: &str) -> String {
    let name = group.text(by).map(|name| shown(&name));
    name.unwrap_or_else(|| format!("(no {word})"))
}

/// Counts names, in words.
fn counted(names: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    joined(counts.iter().map(|(name, count)| format!("{count} {name}")))
}

/// Compares a rate with the week before.
fn change(now: Option<f64>, before: Option<f64>) -> String {
    let ratio = match (now, before) {
        (Some(now), Some(before)) if before > 0.0 => now / before,
        (Some(now), _) if now > 0.0 => return "new".to_owned(),
        _ => return "–".to_owned(),
    };
    let sign = if ratio >= 1.0 { "+" } else { "−" };
    match ratio {
        1000.0.. => "× 1000+".to_owned(),
        10.0.. => format!("× {ratio:.0}"),
        2.0.. => format!("× {ratio:.1}"),
        _ if (ratio - 1.0).abs() < 0.005 => "±0 %".to_owned(),
        _ => format!("{sign}{:.0} %", 100.0 * (ratio - 1.0).abs()),
    }
}

/// Returns the step of a row.
fn point(row: &RateRow) -> Point {
    Point {
        time: row.time,
        seconds: row.seconds,
        value: row.rate,
    }
}

/// Returns the work in steps.
fn work(points: &[Point]) -> f64 {
    let work = |point: &Point| Some(point.value? * point.seconds);
    points.iter().filter_map(work).sum()
}

/// Returns the target of a row.
fn target(row: &RateRow) -> &str {
    row.labels.target.as_deref().unwrap_or_default()
}

/// Returns the table of the steps of targets with the largest rates of an operation.
fn steps(
    scope: &Scope,
    (name, title): (&str, &'static str),
    rows: &[&RateRow],
    operation: &str,
) -> Table {
    let cells = |row: &&RateRow| {
        [
            ("Target", Cell::text(target(row))),
            ("Step", Cell::text(&scope.clock.minute(row.time))),
            (title, Cell::rate(row.rate, operation)),
        ]
    };
    let caption = format!("{name}, largest first");
    Table::largest(&caption, rows, |row| row.rate, cells)
}

/// Returns the steps of the rows of each target, by its kind and name, in the order of time.
fn by_target<'r>(
    rows: impl IntoIterator<Item = &'r RateRow>,
) -> BTreeMap<(&'r str, &'r str), Vec<Point>> {
    let mut targets: BTreeMap<_, Vec<Point>> = BTreeMap::new();
    for row in rows {
        let kind = row.labels.kind.as_deref().unwrap_or_default();
        let steps = targets.entry((kind, target(row))).or_default();
        steps.push(point(row));
    }
    for points in targets.values_mut() {
        points.sort_by_key(|point| point.time);
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_said_as_people_say_it() {
        let cases = [
            (Some(5.0), Some(2.0), "× 2.5"),
            (Some(50.0), Some(2.0), "× 25"),
            (Some(1.4), Some(1.0), "+40 %"),
            (Some(0.88), Some(1.0), "−12 %"),
            (Some(1.0), Some(1.0), "±0 %"),
            (Some(1.0), Some(0.0), "new"),
            (Some(1.0), None, "new"),
            (Some(0.0), None, "–"),
            (None, Some(1.0), "–"),
        ];
        for (now, before, expected) in cases {
            assert_eq!(change(now, before), expected);
        }
    }
}
