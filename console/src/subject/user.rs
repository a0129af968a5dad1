//! A user.

use jobstats_client::answers::{Dimension, Filters, SummaryRow, Used};
use jobstats_core::pattern::exactly;

use super::questions::{Selection, add_course, add_usual, ask_totals, of_totals, total_of};
use super::{Asked, Fact, Kind, Subject, Value, findings, joined, number, space};
use crate::ask::store::{Error, Store};
use crate::values::when::Span;

/// Returns the work of a user in a window, and the space that the user owns. The user is named, or numbered.
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
    let owner = Used {
        uid: own.filters.uid.clone(),
        user_name: own.filters.user_name.clone(),
        ..Used::default()
    };
    let space = space::ask(store, owner, window)?;
    let is_idle = totals.rows.is_empty();
    if is_idle && space.is_none() {
        return Ok(Err(totals.notes));
    }
    let mut subject = of_totals(Kind::User, name, &own, &totals);
    if !is_idle {
        add_work(store, &mut subject, &all)?;
    }
    if let Some(space) = space {
        subject.note("Used space", &space.answered);
        if let Some(row) = space.answered.rows.first() {
            subject.add([
                Fact::text("account", "Last account", row.account.as_ref()),
                Fact::text("group", "Group", row.group_name.as_ref()),
            ]);
        }
        subject.space = Some(space);
    }
    Ok(Ok(subject))
}

/// Adds the part of all work, the course, and the jobs and targets of a user.
fn add_work(store: &mut Store, subject: &mut Subject, all: &Selection) -> Result<(), Error> {
    let whole = ask_totals(store, all)?;
    let own = subject.used("service_time").and_then(|usage| usage.total);
    let all = total_of(&whole.rows, "service_time").and_then(|row| row.total);
    let share = own.zip(all);
    let share = share.map(|(own, all)| Value::Share(number(own) / number(all)));
    add_usual(store, subject)?;
    add_course(store, subject)?;
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
    findings::add(store, subject)
}
