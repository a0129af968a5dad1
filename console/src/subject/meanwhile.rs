//! The servers of a job while it ran, and whether they slowed it.

mod words;

use std::slice;

use jiff::Timestamp;
use jobstats_client::answers::{
    Dimension, EventRow, Events, JobRow, QueueRow, Queues, RateRow, TopRow,
};
use jobstats_core::base::instant::{HOUR, SECOND, Span};
use jobstats_core::base::pattern::exactly;
use jobstats_core::judgement::event::culprit::Load;
use jobstats_core::judgement::meanwhile::{
    self, Cause, Compared, DAYS, LEAST_SHARE, PLACES, usual,
};
use jobstats_core::series::typical::{LEAST_COVERAGE, median};
use serde_json::Value;

use super::questions::{DAY, Selection};
use super::queues::{Service, services};
use super::{Subject, number};
use crate::ask::store::{Answered, Error, Store};
use crate::values::text::shown;
use crate::values::when::{self, after};

/// The operations of the load. The first includes the time and the calls of all.
const LOAD: [&str; 2] = ["service_time", "bytes"];

/// The dimensions of the others.
const PEOPLE: [Dimension; 2] = [Dimension::User, Dimension::Job];

/// The seconds of the steps of typical values.
const STEP: i64 = HOUR / SECOND;

/// The number of the largest other users and jobs, and the least share of the load, that are named.
const NAMED: usize = 3;
const NAMED_SHARE: f64 = 0.01;

/// The servers of a job while it ran.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meanwhile {
    pub cause: Cause,
    /// The queue in which the job's requests waited most.
    pub wait: Option<Wait>,
    /// The target that was slowest against its typical time.
    pub target: Option<SlowestTarget>,
    /// The servers of the load: the one that was disturbed, else all.
    pub servers: Vec<String>,
    /// The requests in service on these servers.
    pub load: Compared,
    /// The job's share of the load, 0 to 1.
    pub share: Option<f64>,
    /// Other users and jobs there, each with its share of the load, largest first.
    pub others: Vec<(String, f64)>,
    /// The events that touched the servers or targets of the job, the oldest first; only its targets are named.
    pub events: Vec<EventRow>,
}

/// The queue of a service of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The step in which most requests waited.
    pub worst: QueueRow,
    /// The mean seconds that a request waited.
    pub mean: Compared,
}

/// A target, and its seconds per request.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowestTarget {
    pub name: String,
    pub server: String,
    /// The median of the steps.
    pub time: Compared,
    /// The time of the slowest step, and its seconds per request.
    pub worst: (Timestamp, f64),
}

impl SlowestTarget {
    /// Returns the slowest step compared with the typical time.
    pub fn at_worst(&self) -> Compared {
        Compared {
            value: self.worst.1,
            ..self.time
        }
    }
}

/// The time of a job, in steps of so many seconds, and the days before.
struct Times {
    window: when::Span,
    days: when::Span,
    step: i64,
}

impl Times {
    fn of(window: when::Span) -> Self {
        Self {
            window,
            days: (after(window.0, -DAY * DAYS as f64), window.0),
            step: when::step(when::seconds(window), 600, 60),
        }
    }

    fn span(&self) -> Span {
        let (since, until) = self.window;
        (since.as_microsecond(), until.as_microsecond())
    }

    /// Returns the typical value of hours, each with its start.
    fn typical(&self, hours: impl Iterator<Item = (Timestamp, Option<f64>)>) -> Option<f64> {
        let hours = hours.filter_map(|(start, value)| Some((start.as_microsecond(), value?)));
        usual(&hours.collect::<Vec<_>>(), self.span())
    }

    /// Returns the typical value of the hours in which an operation was observed.
    fn typical_of<'r>(
        &self,
        hours: impl IntoIterator<Item = &'r RateRow>,
        operation: &str,
        value: fn(&RateRow) -> Option<f64>,
    ) -> Option<f64> {
        let hours = hours.into_iter().filter(|row| row.operation == operation);
        let hours = hours.filter(|row| row.coverage >= LEAST_COVERAGE);
        self.typical(hours.map(|row| (row.time, value(row))))
    }
}

/// Returns the numbers that a job has in entries.
fn numbers(job: &JobRow) -> Vec<&str> {
    match job.labels.as_ref().and_then(|labels| labels.get("job")) {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        one => one.and_then(Value::as_str).into_iter().collect(),
    }
}

/// Adds what happened on the servers and targets of a job in its window.
pub fn add(store: &mut Store, subject: &mut Subject, job: &JobRow) -> Result<(), Error> {
    let jobs = &numbers(job);
    let times = Times::of(subject.work.window);
    // Without increments, a job has neither a course nor servers.
    if when::seconds(times.window) <= 0.0 || subject.course.steps.is_empty() {
        return Ok(());
    }
    let work = &subject.work;
    let own = work.rates(store, &LOAD, &[Dimension::Server], None)?;
    let servers = servers(&own.rows);
    if servers.is_empty() {
        return Ok(());
    }
    let there = on_servers(times.window, &servers);
    let now = there.rates(store, &LOAD, &[Dimension::Server], None)?;
    let wait = wait(store, &times, &own.rows, &servers)?;
    let ranked = subject.rankings[0].rows.iter();
    let used = ranked.clone().filter(|row| row.share >= Some(LEAST_SHARE));
    let used = used.count().min(PLACES);
    let targets: Vec<_> = ranked.filter_map(|row| row.name.clone()).collect();
    let target = slowest(store, &times, &targets[..used.min(targets.len())])?;
    let disturbed = disturbed(&times, &now.rows, wait.as_ref(), target.as_ref());
    let place = disturbed.map_or(servers.clone(), |server| vec![server.clone()]);
    let before = on_servers(times.days, &place).rates(store, &LOAD, &[], Some(STEP))?;
    let events = events(store, &there, &own.rows, &targets)?;
    let top = on_servers(times.window, &place).ranking(LOAD[0], &PEOPLE, 20);
    let top = store.ask(&top)?;
    for (title, statement) in [
        ("Its servers while it ran", now.statement),
        ("Events while it ran", events.statement),
        ("Others on its servers", top.statement),
    ] {
        subject.statements.push((title.to_owned(), statement));
    }
    let loads = loads(&own.rows, &now.rows, &before.rows, &place, &times);
    let [own, others] = loads.map(|load| load.time[2]);
    let share = |part: f64| (own + others > 0.0).then(|| part / (own + others));
    let judged = meanwhile::Meanwhile {
        is_disturbed: disturbed.is_some(),
        loads,
        ..judge(&events.rows, wait.as_ref(), jobs)
    };
    subject.meanwhile = Some(Meanwhile {
        cause: judged.cause(),
        load: Compared {
            value: own + others,
            usual: times.typical_of(&before.rows, LOAD[0], |row| row.rate),
        },
        share: share(own),
        others: named(&top.rows, jobs, when::seconds(times.window), share),
        events: events.rows,
        servers: place,
        wait,
        target,
    });
    Ok(())
}

/// Returns the server on which requests waited or took long.
fn disturbed<'p>(
    times: &Times,
    now: &[RateRow],
    wait: Option<&'p Wait>,
    target: Option<&'p SlowestTarget>,
) -> Option<&'p String> {
    let served = |server: &String| {
        let of = |value| sum(now, LOAD[0], slice::from_ref(server), value);
        let time = of(total);
        (time > 0.0).then(|| time / of(calls))
    };
    let waits = wait.filter(|it| it.mean.is_long_wait(served(&it.worst.server)));
    let slow = target.filter(|it| it.time.is_slow(times.span()));
    waits
        .map(|it| &it.worst.server)
        .or_else(|| slow.map(|it| &it.server))
}

/// Returns everything that servers did in a window.
fn on_servers(window: when::Span, servers: &[String]) -> Selection {
    let names = servers.iter().map(|name| exactly(name)).collect();
    Selection::all(window).part(|filters| filters.server = Some(names))
}

/// Returns the servers with most requests of the job.
fn servers(own: &[RateRow]) -> Vec<String> {
    let rows = own.iter().filter(|row| row.operation == LOAD[0]);
    let servers = rows.filter_map(|row| {
        let calls = number(row.calls.filter(|calls| !calls.is_zero())?);
        Some((calls, row.labels.server.clone()?))
    });
    let mut servers: Vec<_> = servers.collect();
    servers.sort_by(|one, other| other.0.total_cmp(&one.0));
    let names = servers.into_iter().map(|(_, name)| name);
    names.take(PLACES).collect()
}

/// Returns the calls of a row per second.
fn calls(row: &RateRow) -> Option<f64> {
    Some(number(row.calls?) / row.seconds)
}

/// Returns the total of a row per second.
fn total(row: &RateRow) -> Option<f64> {
    Some(number(row.total?) / row.seconds)
}

/// Returns the sum of the values of an operation on servers.
fn sum(
    rows: &[RateRow],
    operation: &str,
    servers: &[String],
    value: fn(&RateRow) -> Option<f64>,
) -> f64 {
    let rows = rows.iter().filter(|row| row.operation == operation);
    let there = rows.filter(|row| {
        row.labels
            .server
            .as_ref()
            .is_some_and(|it| servers.contains(it))
    });
    there.filter_map(value).fold(0.0, |sum, value| sum + value)
}

/// Returns the loads of the job and of all others on servers, in the typical hours and now.
fn loads(
    own: &[RateRow],
    now: &[RateRow],
    before: &[RateRow],
    servers: &[String],
    times: &Times,
) -> [Load; 2] {
    let amounts = |operation, value, rate| {
        let [own, all] = [own, now].map(|rows| sum(rows, operation, servers, value));
        let usual = times.typical_of(before, operation, rate).unwrap_or(0.0);
        [[0.0, 0.0, own], [usual, usual, (all - own).max(0.0)]]
    };
    let calls = amounts(LOAD[0], calls, calls);
    let [time, bytes] = LOAD.map(|operation| amounts(operation, total, |row| row.rate));
    // Servers before Lustre 2.14 report calls alone.
    let is_timed = time[0][2] + time[1][2] > 0.0;
    let time = if is_timed { time } else { calls };
    [0, 1].map(|subject| Load {
        time: time[subject],
        calls: calls[subject],
        bytes: bytes[subject],
    })
}

/// Loads the queue in which the job's requests waited most: those of a server are in its services in the proportion of all requests.
fn wait(
    store: &mut Store,
    times: &Times,
    own: &[RateRow],
    servers: &[String],
) -> Result<Option<Wait>, Error> {
    let mut ask = |window, step| {
        let there = on_servers(window, servers);
        store.ask(&Queues {
            window: there.window(),
            step: Some(when::interval(step)),
            filter: there.filters,
        })
    };
    let (now, before) = (ask(times.window, times.step)?, ask(times.days, STEP)?);
    let services = services(&now.rows);
    let of_job = |it: &Service| {
        let server = &it.worst.server;
        let all = services.iter().filter(|it| it.worst.server == *server);
        let calls = sum(own, LOAD[0], slice::from_ref(server), calls);
        calls * it.waited / all.map(|it| it.requests).sum::<f64>()
    };
    let most = services.iter();
    let most = most.max_by(|one, other| of_job(one).total_cmp(&of_job(other)));
    Ok(most.map(|it| {
        let worst = &it.worst;
        let same = before.rows.iter();
        let same = same.filter(|row| row.server == worst.server && row.service == worst.service);
        Wait {
            worst: worst.clone(),
            mean: Compared {
                value: it.wait(),
                usual: times.typical(same.map(|row| (row.time, row.wait))),
            },
        }
    }))
}

/// Loads the times per request of targets, and returns the target that is slowest against its typical time, by the median of the steps: a
/// request that hangs counts once. If no target is slow in the median, returns the first one with a slow step. Targets are in the order of the
/// job's share.
fn slowest(
    store: &mut Store,
    times: &Times,
    targets: &[String],
) -> Result<Option<SlowestTarget>, Error> {
    let names: Vec<_> = targets.iter().map(|name| exactly(name)).collect();
    let mut ask = |window, by: &[Dimension], step| {
        let there = Selection::all(window).part(|filters| filters.target = Some(names.clone()));
        there.rates(store, &LOAD[..1], by, Some(step))
    };
    let by = [Dimension::Target, Dimension::Server];
    let now = ask(times.window, &by, times.step)?.rows;
    let before = ask(times.days, &by[..1], STEP)?.rows;
    let slowness = targets.iter().filter_map(|name| {
        let is_of = |row: &&RateRow| row.labels.target.as_ref() == Some(name);
        let rows = now.iter().filter(is_of);
        let worked = rows.filter_map(|row| Some((row, row.per_call?)));
        let worst = worked
            .clone()
            .max_by(|one, other| one.1.total_cmp(&other.1))?;
        let (steps, mut values): (Vec<_>, Vec<_>) = worked.unzip();
        Some(SlowestTarget {
            name: name.clone(),
            server: steps.last()?.labels.server.clone()?,
            worst: (worst.0.time, worst.1),
            time: Compared {
                value: median(&mut values)?,
                usual: times.typical_of(before.iter().filter(is_of), LOAD[0], |row| row.per_call),
            },
        })
    });
    let all: Vec<_> = slowness.collect();
    let times = |it: &&SlowestTarget| it.time.times().unwrap_or(0.0);
    let slowest = all.iter().filter(|it| it.time.is_risen());
    let slowest = slowest.max_by(|one, other| times(one).total_cmp(&times(other)));
    let slow_step = all.iter().find(|it| it.at_worst().is_slow_for_a_while());
    let for_a_while = || slow_step.or(all.first());
    Ok(slowest.or_else(for_a_while).cloned())
}

/// Loads the events on the servers or targets of a job, the oldest first. Rules of a site are about users.
fn events(
    store: &mut Store,
    there: &Selection,
    own: &[RateRow],
    targets: &[String],
) -> Answered<EventRow> {
    let mut events = store.ask(&Events {
        window: there.window(),
        ..Events::default()
    })?;
    let servers: Vec<_> = own
        .iter()
        .filter_map(|row| row.labels.server.as_ref())
        .collect();
    events.rows.reverse();
    events.rows.retain_mut(|row| match row.event.as_str() {
        "rule" => false,
        "waiting" => servers.iter().any(|name| row.servers.contains(name)),
        _ => {
            row.targets.retain(|name| targets.contains(name));
            !row.targets.is_empty()
        }
    });
    Ok(events)
}

/// Gathers what events contribute to the verdict. Requests that waited elsewhere than most of the job's do not count.
fn judge(events: &[EventRow], wait: Option<&Wait>, jobs: &[&str]) -> meanwhile::Meanwhile {
    let is_any = |kinds: &[&str]| events.iter().any(|row| kinds.contains(&&*row.event));
    let is_here = |row: &&EventRow| wait.is_none_or(|it| row.servers.contains(&it.worst.server));
    let waiting = events.iter().filter(|row| row.event == "waiting");
    let waiting = waiting.filter(is_here);
    let waiting = waiting.max_by(|one, other| one.rate.total_cmp(&other.rate));
    meanwhile::Meanwhile {
        is_faulty: is_any(&["slow_target", "stalled"]),
        is_moved: is_any(&["failover"]),
        waiting: waiting.map(|row| (is_culprit(row, jobs), row.load_times)),
        ..meanwhile::Meanwhile::default()
    }
}

/// Returns whether the culprit of an event is the job, if one is named.
fn is_culprit(row: &EventRow, jobs: &[&str]) -> Option<bool> {
    let culprits = row.culprits.as_ref()?;
    let is_named = culprits.get("named").and_then(Value::as_bool)?;
    let job = culprits.pointer("/subjects/0/job").and_then(Value::as_str);
    is_named.then(|| job.is_some_and(|job| jobs.contains(&job)))
}

/// Returns the largest users and jobs besides a job, with their shares of the load.
fn named(
    rows: &[TopRow],
    jobs: &[&str],
    seconds: f64,
    share: impl Fn(f64) -> Option<f64>,
) -> Vec<(String, f64)> {
    let others = rows.iter().filter_map(|row| {
        let name = match (&row.labels.job, &row.labels.user) {
            (Some(job), _) if jobs.contains(&job.as_str()) => return None,
            (Some(job), Some(user)) => format!("job {} of {}", shown(job), shown(user)),
            (Some(job), None) => format!("job {}", shown(job)),
            (None, user) => shown(user.as_ref()?),
        };
        let share = share(number(row.total?) / seconds)?;
        (share >= NAMED_SHARE).then_some((name, share))
    });
    others.take(NAMED).collect()
}
