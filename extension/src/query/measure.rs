//! The operations of a question, from the arguments of functions.

use jobstats_core::usage::{Measure, MeasureError, Measures};
use serde_json::Value;

use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::query::dimension::words;

/// Reads the arguments `operations` and `weights`.
pub fn several(operations: Option<String>, weights: Option<Jsonb<'_>>) -> Result<Measures, Error> {
    let weighted = combination(weights)?;
    match operations {
        Some(names) => Ok(Measures::named(words(&names), weighted)?),
        None => Ok(Measures::all(weighted)),
    }
}

/// Reads the arguments `operation` and `weights` of a function that ranks by load. NULL is service time.
pub fn busy(operation: Option<&str>, weights: Option<Jsonb<'_>>) -> Result<Measures, Error> {
    Ok(Measures::busy(operation, combination(weights)?.as_ref())?)
}

/// The largest size of weights in bytes of text: enough for a weight of 100 digits for every operation.
const WEIGHTS_LIMIT: usize = 16 << 10;

fn combination(weights: Option<Jsonb<'_>>) -> Result<Option<Measure>, Error> {
    let Some(weights) = weights else {
        return Ok(None);
    };
    let problem = match weights.read(WEIGHTS_LIMIT) {
        Some(Value::Object(weights)) => return Ok(Some(Measure::weighted(&weights)?)),
        Some(_) => "weights must be an object of operations and numbers",
        None => "weights are nested too deeply, have numbers that are too large, or are too long",
    };
    Err(MeasureError::Weights(problem.to_owned()).into())
}
