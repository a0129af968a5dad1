//! Finds whose work made requests wait: who does more on the targets of these servers than is usual at this time of day.

use std::collections::BTreeMap;

use jobstats_core::base::instant::{DAY, HOUR, MINUTE, Micros, Span};
use jobstats_core::base::operation::in_service_time;
use jobstats_core::base::pattern::exactly;
use jobstats_core::judgement::event::culprit::{self, Amounts, Load};
use jobstats_core::judgement::meanwhile::DAYS;
use jobstats_core::series::typical::LEAST_COVERAGE;
use jobstats_core::usage::{Amount, Line, Measures, Values};
use pgrx::spi::SpiClient;
use serde_json::{Map, Value, json};

use crate::events::detectors::DetectedEvent;
use crate::pg::error::Error;
use crate::pg::spi::Row;
use crate::pg::time::timestamptz;
use crate::query::dimension::By;
use crate::query::engine::Request;
use crate::query::filters::Filters;
use crate::query::labels::covered;
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question};

/// The start of an event is compared: once requests wait, everybody's work changes.
const LONGEST: Micros = 30 * MINUTE;
/// The number of subjects that are kept.
const SHOWN: usize = 5;
/// The dimensions searched for culprits, in order, until one is named.
const BY: [&[&str]; 3] = [&["uid", "user"], &["account"], &["job"]];
/// The dimensions of the largest job of a culprit.
const OF_JOB: [&str; 4] = ["uid", "user", "account", "job"];
/// The operation that includes the time and calls of all others.
const ALL: &str = "service_time";

/// A user, an account or a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subject {
    uid: Option<i64>,
    user_name: Option<String>,
    account: Option<String>,
    job: Option<String>,
}

/// The work of an operation, per second.
#[derive(Debug, Clone, Copy, Default)]
struct OperationRates {
    total: Amounts,
    calls: Amounts,
}

/// Returns the end of the time that is compared.
pub fn compared_until((began, until): Span) -> Micros {
    until.min(began + LONGEST)
}

impl Subject {
    /// Reads a subject from a row.
    pub fn of(row: &Row<'_>) -> Result<Self, Error> {
        Ok(Self {
            uid: row.get("uid")?,
            user_name: row.get("user_name")?,
            account: row.get("account")?,
            job: row.get("job")?,
        })
    }

    /// Returns the subject with these values. A user without a known name has only a number.
    fn in_group(by: &[&str], values: Values) -> Self {
        let mut subject = Self::default();
        for (name, value) in by.iter().zip(values) {
            match *name {
                "uid" => subject.uid = value.and_then(|it| it.parse().ok()),
                "user" => subject.user_name = value,
                "account" => subject.account = value,
                "job" => subject.job = value,
                _ => {}
            }
        }
        let uid = subject.uid.map(|it| it.to_string());
        subject.user_name = subject.user_name.filter(|it| Some(it) != uid.as_ref());
        subject
    }

    /// Returns whether the subject is a known user, account or job.
    fn is_known(&self) -> bool {
        *self != Self::default()
    }

    /// Returns the subject as JSON, without empty values.
    pub fn json(&self) -> Map<String, Value> {
        object([
            ("uid", json!(self.uid)),
            ("user_name", json!(self.user_name)),
            ("account", json!(self.account)),
            ("job", json!(self.job)),
        ])
    }
}

/// Returns values as a JSON object, without nulls.
pub(super) fn object<const N: usize>(values: [(&str, Value); N]) -> Map<String, Value> {
    let known = values.into_iter().filter(|it| !it.1.is_null());
    known.map(|(name, it)| (name.to_owned(), it)).collect()
}

/// The search for the users and jobs behind an event.
struct Search<'s> {
    client: &'s SpiClient<'s>,
    cluster: &'s str,
    event: &'s DetectedEvent,
    /// The window of the event, the hour before, and the same time on the days before that were observed, or else that hour again.
    windows: Vec<Span>,
}

/// Returns the culprits of an event, and how many times the usual load there was.
pub fn find(
    client: &SpiClient<'_>,
    cluster: &str,
    event: &DetectedEvent,
) -> Result<(Value, Option<f64>), Error> {
    let search = Search::new(client, cluster, event)?;
    // A target that is slow is the reason, whoever works there.
    let is_slow = !event.slow.is_empty();
    let dimensions = if is_slow { &BY[..1] } else { &BY[..] };
    let found = culprit::search(dimensions, |by| {
        let works = search.work(by, &[ALL, "bytes"], &Subject::default())?;
        let loads = works.into_iter().map(|(subject, done)| {
            let load = Load {
                time: done[0].total,
                calls: done[0].calls,
                bytes: done[1].total,
            };
            (subject, load)
        });
        let (subjects, loads): (Vec<Subject>, Vec<Load>) = loads.unzip();
        let mut culprit = culprit::find_culprit(&loads);
        let is_culprit = |it: &usize| !is_slow && subjects[*it].is_known();
        culprit.named = culprit.named.filter(is_culprit);
        Ok::<_, Error>(((by[0], subjects, loads), culprit))
    })?;
    let Some(((by, subjects, loads), culprit)) = found else {
        return Ok((Value::Null, None));
    };
    let mut shown = Vec::new();
    for &(index, share) in culprit.shares.iter().take(SHOWN) {
        let mut json = subjects[index].json();
        let [before, _, after] = loads[index].time.map(rounded);
        json.extend(object([
            ("share", rounded(share).into()),
            ("before", before.into()),
            ("after", after.into()),
        ]));
        if shown.is_empty() && subjects[index].is_known() {
            json.extend(search.operation(&subjects[index])?);
            for (name, value) in search.largest_job(&subjects[index])? {
                json.entry(name).or_insert(value);
            }
        }
        shown.push(json);
    }
    let times = culprit.times.map(rounded);
    let culprits = json!({ "by": by, "named": culprit.named.is_some(), "subjects": shown, "times": times,
        "slow": event.slow, "load": sums(&loads) });
    Ok((culprits, times))
}

impl<'s> Search<'s> {
    /// Finds the windows that are compared.
    fn new(
        client: &'s SpiClient<'s>,
        cluster: &'s str,
        event: &'s DetectedEvent,
    ) -> Result<Self, Error> {
        let (since, until) = (event.span.0, compared_until(event.span));
        let before = (since - HOUR, since);
        let mut search = Self {
            client,
            cluster,
            event,
            windows: vec![(since, until), before],
        };
        for day in 1..=DAYS {
            let day = (since - day * DAY, until - day * DAY);
            let mut is_observed = false;
            search.ask(
                day,
                &["cluster"],
                &[ALL],
                &Subject::default(),
                |_, line, _| {
                    is_observed |= covered(line.observed.coverage) >= LEAST_COVERAGE;
                },
            )?;
            search.windows.extend(is_observed.then_some(day));
        }
        if search.windows.len() == 2 {
            search.windows.push(before);
        }
        Ok(search)
    }

    /// Reads the usage of the targets in a window, of all or of a subject, and passes each group to `take`.
    fn ask(
        &self,
        (since, until): Span,
        by: &[&str],
        operations: &[&str],
        of: &Subject,
        mut take: impl FnMut(&Question, Line, Subject),
    ) -> Result<(), Error> {
        let exact = |name: &String| exactly(name);
        let only = |name: &Option<String>| name.as_ref().map(|it| vec![exact(it)]);
        let question = Question {
            period: Period {
                since: Some(timestamptz(since)?),
                until: Some(timestamptz(until)?),
                ..Period::default()
            },
            by: By::these(by),
            measures: Measures::named(operations.iter().copied(), None)?,
            filters: Filters::default()
                .only("cluster", self.cluster)
                .any_of(
                    "target",
                    Some(self.event.targets.iter().map(exact).collect()),
                )
                .any_of("uid", of.uid.map(|it| vec![it.to_string()]))
                .any_of("account", only(&of.account))
                .any_of("job", only(&of.job)),
            wanted: AnswerShape::Totals,
        };
        let Some(plan) = Plan::find(self.client, &question)? else {
            return Ok(());
        };
        let request = Request::new(self.client, &question, &plan)?;
        let usage = request.read()?;
        usage.each(question.has_idle_targets(), |line| {
            let subject = Subject::in_group(by, usage.values(&line));
            take(&question, line, subject);
            Ok(())
        })
    }

    /// Returns what each group did of each operation in the mean of all windows but the first two, in the second, and in the first.
    fn work(
        &self,
        by: &[&str],
        operations: &[&str],
        of: &Subject,
    ) -> Result<BTreeMap<Subject, Vec<OperationRates>>, Error> {
        let side = |number: usize| 2_usize.saturating_sub(number);
        let mut lengths: [Micros; 3] = [0; 3];
        for (number, (since, until)) in self.windows.iter().enumerate() {
            lengths[side(number)] += until - since;
        }
        let mut works = BTreeMap::new();
        for (number, &window) in self.windows.iter().enumerate() {
            let side = side(number);
            let seconds = lengths[side] as f64 / 1e6;
            self.ask(window, by, operations, of, |question, line, subject| {
                let measures = question.measures.list.iter().enumerate();
                for (n, measure) in measures.filter(|it| question.is_shown(it.0, &line, true)) {
                    let work = works.entry(subject.clone());
                    let work =
                        work.or_insert_with(|| vec![OperationRates::default(); operations.len()]);
                    let Amount { total, calls, .. } = line.amounts[n];
                    let total = total.unwrap_or(0) as f64 / measure.unit() as f64;
                    work[n].total[side] += total / seconds;
                    work[n].calls[side] += calls.unwrap_or(0) as f64 / seconds;
                }
            })?;
        }
        Ok(works)
    }

    /// Returns the operation that made most of the rise of a subject, how often it was called, and with how many bytes.
    fn operation(&self, subject: &Subject) -> Result<Map<String, Value>, Error> {
        let timed = in_service_time().map(|it| format!("{}_time", it.name));
        let timed: Vec<String> = timed.collect();
        let mut names: Vec<&str> = timed.iter().map(String::as_str).collect();
        names.extend(["read_bytes", "write_bytes"]);
        let works = self.work(&["cluster"], &names, subject)?;
        let work = works.into_values().next().unwrap_or_default();
        let of_kind = |kind: &'static str| {
            let named = names.iter().zip(&work);
            named.filter_map(move |(name, done)| Some((name.strip_suffix(kind)?, done)))
        };
        let rise = |done: &OperationRates| done.total[2] - done.total[0];
        let most = of_kind("_time").max_by(|one, other| rise(one.1).total_cmp(&rise(other.1)));
        let Some((operation, done)) = most else {
            return Ok(Map::new());
        };
        let [before, _, after] = done.calls;
        let bytes = of_kind("_bytes").find(|(name, _)| *name == operation);
        let bytes = bytes.map(|(_, it)| it.total[2] / after);
        let bytes = bytes.filter(|it| it.is_finite());
        Ok(object([
            ("operation", operation.into()),
            ("calls", json!([rounded(before), rounded(after)])),
            ("bytes_per_call", json!(bytes.map(rounded))),
        ]))
    }

    /// Returns the job with most of the work of a subject in the window of the event.
    fn largest_job(&self, subject: &Subject) -> Result<Map<String, Value>, Error> {
        let mut largest = None;
        self.ask(
            self.windows[0],
            &OF_JOB,
            &[ALL],
            subject,
            |question, line, job| {
                if job.job.is_some() && question.is_shown(0, &line, true) {
                    let time = line.amounts[0].total.unwrap_or(0);
                    largest = largest.take().max(Some((time, job)));
                }
            },
        )?;
        Ok(largest.map(|(_, job)| job.json()).unwrap_or_default())
    }
}

/// Returns the load of all together as JSON, before and during the event.
fn sums(loads: &[Load]) -> Value {
    let sum = |part: fn(&Load) -> Amounts| {
        [0, 2].map(|side| rounded(loads.iter().map(|it| part(it)[side]).sum()))
    };
    json!({ "time": sum(|it| it.time), "calls": sum(|it| it.calls), "bytes": sum(|it| it.bytes) })
}

/// Rounds a number to four digits, enough to compare culprits.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}
