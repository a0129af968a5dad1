//! The SQL function for the growth of counters of joules.

use jobstats_core::accounting::energy::Meter;
use pgrx::prelude::*;

use crate::pg::argument::Short;

#[pg_extern(sql = false)]
fn jobstats_energy_growth(
    name: Option<Short<&str>>,
    maximum: Option<f64>,
    before: Option<f64>,
    after: Option<f64>,
    seconds: Option<f64>,
) -> Option<f64> {
    Meter::of(&name?)?.growth(maximum, before?, after?, seconds?)
}
