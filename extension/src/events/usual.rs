//! Computes and reads what is usual, by the UTC day.

use std::collections::HashMap;

use jobstats_core::event::slow::{self, CLASSES, SIZES};
use jobstats_core::instant::{DAY, Micros, Span};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::events::readings::Server;
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::spi::Statements;
use crate::pg::time::timestamptz;

/// The usual waits and times of calls on the days of a span.
#[derive(Debug, Default)]
pub struct Usual {
    days: Vec<Micros>,
    waits: HashMap<(Micros, usize), HashMap<String, f64>>,
    calls: HashMap<(Micros, i32), [Option<f64>; CLASSES]>,
    probes: HashMap<(Micros, i32), f64>,
}

impl Usual {
    /// Computes what is usual on the days of a span, unless that is known, and reads it.
    pub fn read(client: &mut SpiClient<'_>, span: Span, servers: &[Server]) -> Result<Self, Error> {
        let first = span.0.div_euclid(DAY) * DAY;
        let mut usual = Self {
            days: (first..=span.1).step_by(DAY as usize).collect(),
            ..Self::default()
        };
        let numbers: HashMap<&Server, usize> = servers.iter().zip(0..).collect();
        for day in usual.days.clone() {
            let start: DatumWithOid<'_> = timestamptz(day)?.into();
            let limits: Vec<i64> = SIZES[..SIZES.len() - 1]
                .iter()
                .filter_map(|most| i64::try_from(most + 1).ok())
                .collect();
            let busy = i64::try_from(slow::BUSY).unwrap_or(0);
            let writes = i32::try_from(SIZES.len()).unwrap_or(0);
            let parameters = [start, limits.into(), busy.into(), writes.into()];
            client.execute(include_str!("usual/waits.sql"), &parameters[..1])?;
            client.execute(include_str!("usual/calls.sql"), &parameters)?;
            client.execute(include_str!("usual/probes.sql"), &parameters[..1])?;
            usual.add(client, day, &parameters[..1], &numbers)?;
        }
        Ok(usual)
    }

    fn add(
        &mut self,
        client: &mut SpiClient<'_>,
        day: Micros,
        start: &[DatumWithOid<'_>],
        numbers: &HashMap<&Server, usize>,
    ) -> Result<(), Error> {
        let mut rows = |select: &str| {
            let of_day = format!("{select} u WHERE u.day = ($1 AT TIME ZONE 'UTC')::date");
            client.execute_rows(&of_day, start)
        };
        let waits =
            rows("SELECT u.cluster, u.server, u.service, u.wait FROM jobstats.usual_waits")?;
        for row in PAUSE.among(waits) {
            if let Some(server) = numbers.get(&(row.at(1)?, row.at(2)?)) {
                let services = self.waits.entry((day, *server)).or_default();
                services.insert(row.at(3)?, row.at(4)?);
            }
        }
        let calls =
            rows("SELECT u.target_id, u.class, u.seconds_per_call FROM jobstats.usual_calls")?;
        for row in PAUSE.among(calls) {
            let classes = self.calls.entry((day, row.at(1)?)).or_default();
            let class = usize::try_from(row.at::<i32>(2)?).unwrap_or(CLASSES);
            if let Some(class) = classes.get_mut(class) {
                *class = Some(row.at(3)?);
            }
        }
        for row in PAUSE.among(rows(
            "SELECT u.target_id, u.seconds FROM jobstats.usual_probes",
        )?) {
            self.probes.insert((day, row.at(1)?), row.at(2)?);
        }
        Ok(())
    }

    /// Returns the starts of the days.
    pub fn days(&self) -> impl Iterator<Item = Micros> {
        self.days.clone().into_iter()
    }

    /// Returns the usual mean wait in seconds for a service of a server.
    pub fn wait(&self, day: Micros, server: usize, service: &str) -> Option<f64> {
        self.waits.get(&(day, server))?.get(service).copied()
    }

    /// Returns the usual seconds of a probe of a target.
    pub fn probe(&self, day: Micros, target: i32) -> Option<f64> {
        self.probes.get(&(day, target)).copied()
    }

    /// Returns the usual seconds per call of each class.
    pub fn seconds_per_call(&self, day: Micros, target: i32) -> [Option<f64>; CLASSES] {
        self.calls.get(&(day, target)).copied().unwrap_or_default()
    }
}
