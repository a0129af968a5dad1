//! A job, a user or a target: who it is, what it did, when and where.

use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::{Filters, Interval, RateRow, SummaryRow};

pub mod chosen;
pub mod findings;
pub mod job;
pub mod json;
pub mod questions;
pub mod sheet;
pub mod target;
pub mod user;

use crate::ask::store::Answered;

/// A subject, or the notes of a store that knows nothing of it.
pub type Asked = Result<Subject, Vec<String>>;

/// The operations whose course is shown.
pub const COURSE: [&str; 4] = ["read_bytes", "write_bytes", "metadata", "service_time"];

/// The kind of a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A job of a scheduler.
    Job,
    /// A user.
    User,
    /// A target.
    Target,
}

impl Kind {
    /// Returns the word for the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::User => "user",
            Self::Target => "target",
        }
    }
}

/// A subject with its numbers in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The kind of the subject.
    pub kind: Kind,
    /// The name, as it was asked for.
    pub name: String,
    /// The filters that its work passes.
    pub filters: Filters,
    /// Its properties: who or what it is.
    pub facts: Vec<Fact>,
    /// The window of all numbers.
    pub window: (Timestamp, Timestamp),
    /// The totals of each operation.
    pub usage: Vec<Usage>,
    /// The rates over time.
    pub course: Course,
    /// The places or people behind it, largest first.
    pub rankings: Vec<Ranking>,
    /// Advice, with the number that proves each.
    pub findings: Vec<String>,
    /// The notices of the store.
    pub notes: Vec<String>,
    /// The statements that answer the same, each with a title.
    pub statements: Vec<(&'static str, String)>,
}

/// A property of a subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The name of the field in JSON.
    pub key: &'static str,
    /// The label on a sheet.
    pub label: &'static str,
    /// The value.
    pub value: Value,
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A count.
    Count(i64),
    /// A time.
    Time(Timestamp),
    /// A length of time in seconds.
    Length(f64),
    /// A number without a unit.
    Number(f64),
    /// A part of a whole, 0 to 1.
    Share(f64),
}

/// The work by one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    /// The operation.
    pub operation: String,
    /// Calls, bytes or seconds.
    pub total: Option<Decimal>,
    /// The number of calls.
    pub calls: Option<Decimal>,
    /// Bytes or seconds per call.
    pub per_call: Option<f64>,
    /// The mean per second.
    pub rate: Option<f64>,
}

impl Usage {
    /// Returns the usage that a summary has of an operation, in so many seconds.
    fn of_summary(
        operation: &str,
        total: Option<Decimal>,
        calls: Option<Decimal>,
        seconds: f64,
    ) -> Self {
        let per_call = match (total.map(number), calls.map(number)) {
            (Some(total), Some(calls)) if calls >= 10.0 => Some(total / calls),
            _ => None,
        };
        Self {
            operation: operation.to_owned(),
            total,
            calls,
            per_call,
            rate: total.map(|total| number(total) / seconds),
        }
    }
}

/// Rates over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// The width of the steps in seconds.
    pub step: i64,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// A step of a course.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The start of the step.
    pub time: Timestamp,
    /// The width of the step.
    pub seconds: f64,
    /// The rate of each of the operations of a course; `None` if nothing was observed.
    pub rates: [Option<f64>; COURSE.len()],
    /// The observed part of the step.
    pub coverage: f64,
}

impl Course {
    /// Collects the rows of an answer by step.
    pub fn of(rows: &[RateRow], step: i64) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for row in rows {
            let place = COURSE.iter().position(|name| *name == row.operation);
            let at = steps.binary_search_by_key(&row.time, |step| step.time);
            let at = at.unwrap_or_else(|at| {
                let empty = Step {
                    time: row.time,
                    seconds: row.seconds,
                    rates: [None; COURSE.len()],
                    coverage: row.coverage,
                };
                steps.insert(at, empty);
                at
            });
            if let Some(place) = place {
                steps[at].rates[place] = row.rate;
            }
        }
        Self { step, steps }
    }

    /// Returns the rates of an operation, by its place.
    pub fn rates(&self, place: usize) -> Vec<Option<f64>> {
        self.steps.iter().map(|step| step.rates[place]).collect()
    }

    /// Returns the highest rate of an operation in a step. The first and the last step may be short, and their rates are
    /// then no rates of a whole step.
    pub fn highest(&self, operation: &str) -> Option<f64> {
        let place = COURSE.iter().position(|name| *name == operation)?;
        let is_long = |step: &&Step| step.seconds >= self.step as f64 / 2.0;
        let highest = |steps: &mut dyn Iterator<Item = &Step>| {
            let rates = steps.filter_map(|step| step.rates[place]);
            rates.max_by(f64::total_cmp)
        };
        let long = highest(&mut self.steps.iter().filter(is_long));
        long.or_else(|| highest(&mut self.steps.iter()))
    }
}

/// The largest groups of a dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The dimension, such as `target`.
    pub by: &'static str,
    /// The operation that ranks.
    pub operation: &'static str,
    /// The groups, largest first.
    pub rows: Vec<Ranked>,
    /// The number of groups that are left out.
    pub more: usize,
}

/// A group of a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The name of the group; `None` for work without one.
    pub name: Option<String>,
    /// More about the group, such as the account of a user.
    pub detail: Option<String>,
    /// The part of what ranks, 0 to 1.
    pub share: Option<f64>,
    /// The seconds that servers spent on the group.
    pub service_time: Option<Decimal>,
    /// Bytes read.
    pub read_bytes: Option<Decimal>,
    /// Bytes written.
    pub write_bytes: Option<Decimal>,
    /// Metadata requests.
    pub metadata: Option<Decimal>,
}

/// The number of groups that a ranking keeps.
const KEPT: usize = 200;

impl Ranking {
    /// Ranks the groups of a summary: by the time of servers or, if no server reports times, by metadata requests.
    pub fn of(
        by: &'static str,
        rows: Vec<SummaryRow>,
        named: impl Fn(&SummaryRow) -> (Option<String>, Option<String>),
    ) -> Self {
        let ranked = rows.iter().map(|row| {
            let (name, detail) = named(row);
            Ranked {
                name,
                detail,
                share: None,
                service_time: row.service_time,
                read_bytes: row.read_bytes,
                write_bytes: row.write_bytes,
                metadata: row.metadata,
            }
        });
        Self::by_amount(by, ranked.collect())
    }

    /// Ranks groups.
    fn by_amount(by: &'static str, mut rows: Vec<Ranked>) -> Self {
        let operation = match rows.iter().any(|row| row.service_time.is_some()) {
            true => "service_time",
            false => "metadata",
        };
        let amount = |row: &Ranked| {
            let amount = match operation {
                "service_time" => row.service_time,
                _ => row.metadata,
            };
            amount.map_or(0.0, number)
        };
        rows.sort_by(|one, other| {
            let amounts = amount(other).total_cmp(&amount(one));
            amounts.then_with(|| one.name.cmp(&other.name))
        });
        let whole: f64 = rows.iter().map(amount).sum();
        for row in &mut rows {
            row.share = (whole > 0.0).then(|| amount(row) / whole);
        }
        let more = rows.len().saturating_sub(KEPT);
        rows.truncate(KEPT);
        Self {
            by,
            operation,
            rows,
            more,
        }
    }
}

impl Subject {
    /// Returns the usage of an operation.
    pub fn used(&self, operation: &str) -> Option<&Usage> {
        self.usage.iter().find(|usage| usage.operation == operation)
    }

    /// Returns a property.
    pub fn fact(&self, key: &str) -> Option<&Value> {
        let fact = self.facts.iter().find(|fact| fact.key == key);
        fact.map(|fact| &fact.value)
    }

    /// Takes over what the store notes, each notice once, and the statement.
    fn note<A>(&mut self, title: &'static str, answered: &Answered<A>) {
        for note in &answered.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        self.statements.push((title, answered.statement.clone()));
    }
}

/// Returns the number as a float, which is exact up to 2^53.
pub fn number(decimal: Decimal) -> f64 {
    f64::try_from(decimal).unwrap_or(f64::NAN)
}

/// Returns a length of time in seconds as an interval.
pub fn interval(seconds: i64) -> Interval {
    jiff::SignedDuration::from_secs(seconds).into()
}

/// Returns the seconds of a window.
pub fn seconds(window: (Timestamp, Timestamp)) -> f64 {
    window.1.duration_since(window.0).as_secs_f64()
}
