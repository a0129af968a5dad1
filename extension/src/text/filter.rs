//! The type `jobstats_filter`. It is stored as jsonb.

use std::ffi::CStr;

use jobstats_core::usage::Condition;
use jobstats_core::usage::dimension::Dimension;
use jobstats_core::usage::filter::{FilterError, Matcher, checked, read};
use pgrx::datum::Internal;
use pgrx::prelude::*;
use serde_json::{Map, Value};

use crate::pg::aggregate_state;
use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::SqlResult;

/// The largest filter in bytes of text: enough for ten thousand names.
const LIMIT: usize = 1 << 20;

#[pg_extern(sql = false)]
fn filter_in(text: &CStr) -> SqlResult<Jsonb<'static>> {
    Ok(jsonb(of_bytes(text.to_bytes()))?)
}

#[pg_extern(sql = false)]
fn filter_of_text(text: Short<&str>) -> SqlResult<Jsonb<'static>> {
    Ok(jsonb(of_text(&text))?)
}

#[pg_extern(sql = false)]
fn filter_of_jsonb(json: Jsonb<'_>) -> SqlResult<Jsonb<'static>> {
    Ok(jsonb(keys(json))?)
}

#[pg_extern(sql = false)]
fn filter_recv(message: Internal) -> SqlResult<Jsonb<'static>> {
    // SAFETY: this is the type's receive function.
    #[allow(unsafe_code)]
    let bytes = unsafe { aggregate_state::received(message) };
    // The first byte is the version of the binary form of jsonb.
    Ok(jsonb(of_bytes(bytes.get(1..).unwrap_or_default()))?)
}

/// Returns whether labels match all keys of a filter, or one of its alternatives.
#[pg_extern(sql = false)]
fn filter_matches(filter: Jsonb<'_>, labels: Jsonb<'_>, any: bool) -> SqlResult<bool> {
    let filter = keys(filter).map_err(Error::from)?;
    let labels = labels.read(LIMIT).unwrap_or_default();
    let is_met = |(key, value): (&String, &Value)| {
        let dimension = Dimension::find(key)?;
        let wanted = Condition::new(dimension, Matcher::of(dimension, value)?, [], false);
        Some(wanted.lets(labels.get(key).and_then(Value::as_str), None))
    };
    let mut met = filter.iter().filter_map(is_met);
    Ok(match any {
        true => met.any(|it| it),
        false => met.all(|it| it),
    })
}

/// Returns the keys of a JSON filter.
pub fn keys(json: Jsonb<'_>) -> Result<Map<String, Value>, FilterError> {
    checked(json.read(LIMIT).ok_or(FilterError::Long)?)
}

fn of_bytes(text: &[u8]) -> Result<Map<String, Value>, FilterError> {
    of_text(std::str::from_utf8(text).map_err(|it| FilterError::Json(it.to_string()))?)
}

fn of_text(text: &str) -> Result<Map<String, Value>, FilterError> {
    match text.len() <= LIMIT {
        true => read(text),
        false => Err(FilterError::Long),
    }
}

fn jsonb(filter: Result<Map<String, Value>, FilterError>) -> Result<Jsonb<'static>, Error> {
    let filter = Jsonb::of(&Value::Object(filter?));
    Ok(filter.ok_or_else(|| FilterError::Json("it has a zero byte".to_owned()))?)
}
