//! The servers of a job while it ran, and whether they slowed it.

mod words;

use jiff::Timestamp;
use jobstats_client::answers::{
    Dimension, EventRow, Events, Filters, JobRow, Queues, RateRow, TopRow,
};
use jobstats_core::base::instant::{HOUR, SECOND, Span};
use jobstats_core::base::pattern::exactly;
use jobstats_core::judgement::event::culprit::{Load, RISEN};
use jobstats_core::judgement::meanwhile::{
    self, Cause, Compared, DAYS, LEAST_SHARE, PLACES, TIMES_USUAL_SHORT, usual,
};
use jobstats_core::series::typical::{LEAST_COVERAGE, median};
use serde_json::Value;

use super::questions::{DAY, Selection};
use super::queues::{Service, services};
use super::{Subject, number};
use crate::ask::store::{Error, Store};
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
    pub server: String,
    pub service: String,
    /// The mean seconds that a request waited.
    pub mean: Compared,
    /// The time and the mean wait of the step in which most requests waited.
    pub worst: (Timestamp, f64),
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
    let targets: Vec<_> = ranked.clone().filter_map(|row| row.name.clone()).collect();
    let used = ranked.filter(|row| row.share >= Some(LEAST_SHARE));
    let used: Vec<_> = used
        .filter_map(|row| row.name.clone())
        .take(PLACES)
        .collect();
    let target = slowest(store, &times, &used)?;
    let disturbed = disturbed(&times, &now.rows, wait.as_ref(), target.as_ref());
    let place = disturbed.map_or(servers.clone(), |server| vec![server.clone()]);
    let before = on_servers(times.days, &place).rates(store, &LOAD, &[], Some(STEP))?;
    let mut events = store.ask(&Events {
        window: there.window(),
        ..Events::default()
    })?;
    events.rows.retain(|row| touches(row, &own.rows, &targets));
    events.rows.reverse();
    for row in events.rows.iter_mut().filter(|row| row.event != "waiting") {
        row.targets.retain(|name| targets.contains(name));
    }
    let top = on_servers(times.window, &place).ranking(LOAD[0], &PEOPLE, 20);
    let top = store.ask(&top)?;
    for (title, statement) in [
        ("Its servers while it ran", now.statement),
        ("Events while it ran", events.statement),
        ("Who else was there", top.statement),
    ] {
        subject.statements.push((title.to_owned(), statement));
    }
    let loads = loads(&own.rows, &now.rows, &before.rows, &place, times.span());
    let [own, others] = loads.map(|load| load.time[2]);
    let share = |part: f64| (own + others > 0.0).then(|| part / (own + others));
    let mut judged = judge(&events.rows, wait.as_ref(), jobs);
    (judged.is_disturbed, judged.loads) = (disturbed.is_some(), loads);
    subject.meanwhile = Some(Meanwhile {
        cause: judged.cause(),
        load: Compared {
            value: own + others,
            usual: typical(&before.rows, LOAD[0], times.span(), |row| row.rate),
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
    let waits = wait.filter(|it| it.mean.is_long_wait(served(now, &it.server)));
    let slow = target.filter(|it| it.time.is_slow(times.span()));
    waits
        .map(|it| &it.server)
        .or_else(|| slow.map(|it| &it.server))
}

/// Returns everything that servers did in a window.
fn on_servers(window: when::Span, servers: &[String]) -> Selection {
    let filters = Filters {
        server: Some(servers.iter().map(|name| exactly(name)).collect()),
        ..Filters::default()
    };
    Selection { window, filters }
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

/// Returns the total and the calls of an operation on servers, per second.
fn sums<S: PartialEq<String>>(rows: &[RateRow], operation: &str, servers: &[S]) -> (f64, f64) {
    let is_there = |row: &&RateRow| {
        let server = row.labels.server.as_ref();
        row.operation == operation && server.is_some_and(|it| servers.iter().any(|of| of == it))
    };
    rows.iter().filter(is_there).fold((0.0, 0.0), |sum, row| {
        let rate = |amount: Option<_>| amount.map_or(0.0, number) / row.seconds;
        (sum.0 + rate(row.total), sum.1 + rate(row.calls))
    })
}

/// Returns the mean seconds that a server takes for a request.
fn served(now: &[RateRow], server: &str) -> Option<f64> {
    let (time, calls) = sums(now, LOAD[0], &[server]);
    (time > 0.0).then(|| time / calls)
}

/// Returns the typical value of hours.
fn typical(
    hours: &[RateRow],
    operation: &str,
    span: Span,
    value: impl Fn(&RateRow) -> Option<f64>,
) -> Option<f64> {
    let is_observed = |row: &&RateRow| row.operation == operation && row.coverage >= LEAST_COVERAGE;
    let hours = hours.iter().filter(is_observed);
    let hours = hours.filter_map(|row| Some((row.time.as_microsecond(), value(row)?)));
    usual(&hours.collect::<Vec<_>>(), span)
}

/// Returns the loads of the job and of all others on servers, in the typical hours and now.
fn loads(
    own: &[RateRow],
    now: &[RateRow],
    before: &[RateRow],
    servers: &[String],
    span: Span,
) -> [Load; 2] {
    let usual = |operation, value: fn(&RateRow) -> Option<f64>| {
        typical(before, operation, span, value).unwrap_or(0.0)
    };
    let calls_of = |row: &RateRow| Some(number(row.calls?) / row.seconds);
    let parts = LOAD.map(|operation| {
        let [own, now] = [own, now].map(|rows| sums(rows, operation, servers));
        let both = [(own.0, now.0), (own.1, now.1)];
        both.map(|(own, all)| (own, (all - own).max(0.0)))
    });
    let [[mut time, calls], [bytes, _]] = parts;
    let usual_calls = usual(LOAD[0], calls_of);
    let mut usual_time = usual(LOAD[0], |row| row.rate);
    if time.0 + time.1 <= 0.0 {
        // Servers before Lustre 2.14 report calls alone.
        (time, usual_time) = (calls, usual_calls);
    }
    let usual_bytes = usual(LOAD[1], |row| row.rate);
    let rest = |usual: f64, now: f64| [usual, usual, now];
    [
        Load {
            time: rest(0.0, time.0),
            calls: rest(0.0, calls.0),
            bytes: rest(0.0, bytes.0),
        },
        Load {
            time: rest(usual_time, time.1),
            calls: rest(usual_calls, calls.1),
            bytes: rest(usual_bytes, bytes.1),
        },
    ]
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
        let (_, calls) = sums(own, LOAD[0], &[server.as_str()]);
        calls * it.waited / all.map(|it| it.requests).sum::<f64>()
    };
    let most = services.iter();
    let most = most.max_by(|one, other| of_job(one).total_cmp(&of_job(other)));
    Ok(most.map(|it| {
        let worst = &it.worst;
        let same = before.rows.iter();
        let same = same.filter(|row| row.server == worst.server && row.service == worst.service);
        let hours = same.filter_map(|row| Some((row.time.as_microsecond(), row.wait?)));
        Wait {
            server: worst.server.clone(),
            service: worst.service.clone(),
            mean: Compared {
                value: it.wait(),
                usual: usual(&hours.collect::<Vec<_>>(), times.span()),
            },
            worst: (worst.time, worst.wait.unwrap_or(0.0)),
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
    let filters = Filters {
        target: Some(targets.iter().map(|name| exactly(name)).collect()),
        ..Filters::default()
    };
    let mut ask = |window, by: &[Dimension], step| {
        let filters = filters.clone();
        Selection { window, filters }.rates(store, &LOAD[..1], by, Some(step))
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
        let before: Vec<_> = before.iter().filter(is_of).cloned().collect();
        Some(SlowestTarget {
            name: name.clone(),
            server: steps.last()?.labels.server.clone()?,
            worst: (worst.0.time, worst.1),
            time: Compared {
                value: median(&mut values)?,
                usual: typical(&before, LOAD[0], times.span(), |row| row.per_call),
            },
        })
    });
    let all: Vec<_> = slowness.collect();
    let times = |it: &&SlowestTarget| it.time.times().unwrap_or(0.0);
    let slowest = all.iter().filter(|it| times(it) >= RISEN);
    let slowest = slowest.max_by(|one, other| times(one).total_cmp(&times(other)));
    let is_slow_step = |it: &&SlowestTarget| it.at_worst().times() >= Some(TIMES_USUAL_SHORT);
    let for_a_while = || all.iter().find(is_slow_step).or(all.first());
    Ok(slowest.or_else(for_a_while).cloned())
}

/// Returns whether an event happened on the servers or targets of a job. Rules of a site are about users.
fn touches(row: &EventRow, own: &[RateRow], targets: &[String]) -> bool {
    let mut servers = own.iter().filter_map(|row| row.labels.server.as_ref());
    match row.event.as_str() {
        "rule" => false,
        "waiting" => servers.any(|name| row.servers.contains(name)),
        _ => row.targets.iter().any(|name| targets.contains(name)),
    }
}

/// Gathers what events contribute to the verdict. Requests that waited elsewhere than most of the job's do not count.
fn judge(events: &[EventRow], wait: Option<&Wait>, jobs: &[&str]) -> meanwhile::Meanwhile {
    let is_any = |kinds: &[&str]| events.iter().any(|row| kinds.contains(&&*row.event));
    let is_here = |row: &&EventRow| wait.is_none_or(|it| row.servers.contains(&it.server));
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
    let is_own = |row: &TopRow| {
        row.labels
            .job
            .as_deref()
            .is_some_and(|it| jobs.contains(&it))
    };
    let others = rows.iter().filter(|row| !is_own(row)).filter_map(|row| {
        let share = share(number(row.total?) / seconds)?;
        let name = match (&row.labels.job, &row.labels.user) {
            (Some(job), Some(user)) => format!("job {} of {}", shown(job), shown(user)),
            (Some(job), None) => format!("job {}", shown(job)),
            (None, Some(user)) => shown(user),
            (None, None) => return None,
        };
        Some((name, share))
    });
    let others = others.filter(|(_, share)| *share >= NAMED_SHARE);
    others.take(NAMED).collect()
}
