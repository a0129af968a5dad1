//! Finds whose work made requests wait: who does more on the targets of these servers than is usual at this time of day.

use std::collections::BTreeMap;

use jobstats_core::event::culprit::{Amounts, Blame, Load, blame, search};
use jobstats_core::instant::{DAY, HOUR, MINUTE, Micros, Span};
use jobstats_core::operation::OPERATIONS;
use jobstats_core::pattern::exactly;
use jobstats_core::usage::{Amount, Line, Measures, Values};
use pgrx::spi::SpiClient;
use serde_json::{Map, Value, json};

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::Row;
use crate::pg::time::timestamptz;
use crate::query::dimension::By;
use crate::query::engine::Request;
use crate::query::filters::Filters;
use crate::query::labels::covered;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};

/// The start of an event is compared: once requests wait, everybody's work changes.
const LONGEST: Micros = 30 * MINUTE;
/// The number of days that are compared with.
const DAYS: Micros = 7;
/// The part of a window that must have been observed.
const LEAST_COVERAGE: f64 = 0.8;
/// The number of subjects that are kept.
const SHOWN: usize = 5;
/// The dimensions by which culprits are searched until one is named.
const BY: [&[&str]; 3] = [&["uid", "user"], &["account"], &["job"]];
/// The dimensions of the largest job of a culprit.
const OF_JOB: [&str; 4] = ["uid", "user", "account", "job"];
/// The operation whose time and calls are those of all others.
const ALL: &str = "service_time";

/// The event whose culprits are asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub cluster: String,
    pub targets: Vec<String>,
    pub span: Span,
    /// The targets that are known to be slow, so that nobody is to blame.
    pub slow: Vec<String>,
}

/// A user, an account or a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Subject {
    uid: Option<i64>,
    user_name: Option<String>,
    account: Option<String>,
    job: Option<String>,
}

/// The totals of operations per second; of calls the name is that of the operation and `calls`.
type Work = BTreeMap<String, Amounts>;

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

    /// Returns the subject whose values of dimensions these are. A user whose name is not known has none.
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

    /// Returns whether the subject is known, and not what nobody is known for.
    fn is_known(&self) -> bool {
        *self != Self::default()
    }

    /// Returns the subject as JSON, without what it is not.
    pub fn json(&self) -> Map<String, Value> {
        let mut json = Map::new();
        let texts = [
            ("user_name", &self.user_name),
            ("account", &self.account),
            ("job", &self.job),
        ];
        json.extend(self.uid.map(|uid| ("uid".to_owned(), uid.into())));
        for (name, text) in texts {
            json.extend(text.clone().map(|text| (name.to_owned(), text.into())));
        }
        json
    }
}

impl Asked {
    /// Returns the culprits of the event, and how many times the usual load there was.
    pub fn find(&self, client: &SpiClient<'_>) -> Result<(Value, Option<f64>), Error> {
        let windows = self.windows(client)?;
        // A target that is slow is the reason, whoever works there.
        let dimensions = match self.slow.is_empty() {
            true => &BY[..],
            false => &BY[..1],
        };
        let found = search(dimensions, |by| {
            let all = self.work(client, &windows, by, &[ALL, "bytes"], &Subject::default())?;
            let all: Vec<(Subject, Work)> = all.into_iter().collect();
            let loads: Vec<Load> = all.iter().map(|(_, work)| load(work)).collect();
            let mut blame = blame(&loads);
            let is_culprit = |it: &usize| self.slow.is_empty() && all[*it].0.is_known();
            blame.named = blame.named.filter(is_culprit);
            Ok::<_, Error>(((by[0], all, loads), blame))
        })?;
        let Some(((by, all, loads), blame)) = found else {
            return Ok((Value::Null, None));
        };
        let subjects = self.subjects(client, &windows, &all, &blame)?;
        let times = blame.times.map(rounded);
        let culprits = json!({ "by": by, "named": blame.named.is_some(), "subjects": subjects, "times": times,
            "slow": self.slow, "load": sums(&loads) });
        Ok((culprits, times))
    }

    /// Returns the window of the event, the hour before, and the same time on the days before that were observed, or else that hour again.
    fn windows(&self, client: &SpiClient<'_>) -> Result<Vec<Span>, Error> {
        let during = (self.span.0, compared_until(self.span));
        let days = (1..=DAYS).map(|day| (during.0 - day * DAY, during.1 - day * DAY));
        let before = (during.0 - HOUR, during.0);
        let mut windows = vec![during, before];
        for day in days {
            let asked = (&["cluster"][..], &[ALL][..]);
            self.ask(client, day, asked, &Subject::default(), |_, line, _| {
                if covered(line.observed.coverage) >= LEAST_COVERAGE && !windows.contains(&day) {
                    windows.push(day);
                }
                Ok(())
            })?;
        }
        if windows.len() == 2 {
            windows.push(before);
        }
        Ok(windows)
    }

    /// Asks what was done in a window on the targets, of all or of a subject, and gives `take` each group.
    fn ask(
        &self,
        client: &SpiClient<'_>,
        (since, until): Span,
        (by, operations): (&[&str], &[&str]),
        of: &Subject,
        mut take: impl FnMut(&Question, Line, Subject) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let exact = |name: &String| Some(exactly(name));
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
                .only("cluster", &self.cluster)
                .any_of("target", Some(self.targets.iter().map(exact).collect()))
                .any_of("uid", of.uid.map(|it| vec![Some(it.to_string())]))
                .any_of("account", only(&of.account))
                .any_of("job", only(&of.job)),
            wanted: Wanted::Totals,
        };
        let Some(plan) = Plan::find(client, &question)? else {
            return Ok(());
        };
        let request = Request::new(client, &question, &plan, None)?;
        let usage = request.read()?;
        usage.each(question.has_idle_targets(), |line| {
            pause();
            let subject = Subject::in_group(by, usage.values(&line));
            take(&question, line, subject)
        })
    }

    /// Returns the work of each group in the mean of all windows but the first two, in the second, and in the first.
    fn work(
        &self,
        client: &SpiClient<'_>,
        windows: &[Span],
        by: &[&str],
        operations: &[&str],
        of: &Subject,
    ) -> Result<BTreeMap<Subject, Work>, Error> {
        let seconds = |spans: &[Span]| {
            let all: Micros = spans.iter().map(|it| it.1 - it.0).sum();
            all as f64 / 1e6
        };
        let (now, others) = windows.split_at(1.min(windows.len()));
        let (hour, days) = others.split_at(1.min(others.len()));
        let lengths = [days, hour, now].map(seconds);
        let mut works: BTreeMap<Subject, Work> = BTreeMap::new();
        for (number, &window) in windows.iter().enumerate() {
            let side = 2_usize.saturating_sub(number);
            let add = |question: &Question, line: Line, subject: Subject| {
                let measures = question.measures.list.iter().enumerate();
                for (n, measure) in measures.filter(|it| question.is_shown(it.0, &line, true)) {
                    let work = works.entry(subject.clone()).or_default();
                    let Amount { total, calls, .. } = line.amounts[n];
                    let total = total.unwrap_or(0) as f64 / measure.unit() as f64;
                    let calls = calls.unwrap_or(0) as f64;
                    let name_of_calls = format!("{} calls", measure.name);
                    for (name, amount) in [(name_of_calls, calls), (measure.name.clone(), total)] {
                        work.entry(name).or_default()[side] += amount / lengths[side];
                    }
                }
                Ok(())
            };
            self.ask(client, window, (by, operations), of, add)?;
        }
        Ok(works)
    }

    /// Returns those who made most of the rise as JSON, the first of them with its work.
    fn subjects(
        &self,
        client: &SpiClient<'_>,
        windows: &[Span],
        all: &[(Subject, Work)],
        blame: &Blame,
    ) -> Result<Vec<Value>, Error> {
        let mut subjects = Vec::new();
        for (index, share) in blame.shares.iter().take(SHOWN) {
            let (subject, work) = &all[*index];
            let mut json = subject.json();
            let [before, _, after] = load(work).time.map(rounded);
            json.insert("share".to_owned(), rounded(*share).into());
            json.insert("before".to_owned(), before.into());
            json.insert("after".to_owned(), after.into());
            if subjects.is_empty() && subject.is_known() {
                json.extend(self.operation(client, windows, subject)?);
                let job = self.largest_job(client, windows, subject)?;
                job.into_iter().for_each(|(name, value)| {
                    json.entry(name).or_insert(value);
                });
            }
            subjects.push(Value::Object(json));
        }
        Ok(subjects)
    }

    /// Returns the operation that made most of the rise of a subject, how often it was called, and with how many bytes.
    fn operation(
        &self,
        client: &SpiClient<'_>,
        windows: &[Span],
        subject: &Subject,
    ) -> Result<Map<String, Value>, Error> {
        let timed = OPERATIONS.iter().filter(|it| it.in_service_time());
        let timed: Vec<String> = timed.map(|it| format!("{}_time", it.name)).collect();
        let mut asked: Vec<&str> = timed.iter().map(String::as_str).collect();
        asked.extend(["read_bytes", "write_bytes"]);
        let works = self.work(client, windows, &["cluster"], &asked, subject)?;
        let Some(work) = works.into_values().next() else {
            return Ok(Map::new());
        };
        let of = |name: &str| work.get(name).copied().unwrap_or_default();
        let rise = |name: &str| of(name)[2] - of(name)[0];
        let timed = timed.iter();
        let most = timed.max_by(|one, other| rise(one).total_cmp(&rise(other)));
        let Some(operation) = most.and_then(|it| it.strip_suffix("_time")) else {
            return Ok(Map::new());
        };
        let [before, _, after] = of(&format!("{operation}_time calls"));
        let bytes = work.get(&format!("{operation}_bytes"));
        let bytes = bytes.map(|it| it[2] / after);
        let mut json = Map::new();
        json.insert("operation".to_owned(), operation.into());
        json.insert("calls".to_owned(), json!([rounded(before), rounded(after)]));
        if let Some(bytes) = bytes.filter(|it| it.is_finite()) {
            json.insert("bytes_per_call".to_owned(), rounded(bytes).into());
        }
        Ok(json)
    }

    /// Returns the job with most of the work of a subject.
    fn largest_job(
        &self,
        client: &SpiClient<'_>,
        windows: &[Span],
        subject: &Subject,
    ) -> Result<Map<String, Value>, Error> {
        let works = self.work(client, &windows[..1], &OF_JOB, &[ALL], subject)?;
        let jobs = works.iter().filter(|(job, _)| job.job.is_some());
        let largest =
            jobs.max_by(|one, other| load(one.1).time[2].total_cmp(&load(other.1).time[2]));
        Ok(largest.map(|(job, _)| job.json()).unwrap_or_default())
    }
}

fn load(work: &Work) -> Load {
    let of = |name: &str| work.get(name).copied().unwrap_or_default();
    Load {
        time: of(ALL),
        calls: of("service_time calls"),
        bytes: of("bytes"),
    }
}

/// Returns the load of all together as JSON, before and during the event.
fn sums(loads: &[Load]) -> Value {
    let sum = |part: fn(&Load) -> Amounts| {
        [0, 2].map(|side| rounded(loads.iter().map(|it| part(it)[side]).sum()))
    };
    json!({ "time": sum(|it| it.time), "calls": sum(|it| it.calls), "bytes": sum(|it| it.bytes) })
}

/// Returns a number with four digits, which is enough to say who it was.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}
