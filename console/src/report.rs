//! Reports: pages about a file system in a window, about a job, a user or a target, and about several jobs side by side.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jobstats_client::answers::{Dimension, Group, Quality, RateRow, statement};
use serde::{Deserialize, Serialize};

use crate::subject::Kind;
use crate::subject::questions::{add_parts, ask_totals, of_totals};

use events::Events;
use heatmap::Heatmap;
use leader::Leader;
pub use load::Load;
pub use scope::Scope;
use vocabulary::*;

mod advice;
mod balance;
mod burst;
mod changes;
pub mod compare;
mod density;
pub mod event_list;
pub mod events;
mod heatmap;
pub mod jobs;
mod leader;
mod leaders;
mod load;
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
        Form, Load, by_target, counted, made, named, page_of, point, sentences, target, user,
    };
    pub use crate::ask::error::Error;
    pub use crate::ask::store::{Answer, Store};
    pub use crate::show::chart::frame::{Point, Series, TimeAxis};
    pub use crate::show::chart::{Chart, Words};
    pub use crate::show::document::{Block, Cell, Figure, Page, Section, Statements, Table};
    pub use crate::show::text::Screen;
    pub use crate::subject::number;
    pub use crate::subject::questions::Selection;
    pub use crate::values::number::{
        Number, UNKNOWN, calls, difference, per_call, percent, rate, ratio, total,
    };
    pub use crate::values::text::{cut, joined, shown};
    pub use crate::values::when::{self, Clock, Span, after};
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// JSON, as `--json` prints it.
    #[default]
    Json,
    /// A page, as `--html` writes it.
    Html,
    /// Text for a terminal.
    Text,
}

/// Returns a page in this form. Users of a service have no role, so their pages are without SQL.
pub fn written(store: &Store, page: Page, form: Form, screen: Screen) -> Result<String, Error> {
    let page = match store.served() {
        Some(_) => page.without_statements(),
        None => page,
    };
    Ok(match form {
        Form::Text => page.text(screen),
        _ => page.document()?,
    })
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
        return Err(Error::unknown("your jobs", &name, &totals.notes));
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
    let mut spans = standout::ask(store, &scope, load)?;
    let heatmaps = scope.all().into_iter();
    let heatmaps = heatmaps.map(|scope| Heatmap::ask(store, scope));
    let heatmaps = heatmaps.collect::<Result<Vec<_>, _>>()?;
    spans.bursts = burst::ask(store, &heatmaps, &spans)?;
    if health.is_none() {
        let rows = heatmaps.iter().flat_map(|heatmap| &heatmap.rates.rows);
        let targets = by_target(rows).into_keys();
        scope.targets = targets.map(|(_, name)| name.to_owned()).collect();
    }
    let scope = &scope;
    let leader = Leader::ask(store, scope, &scope.work())?;
    let mut first = Vec::new();
    first.extend(health.and_then(|health| health.silence(scope, load)));
    first.push(load.figure(scope, &spans));
    first.extend(spans.blocks());
    first.extend(Block::notes(&load.notes));
    let mut leaders = Vec::new();
    for scope in scope.all() {
        leaders.extend(leaders::ask(store, &scope)?);
    }
    if health.is_some() {
        leaders.extend(waiting::ask(store, scope, load)?);
    }
    let events = Events::ask(store, scope)?;
    let lead = standout::lead(scope, load, &spans, leader.as_ref(), &events);
    let places = heatmaps.iter().map(Heatmap::figure).collect();
    let mut sections = vec![
        Section::new("load", "Load", first),
        Section::new("events", "Events", events.blocks(scope)),
        Section::new("advice", "Advice", advice::ask(store, scope)?),
        Section::new("leaders", "Top users", leaders),
        Section::new("changes", "What changed", changes::ask(store, scope, load)?),
        Section::new("operations", "Operations", done(store, scope)?),
        Section::new("targets", "Targets over time", places),
    ];
    if let Some(health) = health {
        sections.extend(whole(store, scope, load, health)?);
    }
    Ok(page(scope, lead, sections))
}

/// Returns the sections of a whole file system.
fn whole(
    store: &mut Store,
    scope: &Scope,
    load: &Load,
    health: &trust::Health,
) -> Result<[Section; 4], Error> {
    let users = vec![density::ask(store, scope, load)?];
    let mut health = health.section(scope, load);
    let (since, until) = scope.window;
    let quality = statement(&Quality { since, until }, &[]);
    let quality = Block::statement("Each hour of each target", quality);
    health.blocks.push(quality);
    Ok([
        Section::new("users", "Users by rate", users),
        Section::new("space", "Used space", space::ask(store, scope)?),
        Section::new("balance", "Balance of targets", balance::ask(store, scope)?),
        health,
    ])
}

/// Returns the operations and the sizes of calls.
fn done(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let work = scope.work();
    let totals = ask_totals(store, &work)?;
    let mut subject = of_totals(Kind::User, "", &work, &totals);
    add_parts(store, &mut subject)?;
    let mut blocks = subject::operations(&subject);
    blocks.push(Block::Statements(subject.statements));
    blocks.extend(sizes::ask(store, &work)?);
    Ok(blocks)
}

/// Returns the page of a window without observations.
fn empty(scope: &Scope, load: &Load, health: &trust::Health) -> Page {
    let notes = load.notes.iter().map(|note| format!(" {}", shown(note)));
    let notes: String = notes.collect();
    let lead = format!("No data in this window.{notes}");
    page(scope, lead, vec![health.section(scope, load)])
}

fn page(scope: &Scope, lead: String, sections: Vec<Section>) -> Page {
    let on = shown(&scope.filesystem);
    let (kind, what) = match scope.filters.uid.as_deref() {
        Some([uid]) if on.is_empty() => ("Lustre usage", format!("User {uid}")),
        Some([uid]) => ("Lustre usage", format!("User {uid} on {on}")),
        _ => ("Lustre file system", on),
    };
    let mdts = scope.targets.iter().filter(|name| name.contains("-MDT"));
    let mdts = mdts.count();
    let targets = format!("{mdts} MDTs, {} OSTs", scope.targets.len() - mdts);
    page_of(scope, (kind, &what), lead, Some(targets), sections)
}

/// Returns the page about a subject in the window, without empty sections.
fn page_of(
    scope: &Scope,
    (kind, what): (&'static str, &str),
    lead: String,
    targets: Option<String>,
    mut sections: Vec<Section>,
) -> Page {
    sections.retain(|it| !it.blocks.is_empty());
    let window = scope.clock.window(scope.window);
    Page {
        title: format!("{what}: {window}"),
        kind,
        heading: format!("{what}, {window}"),
        lead,
        about: targets.into_iter().chain([scope.clock.note()]).collect(),
        sections,
        ..made(&scope.clock)
    }
}

/// Returns an empty page about a use of Lustre, with its time zone, and the time and the program that made it.
fn made(clock: &Clock) -> Page {
    let made = clock.minute(Timestamp::now());
    let version = env!("CARGO_PKG_VERSION");
    Page {
        kind: "Lustre usage",
        about: vec![clock.note()],
        made: Some(format!("Created {made} by jobstats-console {version}")),
        ..Page::default()
    }
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

/// Joins the sentences that there are.
fn sentences<const N: usize>(sentences: [Option<String>; N]) -> String {
    let sentences: Vec<_> = sentences.into_iter().flatten().collect();
    sentences.join(" ")
}

/// Returns the step of a row.
fn point(row: &RateRow) -> Point {
    Point {
        time: row.time,
        seconds: row.seconds,
        value: row.rate,
    }
}

/// Returns the target of a row.
fn target(row: &RateRow) -> &str {
    row.labels.target.as_deref().unwrap_or_default()
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
