//! A job, a user or a target: its properties, and its work over time and by place.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jobstats_client::Decimal;
use jobstats_client::answers::{Dimension, FindingRow, RateRow, SummaryRow};
use serde::{Serialize, Serializer};

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
use crate::values::number::{joules, percent, ratio};
use crate::values::text::{joined, shown};
use crate::values::when::{self, Clock};
use meanwhile::Meanwhile;
use questions::Selection;
use space::Space;

/// A subject, or the notes of a store without data about it.
pub type Lookup = Result<Subject, Vec<String>>;

/// The operations whose course is shown.
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
#[derive(Debug, Clone, Default, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Text(String),
    Count(i64),
    Time(Timestamp),
    /// A length of time in seconds.
    Length(f64),
    /// An amount of energy in joules.
    Joules(f64),
    /// A number without a unit.
    Number(f64),
    /// A part of a whole, 0 to 1.
    Share(f64),
}

impl Value {
    /// Returns the text of the value.
    pub fn shown(&self, clock: &Clock) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Time(time) => clock.second(*time),
            Self::Length(seconds) => when::length(*seconds),
            Self::Joules(energy) => joules(*energy),
            Self::Number(number) => ratio(*number),
            Self::Share(share) => percent(*share),
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

/// The work by one operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Usage {
    pub operation: String,
    /// Calls, bytes or seconds.
    #[serde(serialize_with = "exact")]
    pub total: Option<Decimal>,
    /// The number of calls.
    #[serde(serialize_with = "exact")]
    pub calls: Option<Decimal>,
    /// Bytes or seconds per call.
    pub per_call: Option<f64>,
    /// The mean per second.
    pub rate: Option<f64>,
}

impl Usage {
    /// Returns the usage of a total over so many seconds.
    fn of_total(operation: &str, total: Option<Decimal>, seconds: f64) -> Self {
        Self {
            operation: operation.to_owned(),
            total,
            calls: None,
            per_call: None,
            rate: total.map(|total| number(total) / seconds),
        }
    }
}

/// Rates over time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// The width of the steps in seconds.
    pub step: i64,
    pub steps: Vec<Step>,
}

/// A step of a course.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The start of the step.
    pub time: Timestamp,
    /// The width of the step.
    pub seconds: f64,
    /// The rates of the operations; `None` if not observed.
    pub rates: [Option<f64>; COURSE.len()],
    /// The observed part of the step.
    pub coverage: f64,
}

impl Course {
    /// Collects the rows of an answer by step.
    pub fn of(rows: &[RateRow], step: i64) -> Self {
        let mut steps: BTreeMap<Timestamp, Step> = BTreeMap::new();
        for row in rows {
            let step = steps.entry(row.time).or_insert_with(|| Step {
                time: row.time,
                seconds: row.seconds,
                rates: [None; COURSE.len()],
                coverage: row.coverage,
            });
            let place = COURSE.iter().position(|name| *name == row.operation);
            if let Some(place) = place {
                step.rates[place] = row.rate;
            }
        }
        let steps = steps.into_values().collect();
        Self { step, steps }
    }

    /// Returns the rates of an operation.
    pub fn points(&self, operation: &str) -> Vec<Point> {
        let place = COURSE.iter().position(|name| *name == operation);
        let points = self.steps.iter().map(|step| Point {
            time: step.time,
            seconds: step.seconds,
            value: place.and_then(|place| step.rates[place]),
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
    /// The seconds that servers spent on the group.
    #[serde(serialize_with = "exact")]
    pub service_time: Option<Decimal>,
    #[serde(serialize_with = "exact")]
    pub read_bytes: Option<Decimal>,
    #[serde(serialize_with = "exact")]
    pub write_bytes: Option<Decimal>,
    #[serde(serialize_with = "exact")]
    pub metadata: Option<Decimal>,
}

impl RankingRow {
    /// Returns the amounts, each with the name of its operation.
    pub const fn amounts(&self) -> [(&'static str, Option<Decimal>); 4] {
        [
            ("service_time", self.service_time),
            ("read_bytes", self.read_bytes),
            ("write_bytes", self.write_bytes),
            ("metadata", self.metadata),
        ]
    }
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
                service_time: row.service_time,
                read_bytes: row.read_bytes,
                write_bytes: row.write_bytes,
                metadata: row.metadata,
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
        let is_timed = rows.iter().any(|row| row.service_time.is_some());
        let amount = |row: &RankingRow| match is_timed {
            true => row.service_time.map_or(0.0, number),
            false => row.metadata.map_or(0.0, number),
        };
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
            operation: if is_timed { "service_time" } else { "metadata" },
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

/// Writes a number as JSON: a whole one as such, to the last digit.
fn exact<S: Serializer>(decimal: &Option<Decimal>, serializer: S) -> Result<S::Ok, S::Error> {
    let whole = |decimal: Decimal| {
        let whole = u64::try_from(decimal).ok();
        whole.filter(|whole| Decimal::from(*whole) == decimal)
    };
    match (decimal, decimal.and_then(whole)) {
        (None, _) => serializer.serialize_none(),
        (_, Some(whole)) => serializer.serialize_u64(whole),
        (Some(decimal), None) => serializer.serialize_f64(number(*decimal)),
    }
}
