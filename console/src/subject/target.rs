//! A target.

use std::collections::BTreeSet;

use jobstats_client::answers::{Dimension, Health, TargetRow, Targets};
use jobstats_core::base::pattern::Pattern;
use jobstats_core::usage::filter::meant;

use super::questions::{Selection, add_baseline, add_course, ask_totals, of_totals, only};
use super::{Fact, Kind, Subject, Value, chosen};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::values::number::ratio;
use crate::values::when::Span;

/// Returns the work on a target in a window.
pub fn ask(store: &mut Store, name: &str, window: Span) -> Result<Subject, Error> {
    let targets = store.ask(&Targets::default())?.rows;
    let names = matching(name, &targets);
    let known = targets.iter().filter(|row| names.contains(&*row.target));
    let known: Vec<_> = known.collect();
    let (Some(target), 1) = (known.first(), names.len()) else {
        let notes = vec![similar(name, &targets)];
        return Err(chosen::unknown(Kind::Target, name, &notes));
    };
    let name = target.target.as_str();
    let work = Selection::all(window).part(|filters| filters.target = only(name));
    let totals = ask_totals(store, &work)?;
    let mut subject = of_totals(Kind::Target, name, &work, &totals);
    if known.len() > 1 {
        let clusters: Vec<_> = known.iter().map(|row| row.cluster.as_str()).collect();
        let clusters = clusters.join(", ");
        subject.notes.push(format!(
            "Targets of several clusters have this name; the numbers cover all of them: {clusters}."
        ));
    }
    let cluster = Some(&target.cluster).filter(|it| !it.is_empty());
    subject.add([
        Fact::text("filesystem", "File system", target.filesystem.as_ref()),
        Fact::text("cluster", "Cluster", cluster),
    ]);
    let health = store.ask(&Health::default())?.rows.into_iter();
    let mut health = health.filter(|row| row.target.as_deref() == Some(name));
    if let Some(row) = health.next() {
        let last = row.last_observation.map(Value::Time);
        subject.add([
            Fact::text("server", "Server", row.server.as_ref()),
            Fact::text("state", "State now", Some(&row.states.join(", "))),
            Fact::new("last_observation", "Last snapshot", last),
        ]);
        subject.notes.extend(row.remedy);
    }
    balance(store, &mut subject, target)?;
    add_baseline(store, &mut subject)?;
    add_course(store, &mut subject)?;
    subject.rank(store, &[Dimension::User])?;
    let by = [Dimension::Job, Dimension::User, Dimension::JobName];
    subject.rank(store, &by)?;
    Ok(subject)
}

/// Returns the names of the targets that match a name or what it is short for.
fn matching<'t>(name: &str, targets: &'t [TargetRow]) -> BTreeSet<&'t str> {
    let names = || targets.iter().map(|row| row.target.as_str());
    let short = meant("target", name).map(|it| Pattern::new(&it));
    match names().find(|known| *known == name) {
        Some(known) => BTreeSet::from([known]),
        None => names()
            .filter(|known| short.as_ref().is_some_and(|it| it.matches(known)))
            .collect(),
    }
}

/// Lists targets with a similar name, or else the first ones.
fn similar(name: &str, targets: &[TargetRow]) -> String {
    let names: BTreeSet<_> = targets.iter().map(|row| row.target.as_str()).collect();
    let wanted = name.to_lowercase();
    let is_similar = |known: &&str| known.to_lowercase().contains(&wanted);
    let similar = names.iter().copied().filter(is_similar).collect();
    let mut lists = [matching(name, targets), similar, names].into_iter();
    let shown = lists.find(|it| !it.is_empty()).unwrap_or_default();
    let first: Vec<_> = shown.into_iter().take(5).collect();
    match first.is_empty() {
        true => "the store has no targets".to_owned(),
        false => format!("known: {}", first.join(", ")),
    }
}

/// Compares the target with others of its kind: by metadata requests for MDTs, and by bytes for OSTs.
fn balance(store: &mut Store, subject: &mut Subject, target: &TargetRow) -> Result<(), Error> {
    let (operation, amount) = match target.kind.as_str() {
        "MDT" => ("metadata", "requests"),
        _ => ("bytes", "bytes"),
    };
    let filesystem = target.filesystem.as_deref().and_then(only);
    let all = Selection::all(subject.work.window);
    let all = all.part(|filters| filters.filesystem = filesystem);
    let balance = all.balance(store, operation, &target.kind)?;
    let rows = &balance.rows;
    let place = rows.iter().position(|row| row.target == subject.name);
    if let Some(place) = place {
        let rank = format!("{} of {}, by {amount}", place + 1, rows.len());
        let times = rows[place].ratio;
        let times = times.map(|it| Value::Number(it, ratio));
        subject.add([
            Fact::text("rank", "Rank", Some(&rank)),
            Fact::new("ratio", "Rate ÷ median", times),
        ]);
    }
    subject.note("Comparison with its kind", &balance);
    Ok(())
}
