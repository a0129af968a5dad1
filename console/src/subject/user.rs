//! A user.

use jobstats_client::answers::{Dimension, Filters, SummaryRow, exactly};

use super::findings::findings;
use super::questions::{Selection, add_course, ask_totals, of_totals, usage_of};
use super::{Asked, Fact, Kind, Ranking, Value, joined, number};
use crate::ask::store::{Error, Store};
use crate::values::when::Span;

/// Returns the work of a user in a window. The user is named, or numbered.
pub fn ask(store: &mut Store, name: &str, window: Span) -> Result<Asked, Error> {
    let all = Selection {
        window,
        filters: Filters::default(),
    };
    let mut own = all.clone();
    own.filters.user_name = Some(vec![exactly(name)]);
    let mut totals = ask_totals(store, &own)?;
    if totals.rows.is_empty()
        && let Ok(uid) = name.parse::<i64>()
    {
        own = all.clone();
        own.filters.uid = Some(vec![uid]);
        let said = std::mem::take(&mut totals.notes);
        totals = ask_totals(store, &own)?;
        if totals.rows.is_empty() {
            let new = said.into_iter().filter(|note| !totals.notes.contains(note));
            let new: Vec<_> = new.collect();
            totals.notes.extend(new);
        }
    }
    if totals.rows.is_empty() {
        return Ok(Err(totals.notes));
    }
    let mut subject = of_totals(Kind::User, name, &own, &totals);
    let whole = ask_totals(store, &all)?;
    let service = |rows: &[_]| usage_of(rows, window, "service_time")?.total.map(number);
    let share = service(&totals.rows).zip(service(&whole.rows));
    let share = share.map(|(own, all)| Value::Share(own / all));
    let by = [Dimension::Job, Dimension::JobName, Dimension::State];
    let jobs = own.summary(store, &by)?;
    let count = jobs
        .rows
        .iter()
        .filter(|row| row.group.job.is_some())
        .count();
    let count = i64::try_from(count).ok().map(Value::Count);
    subject
        .facts
        .extend(Fact::new("share", "Part of all", share));
    subject
        .facts
        .extend(Fact::new("jobs", "Jobs at work", count));
    add_course(store, &mut subject)?;
    subject.note("By job", &jobs);
    let targets = own.summary(store, &[Dimension::Target])?;
    subject.note("By target", &targets);
    let detail = |row: &SummaryRow| joined([&row.group.job_name, &row.group.state]);
    subject.rankings = vec![
        Ranking::of("job", jobs.rows, |row| (row.group.job.clone(), detail(row))),
        Ranking::of("target", targets.rows, |row| {
            (row.group.target.clone(), None)
        }),
    ];
    subject.findings = findings(&subject);
    Ok(Ok(subject))
}
