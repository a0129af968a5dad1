//! A target.

use jiff::Timestamp;
use jobstats_client::answers::{
    Balance, BalanceRow, Dimension, Filters, Health, SummaryRow, Targets, Window, exactly,
};

use super::findings::findings;
use super::job::Facts;
use super::questions::{add_course, add_parts, ask_summary, ask_totals, new};
use super::{Asked, Kind, Ranking, Subject, Value};
use crate::ask::store::{Error, Store};
use crate::live::users::called;

/// Returns what was done on a target in a window.
///
/// # Errors
///
/// Fails if the store does.
pub fn ask(store: &mut Store, name: &str, window: (Timestamp, Timestamp)) -> Result<Asked, Error> {
    let targets = store.ask(&Targets::default())?.rows;
    let known: Vec<_> = targets.iter().filter(|row| row.name == name).collect();
    let Some(target) = known.first() else {
        return Ok(Err(vec![unknown(name, &targets)]));
    };
    let filters = Filters {
        target: Some(vec![exactly(name)]),
        ..Filters::default()
    };
    let totals = ask_totals(store, window, &filters)?;
    let mut subject = new(Kind::Target, name, window, &totals.rows, &filters);
    subject.note("All operations", &totals);
    if known.len() > 1 {
        let clusters: Vec<_> = known.iter().map(|row| row.cluster.as_str()).collect();
        let clusters = clusters.join(", ");
        subject.notes.push(format!(
            "Targets of several clusters have this name, and the numbers are those of all: {clusters}."
        ));
    }
    let mut facts = Facts::default();
    facts.text("filesystem", "File system", target.filesystem.as_ref());
    facts.text(
        "cluster",
        "Cluster",
        Some(&target.cluster).filter(|it| !it.is_empty()),
    );
    let health = store.ask(&Health::default())?;
    let state = health
        .rows
        .iter()
        .find(|row| row.target.as_deref() == Some(name));
    if let Some(row) = state {
        facts.text("server", "Server", row.server.as_ref());
        facts.text("status", "Status now", Some(&row.status));
        facts.time("last_observation", "Last reading", row.last_observation);
        subject.notes.extend(row.remedy.clone());
    }
    balance(
        store,
        &mut subject,
        &mut facts,
        (&target.kind, target.filesystem.as_deref()),
    )?;
    subject.facts = facts.0;
    add_course(store, &mut subject)?;
    add_parts(store, &mut subject)?;
    let users = ask_summary(
        store,
        window,
        vec![Dimension::Uid, Dimension::UserName],
        &filters,
    )?;
    subject.note("By user", &users);
    let jobs = vec![Dimension::Job, Dimension::UserName, Dimension::JobName];
    let jobs = ask_summary(store, window, jobs, &filters)?;
    subject.note("By job", &jobs);
    subject.rankings = vec![
        Ranking::of("user", users.rows, |row| (user(row), None)),
        Ranking::of("job", jobs.rows, |row| (row.group.job.clone(), detail(row))),
    ];
    subject.findings = findings(&subject);
    Ok(Ok(subject))
}

/// Says which targets there are.
fn unknown(name: &str, targets: &[jobstats_client::answers::TargetRow]) -> String {
    let wanted = name.to_lowercase();
    let similar = targets
        .iter()
        .map(|row| row.name.as_str())
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
fn balance(
    store: &mut Store,
    subject: &mut Subject,
    facts: &mut Facts,
    (kind, filesystem): (&str, Option<&str>),
) -> Result<(), Error> {
    let operation = if kind == "MDT" { "metadata" } else { "bytes" };
    let balance = store.ask(&Balance {
        window: Window::new(subject.window.0, subject.window.1),
        operation: Some(operation.to_owned()),
        filesystem: filesystem.map(|name| vec![exactly(name)]),
        kind: Some(vec![kind.to_owned()]),
        ..Balance::default()
    })?;
    let mut rates: Vec<&BalanceRow> = balance.rows.iter().collect();
    rates.sort_by(|one, other| {
        other
            .rate
            .unwrap_or(-1.0)
            .total_cmp(&one.rate.unwrap_or(-1.0))
    });
    let place = rates.iter().position(|row| row.target == subject.name);
    if let Some(place) = place {
        let what = if kind == "MDT" { "requests" } else { "bytes" };
        let rank = format!("{} of {}, by {what}", place + 1, rates.len());
        facts.push("rank", "Rank", Some(Value::Text(rank)));
        let ratio = rates[place].ratio;
        facts.push("ratio", "Rate ÷ median", ratio.map(Value::Number));
    }
    subject.note("Beside others of its kind", &balance);
    Ok(())
}

fn user(row: &SummaryRow) -> Option<String> {
    called(row.group.user_name.as_deref(), row.group.uid)
}

fn detail(row: &SummaryRow) -> Option<String> {
    let parts = [&row.group.user_name, &row.group.job_name];
    let parts: Vec<_> = parts.into_iter().flatten().map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
