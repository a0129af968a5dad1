//! A user.

use jobstats_client::answers::{Dimension, Filters, SummaryRow, exactly};

use super::findings::findings;
use super::questions::{Selection, add_course, ask_totals, of_totals, total_of};
use super::{Asked, Fact, Kind, Value, joined, number};
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
    let service = |rows: &[_]| total_of(rows, "service_time")?.total.map(number);
    let share = service(&totals.rows).zip(service(&whole.rows));
    let share = share.map(|(own, all)| Value::Share(own / all));
    add_course(store, &mut subject)?;
    let by = [Dimension::Job, Dimension::JobName, Dimension::State];
    let detail = |row: &SummaryRow| joined([&row.group.job_name, &row.group.state]);
    let job = |row: &SummaryRow| (row.group.job.clone(), detail(row));
    let jobs = subject.rank(store, "job", &by, job)?.into_iter();
    let count = jobs.filter(|row| row.group.job.is_some()).count();
    let count = i64::try_from(count).ok().map(Value::Count);
    subject.add([
        Fact::new("share", "Part of all", share),
        Fact::new("jobs", "Jobs at work", count),
    ]);
    let target = |row: &SummaryRow| (row.group.target.clone(), None);
    subject.rank(store, "target", &[Dimension::Target], target)?;
    subject.findings = findings(&subject);
    Ok(Ok(subject))
}
