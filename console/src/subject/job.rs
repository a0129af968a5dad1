//! A job.

use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::{
    Attributed, AttributedRow, Dimension, Filters, Job, JobRow, JobSummaries, JobSummaryRow,
    SummaryRow, Window, exactly,
};
use jobstats_core::quantity::Quantity;

use super::findings::findings;
use super::questions::{add_course, add_parts, ask_summary, is_part};
use super::{Asked, Course, Fact, Kind, Ranked, Ranking, Subject, Usage, Value, seconds};
use crate::number::Number;
use crate::store::{Answered, Error, Store};
use crate::users::called;

/// The operation of a row that is a run, and no usage.
const RUN: &str = "run";

/// Returns what a job did, or the notes of a store that does not know it. The window and the scheduler say which job is meant if
/// several have the number; without these it is the last one.
///
/// # Errors
///
/// Fails if the store does.
pub fn ask(
    store: &mut Store,
    name: &str,
    scheduler: Option<&str>,
    asked: Window,
) -> Result<Asked, Error> {
    let mut question = Job {
        job: name.to_owned(),
        window: asked,
        scheduler: scheduler.map(str::to_owned),
        ..Job::default()
    };
    let mut job = store.ask(&question)?;
    let schedulers = schedulers(&job.rows);
    if let [_, .., last] = schedulers.as_slice() {
        question.scheduler = Some(last.clone());
        job = store.ask(&question)?;
    }
    let Some(described) = job.rows.first() else {
        let summaries = store.ask(&JobSummaries {
            job: name.to_owned(),
        })?;
        return Ok(match summaries.rows.first() {
            Some(summary) => Ok(summarized(name, summary, &summaries)),
            None => Err(job.notes),
        });
    };
    let whole: Vec<_> = job.rows.iter().filter(|row| is_whole(row)).collect();
    // The window of the usage, or that of the run if no usage was seen.
    let shown = whole.first().copied().unwrap_or(described);
    let window = window(shown);
    let mut subject = Subject {
        kind: Kind::Job,
        name: name.to_owned(),
        is_numbered: false,
        facts: facts(shown, described, name),
        window,
        usage: whole
            .iter()
            .filter(|row| !is_part(&row.operation))
            .map(|row| usage(row))
            .collect(),
        course: Course::default(),
        rankings: vec![by_target(&job.rows)],
        findings: Vec::new(),
        notes: Vec::new(),
        statements: Vec::new(),
    };
    subject.note("The whole job, and each target", &job);
    let knows = job.rows.iter().any(|row| row.operation == RUN);
    if !knows {
        subject.notes.push(
            "No accounting knows this job, so its user, state, start and end come from its work alone.".to_owned(),
        );
    }
    if knows && shown.started.is_some() && shown.ended.is_none() {
        subject.notes.push(
            "The job still runs: all numbers are of the time up to the last observation."
                .to_owned(),
        );
    }
    if let [_, .., last] = schedulers.as_slice() {
        subject.notes.push(format!(
            "Jobs of several schedulers have this number: {}. This is that of {last}; --scheduler chooses another.",
            schedulers.join(", ")
        ));
    }
    let in_service = whole.iter().find_map(|row| row.in_service);
    subject.facts.extend(in_service.map(|number| Fact {
        key: "in_service",
        label: "Busy per node",
        value: Value::Number(number),
    }));
    if knows {
        subject.notes.extend(attributed(store, &question)?);
    }
    if !whole.is_empty() {
        let filters = filters(name, question.scheduler.and(Some(shown)));
        if subject.fact("user").is_none() {
            by_user(store, &mut subject, &filters)?;
        }
        add_course(store, &mut subject, &filters)?;
        add_parts(store, &mut subject, &filters)?;
        by_node(store, &mut subject, &filters)?;
    }
    subject.findings = findings(&subject);
    Ok(Ok(subject))
}

/// Says how much work without a job is likely to be of this one.
fn attributed(store: &mut Store, job: &Job) -> Result<Option<String>, Error> {
    let attributed = store.ask(&Attributed {
        job: job.job.clone(),
        ..Attributed::default()
    })?;
    let total = |operation: &str| {
        let is_of_job = |row: &&AttributedRow| {
            row.operation == operation
                && (job.scheduler.is_none() || job.scheduler.as_ref() == Some(&row.scheduler))
        };
        let rows = attributed.rows.iter().filter(is_of_job);
        let total = rows.map(|row| super::number(row.total)).sum::<f64>();
        (total > 0.0).then(|| Number::of(Some(total), operation, Quantity::Total).text())
    };
    let said = [
        total("read_bytes").map(|total| format!("{total} read")),
        total("write_bytes").map(|total| format!("{total} written")),
        total("open").map(|total| format!("{total} opens")),
    ];
    let said: Vec<_> = said.into_iter().flatten().collect();
    Ok((!said.is_empty()).then(|| {
        let said = said.join(", ");
        format!("Work without a job number on its nodes is likely its own too, and is not counted here: {said}.")
    }))
}

/// Returns the schedulers of the runs in the order of their last starts.
fn schedulers(rows: &[JobRow]) -> Vec<String> {
    let runs = rows.iter().filter(|row| row.operation == RUN);
    let mut schedulers: Vec<String> = Vec::new();
    for scheduler in runs.filter_map(|row| row.scheduler.clone()) {
        schedulers.retain(|it| *it != scheduler);
        schedulers.push(scheduler);
    }
    schedulers
}

/// Returns true for rows of the whole job.
fn is_whole(row: &JobRow) -> bool {
    row.operation != RUN && row.target.is_none() && row.node.is_none()
}

fn window(row: &JobRow) -> (Timestamp, Timestamp) {
    let since = row.time.or(row.submitted).unwrap_or_default();
    let length = jiff::SignedDuration::try_from_secs_f64(row.seconds.unwrap_or_default());
    let until = length.ok().and_then(|it| since.checked_add(it).ok());
    (since, until.unwrap_or(since))
}

fn usage(row: &JobRow) -> Usage {
    Usage {
        operation: row.operation.clone(),
        total: row.total,
        calls: row.calls,
        per_call: row.per_call,
        rate: row.rate,
    }
}

/// Returns the properties of a job. The number of its nodes is what the scheduler says of its first run; other rows have
/// the number of nodes that were seen.
fn facts(row: &JobRow, described: &JobRow, name: &str) -> Vec<Fact> {
    let mut facts = Facts::default();
    let label = row.label.as_ref().filter(|label| *label != name);
    facts.text("label", "Label", label);
    facts.text("user", "User", row.user_name.as_ref());
    facts.text("account", "Account", row.account.as_ref());
    facts.text("job_name", "Job name", row.job_name.as_ref());
    facts.text("state", "State", row.state.as_ref());
    // Schedulers print an exit code of 0 for a job that has none yet.
    let exit_code = row.exit_code.as_ref().filter(|_| row.ended.is_some());
    facts.text("exit_code", "Exit code", exit_code);
    facts.text("partition", "Partition", row.partition.as_ref());
    facts.text("scheduler", "Scheduler", row.scheduler.as_ref());
    facts.count("nodes", "Nodes", described.nodes);
    facts.count("cpus", "Processors", row.cpus.or(described.cpus));
    facts.time("submitted", "Submitted", row.submitted);
    facts.time("started", "Start", row.started);
    facts.time("ended", "End", row.ended);
    let run_time = row.run_time.map(|it| it.0.as_secs_f64());
    facts.push("run_time", "Run time", run_time.map(Value::Length));
    facts.0
}

/// Properties as they are found.
#[derive(Default)]
pub(super) struct Facts(pub(super) Vec<Fact>);

impl Facts {
    pub(super) fn push(&mut self, key: &'static str, label: &'static str, value: Option<Value>) {
        self.0.extend(value.map(|value| Fact { key, label, value }));
    }

    pub(super) fn text(&mut self, key: &'static str, label: &'static str, text: Option<&String>) {
        self.push(key, label, text.cloned().map(Value::Text));
    }

    pub(super) fn count(&mut self, key: &'static str, label: &'static str, count: Option<i64>) {
        self.push(key, label, count.map(Value::Count));
    }

    pub(super) fn time(&mut self, key: &'static str, label: &'static str, time: Option<Timestamp>) {
        self.push(key, label, time.map(Value::Time));
    }
}

/// Ranks the targets of the answer about the job.
fn by_target(rows: &[JobRow]) -> Ranking {
    let mut targets: Vec<Ranked> = Vec::new();
    let of_targets = rows.iter().filter(|row| row.target.is_some());
    for row in of_targets {
        let at = targets.iter().position(|it| it.name == row.target);
        let at = at.unwrap_or_else(|| {
            targets.push(Ranked {
                name: row.target.clone(),
                detail: None,
                share: None,
                service_time: None,
                read_bytes: None,
                write_bytes: None,
                metadata: None,
            });
            targets.len() - 1
        });
        let target = &mut targets[at];
        let place = match row.operation.as_str() {
            "service_time" => &mut target.service_time,
            "read_bytes" => &mut target.read_bytes,
            "write_bytes" => &mut target.write_bytes,
            "metadata" => &mut target.metadata,
            _ => continue,
        };
        *place = row.total;
    }
    Ranking::by_amount("target", targets)
}

/// Asks whose the job is by its identifiers, where accounting does not say so.
fn by_user(store: &mut Store, subject: &mut Subject, filters: &Filters) -> Result<(), Error> {
    let by = vec![Dimension::Uid, Dimension::UserName];
    let users = ask_summary(store, subject.window, by, filters)?;
    let named = |row: &SummaryRow| called(row.group.user_name.as_deref(), row.group.uid);
    let names: Vec<_> = users.rows.iter().filter_map(named).collect();
    let user = match names.as_slice() {
        [] => return Ok(()),
        few if few.len() <= 3 => few.join(", "),
        many => format!("{} users", many.len()),
    };
    let place = usize::from(subject.fact("label").is_some());
    let (key, label, value) = ("user", "User", Value::Text(user));
    subject.facts.insert(place, Fact { key, label, value });
    subject.note("Its users", &users);
    Ok(())
}

/// Asks for the nodes of the job, if there are several.
fn by_node(store: &mut Store, subject: &mut Subject, filters: &Filters) -> Result<(), Error> {
    let Some(Value::Count(2..)) = subject.fact("nodes") else {
        return Ok(());
    };
    let nodes = ask_summary(store, subject.window, vec![Dimension::Node], filters)?;
    subject.note("Its nodes", &nodes);
    let ranking = Ranking::of("node", nodes.rows, |row| (row.group.node.clone(), None));
    subject.rankings.push(ranking);
    Ok(())
}

/// Returns the filters of the job. That of one of several schedulers is told from the others by its user and account.
fn filters(name: &str, of_scheduler: Option<&JobRow>) -> Filters {
    let only =
        |text: fn(&JobRow) -> &Option<String>| Some(vec![exactly(text(of_scheduler?).as_deref()?)]);
    Filters {
        job: Some(vec![exactly(name)]),
        user_name: only(|row| &row.user_name),
        account: only(|row| &row.account),
        ..Filters::default()
    }
}

/// Returns what is still known of a job whose usage is not kept any more.
fn summarized(name: &str, row: &JobSummaryRow, answered: &Answered<JobSummaryRow>) -> Subject {
    let mut facts = Facts::default();
    let label = row.label.as_ref().filter(|label| *label != name);
    facts.text("label", "Label", label);
    facts.text("user", "User", row.user_name.as_ref());
    facts.text("account", "Account", row.account.as_ref());
    facts.text("job_name", "Job name", row.job_name.as_ref());
    facts.text("state", "State", row.state.as_ref());
    facts.text("exit_code", "Exit code", row.exit_code.as_ref());
    facts.text("partition", "Partition", row.partition.as_ref());
    facts.text("scheduler", "Scheduler", Some(&row.scheduler));
    facts.count("nodes", "Nodes", row.nodes);
    facts.count("cpus", "Processors", row.cpus);
    facts.time("started", "Start", Some(row.started));
    facts.time("ended", "End", Some(row.ended));
    facts.text("busiest_target", "Mostly on", row.busiest_target.as_ref());
    let window = (row.started, row.ended);
    let length = seconds(window).max(1.0);
    let usage = |operation: &str, total: Option<Decimal>, calls: Option<Decimal>| {
        let per_call = match (total.map(super::number), calls.map(super::number)) {
            (Some(total), Some(calls)) if calls >= 10.0 => Some(total / calls),
            _ => None,
        };
        Usage {
            operation: operation.to_owned(),
            total,
            calls,
            per_call,
            rate: total.map(|total| super::number(total) / length),
        }
    };
    let mut subject = Subject {
        kind: Kind::Job,
        name: name.to_owned(),
        is_numbered: false,
        facts: facts.0,
        window,
        usage: vec![
            usage("read_bytes", Some(row.read_bytes), Some(row.read)),
            usage("write_bytes", Some(row.write_bytes), Some(row.write)),
            usage("open", Some(row.opens), None),
            usage("metadata", Some(row.metadata), None),
            usage("service_time", row.service_time, None),
        ],
        course: Course::default(),
        rankings: Vec::new(),
        findings: Vec::new(),
        notes: vec![
            "The job is older than the increments that the store keeps: only its totals are left, not its rates over time or its targets.".to_owned(),
        ],
        statements: Vec::new(),
    };
    if answered.rows.len() > 1 {
        let count = answered.rows.len();
        subject.notes.push(format!(
            "{count} such jobs are known; this is the last one."
        ));
    }
    subject.note("What is left of the job", answered);
    subject.findings = findings(&subject);
    subject
}
