//! A job.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jobstats_client::answers::{
    Dimension, Filters, Job, JobRow, JobRunRow, JobRuns, JobSummaries, JobSummaryRow, SummaryRow,
    Window,
};
use jobstats_core::pattern::exactly;
use jobstats_core::usual::Usual;

use super::questions::{DAY, Selection, add_course, compared, is_part};
use super::{Asked, Fact, Kind, Ranked, Ranking, Subject, Usage, Value, findings, joined, number};
use crate::ask::store::{Answered, Error, Store};
use crate::live::user_names::called;
use crate::values::number::total;
use crate::values::when::{self, Span, after};

/// The operation of a row that is a run, and no usage.
const RUN: &str = "run";

/// The operations of rows that are the energy of a job, with the keys and the labels of the properties that they are here.
const ENERGY: [(&str, &str, &str); 2] = [
    ("energy", "joules", "Energy"),
    ("energy_per_gb", "joules_per_gb", "Energy per GB"),
];

/// The beginnings of the operations of work that is not counted: without a job, but likely of this one; and of other users who name this job.
const NOT_COUNTED: [(&str, &str); 2] = [
    (
        "attributed_",
        "Work without a job number on its nodes is likely its own too",
    ),
    ("claimed_", "Other users name this job, too"),
];

/// The largest number of jobs that a question names one by one.
const NAMED: usize = 100;

/// A job that a scheduler has by the name that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub scheduler: String,
    /// The user, the account, the name and the state of its last run.
    pub texts: [Option<String>; 4],
    /// The start of its last run.
    pub started: Option<Timestamp>,
    /// The filters that tell its work from that of the others.
    filters: Filters,
}

impl From<JobRunRow> for Candidate {
    fn from(run: JobRunRow) -> Self {
        let only = |text: &Option<String>| text.as_deref().map(|text| vec![exactly(text)]);
        let filters = Filters {
            uid: run.uid.map(|uid| vec![uid]),
            account: only(&run.account),
            partition: only(&run.partition),
            job_name: only(&run.job_name),
            ..Filters::default()
        };
        let user = called(run.user_name.as_deref(), run.uid);
        Self {
            scheduler: run.scheduler,
            texts: [user, run.account, run.job_name, run.state],
            started: run.started,
            filters,
        }
    }
}

impl From<JobSummaryRow> for Candidate {
    fn from(row: JobSummaryRow) -> Self {
        Self {
            scheduler: row.scheduler,
            texts: [row.user_name, row.account, row.job_name, row.state],
            started: Some(row.started),
            filters: Filters::default(),
        }
    }
}

/// Returns the runs of jobs of any scheduler that have such a number or label, and of the elements of such an array.
pub fn runs(store: &mut Store, name: &str, window: Window) -> Result<Vec<JobRunRow>, Error> {
    let runs = JobRuns {
        job: name.to_owned(),
        window,
        scheduler: None,
    };
    Ok(store.ask(&runs)?.rows)
}

/// Returns the last jobs with such a number or label that are summed up.
fn summaries(store: &mut Store, name: &str) -> Result<Answered<JobSummaryRow>, Error> {
    store.ask(&JobSummaries {
        job: Some(name.to_owned()),
        ..JobSummaries::default()
    })
}

/// Returns the last job of each scheduler that has such a number or label: of those that accounting knows by these runs, or else of those
/// that are summed up. A number goes before a label.
pub fn candidates(
    store: &mut Store,
    name: &str,
    runs: &[JobRunRow],
) -> Result<BTreeMap<String, Candidate>, Error> {
    let has_number = runs.iter().any(|run| run.job == name);
    let runs = runs.iter().filter(|run| !has_number || run.job == name);
    let mut candidates: Vec<_> = runs.cloned().map(Candidate::from).collect();
    if candidates.is_empty() {
        let summaries = summaries(store, name)?.rows;
        candidates = summaries.into_iter().map(Candidate::from).collect();
    }
    // The last one comes first.
    let candidates = candidates.into_iter().rev();
    Ok(candidates.map(|it| (it.scheduler.clone(), it)).collect())
}

/// Returns the work of a job, or the notes of a store that does not know it. The window says which job is meant if several
/// have the number; without its bounds it is the last one. If several schedulers have it, one of these is chosen.
pub fn ask(
    store: &mut Store,
    name: &str,
    asked: Window,
    choice: Option<&Candidate>,
    runs: Vec<JobRunRow>,
) -> Result<Asked, Error> {
    let job = store.ask(&Job {
        job: name.to_owned(),
        window: asked,
        scheduler: choice.map(|it| it.scheduler.clone()),
        ..Job::default()
    })?;
    let Some(described) = job.rows.first() else {
        let summaries = summaries(store, name)?;
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
    let mut own = runs
        .iter()
        .filter(|run| Some(&run.scheduler) == shown.scheduler.as_ref());
    let owner = own.next().and_then(|run| run.uid);
    let elements = elements(runs, name, choice);
    let work = Selection {
        window: window(shown),
        filters: filters(name, choice, &elements),
    };
    let mut subject = Subject::new(Kind::Job, name, work);
    subject.facts = facts_of_run(shown, described, name);
    let sums = whole.iter().filter(|row| !is_part(&row.operation));
    subject.usage = sums.map(|row| usage(row)).collect();
    subject.rankings = vec![by_target(&job.rows)];
    subject.note("The whole job, and each target", &job);
    let knows = job.rows.iter().any(|row| row.operation == RUN);
    subject.notes.extend(state(knows, shown).map(str::to_owned));
    let busy = whole.iter().find_map(|row| row.in_service);
    let busy = busy.map(Value::Number);
    subject.add([Fact::new("in_service", "Busy per node", busy)]);
    subject.add(ENERGY.map(|(operation, key, label)| {
        let row = job.rows.iter().find(|row| row.operation == operation);
        let joules = row.and_then(|row| row.total).map(number);
        Fact::new(key, label, joules.map(Value::Joules))
    }));
    if elements.len() < 2 {
        add_usual(store, &mut subject, owner, shown)?;
    }
    // A number alone does not say of which job work without a number is likely to be.
    if knows && choice.is_none() {
        subject.notes.extend(not_counted(&job.rows));
    }
    if !whole.is_empty() {
        if subject.fact("user").is_none() {
            by_user(store, &mut subject)?;
        }
        add_course(store, &mut subject)?;
        by_node(store, &mut subject)?;
    }
    // Of a single one, there is nothing more to say.
    if elements.len() > 1 {
        by_element(store, &mut subject, &elements)?;
    }
    findings::add(store, &mut subject)?;
    Ok(Ok(subject))
}

/// Says if accounting does not know the job, or if it still runs.
const fn state(knows: bool, shown: &JobRow) -> Option<&'static str> {
    match (knows, shown.started, shown.ended) {
        (false, ..) => Some(
            "No accounting knows this job, so its user, state, start and end come from its work alone.",
        ),
        (true, Some(_), None) => {
            Some("The job still runs: all numbers are of the time up to the last observation.")
        }
        _ => None,
    }
}

/// Says how much work is not counted, a sentence for each kind of it.
fn not_counted(rows: &[JobRow]) -> Vec<String> {
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
        let said: Vec<_> = said.collect();
        (!said.is_empty()).then(|| {
            let said = said.join(", ");
            format!("{why}. This is not counted here: {said}.")
        })
    };
    NOT_COUNTED.iter().filter_map(sentence).collect()
}

/// Returns true for rows of the whole job.
fn is_whole(row: &JobRow) -> bool {
    let is_energy = ENERGY.iter().any(|it| it.0 == row.operation);
    row.operation != RUN && !is_energy && row.target.is_none() && row.node.is_none()
}

fn window(row: &JobRow) -> Span {
    let since = row.time.or(row.submitted).unwrap_or_default();
    (since, after(since, row.seconds.unwrap_or_default()))
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

/// The properties that are texts: the key and the label of each.
const TEXTS: [(&str, &str); 8] = [
    ("label", "Label"),
    ("user", "User"),
    ("account", "Account"),
    ("job_name", "Job name"),
    ("state", "State"),
    ("exit_code", "Exit code"),
    ("partition", "Partition"),
    ("scheduler", "Scheduler"),
];

/// Returns the properties of a job: texts, the numbers of nodes and processors, and when it was submitted, started and ended.
fn facts(
    texts: [Option<&String>; 8],
    [nodes, cpus]: [Option<i64>; 2],
    [submitted, started, ended]: [Option<Timestamp>; 3],
) -> Vec<Fact> {
    let texts = TEXTS.into_iter().zip(texts);
    let texts = texts.map(|((key, label), text)| Fact::text(key, label, text));
    let numbers = [
        Fact::new("nodes", "Nodes", nodes.map(Value::Count)),
        Fact::new("cpus", "Processors", cpus.map(Value::Count)),
        Fact::new("submitted", "Submitted", submitted.map(Value::Time)),
        Fact::new("started", "Start", started.map(Value::Time)),
        Fact::new("ended", "End", ended.map(Value::Time)),
    ];
    texts.chain(numbers).flatten().collect()
}

/// Returns the properties of a job. The number of its nodes is that of the scheduler for its first run; other rows have the
/// number of nodes that were seen.
fn facts_of_run(row: &JobRow, described: &JobRow, name: &str) -> Vec<Fact> {
    let texts = [
        row.label.as_ref().filter(|label| *label != name),
        row.user_name.as_ref(),
        row.account.as_ref(),
        row.job_name.as_ref(),
        row.state.as_ref(),
        // Schedulers print an exit code of 0 for a job that has none yet.
        row.exit_code.as_ref().filter(|_| row.ended.is_some()),
        row.partition.as_ref(),
        row.scheduler.as_ref(),
    ];
    let counts = [described.nodes, row.cpus.or(described.cpus)];
    let mut facts = facts(texts, counts, [row.submitted, row.started, row.ended]);
    let run_time = row.run_time.map(|it| Value::Length(it.0.as_secs_f64()));
    facts.extend(Fact::new("run_time", "Run time", run_time));
    facts
}

/// Ranks the targets of the answer about the job.
fn by_target(rows: &[JobRow]) -> Ranking {
    let mut targets: BTreeMap<&String, Ranked> = BTreeMap::new();
    for row in rows {
        let Some(name) = &row.target else {
            continue;
        };
        let target = targets.entry(name).or_insert_with(|| Ranked {
            name: Some(name.clone()),
            ..Ranked::default()
        });
        match row.operation.as_str() {
            "service_time" => target.service_time = row.total,
            "read_bytes" => target.read_bytes = row.total,
            "write_bytes" => target.write_bytes = row.total,
            "metadata" => target.metadata = row.total,
            _ => {}
        }
    }
    Ranking::by_amount("target", targets.into_values().collect())
}

/// Asks whose the job is by its identifiers, where accounting does not say so.
fn by_user(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let by = [Dimension::Uid, Dimension::UserName];
    let users = subject.work.summary(store, &by)?;
    let named = |row: &SummaryRow| called(row.group.user_name.as_deref(), row.group.uid);
    let names: Vec<_> = users.rows.iter().filter_map(named).collect();
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

/// The fewest jobs that say what is usual, and the most that are asked for.
const FEWEST: usize = 5;
const MOST: i32 = 1000;

/// Adds how busy a job kept servers, compared with the jobs of its owner that ended in the 30 days before it began. An array, whose work is
/// that of many jobs, is not compared.
fn add_usual(
    store: &mut Store,
    subject: &mut Subject,
    owner: Option<i64>,
    shown: &JobRow,
) -> Result<(), Error> {
    let (Some(&Value::Number(busy)), Some(uid), Some(scheduler), Some(started)) = (
        subject.fact("in_service"),
        owner,
        &shown.scheduler,
        shown.started,
    ) else {
        return Ok(());
    };
    let own = store.ask(&JobSummaries {
        uid: Some(uid),
        scheduler: Some(scheduler.clone()),
        window: Window::new(after(started, -30.0 * DAY), started),
        n: Some(MOST),
        ..JobSummaries::default()
    })?;
    subject.note("The owner's jobs of the 30 days before", &own);
    let mut others: Vec<_> = own.rows.iter().filter_map(|row| row.in_service).collect();
    if others.len() < FEWEST {
        return Ok(());
    }
    if let Some(usual) = Usual::of(busy, &mut others) {
        let count = Value::Count(others.len() as i64);
        let count = Fact::new("usual_jobs", "Of own jobs", Some(count));
        let less = ("Jobs with less", Some(usual.percentile));
        subject.add(compared(usual.times_usual, less, count));
    }
    Ok(())
}

/// Asks for the nodes of the job, if there are several.
fn by_node(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let Some(Value::Count(2..)) = subject.fact("nodes") else {
        return Ok(());
    };
    let nodes = subject.work.summary(store, &[Dimension::Node])?;
    subject.note("Its nodes", &nodes);
    let ranking = Ranking::of("node", &nodes.rows, |row| (row.group.node.clone(), None));
    subject.rankings.push(ranking);
    Ok(())
}

/// An element of an array.
#[derive(Default)]
struct Element {
    number: String,
    /// The state of its last run.
    state: Option<String>,
    /// The seconds for which it ran; `None` if it has not begun.
    run_time: Option<f64>,
}

/// Returns the elements of an array by their labels; none if the name is not that of an array.
fn elements(
    runs: Vec<JobRunRow>,
    name: &str,
    choice: Option<&Candidate>,
) -> BTreeMap<String, Element> {
    let is_chosen = |run: &JobRunRow| choice.is_none_or(|it| it.scheduler == run.scheduler);
    let array = |parent: &str| parent.trim_end_matches("[]") == name.trim_end_matches("[]");
    // The leader of a job of several components is no array. The last run comes first.
    let is_element =
        |run: &JobRunRow| run.parent.as_deref().is_some_and(array) && !run.label.contains('+');
    let runs = runs.into_iter().rev();
    let runs = runs.filter(|run| is_chosen(run) && is_element(run));
    let mut elements: BTreeMap<String, Element> = BTreeMap::new();
    for run in runs {
        let element = elements.entry(run.label).or_default();
        let ended = run.ended.unwrap_or_else(Timestamp::now);
        if let Some(started) = run.started {
            *element.run_time.get_or_insert_default() += when::seconds((started, ended));
        }
        (element.number, element.state) = (run.job, run.state);
    }
    elements
}

/// Returns the numbers of elements, each once.
fn numbers(elements: &BTreeMap<String, Element>) -> BTreeSet<&str> {
    elements.values().map(|it| it.number.as_str()).collect()
}

/// Ranks the elements of an array by their work, and says which one ran longest. The work of those that share a number is not known.
fn by_element(
    store: &mut Store,
    subject: &mut Subject,
    elements: &BTreeMap<String, Element>,
) -> Result<(), Error> {
    let work = subject.work.summary(store, &[Dimension::Job])?;
    let are_apart = numbers(elements).len() == elements.len();
    let work_of = |element: &Element| {
        let mut rows = work.rows.iter().filter(|_| are_apart);
        rows.find(|row| row.group.job.as_ref() == Some(&element.number))
    };
    let mut times: Vec<_> = elements
        .iter()
        .filter_map(|(label, it)| Some((it.run_time?, label)))
        .collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let slowest = times
        .last()
        .map(|(time, label)| format!("{label}, {}", when::length(*time)));
    let median = times.get(times.len().saturating_sub(1) / 2);
    let median = median.map(|(time, _)| Value::Length(*time));
    subject.add([
        Fact::new(
            "elements",
            "Elements",
            Some(Value::Count(elements.len() as i64)),
        ),
        Fact::text("slowest", "Slowest", slowest.as_ref()),
        Fact::new("median_run_time", "Median time", median),
    ]);
    let ranked = elements.iter().map(|(label, element)| {
        let row = work_of(element);
        Ranked {
            name: Some(label.clone()),
            detail: joined([&element.run_time.map(when::length), &element.state]),
            service_time: row.and_then(|row| row.service_time),
            read_bytes: row.and_then(|row| row.read_bytes),
            write_bytes: row.and_then(|row| row.write_bytes),
            metadata: row.and_then(|row| row.metadata),
            ..Ranked::default()
        }
    });
    subject
        .rankings
        .push(Ranking::by_amount("element", ranked.collect()));
    subject.note("Its elements", &work);
    Ok(())
}

/// Returns whether a job, or each element of an array, is over and summed up. A job that no accounting knows is not.
pub fn is_done(
    store: &mut Store,
    name: &str,
    window: Window,
    scheduler: Option<&str>,
) -> Result<bool, Error> {
    let runs = store.ask(&JobRuns {
        job: name.to_owned(),
        window,
        scheduler: scheduler.map(str::to_owned),
    })?;
    Ok(!runs.rows.is_empty() && !runs.rows.iter().any(|run| run.to_come))
}

/// Returns the filters that let through the work of a job, or of the elements of an array: of many by what maintenance knows of them.
fn filters(
    name: &str,
    choice: Option<&Candidate>,
    elements: &BTreeMap<String, Element>,
) -> Filters {
    let mut filters = choice.map(|it| it.filters.clone()).unwrap_or_default();
    let numbers = numbers(elements);
    match numbers.len() {
        0 => filters.job = Some(vec![exactly(name)]),
        1..=NAMED => filters.job = Some(numbers.into_iter().map(exactly).collect()),
        _ => {
            let array = name.trim_end_matches("[]");
            filters.job_group = Some(vec![exactly(array), exactly(&format!("{array}[]"))]);
        }
    }
    filters
}

/// Returns the totals that are left of a job whose usage is not kept any more.
fn summarized(name: &str, row: &JobSummaryRow, answered: &Answered<JobSummaryRow>) -> Subject {
    let work = Selection {
        window: (row.started, row.ended),
        filters: filters(name, None, &BTreeMap::new()),
    };
    let length = when::seconds(work.window).max(1.0);
    let mut subject = Subject::new(Kind::Job, name, work);
    let texts = [
        row.label.as_ref().filter(|label| *label != name),
        row.user_name.as_ref(),
        row.account.as_ref(),
        row.job_name.as_ref(),
        row.state.as_ref(),
        row.exit_code.as_ref(),
        row.partition.as_ref(),
        Some(&row.scheduler),
    ];
    let times = [None, Some(row.started), Some(row.ended)];
    subject.facts = facts(texts, [row.nodes, row.cpus], times);
    let target = row.busiest_target.as_ref();
    subject.add([Fact::text("busiest_target", "Mostly on", target)]);
    let amounts = [
        ("read_bytes", Some(row.read_bytes), Some(row.read)),
        ("write_bytes", Some(row.write_bytes), Some(row.write)),
        ("open", Some(row.opens), None),
        ("metadata", Some(row.metadata), None),
        ("service_time", row.service_time, None),
    ];
    let usage = amounts.map(|(name, total, calls)| Usage::of_summary(name, total, calls, length));
    subject.usage = usage.to_vec();
    subject.notes.push("The job is older than the increments that the store keeps: only its totals are left, not its rates over time or its targets.".to_owned());
    if answered.rows.len() > 1 {
        let count = answered.rows.len();
        subject.notes.push(format!(
            "{count} such jobs are known; this is the last one."
        ));
    }
    subject.note("What is left of the job", answered);
    subject
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_the_only_known_element_is_found_by_its_number() {
        let run = JobRunRow {
            scheduler: "alpha".to_owned(),
            job: "11".to_owned(),
            label: "10_1".to_owned(),
            parent: Some("10".to_owned()),
            started: None,
            ended: None,
            uid: None,
            user_name: None,
            account: None,
            partition: None,
            job_name: None,
            state: None,
            to_come: false,
        };
        let elements = elements(vec![run], "10", None);
        let filters = filters("10", None, &elements);
        assert_eq!(filters.job, Some(vec!["11".to_owned()]));
    }
}
