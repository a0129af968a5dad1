//! A job, a user or a target: its properties, and its work over time and by place.

use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::{Dimension, FindingRow, JobUsageRow, RateRow, SummaryRow};
use serde::Serialize;

pub mod chosen;
pub mod events;
pub mod findings;
pub mod job;
pub mod jobs;
pub mod json;
pub mod meanwhile;
pub mod questions;
pub mod queues;
pub mod space;
pub mod target;
pub mod user;

use crate::ask::store::{Answer, Error, Store};
use crate::show::chart::frame::Point;
use crate::show::document::Statements;
use crate::values::text::{joined, shown};
use crate::values::when::Clock;
use meanwhile::Meanwhile;
use questions::Selection;
use space::Space;

/// The operations of courses and rankings.
pub const COURSE: [&str; 4] = ["read_bytes", "write_bytes", "metadata", "service_time"];

jobstats_core::named! {
    /// The kind of a subject.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Kind {
        /// A job of a scheduler.
        #[default]
        Job = "job",
        User = "user",
        Target = "target",
    }
    /// Returns the word for the kind.
    pub fn name;
}

/// A subject with its numbers in a window.
#[derive(Debug, Clone, Default)]
pub struct Subject {
    pub kind: Kind,
    /// The requested name.
    pub name: String,
    /// The work that all numbers are about.
    pub work: Selection,
    /// The properties, such as the account of a job.
    pub facts: Vec<Fact>,
    pub usage: Vec<Usage>,
    pub course: Course,
    /// The places or people behind it, largest first.
    pub rankings: Vec<Ranking>,
    /// The servers of a job while it ran.
    pub meanwhile: Option<Meanwhile>,
    /// The space that a user owns, where that is known.
    pub space: Option<Space>,
    /// The findings, the worst first.
    pub findings: Vec<FindingRow>,
    /// The notices of the store.
    pub notes: Vec<String>,
    /// The statements that answer the same.
    pub statements: Statements,
}

/// A property of a subject.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The name of the field in JSON.
    pub key: &'static str,
    /// The label on a page.
    pub label: &'static str,
    pub value: Value,
}

impl Fact {
    /// Returns a property, if it has a value.
    pub fn new(key: &'static str, label: &'static str, value: Option<Value>) -> Option<Self> {
        value.map(|value| Self { key, label, value })
    }

    /// Returns a property that is a text, if it has one.
    pub fn text(key: &'static str, label: &'static str, text: Option<&String>) -> Option<Self> {
        Self::new(key, label, text.cloned().map(Value::Text))
    }
}

/// The value of a property.
#[derive(Debug, Clone)]
pub enum Value {
    Text(String),
    Count(i64),
    Time(Timestamp),
    /// A number, and how it is printed.
    Number(f64, fn(f64) -> String),
}

impl Value {
    /// Returns the text of the value.
    pub fn shown(&self, clock: &Clock) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Time(time) => clock.second(*time),
            Self::Number(number, print) => print(*number),
        }
    }
}

/// Returns the words for an operation.
pub fn label(operation: &str) -> &str {
    match operation {
        "read_bytes" => "Read",
        "write_bytes" => "Written",
        "metadata" => "Metadata requests",
        "service_time" => "Server time",
        other => other,
    }
}

/// The work by one operation: its total, its calls, and the means per call and per second.
pub type Usage = JobUsageRow;

/// Rates over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// The width of the steps in seconds.
    pub step: i64,
    /// The rate of each operation in each step, by time.
    pub steps: Vec<RateRow>,
}

impl Course {
    /// Returns the rates of an operation.
    pub fn points(&self, operation: &str) -> Vec<Point> {
        let rows = self.steps.iter().filter(|row| row.operation == operation);
        let points = rows.map(|row| Point {
            time: row.time,
            seconds: row.seconds,
            value: row.rate,
        });
        points.collect()
    }

    /// Returns the highest rate of an operation in a step. The first and the last step may be short, and their rates are
    /// then no rates of a whole step.
    pub fn highest(&self, operation: &str) -> Option<f64> {
        let points = self.points(operation);
        let highest = |least: f64| {
            let points = points.iter().filter(|point| point.seconds >= least);
            points
                .filter_map(|point| point.value)
                .max_by(f64::total_cmp)
        };
        highest(self.step as f64 / 2.0).or_else(|| highest(0.0))
    }
}

/// The largest groups of a dimension.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    pub by: &'static str,
    /// The operation that ranks.
    pub operation: &'static str,
    pub rows: Vec<RankingRow>,
    /// The number of groups that are left out.
    pub more: usize,
}

/// A group of a ranking.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RankingRow {
    /// The name of the group; `None` for work without one.
    pub name: Option<String>,
    /// More about the group, such as the account of a user.
    pub detail: Option<String>,
    /// The part of the amount that ranks, 0 to 1.
    pub share: Option<f64>,
    /// The amount of each operation of [`COURSE`].
    #[serde(flatten, serialize_with = "json::amounts")]
    pub amounts: [Option<Decimal>; COURSE.len()],
}

/// The largest number of groups of a ranking.
const GROUPS: usize = 200;

impl Ranking {
    /// Ranks the groups of a summary by the first dimension. The next two describe a group.
    fn of(rows: &[SummaryRow], dimensions: &[Dimension]) -> Self {
        let ranked = rows.iter().map(|row| {
            let texts = dimensions.iter().map(|by| row.labels.text(*by));
            let mut texts = texts.take(3);
            RankingRow {
                name: texts.next().flatten(),
                detail: joined(texts.flatten()),
                share: None,
                amounts: [
                    row.read_bytes,
                    row.write_bytes,
                    row.metadata,
                    row.service_time,
                ],
            }
        });
        Self::by_amount(dimensions[0].name(), ranked.collect())
    }

    /// Returns the name of a group of the ranking.
    pub fn shown(&self, row: &RankingRow) -> String {
        let name = row.name.as_deref().map(shown);
        name.unwrap_or_else(|| format!("(no {})", self.by))
    }

    /// Ranks groups by service time, or by metadata requests if there is none.
    pub fn by_amount(by: &'static str, mut rows: Vec<RankingRow>) -> Self {
        let is_timed = rows.iter().any(|row| row.amounts[3].is_some());
        let ranks = if is_timed { 3 } else { 2 };
        let amount = |row: &RankingRow| row.amounts[ranks].map_or(0.0, number);
        rows.sort_by(|one, other| {
            let amounts = amount(other).total_cmp(&amount(one));
            amounts.then_with(|| one.name.cmp(&other.name))
        });
        let whole: f64 = rows.iter().map(amount).sum();
        for row in &mut rows {
            row.share = (whole > 0.0).then(|| amount(row) / whole);
        }
        let more = rows.len().saturating_sub(GROUPS);
        rows.truncate(GROUPS);
        Self {
            by,
            operation: COURSE[ranks],
            rows,
            more,
        }
    }
}

impl Subject {
    /// Returns a subject without numbers.
    fn new(kind: Kind, name: &str, work: Selection) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            work,
            ..Self::default()
        }
    }

    /// Returns the usage of an operation.
    pub fn used(&self, operation: &str) -> Option<&Usage> {
        self.usage.iter().find(|usage| usage.operation == operation)
    }

    /// Returns a property.
    pub fn fact(&self, key: &str) -> Option<&Value> {
        let fact = self.facts.iter().find(|fact| fact.key == key);
        fact.map(|fact| &fact.value)
    }

    /// Adds the known facts.
    fn add<const N: usize>(&mut self, facts: [Option<Fact>; N]) {
        self.facts.extend(facts.into_iter().flatten());
    }

    /// Loads the groups of the usage, ranks them by a dimension, and returns them.
    fn rank(&mut self, store: &mut Store, by: &[Dimension]) -> Result<Vec<SummaryRow>, Error> {
        let groups = self.work.summary(store, by)?;
        self.note(&format!("By {}", by[0].name()), &groups);
        self.rankings.push(Ranking::of(&groups.rows, by));
        Ok(groups.rows)
    }

    /// Takes over what the store notes, each notice once, and the statement.
    fn note<A>(&mut self, title: &str, answered: &Answer<A>) {
        for note in &answered.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        let statement = answered.statement.clone();
        self.statements.push((title.to_owned(), statement));
    }
}

/// Returns the number as a float, which is exact up to 2^53.
pub fn number(decimal: Decimal) -> f64 {
    f64::try_from(decimal).unwrap_or(f64::NAN)
}
