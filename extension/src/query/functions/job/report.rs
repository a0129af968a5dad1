//! Writes the usage of a job as rows: first the whole job, then each group.

use jobstats_core::base::instant::Micros;
use jobstats_core::output::quantity::Quantity;
use jobstats_core::series::typical::Distribution;
use jobstats_core::usage::per_call::Calls;
use jobstats_core::usage::{Amount, Measure, Values};
use pgrx::AnyNumeric;
use pgrx::datum::TimestampWithTimeZone;
use serde_json::{Map, Value};

use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::number;
use crate::query::dimension::{By, Dimension, words};
use crate::query::filters::OF_TARGETS;
use crate::query::functions::job::details::{self, Details};
use crate::query::functions::job::time::AnsweredTime;
use crate::query::functions::job::work::Work;
use crate::query::labels::{ALL, covered, decimal, formatted, label};

/// The dimensions that group the usage of a job; empty for the whole job.
pub struct Grouping {
    /// The dimensions of targets, in the order of [`OF_TARGETS`], and the node.
    pub by: By,
    /// The dimensions of names and labels.
    shown: Vec<&'static Dimension>,
}

impl Grouping {
    /// Parses the argument `by`; NULL is its default.
    ///
    /// # Errors
    /// [`Error::Unknown`] for another dimension.
    pub fn parse(names: Option<String>) -> Result<Self, Error> {
        let names = names.unwrap_or_else(|| "target".to_owned());
        let known = [&OF_TARGETS[..], &["node"]].concat();
        if let Some(name) = words(&names).find(|it| !known.contains(it)) {
            return Err(Error::unknown("dimension of a job", name, known.join(", ")));
        }
        let given: Vec<&str> = words(&names).collect();
        let by: Vec<&str> = known.into_iter().filter(|it| given.contains(it)).collect();
        Ok(Self {
            by: By::these(&by),
            shown: By::these(&given).list().to_vec(),
        })
    }

    /// Returns the dimensions of the rows: empty for the whole job, then the dimensions of the groups, if any.
    pub fn rows(&self) -> impl Iterator<Item = &[&'static Dimension]> {
        let of_groups = Some(self.by.list()).filter(|it| !it.is_empty());
        std::iter::once(&[][..]).chain(of_groups)
    }

    /// Returns the name and the labels of a group; of the whole job, which has no values.
    pub fn named(&self, group: &Values) -> (String, Map<String, Value>) {
        if group.is_empty() {
            return (ALL.to_owned(), Map::new());
        }
        let (mut name, mut labels) = (Vec::new(), Map::new());
        for dimension in &self.shown {
            let mut values = self.by.iter().zip(group);
            let value = values
                .find(|it| it.0 == *dimension)
                .and_then(|it| it.1.as_deref());
            name.extend(value.or(Some("-")).filter(|it| !it.is_empty()));
            labels.insert(dimension.name.to_owned(), label(dimension, value));
        }
        (name.join(", "), labels)
    }
}

/// Writes all rows. The rows of the whole window have the rates in its buckets, and details of single calls if known.
pub fn write(
    work: &Work<'_>,
    chosen: &AnsweredTime,
    grouping: &Grouping,
    rows: &mut Rows,
) -> Result<(), Error> {
    let details = match chosen.is_whole && chosen.has_buckets {
        true => details::of_job(work)?,
        false => Details::new(),
    };
    for by in grouping.rows() {
        for mut done in work.done(by, chosen.has_buckets)? {
            let (start, end) = done.span;
            let mut rates = done.rates.take();
            for (measure, amount) in done.used() {
                let given = &work.measures.list[*measure];
                let calls = details.get(&(done.group.clone(), *measure));
                let bounds = calls.and_then(Calls::bounds);
                // Calls are measured by time or by bytes.
                let is_time = given.spent.as_ref().is_some_and(|sum| sum.time);
                let bound =
                    |it: Option<u64>| it.map(|it| in_answer_unit(it.into(), is_time)).transpose();
                let active = amount.active;
                let amount = Amount {
                    active: active.map(|it| (it.0.clamp(start, end), it.1.clamp(start, end))),
                    ..*amount
                };
                let row = Row {
                    time: Some(timestamptz(start)?),
                    rate: amount.rate,
                    rates: rates
                        .as_mut()
                        .and_then(|it| Distribution::of(&mut it[*measure])),
                    min: bound(bounds.map(|it| it.0))?,
                    max: bound(bounds.map(|it| it.1))?,
                    stddev: calls
                        .and_then(Calls::deviation)
                        .map(|it| it / if is_time { 1e6 } else { 1.0 }),
                    coverage: Some(done.observed.coverage).filter(|it| it.is_finite()),
                    ..Row::of(given, &amount, grouping.named(&done.group))?
                };
                row.put(rows);
            }
        }
    }
    Ok(())
}

/// Returns a sum in the unit of answers: seconds for times. It is exact.
pub fn in_answer_unit(sum: i128, is_time: bool) -> Result<AnyNumeric, Error> {
    decimal(sum, if is_time { 1_000_000 } else { 1 })
}

/// The usage of a group by one operation. `None` is unknown.
#[derive(Default)]
pub struct Row<'a> {
    pub name: String,
    /// The prefix of the operation, if the usage is not the job's.
    pub prefix: &'a str,
    pub operation: &'a str,
    pub total: Option<AnyNumeric>,
    pub calls: Option<AnyNumeric>,
    pub per_call: Option<f64>,
    pub nodes: Option<i64>,
    pub time: Option<TimestampWithTimeZone>,
    pub first: Option<TimestampWithTimeZone>,
    pub last_active: Option<TimestampWithTimeZone>,
    pub rate: Option<f64>,
    /// The rates in buckets.
    pub rates: Option<Distribution>,
    pub min: Option<AnyNumeric>,
    pub max: Option<AnyNumeric>,
    pub stddev: Option<f64>,
    pub coverage: Option<f64>,
    pub labels: Map<String, Value>,
}

impl<'a> Row<'a> {
    /// Returns the row of a measure, for the group with this name and these labels.
    pub fn of(
        measure: &'a Measure,
        amount: &Amount,
        (name, labels): (String, Map<String, Value>),
    ) -> Result<Self, Error> {
        let time = |it: Option<Micros>| it.map(timestamptz).transpose();
        Ok(Self {
            name,
            labels,
            operation: &measure.name,
            total: number(measure, amount.total)?,
            calls: amount.calls.map(AnyNumeric::from),
            per_call: amount.per_call(measure),
            nodes: i64::try_from(amount.nodes).ok(),
            first: time(amount.active.map(|it| it.0))?,
            last_active: time(amount.active.map(|it| it.1))?,
            ..Self::default()
        })
    }

    /// Writes the row.
    pub fn put(self, rows: &mut Rows) {
        let amount = self.total.as_ref().map(|it| f64::try_from(it.clone()));
        let amount = amount.and_then(Result::ok);
        let operation = format!("{}{}", self.prefix, self.operation);
        let labels = Value::Object(self.labels);
        rows.put(|| {
            [
                self.name.cell(),
                operation.cell(),
                formatted(amount, self.operation, Quantity::Total).cell(),
                self.calls.cell(),
                self.per_call.cell(),
                self.nodes.cell(),
                self.time.cell(),
                self.first.cell(),
                self.last_active.cell(),
                self.total.cell(),
                self.rate.cell(),
                self.rates.map(|it| it.min).cell(),
                self.rates.map(|it| it.median).cell(),
                self.rates.map(|it| it.max).cell(),
                self.min.cell(),
                self.max.cell(),
                self.stddev.cell(),
                self.coverage.map(covered).cell(),
                Jsonb::of(&labels).cell(),
            ]
        });
    }
}
