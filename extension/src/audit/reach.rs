//! How far back in time the stored increments of observations reach.
//!
//! Nearly all of them begin at the observation before. To look for each target's increments of a day among everybody's,
//! only because an entry may have come back, would cost an audit of ten minutes a hundred times what it takes.

use std::collections::HashMap;

use jobstats_core::increment::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use super::Window;
use crate::error::Error;
use crate::time::{micros, timestamptz};

/// Of each observation that has increments from before the observation before: where they begin.
pub struct Reach(HashMap<(i32, Micros), Micros>);

impl Reach {
    /// Of the observations of a target (None: of all) in a window; in one pass over its increments.
    pub fn find(
        client: &SpiClient<'_>,
        window: Window,
        target_id: Option<i32>,
    ) -> Result<Self, Error> {
        let rows = client.select(
            include_str!("../sql/audit_reach.sql"),
            None,
            &[
                timestamptz(window.since)?.into(),
                timestamptz(window.until)?.into(),
                target_id.into(),
            ],
        )?;
        let mut reach = HashMap::new();
        reach
            .try_reserve(rows.len())
            .map_err(|_| Error::Memory(rows.len() * size_of::<(i32, Micros, Micros)>()))?;
        for row in rows {
            let target_id = row.get::<i32>(1)?;
            let observed = row.get::<TimestampWithTimeZone>(2)?;
            let since = row.get::<TimestampWithTimeZone>(3)?;
            if let (Some(target_id), Some(observed), Some(since)) = (target_id, observed, since) {
                reach.insert((target_id, micros(observed)?), micros(since)?);
            }
        }
        Ok(Self(reach))
    }

    /// Where the increments of an observation begin that has some from before the observation before.
    pub fn of(&self, target_id: i32, observed: Micros) -> Option<Micros> {
        self.0.get(&(target_id, observed)).copied()
    }
}
