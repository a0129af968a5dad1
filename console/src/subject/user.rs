//! A user.

use jiff::Timestamp;
use jobstats_client::answers::{
    Dimension, Filters, Rates, Summary, SummaryRow, Totals, Window, exactly,
};

use super::findings::findings;
use super::job::Facts;
use super::{COURSE, Course, Kind, Ranking, Subject, Usage, Value, interval, number, seconds};
use crate::store::{Error, Store};
use crate::when;

/// The largest number of steps of a course.
pub(super) const STEPS: usize = 60;

/// The operations that are shown besides those of the course.
const OTHERS: [&str; 10] = [
    "open", "close", "getattr", "setattr", "mknod", "unlink", "mkdir", "rename", "statfs",
    "getxattr",
];

/// Returns what a user did in a window. The user is named, or numbered.
///
/// # Errors
///
/// Fails if the store does.
pub fn ask(
    store: &mut Store,
    name: &str,
    window: (Timestamp, Timestamp),
) -> Result<Result<Subject, Vec<String>>, Error> {
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
    let mut subject = new(Kind::User, name, window, &totals.rows);
    subject.is_numbered = chosen.uid.is_some();
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
    add_course(store, &mut subject, &chosen)?;
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

/// Returns a subject with the usage of these totals.
pub(super) fn new(
    kind: Kind,
    name: &str,
    window: (Timestamp, Timestamp),
    totals: &[jobstats_client::answers::TotalRow],
) -> Subject {
    let names = COURSE.iter().chain(&OTHERS);
    Subject {
        kind,
        name: name.to_owned(),
        is_numbered: false,
        facts: Vec::new(),
        window,
        usage: names
            .filter_map(|name| usage(totals, window, name))
            .collect(),
        course: Course::default(),
        rankings: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        statements: Vec::new(),
    }
}

/// Returns the usage of an operation. Its rate is the mean of the whole window, in which time without observations counts as
/// idle.
fn usage(
    rows: &[jobstats_client::answers::TotalRow],
    window: (Timestamp, Timestamp),
    operation: &str,
) -> Option<Usage> {
    let row = rows.iter().find(|row| row.operation == operation)?;
    Some(Usage {
        operation: row.operation.clone(),
        total: row.total,
        calls: row.calls,
        per_call: row.per_call,
        rate: row.total.map(|total| number(total) / seconds(window)),
    })
}

/// Asks for the totals of all operations that are shown.
pub(super) fn ask_totals(
    store: &mut Store,
    window: (Timestamp, Timestamp),
    filters: &Filters,
) -> Result<crate::store::Answered<jobstats_client::answers::TotalRow>, Error> {
    let names = COURSE.iter().chain(&OTHERS).map(ToString::to_string);
    let mut answered = store.ask(&Totals {
        window: Window::new(window.0, window.1),
        operations: Some(names.collect()),
        by: Some(Vec::new()),
        filters: filters.clone(),
    })?;
    // A group of targets has a row without anything done; that is nobody's work.
    let is_work =
        |row: &jobstats_client::answers::TotalRow| row.total.is_some_and(|total| !total.is_zero());
    if !answered.rows.iter().any(is_work) {
        answered.rows.clear();
    }
    Ok(answered)
}

/// Asks for a summary.
pub(super) fn ask_summary(
    store: &mut Store,
    window: (Timestamp, Timestamp),
    by: Vec<Dimension>,
    filters: &Filters,
) -> Result<crate::store::Answered<SummaryRow>, Error> {
    store.ask(&Summary {
        window: Window::new(window.0, window.1),
        by: Some(by),
        filters: filters.clone(),
    })
}

/// Asks for the course of a subject.
pub(super) fn add_course(
    store: &mut Store,
    subject: &mut Subject,
    filters: &Filters,
) -> Result<(), Error> {
    let step = when::step(seconds(subject.window), 60, STEPS);
    let rates = store.ask(&Rates {
        window: Window::new(subject.window.0, subject.window.1),
        operations: Some(COURSE.map(str::to_owned).to_vec()),
        by: Some(Vec::new()),
        step: Some(interval(step)),
        filters: filters.clone(),
    })?;
    subject.course = Course::of(&rates.rows, step);
    subject.note("Its course", &rates);
    Ok(())
}
