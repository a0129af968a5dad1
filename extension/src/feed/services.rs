//! Queues: stores what the services of a server counted of requests that waited, and the increments of that.
//!
//! A reading of a service lies among the others by its own time. A late one is compared with the one before, and the next one with
//! it. The caller holds the lock of the server.

use std::sync::LazyLock;

use jobstats_core::base::instant::{DAY, HOUR, Micros, SECOND};
use jobstats_core::rules::feed::{Limits, reason};
use jobstats_core::rules::increment::{edge_distance, share, spans};
use jobstats_core::rules::snapshot::Contents;
use jobstats_core::text::parameter::Problems;
use jobstats_core::text::stats::{self, Growth, Sums};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use serde::Serialize;

use crate::feed::ingest::Ingest;
use crate::feed::neighbours::{self, Around};
use crate::feed::server_parameters::json;
use crate::pg::error::Error;
use crate::pg::memory::{require_room, reserve};
use crate::pg::pause::{PAUSE, pause};
use crate::pg::plans;
use crate::pg::spi::Statements;
use crate::pg::time::timestamptz;

/// The number of services that a server may have in a text. Lustre has about twenty.
const SERVICES_MAX: usize = 200;

/// The reason to reject further services.
const TOO_MANY: &str = "too many services";

/// The reason to reject growth that nothing real comes near.
const TOO_LARGE: &str = "too large";

/// The longest time between two readings that are compared. After a longer one a service begins anew.
const LONGEST_GAP: Micros = 31 * DAY;

/// The growth that a counter may have, however soon a reading follows the one before.
const AT_LEAST: i128 = 1 << 30;

/// The memory that a row takes in several copies.
const ROW_BYTES: usize = 1 << 10;

/// The counters of a service at one time.
#[derive(Serialize)]
pub struct Reading {
    service: String,
    time: Micros,
    /// The time of the reading that it was compared with; `None` for the first one.
    since: Option<Micros>,
    sums: Sums,
}

/// Takes the readings out of a text, and rejects what of them cannot be used. The first of two of one name counts.
pub fn read(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Vec<Reading>, Error> {
    let mut problems = Problems::default();
    let mut readings: Vec<Reading> = Vec::new();
    for service in stats::services(&contents.others, &mut problems, PAUSE)? {
        if readings.iter().any(|known| known.service == service.name) {
            continue;
        }
        if readings.len() == SERVICES_MAX {
            let (name, line) = (Some(service.name.as_bytes()), Some(service.line));
            ingest.rejects.add(None, line, TOO_MANY, name);
            continue;
        }
        reserve(&mut readings, 1)?;
        readings.push(Reading {
            service: service.name.to_owned(),
            time: stats::time_in(service.time, ingest.delivery.time),
            since: None,
            sums: service.sums,
        });
    }
    ingest.rejects.add_values(&problems);
    Ok(readings)
}

/// Stores the readings of a server, with their increments, that can be placed.
///
/// # Errors
/// Those of PostgreSQL, and of too little memory.
pub fn store(
    client: &mut SpiClient<'_>,
    ingest: &mut Ingest<'_>,
    readings: Vec<Reading>,
) -> Result<(), Error> {
    if readings.is_empty() {
        return Ok(());
    }
    let all_around = around(client, ingest, &readings)?;
    let mut changes = Changes {
        limits: ingest.limits(),
        max_rate: ingest.settings.max_rate.into(),
        readings: Vec::new(),
        replaced: Vec::new(),
        rows: Vec::new(),
    };
    for (reading, around) in readings.into_iter().zip(all_around) {
        pause();
        let service = reading.service.clone();
        if let Err(reason) = changes.place(reading, around)? {
            let service = Some(service.as_bytes());
            ingest.rejects.add(None, None, reason, service);
        }
    }
    changes.write(client, ingest)
}

/// A reading that is stored.
struct Stored {
    time: Micros,
    since: Option<Micros>,
    sums: Sums,
}

/// Returns the readings around those of a text. One that cannot be read counts as nothing: otherwise the service could never be fed
/// again.
fn around(
    client: &mut SpiClient<'_>,
    ingest: &Ingest<'_>,
    readings: &[Reading],
) -> Result<Vec<Around<Option<Stored>>>, Error> {
    static AROUND: LazyLock<String> = LazyLock::new(|| {
        let key = "r.cluster = $4 AND r.server = $5 AND r.service";
        neighbours::statement("server_snapshots", key, "text", "near.sums::text AS sums")
    });
    let [cluster, server] = server(ingest);
    let services: Vec<_> = readings.iter().map(|it| it.service.clone()).collect();
    let times: Vec<_> = readings.iter().map(|it| it.time).collect();
    let gap = ingest.settings.raw_retention.min(LONGEST_GAP);
    let keys = vec![services.into(), cluster, server];
    neighbours::find(client, &AROUND, keys, &times, gap, |row| {
        let sums: String = row.get("sums")?;
        let (time, since) = (row.time("time")?, row.time_opt("since")?);
        let sums = serde_json::from_str(&sums).ok();
        Ok(sums.map(|sums| Stored { time, since, sums }))
    })
}

fn server<'a>(ingest: &Ingest<'a>) -> [DatumWithOid<'a>; 2] {
    let delivery = ingest.delivery;
    [&delivery.cluster, &delivery.server].map(|name| name.as_str().into())
}

/// A row of `jobstats.server_increments`.
#[derive(Serialize)]
struct Increment {
    service: String,
    since: Micros,
    time: Micros,
    requests: i64,
    wait_usecs: i64,
    depth: i64,
    active: i64,
}

/// The changes that a feed makes.
struct Changes {
    limits: Limits,
    max_rate: i128,
    readings: Vec<Reading>,
    /// The spans of services in which increments are written anew.
    replaced: Vec<(String, Micros, Micros)>,
    rows: Vec<Increment>,
}

impl Changes {
    /// Places a reading between its neighbours, or returns the reason why that cannot be done.
    fn place(
        &mut self,
        mut reading: Reading,
        around: Around<Option<Stored>>,
    ) -> Result<Result<(), &'static str>, Error> {
        let (time, before, next) = (reading.time, around.before.flatten(), around.next.flatten());
        if around.same.is_some() {
            return Ok(Ok(()));
        }
        if let Some(reason) = self.limits.why_not_at(time) {
            return Ok(Err(reason));
        }
        reading.since = before.as_ref().map(|it| it.time);
        let since = next.as_ref().map(|next| next.since);
        let why_not = self.limits.why_not_between(time, reading.since, since);
        let is_far = |next: &Stored| next.time - time > LONGEST_GAP;
        let is_far = next.as_ref().is_some_and(is_far);
        if let Some(reason) = why_not.or(is_far.then_some(reason::TOO_LATE)) {
            return Ok(Err(reason));
        }
        let growth = |time, sums: &Sums| {
            let before = before.as_ref();
            before.map(|it| stats::growth((it.time, &it.sums), (time, sums)))
        };
        let this = growth(time, &reading.sums);
        if let Some(this) = &this {
            reading.sums = this.sums.clone();
        }
        let mut kept = Ok(());
        if let Some(next) = next {
            let following = stats::growth((time, &reading.sums), (next.time, &next.sums));
            let whole = growth(next.time, &next.sums).zip(this.as_ref());
            if whole.is_some_and(|(whole, this)| !fits(&whole, [this, &following])) {
                return Ok(Err(reason::CLOCK));
            }
            let service = reading.service.clone();
            let from = reading.since.unwrap_or(time);
            self.replaced.push((service.clone(), from, next.time));
            kept = self.add(&service, (time, next.time), &following)?;
            self.readings.push(Reading {
                service,
                time: next.time,
                since: Some(time),
                sums: following.sums,
            });
        }
        if let Some((from, this)) = reading.since.zip(this) {
            kept = self.add(&reading.service, (from, time), &this)?.and(kept);
        }
        self.readings.push(reading);
        Ok(kept)
    }

    /// Adds the pieces of what a service did from one reading to the next, between the edges that rows may not cross. Those in
    /// which it did nothing are there too: they say that it was read. Growth that cannot be true is left out, and named.
    fn add(
        &mut self,
        service: &str,
        (from, time): (Micros, Micros),
        growth: &Growth,
    ) -> Result<Result<(), &'static str>, Error> {
        let [waits, depths, actives] = stats::QUEUE.map(|name| counted(growth, name));
        let mut values = [waits[0], waits[1], depths[1], actives[1]];
        let limit = i128::from(time - from) * self.max_rate / i128::from(SECOND);
        let is_possible = |value: &i64| (0..=limit.max(AT_LEAST)).contains(&i128::from(*value));
        let are_possible = values.iter().all(is_possible);
        if !are_possible {
            values = [0; 4];
        }
        // Rows are summed by the hour.
        let distance = edge_distance(from, time).min(HOUR);
        require_room(((time - from) / distance) as usize + 2, ROW_BYTES)?;
        let began = growth.since.clamp(from, time);
        for (since, end) in spans(from, time, distance) {
            let parts = values.map(|value| share(value, began, time, since, end));
            let [requests, wait_usecs, depth, active] = parts;
            self.rows.push(Increment {
                service: service.to_owned(),
                since,
                time: end,
                requests,
                wait_usecs,
                depth,
                active,
            });
        }
        Ok(are_possible.then_some(()).ok_or(TOO_LARGE))
    }

    /// Writes the changes, and sums the hours anew that they touch. Hours whose rows are gone stay as they are.
    fn write(self, client: &mut SpiClient<'_>, ingest: &Ingest<'_>) -> Result<(), Error> {
        for (service, from, until) in &self.replaced {
            let [cluster, server] = server(ingest);
            let span = [timestamptz(*from)?.into(), timestamptz(*until)?.into()];
            let [from, until] = span;
            client.execute(
                "DELETE FROM jobstats.server_increments i WHERE i.cluster = $1 AND i.server = $2 AND i.service = $3 \
                 AND i.\"time\" > $4 AND i.\"time\" <= $5",
                &[cluster, server, service.as_str().into(), from, until],
            )?;
        }
        let edge = |time: Option<Micros>| time.map(timestamptz).transpose();
        let first = self.rows.iter().map(|row| row.since).min();
        let first = first.map(|it| (it.div_euclid(HOUR) * HOUR).max(ingest.settings.kept_since));
        let last = self.rows.iter().map(|row| row.time).max();
        let last = last.map(|it| ((it - 1).div_euclid(HOUR) + 1) * HOUR);
        let (readings, rows) = (json(&self.readings)?, json(&self.rows)?);
        let mut services: Vec<String> = self.rows.into_iter().map(|row| row.service).collect();
        services.dedup();
        let [cluster, server] = server(ingest);
        let arguments = [
            cluster,
            server,
            readings.into(),
            rows.into(),
            services.into(),
            edge(first)?.into(),
            edge(last)?.into(),
        ];
        plans::update(client, include_str!("services/write.sql"), &arguments)?;
        Ok(())
    }
}

fn counted(growth: &Growth, name: &str) -> [i64; 2] {
    growth.counters.get(name).copied().unwrap_or_default()
}

/// Returns whether the growth before and after a late reading may be that between its neighbours. Otherwise the time of the reading
/// is wrong: its counters would restart once more than they did, or have counted more.
fn fits(whole: &Growth, parts: [&Growth; 2]) -> bool {
    let resets = parts.iter().filter(|it| it.reset).count();
    let is_less = |name: &&str| {
        let [one, other, all] = [parts[0], parts[1], whole].map(|it| counted(it, name));
        (0..2).all(|n| i128::from(one[n]) + i128::from(other[n]) <= all[n].into())
    };
    resets <= usize::from(whole.reset) && (whole.reset || stats::QUEUE.iter().all(is_less))
}
