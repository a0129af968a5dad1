//! A target.

use jobstats_client::answers::{Dimension, Filters, Health, TargetRow, Targets};
use jobstats_core::base::pattern::exactly;

use super::questions::{Selection, add_baseline, add_course, ask_totals, of_totals};
use super::{Fact, Kind, Lookup, Subject, Value, findings};
use crate::ask::store::{Error, Store};
use crate::values::when::Span;

/// Returns the work on a target in a window.
pub fn ask(store: &mut Store, name: &str, window: Span) -> Result<Lookup, Error> {
    let targets = store.ask(&Targets::default())?.rows;
    let known: Vec<_> = targets.iter().filter(|row| row.target == name).collect();
    let Some(target) = known.first() else {
        return Ok(Err(vec![unknown(name, &targets)]));
    };
    let filters = Filters {
        target: Some(vec![exactly(name)]),
        ..Filters::default()
    };
    let work = Selection { window, filters };
    let totals = ask_totals(store, &work)?;
    let mut subject = of_totals(Kind::Target, name, &work, &totals);
    if known.len() > 1 {
        let clusters: Vec<_> = known.iter().map(|row| row.cluster.as_str()).collect();
        let clusters = clusters.join(", ");
        subject.notes.push(format!(
            "Targets of several clusters have this name, and the numbers are those of all: {clusters}."
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
            Fact::new("last_observation", "Last reading", last),
        ]);
        subject.notes.extend(row.remedy);
    }
    balance(store, &mut subject, target)?;
    add_baseline(store, &mut subject)?;
    add_course(store, &mut subject)?;
    subject.rank(store, &[Dimension::User])?;
    let by = [Dimension::Job, Dimension::User, Dimension::JobName];
    subject.rank(store, &by)?;
    findings::add(store, &mut subject)?;
    Ok(Ok(subject))
}

/// Lists the existing targets.
fn unknown(name: &str, targets: &[TargetRow]) -> String {
    let wanted = name.to_lowercase();
    let similar = targets
        .iter()
        .map(|row| row.target.as_str())
        .filter(|known| known.to_lowercase().contains(&wanted));
    let mut similar: Vec<_> = similar.take(5).collect();
    similar.sort_unstable();
    match similar.as_slice() {
        [] if targets.is_empty() => "the store has no targets yet".to_owned(),
        [] => "jobstats.health lists the targets".to_owned(),
        similar => format!("known: {}", similar.join(", ")),
    }
}

/// Compares the target with others of its kind: by metadata requests for MDTs, and by bytes for OSTs.
fn balance(store: &mut Store, subject: &mut Subject, target: &TargetRow) -> Result<(), Error> {
    let (operation, amount) = match target.kind.as_str() {
        "MDT" => ("metadata", "requests"),
        _ => ("bytes", "bytes"),
    };
    let filesystem = target.filesystem.as_deref();
    let all = Selection {
        window: subject.work.window,
        filters: Filters {
            filesystem: filesystem.map(|name| vec![exactly(name)]),
            ..Filters::default()
        },
    };
    let balance = all.balance(store, operation, &target.kind)?;
    let rows = &balance.rows;
    let place = rows.iter().position(|row| row.target == subject.name);
    if let Some(place) = place {
        let rank = format!("{} of {}, by {amount}", place + 1, rows.len());
        let ratio = rows[place].ratio.map(Value::Number);
        subject.add([
            Fact::text("rank", "Rank", Some(&rank)),
            Fact::new("ratio", "Rate ÷ median", ratio),
        ]);
    }
    subject.note("Beside others of its kind", &balance);
    Ok(())
}
