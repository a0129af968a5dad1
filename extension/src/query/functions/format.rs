//! `jobstats_format()`: prints a number of an answer with its unit.

use jobstats_core::output::quantity::{Quantity, Readable};
use jobstats_core::usage::MeasureError;
use pgrx::prelude::*;

use crate::pg::error::Error;
use crate::pg::spi::SqlResult;

#[pg_extern(sql = false)]
fn jobstats_format(value: f64, operation: &str, quantity: &str) -> SqlResult<String> {
    let Some(quantity) = Quantity::find(quantity) else {
        let valid = Quantity::ALL.map(Quantity::name).join(", ");
        return Err(Error::unknown("quantity", quantity, valid).into());
    };
    let readable = Readable::new(value, operation, quantity);
    let unknown = || Error::from(MeasureError::Unknown(operation.to_owned()));
    let readable = readable.ok_or_else(unknown)?;
    Ok(readable.to_string())
}
