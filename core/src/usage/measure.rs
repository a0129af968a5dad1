//! Measures: the operations of a question, and the sums of columns that make them up.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::base::operation::{
    Kind, OPERATIONS, Operation, OperationIndex, READ, READ_BYTES, WRITE, WRITE_BYTES, find, timed,
};
use crate::base::target::TargetKind;
use crate::usage::columns::sum::Sum;

/// The name of the operation that weights define.
const WEIGHTED: &str = "weighted";

/// The least number of calls for a mean of bytes or seconds per call.
pub const CALLS_FOR_MEAN: i128 = 10;

/// Times are microseconds in the store, and seconds in answers.
const MICROS: i128 = 1_000_000;

/// Weights are billionths: they have nine digits behind the point, and eighteen in all.
pub const WEIGHT_UNIT: i128 = 1_000_000_000;
const DECIMALS: u32 = 9;
const DIGITS: u32 = 18;

/// The measures of calls by size, which are made of histograms and of no column.
const SIZED: [&str; 6] = [
    "sized_reads",
    "small_reads",
    "medium_reads",
    "sized_writes",
    "small_writes",
    "medium_writes",
];

/// A sum and its weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The weight in billionths; `None` is 1.
    pub weight: Option<i64>,
    /// The sum.
    pub sum: Sum,
}

/// An operation of a question.
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

/// A reason why the operations of a question cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MeasureError {
    /// An operation that does not exist.
    #[error("operation {0} does not exist")]
    Unknown(String),
    /// An operation whose weight is no number.
    #[error("the weight of {0} is not a number")]
    NoNumber(String),
    /// Weights that cannot be read.
    #[error("{0}")]
    Weights(String),
}

impl Measure {
    /// Returns whether the measure is unknown on servers before Lustre 2.14.
    pub fn is_time(&self) -> bool {
        self.total.iter().any(|term| term.sum.time)
    }

    /// Returns the number of parts of amounts that are 1 in the answer: amounts of times are microseconds, amounts of weights billionths.
    pub fn unit(&self) -> i128 {
        let weighted = self.total.iter().any(|term| term.weight.is_some());
        let times = if self.is_time() { MICROS } else { 1 };
        times * if weighted { WEIGHT_UNIT } else { 1 }
    }

    /// Returns the factor that makes an amount of a sum of a term.
    pub(super) fn factor(&self, term: &Term) -> i128 {
        let has_times = self.is_time() && !term.sum.time;
        term.weight.map_or(1, i128::from) * if has_times { MICROS } else { 1 }
    }

    /// Returns the unit of the spent bytes or time, in the same way.
    pub fn unit_of_spent(&self) -> i128 {
        match &self.spent {
            Some(sum) if sum.time => MICROS,
            _ => 1,
        }
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

    /// Returns the numbers of reads and writes with a known size and, behind each, of those up to two sizes.
    pub fn sized() -> [Self; 6] {
        SIZED.map(|name| {
            let sum = Sum::column(name);
            Self::plain(name, sum.clone(), sum.clone(), sum, (true, true))
        })
    }

    fn bytes() -> Self {
        let of = |names: [OperationIndex; 2]| Sum::counts(&names.map(|index| &OPERATIONS[index]));
        let (total, calls) = (of([READ_BYTES, WRITE_BYTES]), of([READ, WRITE]));
        Self::plain("bytes", total.clone(), calls, total, (true, true))
    }

    fn plain(name: &str, total: Sum, calls: Sum, spent: Sum, on: (bool, bool)) -> Self {
        let term = Term {
            weight: None,
            sum: total,
        };
        Self {
            name: name.to_owned(),
            total: vec![term],
            calls: Some(calls),
            spent: Some(spent),
            on,
        }
    }

    /// Returns the measure of this name, except `weighted`.
    ///
    /// # Errors
    /// [`MeasureError::Unknown`] if there is no such measure.
    pub fn find(name: &str) -> Result<Self, MeasureError> {
        let found = match name {
            "metadata" => Some(Self::metadata()),
            "service_time" => Some(Self::service_time()),
            "bytes" => Some(Self::bytes()),
            _ => known(name)
                .map(Self::of)
                .or_else(|| timed(name).map(Self::time_of)),
        };
        found.ok_or_else(|| MeasureError::Unknown(name.to_owned()))
    }

    /// Returns the linear combination that weights define.
    ///
    /// # Errors
    /// [`MeasureError`] if a name is no operation, or a weight no number.
    pub fn weighted(weights: &Map<String, Value>) -> Result<Self, MeasureError> {
        if weights.is_empty() {
            return Err(MeasureError::Weights(
                "weights name no operation".to_owned(),
            ));
        }
        let (mut total, mut on) = (Vec::new(), (false, false));
        for (name, weight) in weights {
            let Value::Number(number) = weight else {
                return Err(MeasureError::NoNumber(name.clone()));
            };
            let measure = Self::find(name)?;
            let weight = billionths(&number.to_string()).ok_or_else(|| {
                let problem = format!(
                    "the weight of {name} has more than {DIGITS} digits, or more than {DECIMALS} after the point"
                );
                MeasureError::Weights(problem)
            })?;
            on = (on.0 || measure.on.0, on.1 || measure.on.1);
            total.extend(measure.total.into_iter().map(|term| Term {
                weight: Some(weight),
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

/// Reads a decimal number, perhaps with an exponent, in billionths; `None` if it has too many digits.
fn billionths(text: &str) -> Option<i64> {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let rest = rest.trim_end_matches('0');
    let decimals = i64::try_from(rest.len()).ok()? - i64::from(DECIMALS);
    let zeros = exponent.parse::<i64>().ok()?.checked_sub(decimals)?;
    let digits: i128 = format!("{whole}{rest}").parse().ok()?;
    if digits == 0 {
        return Some(0);
    }
    let power = 10_i128.checked_pow(u32::try_from(zeros.unsigned_abs()).ok()?)?;
    // The digits that are cut off must be zeros.
    let billionths = match zeros {
        0.. => digits.checked_mul(power)?,
        _ => Some(digits / power).filter(|_| digits % power == 0)?,
    };
    let billionths = i64::try_from(billionths).ok()?;
    (billionths.unsigned_abs() < 10_u64.pow(DIGITS)).then_some(billionths)
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
    /// Returns all operations and `metadata`, and another measure.
    pub fn all(another: Option<Measure>) -> Self {
        let mut list: Vec<Measure> = OPERATIONS.iter().map(Measure::of).collect();
        list.push(Measure::metadata());
        list.extend(another);
        Self {
            all: true,
            ..Self::listed(list)
        }
    }

    /// Returns all operations, `metadata` and `service_time`.
    pub fn every() -> Self {
        Self::all(Some(Measure::service_time()))
    }

    /// Returns the measures of these names, and the combination that weights define.
    ///
    /// # Errors
    /// [`MeasureError::Unknown`]
    pub fn named<'n>(
        names: impl IntoIterator<Item = &'n str>,
        weighted: Option<Measure>,
    ) -> Result<Self, MeasureError> {
        let mut list: Vec<Measure> = Vec::new();
        for name in names {
            if !list.iter().any(|measure| measure.name == name) {
                list.push(one(name, weighted.as_ref())?);
            }
        }
        if !list.iter().any(|measure| measure.name == WEIGHTED) {
            list.extend(weighted);
        }
        Ok(Self::listed(list))
    }

    /// Returns the measure of this name alone.
    ///
    /// # Errors
    /// [`MeasureError::Unknown`]
    pub fn one(name: &str, weighted: Option<&Measure>) -> Result<Self, MeasureError> {
        Ok(Self::listed(vec![one(name, weighted)?]))
    }

    /// Returns the measure of a function that shows who is busy. If no operation is named, that is `service_time` or, if no target in
    /// scope reports times, `metadata` of MDTs and `bytes` of OSTs.
    ///
    /// # Errors
    /// [`MeasureError::Unknown`]
    pub fn busy(name: Option<&str>, weighted: Option<&Measure>) -> Result<Self, MeasureError> {
        let mut measures = Self::one(name.unwrap_or("service_time"), weighted)?;
        if name.is_none() {
            measures.without_times = vec![
                (TargetKind::Mdt, Measure::metadata()),
                (TargetKind::Ost, Measure::bytes()),
            ];
        }
        Ok(measures)
    }

    /// Returns these measures alone.
    pub fn listed(list: Vec<Measure>) -> Self {
        Self {
            list,
            ..Self::default()
        }
    }

    /// Returns the names that an operation may have.
    pub fn names() -> String {
        let names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
        format!(
            "metadata, bytes, service_time, weighted (where weights are given), {}; all but read_bytes and write_bytes also with \
             _time for the seconds spent",
            names.join(", ")
        )
    }
}

fn one(name: &str, weighted: Option<&Measure>) -> Result<Measure, MeasureError> {
    match weighted {
        Some(measure) if name == WEIGHTED => Ok(measure.clone()),
        _ => Measure::find(name),
    }
}

fn known(name: &str) -> Option<&'static Operation> {
    find(name.as_bytes()).map(|index| &OPERATIONS[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_decimal_numbers_of_18_digits_with_9_behind_the_point() {
        for (text, expected) in [
            ("1", Some(1_000_000_000)),
            ("-10", Some(-10_000_000_000)),
            ("0.001", Some(1_000_000)),
            ("1e-6", Some(1_000)),
            ("1e-9", Some(1)),
            ("2.5e3", Some(2_500_000_000_000)),
            ("0.0", Some(0)),
            ("0e400", Some(0)),
            ("123456789.123456789", Some(123_456_789_123_456_789)),
            ("1e-10", None),
            ("0.1234567891", None),
            ("1000000000", None),
            ("1e9", None),
            ("1e300", None),
            ("1e-300", None),
        ] {
            assert_eq!(billionths(text), expected, "{text}");
        }
    }

    #[test]
    fn the_unit_of_an_amount_has_room_for_weights_and_microseconds() {
        let weights = serde_json::json!({"write_bytes": 0.5, "open_time": 2});
        let weighted = Measure::weighted(weights.as_object().unwrap()).unwrap();
        assert_eq!(weighted.unit(), 1_000_000_000_000_000);
        let factors: Vec<i128> = weighted
            .total
            .iter()
            .map(|it| weighted.factor(it))
            .collect();
        assert_eq!(factors, [2_000_000_000, 500_000_000_000_000]);
        assert_eq!(Measure::service_time().unit(), 1_000_000);
        assert_eq!(Measure::bytes().unit(), 1);
    }
}
