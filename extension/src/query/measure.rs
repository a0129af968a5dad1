//! Measures: the operations that a question asks for, and the sums of columns that make them up.

use jobstats_core::operation::{
    Kind, OPERATIONS, Operation, OperationIndex, READ, READ_BYTES, WRITE, WRITE_BYTES, find,
};
use jobstats_core::target::TargetKind;
use serde_json::{Map, Value};

use crate::pg::error::{Error, shown};
use crate::pg::jsonb::Jsonb;
use crate::query::dimension::words;
use crate::store::sum::Sum;

/// The name of the operation that `weights` define.
const WEIGHTED: &str = "weighted";

/// The number of calls from which on the bytes or seconds per call are told.
pub const CALLS_FOR_MEAN: u8 = 10;

/// The factor of times in answers: the store has them in microseconds, answers have them in seconds.
pub const SECONDS: &str = "0.000001";

/// A sum and its factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// A numeric constant; `None` stands for 1.
    pub weight: Option<String>,
    /// The sum.
    pub sum: Sum,
}

impl Term {
    /// Returns the factor of a total, if there is one.
    pub fn factor(&self) -> Option<String> {
        let seconds = self.sum.time.then_some(SECONDS);
        match (seconds, &self.weight) {
            (Some(seconds), Some(weight)) => Some(format!("{seconds} * {weight}")),
            (seconds, weight) => seconds.or(weight.as_deref()).map(str::to_owned),
        }
    }
}

/// An operation that a question asks for.
#[derive(Debug, Clone)]
pub struct Measure {
    /// The name, which is in the column `operation`.
    pub name: String,
    /// The terms whose sum is the total.
    pub total: Vec<Term>,
    /// The number of calls, if the measure has one.
    pub calls: Option<Sum>,
    /// The bytes, or the time, that `per_call` divides by the calls.
    pub spent: Option<Sum>,
    /// The kinds of target that report the measure: MDT, OST.
    pub on: (bool, bool),
}

impl Measure {
    /// Returns whether the measure is unknown on servers before Lustre 2.14.
    pub fn is_time(&self) -> bool {
        self.total.iter().any(|term| term.sum.time)
    }

    fn of(operation: &Operation) -> Self {
        let total = Sum::counts(&[operation]);
        let (calls, spent) = match operation.kind {
            Kind::Requests => (total.clone(), Sum::times(&[operation])),
            Kind::Bytes => {
                let calls = operation.doubles.and_then(known).unwrap_or(operation);
                (Sum::counts(&[calls]), total.clone())
            }
        };
        let on = (operation.mdt, operation.ost);
        Self::plain(operation.name, total, calls, spent, on)
    }

    fn time_of(operation: &Operation) -> Self {
        let total = Sum::times(&[operation]);
        let calls = Sum::counts(&[operation]);
        let on = (operation.mdt, operation.ost);
        let name = format!("{}_time", operation.name);
        Self::plain(&name, total.clone(), calls, total, on)
    }

    fn metadata() -> Self {
        let total = Sum::metadata_calls().on_mdt();
        let spent = Sum::metadata_time().on_mdt();
        Self::plain("metadata", total.clone(), total, spent, (true, false))
    }

    fn service_time() -> Self {
        let (calls, spent) = (Sum::service_calls(), Sum::service_time());
        Self::plain("service_time", spent.clone(), calls, spent, (true, true))
    }

    /// Returns the number of all calls.
    pub fn requests() -> Self {
        let (calls, on) = (Sum::service_calls(), (true, true));
        Self::plain("requests", calls.clone(), calls.clone(), calls, on)
    }

    fn bytes() -> Self {
        let of = |names: [OperationIndex; 2]| Sum::counts(&names.map(|index| &OPERATIONS[index]));
        let (total, calls) = (of([READ_BYTES, WRITE_BYTES]), of([READ, WRITE]));
        Self::plain("bytes", total.clone(), calls, total, (true, true))
    }

    fn plain(name: &str, total: Sum, calls: Sum, spent: Sum, on: (bool, bool)) -> Self {
        Self {
            name: name.to_owned(),
            total: vec![Term {
                weight: None,
                sum: total,
            }],
            calls: Some(calls),
            spent: Some(spent),
            on,
        }
    }

    /// Returns the measure of this name, except `weighted`.
    ///
    /// # Errors
    /// [`Error::Unknown`] if there is no such measure.
    fn find(name: &str) -> Result<Self, Error> {
        let timed = || known(name.strip_suffix("_time")?).filter(|it| it.kind == Kind::Requests);
        let found = match name {
            "metadata" => Some(Self::metadata()),
            "service_time" => Some(Self::service_time()),
            "bytes" => Some(Self::bytes()),
            _ => known(name)
                .map(Self::of)
                .or_else(|| timed().map(Self::time_of)),
        };
        found.ok_or_else(|| unknown(name))
    }

    /// Returns the linear combination that `weights` define.
    fn weighted(weights: &Map<String, Value>) -> Result<Self, Error> {
        if weights.is_empty() {
            return Err(bad_weights("weights name no operation".to_owned()));
        }
        let mut total = Vec::new();
        let mut on = (false, false);
        for (name, weight) in weights {
            let Value::Number(weight) = weight else {
                return Err(bad_weights(format!(
                    "the weight of {} is not a number",
                    shown(name)
                )));
            };
            let measure = Self::find(name)?;
            on = (on.0 || measure.on.0, on.1 || measure.on.1);
            total.extend(measure.total.into_iter().map(|term| Term {
                weight: Some(format!("({weight})")),
                ..term
            }));
        }
        Ok(Self {
            name: WEIGHTED.to_owned(),
            total,
            calls: None,
            spent: None,
            on,
        })
    }
}

/// The measures of one question.
#[derive(Debug, Default)]
pub struct Measures {
    /// The measures in the order of the answer.
    pub list: Vec<Measure>,
    /// Set if the measures were not named one by one. Measures that do not occur are then left out.
    pub all: bool,
    /// The measures that take the place of the others if no target in scope reports times, each on targets of one kind.
    pub without_times: Vec<(TargetKind, Measure)>,
}

impl Measures {
    /// Parses the arguments `operations` and `weights`.
    pub fn parse(operations: Option<String>, weights: Option<Jsonb<'_>>) -> Result<Self, Error> {
        let weighted = weights.map(|it| combination(&it)).transpose()?;
        let Some(names) = operations else {
            let mut list: Vec<Measure> = OPERATIONS.iter().map(Measure::of).collect();
            list.push(Measure::metadata());
            list.extend(weighted);
            return Ok(Self {
                list,
                all: true,
                ..Self::default()
            });
        };
        let mut list: Vec<Measure> = Vec::new();
        for name in words(&names) {
            if !list.iter().any(|measure| measure.name == name) {
                list.push(one(name, weighted.as_ref())?);
            }
        }
        if !list.iter().any(|measure| measure.name == WEIGHTED) {
            list.extend(weighted);
        }
        Ok(Self::listed(list))
    }

    /// Returns all operations, `metadata` and `service_time`.
    pub fn every() -> Result<Self, Error> {
        let mut every = Self::parse(None, None)?;
        every.list.push(Measure::service_time());
        Ok(every)
    }

    /// Returns the kinds of target that report any of the measures: MDT, OST.
    pub fn on(&self) -> (bool, bool) {
        let kinds = self.list.iter().map(|measure| measure.on);
        kinds.fold((false, false), |(mdt, ost), on| (mdt || on.0, ost || on.1))
    }

    /// Parses the arguments `operation` and `weights`, which give a single measure.
    pub fn parse_one(operation: &str, weights: Option<Jsonb<'_>>) -> Result<Self, Error> {
        let weighted = weights.map(|it| combination(&it)).transpose()?;
        Ok(Self::listed(vec![one(operation, weighted.as_ref())?]))
    }

    /// Parses the arguments `operation` and `weights` of a function that shows who is busy. If `operation` is NULL, that
    /// is `service_time` or, if no target in scope reports times, `metadata` of MDTs and `bytes` of OSTs.
    pub fn parse_busy(operation: Option<&str>, weights: Option<Jsonb<'_>>) -> Result<Self, Error> {
        let measures = Self::parse_one(operation.unwrap_or("service_time"), weights)?;
        let without_times = match operation {
            Some(_) => Vec::new(),
            None => vec![
                (TargetKind::Mdt, Measure::metadata()),
                (TargetKind::Ost, Measure::bytes()),
            ],
        };
        Ok(Self {
            without_times,
            ..measures
        })
    }

    /// Returns these measures alone.
    pub fn listed(list: Vec<Measure>) -> Self {
        Self {
            list,
            ..Self::default()
        }
    }

    /// Returns the measures of these names.
    pub fn named<const N: usize>(names: [&str; N]) -> Result<Self, Error> {
        Self::parse(Some(names.join(",")), None)
    }
}

/// The largest size of weights in bytes of text: enough for a weight of 100 digits for every operation.
const WEIGHTS_LIMIT: usize = 16 << 10;

fn combination(weights: &Jsonb<'_>) -> Result<Measure, Error> {
    match weights.read(WEIGHTS_LIMIT) {
        Some(Value::Object(weights)) => Measure::weighted(&weights),
        Some(_) => Err(bad_weights(
            "weights must be an object that gives operations numbers".to_owned(),
        )),
        None => Err(bad_weights(
            "weights are nested too deeply, have numbers that are too large, or are too long"
                .to_owned(),
        )),
    }
}

fn bad_weights(problem: String) -> Error {
    Error::argument(
        problem,
        r#"Give numbers to operations, as in '{"read_bytes": 1, "write_bytes": 2.5}'."#,
    )
}

fn one(name: &str, weighted: Option<&Measure>) -> Result<Measure, Error> {
    match weighted {
        Some(measure) if name == WEIGHTED => Ok(measure.clone()),
        _ => Measure::find(name),
    }
}

fn known(name: &str) -> Option<&'static Operation> {
    find(name.as_bytes()).map(|index| &OPERATIONS[index])
}

/// Returns the error for the name of an operation that does not exist.
pub fn unknown(name: &str) -> Error {
    let names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    let valid = format!(
        "metadata, bytes, service_time, weighted (where weights are given), {}; all but read_bytes and write_bytes also with \
         _time for the seconds spent",
        names.join(", ")
    );
    Error::unknown("operation", name, valid)
}
