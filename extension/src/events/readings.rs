//! Reads what targets and servers of file systems did in a span.

use std::collections::BTreeMap;

use jobstats_core::base::instant::{HOUR, MINUTE, Micros, Span};
use jobstats_core::judgement::event::Reading;
use jobstats_core::judgement::event::full::Used;
use jobstats_core::judgement::event::slow::{self, ByClass, ServedCalls};
use jobstats_core::judgement::event::waiting::Waits;
use jobstats_core::usage::columns::sum::Sum;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Row, Statements, values};
use crate::pg::time::{micros, timestamptz};

/// A server: its cluster and its name.
pub type Server = (String, String);

/// A target and its readings.
#[derive(Debug, Default)]
pub struct Target {
    pub id: i32,
    pub filesystem: FileSystem,
    pub name: String,
    pub is_ost: bool,
    /// The number of its server in each reading.
    pub served: Vec<Reading<usize>>,
    pub calls: Vec<Reading<u64>>,
    pub by_class: Vec<Reading<ByClass>>,
    /// The used part of its space, and of its inodes.
    pub used: [Vec<Used>; 2],
    /// The starts of the hours in which its recovery ran.
    pub recovering: Vec<Micros>,
    /// The mean seconds of its probes in hours that are over, by the start of the hour.
    pub probed: Vec<(Micros, f64)>,
}

impl Target {
    /// Returns the servers that had the target in a span.
    pub fn servers(&self, (since, until): Span) -> impl Iterator<Item = usize> + '_ {
        let during = self.served.iter();
        let during = during.filter(move |it| it.span.1 > since && it.span.0 <= until);
        during.map(|it| it.value)
    }
}

/// A service of a server.
#[derive(Debug)]
pub struct Service {
    /// The number of the server.
    pub server: usize,
    pub name: String,
    pub readings: Vec<Reading<Waits>>,
}

/// A file system: its cluster and its name.
pub type FileSystem = (String, String);

/// All that was read in a span.
#[derive(Debug, Default)]
pub struct Readings {
    pub servers: Vec<Server>,
    pub services: Vec<Service>,
    pub filesystems: BTreeMap<FileSystem, Vec<Target>>,
}

impl Readings {
    /// Reads a span.
    pub fn read(client: &SpiClient<'_>, (since, until): Span) -> Result<Self, Error> {
        let until = timestamptz(until)?;
        let span = values![timestamptz(since)?, until];
        // An hour more, so that an hour of probes and readings of servers in the hour after it are seen together.
        let of_probes = values![timestamptz(since - HOUR)?, until];
        let mut numbers = Numbers::default();
        let mut targets = targets(client)?;
        each(client, SERVED, &span, &mut targets, |target, row| {
            let server = (target.filesystem.0.clone(), row.at(2)?);
            let (span, value) = (between(row, 3)?, number(&mut numbers, server));
            target.served.push(Reading { span, value });
            Ok(())
        })?;
        did(client, &span, &mut targets)?;
        let used = include_str!("readings/used.sql");
        each(client, used, &span, &mut targets, |target, row| {
            let time = micros(row.at(2)?)?;
            for (position, used) in (3..).zip(&mut target.used) {
                used.extend(row.at::<Option<f64>>(position)?.map(|part| (time, part)));
            }
            Ok(())
        })?;
        each(client, RECOVERING, &span, &mut targets, |target, row| {
            target.recovering.push(micros(row.at(2)?)?);
            Ok(())
        })?;
        each(client, PROBED, &of_probes, &mut targets, |target, row| {
            target.probed.push((micros(row.at(2)?)?, row.at(3)?));
            Ok(())
        })?;
        let services = services(client, &span, &mut numbers)?;
        let mut filesystems: BTreeMap<FileSystem, Vec<Target>> = BTreeMap::new();
        for target in targets.into_values() {
            let all = filesystems.entry(target.filesystem.clone()).or_default();
            // By name, in whatever order they were first fed.
            all.insert(all.partition_point(|one| one.name < target.name), target);
        }
        let mut servers = vec![Server::default(); numbers.len()];
        for (server, number) in numbers {
            servers[number] = server;
        }
        Ok(Self {
            servers,
            services,
            filesystems,
        })
    }
}

/// The numbers of servers, which are their positions among all.
type Numbers = BTreeMap<Server, usize>;

/// Returns the number of a server, which may be the next one.
fn number(servers: &mut Numbers, server: Server) -> usize {
    let next = servers.len();
    *servers.entry(server).or_insert(next)
}

/// The targets that are watched, by their numbers.
type Targets = BTreeMap<i32, Target>;

fn targets(client: &SpiClient<'_>) -> Result<Targets, Error> {
    let rows = client.query(
        "SELECT t.target_id, t.cluster, t.filesystem, t.name, t.kind = 'OST' AS is_ost FROM jobstats.targets t \
         WHERE t.filesystem IS NOT NULL AND t.retired IS NULL",
        &[],
    )?;
    rows.map(|row| {
        let target = Target {
            id: row.get("target_id")?,
            filesystem: (row.get("cluster")?, row.get("filesystem")?),
            name: row.get("name")?,
            is_ost: row.get("is_ost")?,
            ..Target::default()
        };
        Ok((target.id, target))
    })
    .collect()
}

/// The servers of targets in their readings.
const SERVED: &str = "SELECT o.target_id, o.server, coalesce(o.since, o.\"time\") AS since, o.\"time\" FROM jobstats.targets t \
     CROSS JOIN LATERAL (SELECT s.target_id, s.server, s.since, s.\"time\" FROM jobstats.observations s \
         WHERE s.target_id = t.target_id AND s.\"time\" > $1 AND s.\"time\" <= $2) o \
     WHERE t.filesystem IS NOT NULL AND t.retired IS NULL ORDER BY o.target_id, o.\"time\"";

/// The starts of the hours in which the recovery of targets ran.
const RECOVERING: &str = "SELECT s.target_id, h.bucket - interval '1 microsecond' AS hour \
     FROM jobstats.sample_series s JOIN jobstats.samples_1h h ON h.series_id = s.series_id \
     WHERE s.target_id IS NOT NULL AND s.name = 'recovering' AND h.bucket > $1 AND h.bucket <= $2 AND h.max > 0 ORDER BY s.target_id, h.bucket";

/// The mean seconds of probes of targets by the hour.
const PROBED: &str = "SELECT p.target_id, p.hour, p.seconds FROM jobstats_internal.probe_hours($1, $2) p ORDER BY p.target_id, p.hour";

/// Reads rows whose first column is a target, and gives `take` each with its target, if that is watched.
fn each(
    client: &SpiClient<'_>,
    statement: &str,
    span: &[DatumWithOid<'_>],
    targets: &mut Targets,
    mut take: impl FnMut(&mut Target, &Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    for row in PAUSE.among(client.query(statement, span)?) {
        if let Some(target) = targets.get_mut(&row.at(1)?) {
            take(target, &row)?;
        }
    }
    Ok(())
}

/// Returns the span of two columns.
fn between(row: &Row<'_>, position: usize) -> Result<Span, Error> {
    Ok((micros(row.at(position)?)?, micros(row.at(position + 1)?)?))
}

/// Reads what targets did. Rows are cut at edges of ten minutes, and are added up by reading.
fn did(
    client: &SpiClient<'_>,
    span: &[DatumWithOid<'_>],
    targets: &mut Targets,
) -> Result<(), Error> {
    let calls = Sum::service_calls().over(|column| format!("part.\"{column}\""));
    let statement = format!(
        "SELECT part.target_id, part.observed, part.since, part.\"time\", {calls}, part.read, part.read_usecs, part.read_bytes, \
             part.write, part.write_usecs, part.write_bytes \
         FROM jobstats.target_increments part WHERE part.\"time\" > $1 AND part.\"time\" <= $2"
    );
    // The calls, and then the calls, the time and the bytes of reads and of writes.
    let mut readings: BTreeMap<(i32, Micros), (Span, [u64; 7])> = BTreeMap::new();
    for row in PAUSE.among(client.query(&statement, span)?) {
        let (key, part) = ((row.at(1)?, micros(row.at(2)?)?), between(&row, 3)?);
        let (span, sums) = readings.entry(key).or_insert((part, [0; 7]));
        *span = (span.0.min(part.0), span.1.max(part.1));
        for (sum, amount) in sums.iter_mut().zip(amounts::<7>(&row, 5)?) {
            *sum = sum.saturating_add(amount);
        }
    }
    for ((target, _), (span, sums)) in readings {
        let Some(target) = targets.get_mut(&target) else {
            continue;
        };
        let value = sums[0];
        target.calls.push(Reading { span, value });
        if target.is_ost {
            let mut value = ByClass::default();
            for (is_write, first) in [(false, 1), (true, 4)] {
                let [calls, usecs, bytes] = [0, 1, 2].map(|it| sums[first + it]);
                value[slow::class(is_write, calls, bytes)] = ServedCalls { calls, usecs };
            }
            target.by_class.push(Reading { span, value });
        }
    }
    Ok(())
}

/// Returns columns that are counts, from a position on; NULL is 0.
fn amounts<const N: usize>(row: &Row<'_>, position: usize) -> Result<[u64; N], Error> {
    let mut amounts = [0; N];
    for (place, amount) in (position..).zip(&mut amounts) {
        *amount = u64::try_from(row.at::<Option<i64>>(place)?.unwrap_or(0)).unwrap_or(0);
    }
    Ok(amounts)
}

/// The edges at which rows are cut.
const EDGE: Micros = 10 * MINUTE;

/// Reads what services of servers did. A row that begins at an edge belongs to the reading of the row before it, unless a reading ended there.
/// The times of readings are retained for less time than their values.
fn services(
    client: &SpiClient<'_>,
    span: &[DatumWithOid<'_>],
    numbers: &mut Numbers,
) -> Result<Vec<Service>, Error> {
    let rows = client.query(
        "SELECT i.cluster, i.server, i.service, i.since, i.\"time\", i.requests, i.wait_usecs, r.\"time\" IS NOT NULL AS is_end \
         FROM jobstats.server_increments i \
         LEFT JOIN jobstats.server_snapshots r ON r.cluster = i.cluster AND r.server = i.server AND r.service = i.service \
             AND r.\"time\" = i.since AND r.\"time\" > $1 AND r.\"time\" <= $2 \
         WHERE i.\"time\" > $1 AND i.\"time\" <= $2 ORDER BY i.cluster, i.server, i.service, i.\"time\"",
        span,
    )?;
    let mut services: Vec<Service> = Vec::new();
    for row in PAUSE.among(rows) {
        let (server, name) = (number(numbers, (row.at(1)?, row.at(2)?)), row.at(3)?);
        let span = between(&row, 4)?;
        let [requests, usecs] = amounts(&row, 6)?;
        let value = Waits { requests, usecs };
        let is_end = span.0 % EDGE != 0 || row.at(8)?;
        match services.last_mut() {
            Some(service) if service.server == server && service.name == name => {
                match service.readings.last_mut() {
                    Some(before) if before.span.1 == span.0 && !is_end => {
                        before.span.1 = span.1;
                        before.value = before.value.plus(value);
                    }
                    _ => service.readings.push(Reading { span, value }),
                }
            }
            _ => services.push(Service {
                server,
                name,
                readings: vec![Reading { span, value }],
            }),
        }
    }
    Ok(services)
}
