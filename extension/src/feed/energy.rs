//! The SQL function for the growth of counters of joules.

use jobstats_core::energy::Meter;
use pgrx::prelude::*;

use crate::pg::argument::Short;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.energy_growth(
    name text, maximum double precision, before double precision, after double precision, seconds double precision) RETURNS double precision
LANGUAGE c IMMUTABLE PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.energy_growth(text, double precision, double precision, double precision, double precision) IS
'Internal: the joules that a counter with this name grew by between two readings, also if it began again at zero after its maximum; NULL if nobody can tell.';
"#)]
fn jobstats_energy_growth(
    name: Option<Short<&str>>,
    maximum: Option<f64>,
    before: Option<f64>,
    after: Option<f64>,
    seconds: Option<f64>,
) -> Option<f64> {
    Meter::of(&name?)?.growth(maximum, before?, after?, seconds?)
}
