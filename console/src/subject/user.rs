//! A user.

use jiff::Timestamp;
use jobstats_client::answers::{Dimension, Filters, SummaryRow, exactly};

use super::findings::findings;
use super::job::Facts;
use super::questions::{add_course, add_parts, ask_summary, ask_totals, new, usage};
use super::{Asked, Kind, Ranking, Value, number};
use crate::ask::store::{Error, Store};

/// Returns what a user did in a window. The user is named, or numbered.
///
/// # Errors
///
/// Fails if the store does.
pub fn ask(store: &mut Store, name: &str, window: (Timestamp, Timestamp)) -> Result<Asked, Error> {
    let mut chosen = by_name(name);
    let mut totals = ask_totals(store, window, &chosen)?;
    if totals.rows.is_empty()
        && let Ok(uid) = name.parse::<i64>()
    {
        chosen = Filters {
            uid: Some(vec![uid]),
            ..Filters::default()
        };
        let said = std::mem::take(&mut totals.notes);
        totals = ask_totals(store, window, &chosen)?;
        if totals.rows.is_empty() {
            let new = said.into_iter().filter(|note| !totals.notes.contains(note));
            let new: Vec<_> = new.collect();
            totals.notes.extend(new);
        }
    }
    if totals.rows.is_empty() {
        return Ok(Err(totals.notes));
    }
    let mut subject = new(Kind::User, name, window, &totals.rows, &chosen);
    subject.note("All operations", &totals);
    let whole = ask_totals(store, window, &Filters::default())?;
    let mut facts = Facts::default();
    let service = |rows: &[_]| usage(rows, window, "service_time").and_then(|it| it.total);
    if let (Some(own), Some(all)) = (service(&totals.rows), service(&whole.rows)) {
        let share = number(own) / number(all);
        facts.push("share", "Part of all", Some(Value::Share(share)));
    }
    let by = vec![Dimension::Job, Dimension::JobName, Dimension::State];
    let jobs = ask_summary(store, window, by, &chosen)?;
    facts.push(
        "jobs",
        "Jobs at work",
        count(jobs.rows.iter().filter(|row| row.group.job.is_some())),
    );
    subject.facts = facts.0;
    add_course(store, &mut subject)?;
    add_parts(store, &mut subject)?;
    subject.note("By job", &jobs);
    let targets = ask_summary(store, window, vec![Dimension::Target], &chosen)?;
    subject.note("By target", &targets);
    subject.rankings = vec![
        Ranking::of("job", jobs.rows, |row| (row.group.job.clone(), detail(row))),
        Ranking::of("target", targets.rows, |row| {
            (row.group.target.clone(), None)
        }),
    ];
    subject.findings = findings(&subject);
    Ok(Ok(subject))
}

fn by_name(name: &str) -> Filters {
    Filters {
        user_name: Some(vec![exactly(name)]),
        ..Filters::default()
    }
}

fn count<'r>(rows: impl Iterator<Item = &'r SummaryRow>) -> Option<Value> {
    i64::try_from(rows.count()).ok().map(Value::Count)
}

/// Returns the name and state of a job, for beside its number.
fn detail(row: &SummaryRow) -> Option<String> {
    let parts = [&row.group.job_name, &row.group.state];
    let parts: Vec<_> = parts.into_iter().flatten().map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
