//! A job.

mod array;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jobstats_client::answers::{
    Dimension, Filters, Group, Job, JobRow, JobUsage, JobUsageRow, Jobs, JobsRow, Window,
};
use jobstats_core::base::pattern::exactly;
use jobstats_core::series::typical::Typical;

use array::{ELEMENTS, by_element, elements};

use super::questions::{DAY, Selection, add_course, compared, only, sum_of};
use super::{COURSE, Fact, Kind, Ranking, RankingRow, Subject, Usage, Value, findings, number};
use crate::ask::store::{Answer, Error, Store};
use crate::values::number::{joules, ratio, total};
use crate::values::text::joined;
use crate::values::when::{self, after};

/// The operations of rows that are the energy of a job, with the keys and the labels of the properties that they are here.
const ENERGY: [(&str, &str, &str); 2] = [
    ("energy", "joules", "Energy"),
    ("energy_per_gb", "joules_per_gb", "Energy per GB"),
];

/// The prefixes of operations that are excluded: usage without a job that is likely this one, and of other users who name this job.
const NOT_COUNTED: [(&str, &str); 2] = [
    (
        "attributed_",
        "I/O without a job number on its nodes is probably its own",
    ),
    ("claimed_", "Other users' identifiers also name this job"),
];

/// The largest number of jobs that a question names one by one.
const NAMED: usize = 100;

/// The largest and the smallest number of jobs of a baseline.
const MOST: i32 = 1000;
const FEWEST: usize = 5;

/// Returns the last job of each scheduler with this number or label in the window, or else the last job with only totals.
pub fn find(store: &mut Store, name: &str, window: Window) -> Result<Answer<JobRow>, Error> {
    let mut found = store.ask(&Job {
        job: name.to_owned(),
        scheduler: None,
    })?;
    found.rows.retain(|row| {
        let is_before = |since: Timestamp| row.ended.is_some_and(|ended| ended <= since);
        let is_after = |until: Timestamp| row.started.is_some_and(|started| started > until);
        !window.since.is_some_and(is_before) && !window.until.is_some_and(is_after)
    });
    if found.rows.is_empty() {
        let last = list(store, name, window, Filters::default(), 1)?.rows;
        found.rows.extend(last.into_iter().map(left));
    }
    Ok(found)
}

/// Returns a job with only totals.
fn left(row: JobsRow) -> JobRow {
    JobRow {
        label: Some(row.job.clone()),
        job: row.job,
        job_name: row.job_name,
        user_name: row.user_name,
        account: row.account,
        state: row.state,
        started: row.started,
        ended: row.ended,
        run_time: row.run_time,
        nodes: row.nodes,
        ..JobRow::default()
    }
}

/// Returns the last elements of such an array, or else the last jobs with such a number or label.
fn list(
    store: &mut Store,
    name: &str,
    window: Window,
    filters: Filters,
    n: i32,
) -> Result<Answer<JobsRow>, Error> {
    let since = window.since.or(Some(Timestamp::UNIX_EPOCH));
    let mut question = Jobs {
        window: Window { since, ..window },
        n: Some(n),
        filter: Filters {
            job_group: Some(groups(name)),
            ..filters
        },
    };
    let jobs = store.ask(&question)?;
    if !jobs.rows.is_empty() {
        return Ok(jobs);
    }
    question.filter.job_group = None;
    question.filter.job = only(name);
    store.ask(&question)
}

/// Returns the run time of a job in seconds, so far if it still runs.
pub fn run_time(row: &JobsRow) -> Option<f64> {
    let ended = row.ended.unwrap_or_else(Timestamp::now);
    let time = row.run_time.map(|it| it.0.as_secs_f64());
    time.or_else(|| Some(when::seconds((row.started?, ended))))
}

/// Returns the patterns of the jobs that an array may be called.
fn groups(name: &str) -> Vec<String> {
    let array = name.trim_end_matches("[]");
    vec![exactly(array), exactly(&format!("{array}[]"))]
}

/// Returns filters that exclude jobs of other schedulers with the same number.
fn filters_of(row: &JobRow) -> Filters {
    let only = |text: &Option<String>| text.as_deref().and_then(only);
    Filters {
        user: only(&row.user_name),
        account: only(&row.account),
        partition: only(&row.partition),
        job_name: only(&row.job_name),
        ..Filters::default()
    }
}

/// Returns the usage of one of the jobs found, within the window. With several jobs, their usage is kept apart.
pub fn ask(
    store: &mut Store,
    name: &str,
    asked: Window,
    found: &Answer<JobRow>,
    row: &JobRow,
) -> Result<Subject, Error> {
    let is_shared = found.rows.len() > 1;
    let answered = store.ask(&JobUsage {
        job: name.to_owned(),
        window: asked,
        scheduler: row.scheduler.clone().filter(|_| is_shared),
    })?;
    let rows = &answered.rows;
    let whole: Vec<_> = rows.iter().filter(|row| is_whole(row)).collect();
    let own = match is_shared {
        true => filters_of(row),
        false => Filters::default(),
    };
    let elements = elements(store, name, row, &own)?;
    let work = Selection {
        window: window(&whole, row),
        filters: filters(name, own, &elements),
    };
    let mut subject = Subject::new(Kind::Job, name, work);
    subject.add(facts(row, name));
    // Parts of the metadata requests come from MDTs alone: OSTs report some of these operations too.
    let is_sum = |it: &str| it == "metadata" || sum_of(it) != Some("metadata");
    let sums = whole.iter().filter(|row| is_sum(&row.operation));
    subject.usage = sums.copied().cloned().collect();
    subject.rankings = vec![by_target(rows)];
    subject.note("The job", found);
    subject.note("Its I/O, in total and on each target", &answered);
    let knows = row.started.is_some() || row.state.is_some();
    subject.notes.extend(state(knows, row).map(str::to_owned));
    subject.add(costs(row, rows));
    if elements.len() < 2 {
        add_baseline(store, &mut subject, row)?;
    }
    // With a shared number, unattributed usage cannot be assigned to a job.
    if knows && !is_shared {
        subject.notes.extend(not_counted(rows));
    }
    if whole.is_empty() {
        add_totals(store, &mut subject, asked)?;
    } else {
        if subject.fact("user").is_none() {
            by_user(store, &mut subject)?;
        }
        add_course(store, &mut subject)?;
        if let Some(Value::Count(2..)) = subject.fact("nodes") {
            subject.rank(store, &[Dimension::Node])?;
        }
        findings::add(store, &mut subject)?;
    }
    by_element(&mut subject, &elements);
    Ok(subject)
}

/// Notes that the job is unknown to accounting, or still runs.
const fn state(knows: bool, row: &JobRow) -> Option<&'static str> {
    match (knows, row.started, row.ended) {
        (false, ..) => Some(
            "This job is not in accounting: its user, state, start and end come from its I/O alone.",
        ),
        (true, Some(_), None) => {
            Some("The job is still running: all numbers cover the time up to the last observation.")
        }
        _ => None,
    }
}

/// Returns how busy a job kept servers, and its energy.
fn costs(row: &JobRow, usage: &[JobUsageRow]) -> [Option<Fact>; 3] {
    let busy = row.in_service.map(|it| Value::Number(it, ratio));
    let [all, per_gb] = ENERGY.map(|(operation, key, label)| {
        let row = usage.iter().find(|row| row.operation == operation);
        let energy = row.and_then(|row| row.total).map(number);
        Fact::new(key, label, energy.map(|it| Value::Number(it, joules)))
    });
    [Fact::new("in_service", "Busy per node", busy), all, per_gb]
}

/// Describes the excluded usage, with a sentence for each kind.
fn not_counted(rows: &[JobUsageRow]) -> Vec<String> {
    let kinds = [
        ("read_bytes", "read"),
        ("write_bytes", "written"),
        ("open", "opens"),
    ];
    let whole = |name: String| {
        let mut rows = rows.iter().filter(|row| is_whole(row));
        rows.find(|row| row.operation == name)
    };
    let sentence = |(prefix, why): &(&str, &str)| {
        let said = kinds.iter().filter_map(|(operation, verb)| {
            let found = whole(format!("{prefix}{operation}"))?;
            Some(format!("{} {verb}", total(number(found.total?), operation)))
        });
        let said = joined(said)?;
        Some(format!("{why}. Not counted here: {said}."))
    };
    NOT_COUNTED.iter().filter_map(sentence).collect()
}

/// Returns true for rows of the whole job.
fn is_whole(row: &JobUsageRow) -> bool {
    let is_energy = ENERGY.iter().any(|it| it.0 == row.operation);
    !is_energy && row.labels == Group::default()
}

/// Returns the time of the work or, if no work was seen, of the job.
fn window(whole: &[&JobUsageRow], row: &JobRow) -> when::Span {
    let is_other = |it: &&JobUsageRow| NOT_COUNTED.iter().any(|of| it.operation.starts_with(of.0));
    let own = || whole.iter().filter(|it| !is_other(it));
    let since = own().filter_map(|it| it.time).min();
    let since = since.or(row.started).or(row.submitted).unwrap_or_default();
    let until = own().filter_map(|it| it.last_active).max();
    (since, until.or(row.ended).unwrap_or(since).max(since))
}

/// Returns the properties of a job.
fn facts(row: &JobRow, name: &str) -> [Option<Fact>; 14] {
    let label = row.label.as_ref().filter(|label| *label != name);
    // Schedulers print an exit code of 0 for a running job.
    let exit_code = row.exit_code.as_ref().filter(|_| row.ended.is_some());
    let run_time = row.run_time.map(|it| it.0.as_secs_f64());
    let run_time = run_time.map(|it| Value::Number(it, when::length));
    [
        Fact::text("label", "Label", label),
        Fact::text("user", "User", row.user_name.as_ref()),
        Fact::text("account", "Account", row.account.as_ref()),
        Fact::text("job_name", "Job name", row.job_name.as_ref()),
        Fact::text("state", "State", row.state.as_ref()),
        Fact::text("exit_code", "Exit code", exit_code),
        Fact::text("partition", "Partition", row.partition.as_ref()),
        Fact::text("scheduler", "Scheduler", row.scheduler.as_ref()),
        Fact::new("nodes", "Nodes", row.nodes.map(Value::Count)),
        Fact::new("cpus", "Processors", row.cpus.map(Value::Count)),
        Fact::new("submitted", "Submitted", row.submitted.map(Value::Time)),
        Fact::new("started", "Start", row.started.map(Value::Time)),
        Fact::new("ended", "End", row.ended.map(Value::Time)),
        Fact::new("run_time", "Run time", run_time),
    ]
}

/// Ranks the targets of the answer about the job.
fn by_target(rows: &[JobUsageRow]) -> Ranking {
    let mut targets: BTreeMap<&String, RankingRow> = BTreeMap::new();
    for row in rows {
        let Some(name) = &row.labels.target else {
            continue;
        };
        let target = targets.entry(name).or_insert_with(|| RankingRow {
            name: Some(name.clone()),
            ..RankingRow::default()
        });
        if let Some(place) = COURSE.iter().position(|it| *it == row.operation) {
            target.amounts[place] = row.total;
        }
    }
    Ranking::by_amount("target", targets.into_values().collect())
}

/// Loads the owner of the job from its entries, if accounting does not know the job.
fn by_user(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let users = subject.work.summary(store, &[Dimension::User])?;
    let names = users.rows.iter().filter_map(|row| row.labels.user.clone());
    let names: Vec<_> = names.collect();
    let user = match names.as_slice() {
        [] => return Ok(()),
        few if few.len() <= 3 => few.join(", "),
        many => format!("{} users", many.len()),
    };
    let place = usize::from(subject.fact("label").is_some());
    let user = Fact::text("user", "User", Some(&user));
    subject.facts.splice(place..place, user);
    subject.note("Its users", &users);
    Ok(())
}

/// Compares the load of a job with the owner's jobs that ended in the 30 days before its start. An array, which is many jobs, is not
/// compared.
fn add_baseline(store: &mut Store, subject: &mut Subject, row: &JobRow) -> Result<(), Error> {
    let (Some(busy), Some(user), Some(started)) = (row.in_service, &row.user_name, row.started)
    else {
        return Ok(());
    };
    let own = store.ask(&Jobs {
        window: Window::new(after(started, -30.0 * DAY), started),
        n: Some(MOST),
        filter: Filters {
            user: only(user),
            ..Filters::default()
        },
    })?;
    subject.note("The owner's jobs in the 30 days before", &own);
    let before = own.rows.iter();
    let before = before.filter(|it| it.ended.is_some_and(|ended| ended <= started));
    let mut others: Vec<_> = before.filter_map(in_service).collect();
    if others.len() < FEWEST {
        return Ok(());
    }
    if let Some(usual) = Typical::of(busy, &mut others) {
        let count = others.len();
        let median = format!("this user's median job (of {count} in the 30 days before)");
        subject.add([compared(usual.times_usual, &median)]);
    }
    Ok(())
}

/// Returns the mean number of requests in service per node of a job that is summed up.
fn in_service(row: &JobsRow) -> Option<f64> {
    let node_time = row.run_time?.0.as_secs_f64() * row.nodes? as f64;
    (node_time > 0.0).then_some(number(row.service_time?) / node_time)
}

/// Adds the totals that are left of a job whose usage is not kept any more.
fn add_totals(store: &mut Store, subject: &mut Subject, asked: Window) -> Result<(), Error> {
    let last = list(store, &subject.name, asked, Filters::default(), 1)?;
    let Some(row) = last.rows.first().filter(|_| asked == Window::default()) else {
        return Ok(());
    };
    let length = when::seconds(subject.work.window).max(1.0);
    let sums = [
        row.read_bytes,
        row.write_bytes,
        row.metadata,
        row.service_time,
    ];
    if sums.iter().flatten().all(|sum| sum.is_zero()) {
        return Ok(());
    }
    let usage = COURSE.iter().zip(sums).map(|(name, total)| Usage {
        operation: (*name).to_owned(),
        total,
        rate: total.map(|total| number(total) / length),
        ..Usage::default()
    });
    subject.usage = usage.collect();
    subject.rankings.clear();
    subject.notes.push("The job is older than the store's increments: only its totals are retained, not its rates over time or \
                        targets.".to_owned());
    subject.note("Retained totals of the job", &last);
    Ok(())
}

/// Returns whether a job, or each element of an array, is over and summed up, or ended more than a day ago. A job that no accounting knows
/// is not.
pub fn is_done(
    store: &mut Store,
    name: &str,
    window: Window,
    scheduler: Option<&str>,
) -> Result<bool, Error> {
    let own = match scheduler {
        None => Filters::default(),
        Some(scheduler) => {
            let jobs = store.ask(&Job {
                job: name.to_owned(),
                scheduler: Some(scheduler.to_owned()),
            })?;
            match jobs.rows.first() {
                Some(row) => filters_of(row),
                None => return Ok(false),
            }
        }
    };
    let jobs = list(store, name, window, own, ELEMENTS)?.rows;
    let day_ago = after(Timestamp::now(), -DAY);
    let is_done = |it: &JobsRow| it.run_time.is_some() || it.ended.is_some_and(|it| it < day_ago);
    Ok(!jobs.is_empty() && jobs.iter().all(is_done))
}

/// Returns the filters for a job or the elements of an array; many elements are selected by their array.
fn filters(name: &str, own: Filters, elements: &[JobsRow]) -> Filters {
    let numbers = elements.iter().filter_map(|it| it.labels.job.as_deref());
    let numbers: BTreeSet<_> = numbers.map(exactly).collect();
    let (job, job_group) = match numbers.len() {
        0 => (only(name), None),
        1..=NAMED => (Some(numbers.into_iter().collect()), None),
        _ => (None, Some(groups(name))),
    };
    Filters {
        job,
        job_group,
        ..own
    }
}

#[cfg(test)]
mod tests;
