//! A user.

use jobstats_client::answers::Dimension;

use super::questions::{
    Selection, add_baseline, add_course, ask_totals, of_totals, only, total_of,
};
use super::{Fact, Kind, Subject, Value, chosen, findings, number, space};
use crate::ask::error::Error;
use crate::ask::store::{self, Store};
use crate::values::number::percent;
use crate::values::when::Span;

/// Returns the work of a user in a window, and the space that the user owns. The user is named, or numbered.
pub fn ask(store: &mut Store, name: &str, window: Span) -> Result<Subject, Error> {
    let all = Selection::all(window);
    let mut own = all.clone().part(|filters| filters.user = only(name));
    let mut totals = ask_totals(store, &own)?;
    if totals.rows.is_empty()
        && let Ok(uid) = name.parse::<i64>()
    {
        own = all.clone().part(|filters| filters.uid = Some(vec![uid]));
        let mut said = std::mem::take(&mut totals.notes);
        totals = ask_totals(store, &own)?;
        if totals.rows.is_empty() {
            said.retain(|note| !totals.notes.contains(note));
            totals.notes.append(&mut said);
        }
    }
    let space = space::ask(store, own.filters.clone(), window)?;
    let is_idle = totals.rows.is_empty();
    if is_idle && space.is_none() {
        return Err(chosen::unknown(Kind::User, name, &totals.notes));
    }
    let mut subject = of_totals(Kind::User, name, &own, &totals);
    if !is_idle {
        add_work(store, &mut subject, &all)?;
    }
    if let Some(space) = space {
        subject.note("Used space", &space.answered);
        let account = space.answered.rows.first();
        let account = account.and_then(|row| row.labels.account.as_ref());
        subject.add([Fact::text("account", "Last account", account)]);
        subject.space = Some(space);
    }
    Ok(subject)
}

/// Adds the part of all work, the course, and the jobs and targets of a user.
fn add_work(store: &mut Store, subject: &mut Subject, all: &Selection) -> Result<(), store::Error> {
    let whole = ask_totals(store, all)?;
    let own = subject.used("service_time").and_then(|usage| usage.total);
    let all = total_of(&whole.rows, "service_time").and_then(|row| row.total);
    let share = own.zip(all);
    let share = share.map(|(own, all)| Value::Number(number(own) / number(all), percent));
    add_baseline(store, subject)?;
    add_course(store, subject)?;
    let by = [
        Dimension::Job,
        Dimension::JobName,
        Dimension::State,
        Dimension::Group,
    ];
    let jobs = subject.rank(store, &by)?;
    let group = jobs.iter().find_map(|row| row.labels.group.as_ref());
    let count = jobs.iter().filter(|row| row.labels.job.is_some()).count();
    let count = i64::try_from(count).ok().map(Value::Count);
    subject.add([
        Fact::new("share", "Share of all", share),
        Fact::new("jobs", "Active jobs", count),
        Fact::text("group", "Group", group),
    ]);
    subject.rank(store, &[Dimension::Target])?;
    findings::add(store, subject)
}
