//! Stores the request queues of services of a server, and their increments.
//!
//! A snapshot of a service is ordered by its own time. A late one is compared with its predecessor, and its successor with it.
//! The caller holds the lock of the server.

use std::sync::LazyLock;

use jobstats_core::base::instant::{DAY, HOUR, Micros, SECOND};
use jobstats_core::rules::feed::{Limits, reason};
use jobstats_core::rules::increment::{edge_distance, share, spans};
use jobstats_core::rules::snapshot::Contents;
use jobstats_core::text::additional_parameters::{Parameter, Problems};
use jobstats_core::text::stats::{self, Growth, Sums};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use serde::Serialize;

use crate::feed::ingest::Ingest;
use crate::feed::neighbours::{self, Neighbours};
use crate::feed::server_parameters::json;
use crate::pg::error::Error;
use crate::pg::memory::{require_room, reserve};
use crate::pg::pause::{PAUSE, pause};
use crate::pg::plans;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// The largest number of services in a text. Lustre has about twenty.
const SERVICES_MAX: usize = 200;

/// The reason to reject further services.
const TOO_MANY: &str = "too many services";

/// The reason to reject impossible growth.
const TOO_LARGE: &str = "too large";

/// The longest time between two snapshots that are compared. After a longer gap a service begins anew.
const LONGEST_GAP: Micros = 31 * DAY;

/// The growth that is always plausible, however close two snapshots are.
const AT_LEAST: i128 = 1 << 30;

/// The memory of a row in several copies.
const ROW_BYTES: usize = 1 << 10;

/// The counters of a service at one time.
#[derive(Serialize)]
pub struct ServiceSnapshot {
    service: String,
    time: Micros,
    /// The time of its predecessor; `None` for the first one.
    since: Option<Micros>,
    sums: Sums,
}

/// Reads the snapshots of a text, and rejects unusable ones. Of two with one name the first counts.
pub fn read(
    contents: &Contents<'_>,
    ingest: &mut Ingest<'_>,
) -> Result<Vec<ServiceSnapshot>, Error> {
    let mut problems = Problems::default();
    let mut snapshots: Vec<ServiceSnapshot> = Vec::new();
    for other in PAUSE.among(&contents.others) {
        let Parameter::Service(name) = other.parameter else {
            continue;
        };
        let stats = stats::read(other, &mut problems, PAUSE)?;
        if snapshots.iter().any(|known| known.service == name) {
            continue;
        }
        if snapshots.len() == SERVICES_MAX {
            let (name, line) = (Some(name.as_bytes()), Some(other.line));
            ingest.rejects.add(None, line, TOO_MANY, name);
            continue;
        }
        reserve(&mut snapshots, 1)?;
        snapshots.push(ServiceSnapshot {
            service: name.to_owned(),
            time: stats::time_in(stats.snapshot_time, ingest.delivery.time),
            since: None,
            sums: Sums::of(&stats, &stats::QUEUE),
        });
    }
    ingest.rejects.add_values(&problems);
    Ok(snapshots)
}

/// Stores snapshots with their increments, and rejects misplaced ones.
///
/// # Errors
/// Errors of PostgreSQL, or too little memory.
pub fn store(
    client: &mut SpiClient<'_>,
    ingest: &mut Ingest<'_>,
    snapshots: Vec<ServiceSnapshot>,
) -> Result<(), Error> {
    if snapshots.is_empty() {
        return Ok(());
    }
    let all_around = around(client, ingest, &snapshots)?;
    let mut changes = PendingChanges {
        limits: ingest.limits(),
        max_rate: ingest.settings.max_rate.into(),
        snapshots: Vec::new(),
        replaced: Vec::new(),
        rows: Vec::new(),
    };
    for (snapshot, around) in snapshots.into_iter().zip(all_around) {
        pause();
        let service = snapshot.service.clone();
        if let Err(reason) = changes.place(snapshot, around)? {
            let service = Some(service.as_bytes());
            ingest.rejects.add(None, None, reason, service);
        }
    }
    changes.write(client, ingest)
}

/// Returns the neighbours of new snapshots. A damaged one counts as missing: otherwise the service could never be fed again.
fn around(
    client: &mut SpiClient<'_>,
    ingest: &Ingest<'_>,
    snapshots: &[ServiceSnapshot],
) -> Result<Vec<Neighbours<Option<ServiceSnapshot>>>, Error> {
    static AROUND: LazyLock<String> = LazyLock::new(|| {
        let key = "r.cluster = $4 AND r.server = $5 AND r.service";
        let columns = "near.service, near.sums::text AS sums";
        neighbours::statement("server_snapshots", key, "text", columns)
    });
    let [cluster, server] = server(ingest);
    let services: Vec<_> = snapshots.iter().map(|it| it.service.clone()).collect();
    let times: Vec<_> = snapshots.iter().map(|it| it.time).collect();
    let gap = ingest.settings.raw_retention.min(LONGEST_GAP);
    let keys = vec![services.into(), cluster, server];
    neighbours::find(client, &AROUND, keys, &times, gap, |row| {
        let (service, time, since) = (
            row.get("service")?,
            row.time("time")?,
            row.time_opt("since")?,
        );
        let sums = serde_json::from_str(row.get("sums")?).ok();
        Ok(sums.map(|sums| ServiceSnapshot {
            service,
            time,
            since,
            sums,
        }))
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
struct PendingChanges {
    limits: Limits,
    max_rate: i128,
    snapshots: Vec<ServiceSnapshot>,
    /// The spans of services whose increments are replaced.
    replaced: Vec<(String, Micros, Micros)>,
    rows: Vec<Increment>,
}

impl PendingChanges {
    /// Places a snapshot between its neighbours, or returns the reason to reject it.
    fn place(
        &mut self,
        mut snapshot: ServiceSnapshot,
        around: Neighbours<Option<ServiceSnapshot>>,
    ) -> Result<Result<(), &'static str>, Error> {
        let (before, next) = (around.before.flatten(), around.next.flatten());
        let time = snapshot.time;
        if around.same.is_some() {
            return Ok(Ok(()));
        }
        if let Some(reason) = self.limits.why_not_at(time) {
            return Ok(Err(reason));
        }
        snapshot.since = before.as_ref().map(|it| it.time);
        let since = next.as_ref().map(|next| next.since);
        let why_not = self.limits.why_not_between(time, snapshot.since, since);
        let is_far = next.as_ref().is_some_and(|it| it.time - time > LONGEST_GAP);
        if let Some(reason) = why_not.or(is_far.then_some(reason::TOO_LATE)) {
            return Ok(Err(reason));
        }
        let growth = |time, sums: &Sums| {
            let before = before.as_ref();
            before.map(|it| stats::growth((it.time, &it.sums), (time, sums)))
        };
        let this = growth(time, &snapshot.sums);
        if let Some(this) = &this {
            snapshot.sums = this.sums.clone();
        }
        let mut added = Ok(());
        if let Some(next) = next {
            let following = stats::growth((time, &snapshot.sums), (next.time, &next.sums));
            let total = growth(next.time, &next.sums).zip(this.as_ref());
            if total.is_some_and(|(total, this)| !fits(&total, [this, &following])) {
                return Ok(Err(reason::CLOCK));
            }
            let from = snapshot.since.unwrap_or(time);
            self.replaced.push((next.service.clone(), from, next.time));
            added = self.add(&next.service, (time, next.time), &following)?;
            self.snapshots.push(ServiceSnapshot {
                since: Some(time),
                sums: following.sums,
                ..next
            });
        }
        if let Some((from, this)) = snapshot.since.zip(this) {
            added = self.add(&snapshot.service, (from, time), &this)?.and(added);
        }
        self.snapshots.push(snapshot);
        Ok(added)
    }

    /// Adds the increments between two snapshots, split at bucket edges. Increments of zero are stored too, as evidence of
    /// observation. Impossible growth is dropped, and its reason returned.
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

    /// Writes the changes and updates the sums of their hours, unless the rows of an hour are gone.
    fn write(self, client: &mut SpiClient<'_>, ingest: &Ingest<'_>) -> Result<(), Error> {
        for (service, from, until) in &self.replaced {
            let [cluster, server] = server(ingest);
            let (from, until) = (timestamptz(*from)?, timestamptz(*until)?);
            client.execute(
                "DELETE FROM jobstats.server_increments i WHERE i.cluster = $1 AND i.server = $2 AND i.service = $3 \
                 AND i.\"time\" > $4 AND i.\"time\" <= $5",
                &values![cluster, server, service.as_str(), from, until],
            )?;
        }
        let edge = |time: Option<Micros>| time.map(timestamptz).transpose();
        let first = self.rows.iter().map(|row| row.since).min();
        let first = first.map(|it| (it.div_euclid(HOUR) * HOUR).max(ingest.settings.kept_since));
        let last = self.rows.iter().map(|row| row.time).max();
        let last = last.map(|it| ((it - 1).div_euclid(HOUR) + 1) * HOUR);
        let (snapshots, rows) = (json(&self.snapshots)?, json(&self.rows)?);
        let mut services: Vec<String> = self.rows.into_iter().map(|row| row.service).collect();
        services.dedup();
        let [cluster, server] = server(ingest);
        let (first, last) = (edge(first)?, edge(last)?);
        let arguments = values![cluster, server, snapshots, rows, services, first, last];
        plans::run(client, include_str!("services/write.sql"), &arguments)
    }
}

fn counted(growth: &Growth, name: &str) -> [i64; 2] {
    growth.counters.get(name).copied().unwrap_or_default()
}

/// Returns whether the growth before and after a late snapshot adds up to the growth between its neighbours. Otherwise the time
/// of the snapshot is wrong: its counters would have an additional reset, or count more.
fn fits(total: &Growth, parts: [&Growth; 2]) -> bool {
    let resets = parts.iter().filter(|it| it.reset).count();
    let is_less = |name: &&str| {
        let [one, other, all] = [parts[0], parts[1], total].map(|it| counted(it, name));
        (0..2).all(|n| i128::from(one[n]) + i128::from(other[n]) <= all[n].into())
    };
    resets <= usize::from(total.reset) && (total.reset || stats::QUEUE.iter().all(is_less))
}
