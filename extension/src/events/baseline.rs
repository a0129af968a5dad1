//! Computes and reads the typical values of each UTC day.

use std::array;
use std::collections::HashMap;

use jobstats_core::base::instant::{DAY, Micros, Span};
use jobstats_core::judgement::event::slow::{self, CLASSES, SIZES};
use pgrx::spi::SpiClient;

use crate::events::readings::Server;
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// Returns the starts of the days of a span.
pub fn days((since, until): Span) -> impl Iterator<Item = Micros> {
    (day_of(since)..=until).step_by(DAY as usize)
}

/// Returns the start of the day of an instant.
pub fn day_of(instant: Micros) -> Micros {
    instant.div_euclid(DAY) * DAY
}

/// The usual waits and times of calls on the days of a span.
#[derive(Debug, Default)]
pub struct Baseline {
    days: Vec<Micros>,
    waits: HashMap<(Micros, Server, String), f64>,
    calls: HashMap<(Micros, i32, usize), f64>,
    probes: HashMap<(Micros, i32), f64>,
}

impl Baseline {
    /// Reads the typical values of the days of a span, and computes missing ones first.
    pub fn read(client: &mut SpiClient<'_>, span: Span) -> Result<Self, Error> {
        let mut baseline = Self::default();
        for day in days(span) {
            baseline.add(client, day)?;
            baseline.days.push(day);
        }
        Ok(baseline)
    }

    fn add(&mut self, client: &mut SpiClient<'_>, day: Micros) -> Result<(), Error> {
        let start = timestamptz(day)?;
        let limits = SIZES[..SIZES.len() - 1].iter().map(|most| *most as i64 + 1);
        let limits: Vec<i64> = limits.collect();
        let of_calls = values![start, limits, slow::BUSY as i64, SIZES.len() as i32];
        client.execute(include_str!("baseline/calls.sql"), &of_calls)?;
        let start = values![start];
        client.execute(include_str!("baseline/waits.sql"), &start)?;
        client.execute(include_str!("baseline/probes.sql"), &start)?;
        let mut rows = |select: &str| {
            let of_day = format!("{select} u WHERE u.day = ($1 AT TIME ZONE 'UTC')::date");
            Ok::<_, Error>(PAUSE.among(client.execute_rows(&of_day, &start)?))
        };
        for row in
            rows("SELECT u.cluster, u.server, u.service, u.wait FROM jobstats.baseline_waits")?
        {
            let server = (row.at(1)?, row.at(2)?);
            self.waits.insert((day, server, row.at(3)?), row.at(4)?);
        }
        for row in
            rows("SELECT u.target_id, u.class, u.seconds_per_call FROM jobstats.baseline_calls")?
        {
            let class = usize::try_from(row.at::<i32>(2)?).unwrap_or(CLASSES);
            self.calls.insert((day, row.at(1)?, class), row.at(3)?);
        }
        for row in rows("SELECT u.target_id, u.seconds FROM jobstats.baseline_probes")? {
            self.probes.insert((day, row.at(1)?), row.at(2)?);
        }
        Ok(())
    }

    /// Returns the starts of the days.
    pub fn days(&self) -> impl Iterator<Item = Micros> {
        self.days.iter().copied()
    }

    /// Returns the usual mean wait in seconds for a service of a server.
    pub fn wait(&self, day: Micros, server: &Server, service: &str) -> Option<f64> {
        let key = (day, server.clone(), service.to_owned());
        self.waits.get(&key).copied()
    }

    /// Returns the usual seconds of a probe of a target.
    pub fn probe(&self, day: Micros, target: i32) -> Option<f64> {
        self.probes.get(&(day, target)).copied()
    }

    /// Returns the usual seconds per call of each class.
    pub fn seconds_per_call(&self, day: Micros, target: i32) -> [Option<f64>; CLASSES] {
        array::from_fn(|class| self.calls.get(&(day, target, class)).copied())
    }
}
