//! A job.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::{
    Attributed, Dimension, Filters, Job, JobRow, JobRunRow, JobRuns, JobSummaries, JobSummaryRow,
    SummaryRow, Window, exactly,
};
use jobstats_core::quantity::Quantity;

use super::findings::findings;
use super::questions::{add_course, add_parts, ask_summary, is_part};
use super::{Asked, Course, Fact, Kind, Ranked, Ranking, Subject, Usage, Value, seconds};
use crate::ask::store::{Answered, Error, Store};
use crate::live::users::called;
use crate::values::number::Number;

/// The operation of a row that is a run, and no usage.
const RUN: &str = "run";

/// A job that a scheduler has by the name that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The scheduler.
    pub scheduler: String,
    /// The user.
    pub user: Option<String>,
    /// The account.
    pub account: Option<String>,
    /// The name of the job.
    pub job_name: Option<String>,
    /// The state of its last run.
    pub state: Option<String>,
    /// The start of its last run.
    pub started: Option<Timestamp>,
    /// The filters that tell its work from that of the others.
    filters: Filters,
}

impl Candidate {
    fn of_run(run: JobRunRow) -> Self {
        let only = |text: &Option<String>| text.as_deref().map(|text| vec![exactly(text)]);
        Self {
            filters: Filters {
                uid: run.uid.map(|uid| vec![uid]),
                account: only(&run.account),
                partition: only(&run.partition),
                job_name: only(&run.job_name),
                ..Filters::default()
            },
            scheduler: run.scheduler,
            user: called(run.user_name.as_deref(), run.uid),
            account: run.account,
            job_name: run.job_name,
            state: run.state,
            started: run.started,
        }
    }

    fn of_summary(row: JobSummaryRow) -> Self {
        Self {
            scheduler: row.scheduler,
            user: row.user_name,
            account: row.account,
            job_name: row.job_name,
            state: row.state,
            started: Some(row.started),
            filters: Filters::default(),
        }
    }
}

/// Returns the last job of each scheduler that has such a number or label: of those that accounting knows, or else of those that are
/// summed up. A number goes before a label.
///
/// # Errors
///
/// Fails if the store does.
pub fn candidates(
    store: &mut Store,
    name: &str,
    window: Window,
) -> Result<BTreeMap<String, Candidate>, Error> {
    let job = name.to_owned();
    let mut runs = store.ask(&JobRuns { job, window })?.rows;
    if runs.iter().any(|run| run.job == name) {
        runs.retain(|run| run.job == name);
    }
    let mut candidates: Vec<_> = runs.into_iter().map(Candidate::of_run).collect();
    if candidates.is_empty() {
        let job = name.to_owned();
        let summaries = store.ask(&JobSummaries { job })?.rows;
        candidates = summaries.into_iter().map(Candidate::of_summary).collect();
    }
    // The last one comes first.
    let candidates = candidates.into_iter().rev();
    Ok(candidates.map(|it| (it.scheduler.clone(), it)).collect())
}

/// Returns what a job did, or the notes of a store that does not know it. The window says which job is meant if several
/// have the number; without its bounds it is the last one. If several schedulers have it, one of these is chosen.
///
/// # Errors
///
/// Fails if the store does.
pub fn ask(
    store: &mut Store,
    name: &str,
    asked: Window,
    choice: Option<&Candidate>,
) -> Result<Asked, Error> {
    let job = store.ask(&Job {
        job: name.to_owned(),
        window: asked,
        scheduler: choice.map(|it| it.scheduler.clone()),
        ..Job::default()
    })?;
    let Some(described) = job.rows.first() else {
        let summaries = store.ask(&JobSummaries {
            job: name.to_owned(),
        })?;
        let is_chosen =
            |row: &&JobSummaryRow| choice.is_none_or(|it| it.scheduler == row.scheduler);
        return Ok(match summaries.rows.iter().find(is_chosen) {
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
        filters: filters(name, choice),
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
    let in_service = whole.iter().find_map(|row| row.in_service);
    subject.facts.extend(in_service.map(|number| Fact {
        key: "in_service",
        label: "Busy per node",
        value: Value::Number(number),
    }));
    // Whose job it is that work without a number is likely to be of, a number alone does not say.
    if knows && choice.is_none() {
        subject.notes.extend(attributed(store, name)?);
    }
    if !whole.is_empty() {
        if subject.fact("user").is_none() {
            by_user(store, &mut subject)?;
        }
        add_course(store, &mut subject)?;
        add_parts(store, &mut subject)?;
        by_node(store, &mut subject)?;
    }
    subject.findings = findings(&subject);
    Ok(Ok(subject))
}

/// Says how much work without a job is likely to be of this one.
fn attributed(store: &mut Store, name: &str) -> Result<Option<String>, Error> {
    let attributed = store.ask(&Attributed {
        job: name.to_owned(),
        ..Attributed::default()
    })?;
    let total = |operation: &str| {
        let rows = attributed
            .rows
            .iter()
            .filter(|row| row.operation == operation);
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
fn by_user(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let by = vec![Dimension::Uid, Dimension::UserName];
    let users = ask_summary(store, subject.window, by, &subject.filters)?;
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
fn by_node(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let Some(Value::Count(2..)) = subject.fact("nodes") else {
        return Ok(());
    };
    let by = vec![Dimension::Node];
    let nodes = ask_summary(store, subject.window, by, &subject.filters)?;
    subject.note("Its nodes", &nodes);
    let ranking = Ranking::of("node", nodes.rows, |row| (row.group.node.clone(), None));
    subject.rankings.push(ranking);
    Ok(())
}

fn filters(name: &str, choice: Option<&Candidate>) -> Filters {
    Filters {
        job: Some(vec![exactly(name)]),
        ..choice.map(|it| it.filters.clone()).unwrap_or_default()
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
        Usage::of_summary(operation, total, calls, length)
    };
    let mut subject = Subject {
        kind: Kind::Job,
        name: name.to_owned(),
        filters: filters(name, None),
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
