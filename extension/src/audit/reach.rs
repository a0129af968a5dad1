//! Finds how far back the stored increments of observations reach.
//!
//! Nearly all increments begin at the previous observation; only increments of returning entries begin earlier. Searching a day
//! of increments for each target would make an audit of ten minutes a hundred times slower.

use std::collections::HashMap;

use jobstats_core::base::instant::{Micros, Span};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// The start of the earliest increment, for each observation with increments from before the observation before.
pub type Reach = HashMap<(i32, Micros), Micros>;

/// Finds the observations of a target (`None`: of all targets) in a window, in one pass over their increments.
pub fn find(client: &SpiClient<'_>, window: Span, target_id: Option<i32>) -> Result<Reach, Error> {
    let rows = client.query(
        include_str!("reach.sql"),
        &values![timestamptz(window.0)?, timestamptz(window.1)?, target_id],
    )?;
    let mut reach = Reach::new();
    reach
        .try_reserve(rows.len())
        .map_err(|_| Error::Memory(rows.len() * size_of::<(i32, Micros, Micros)>()))?;
    for row in rows {
        let key = (row.get("target_id")?, row.time("observed")?);
        reach.insert(key, row.time("earliest")?);
    }
    Ok(reach)
}
