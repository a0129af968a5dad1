//! Observations in the store: `jobstats.observations` with `jobstats.raw`.
//!
//! Every statement takes a new snapshot of the database, so that it shows what the previous feed committed while this
//! feed waited for the lock of the target.

use std::borrow::Cow;

use jobstats_core::increment::Observation;
use jobstats_core::instant::{DAY, Micros};
use jobstats_core::snapshot::{self, Snapshot};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::feed::delivery::Delivery;
use crate::feed::job_stats::cache;
use crate::feed::job_stats::compute::Computed;
use crate::feed::targets::cleanup_interval;
use crate::feed::timing::{Phase, timed};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::plans;
use crate::pg::spi::Statements;
use crate::pg::time::{micros, timestamptz};
use crate::store::rollup;
use crate::text::zstd::unpack;

/// An observation with its text.
pub struct Stored {
    /// The time at which the text was read.
    pub time: Micros,
    /// The time of the observation with which this one was compared; `None` for a baseline.
    pub since: Option<Micros>,
    /// The server on which the text was read.
    pub server: String,
    /// The text; `None` if retention has deleted it.
    pub text: Option<Text>,
    /// The carried records, unpacked; `None` if there are none.
    pub carried: Option<Vec<u8>>,
    /// Set if the carried records cannot be read.
    pub forgotten: bool,
    /// The cleanup interval in seconds, as it was known when the text came.
    pub cleanup_interval: Option<u32>,
}

/// The text of an observation.
pub enum Text {
    /// The lines as lctl printed them.
    Lines(Vec<u8>),
    /// The snapshot of a text that this session has read before.
    Scanned(Snapshot<'static>),
}

/// An observation, scanned.
pub struct Read<'a> {
    time: Micros,
    server: &'a str,
    snapshot: Option<Cow<'a, Snapshot<'a>>>,
    carried: Option<Snapshot<'a>>,
    forgotten: bool,
}

impl Stored {
    /// Scans the text and the carried records.
    pub fn read(&self) -> Result<Read<'_>, Error> {
        let snapshot = match &self.text {
            Some(Text::Scanned(snapshot)) => Some(Cow::Borrowed(snapshot)),
            Some(Text::Lines(lines)) => {
                let reading = timed(Phase::Scan, || snapshot::read(lines, PAUSE))?;
                reading.snapshots.into_iter().next().map(Cow::Owned)
            }
            None => None,
        };
        Ok(Read {
            time: self.time,
            server: &self.server,
            snapshot,
            carried: self
                .carried
                .as_deref()
                .map(|records| snapshot::read_carried(records, PAUSE))
                .transpose()?,
            forgotten: self.forgotten,
        })
    }
}

impl Read<'_> {
    /// Returns the observation for comparing a later one with it. If its carried records are unknown, its text proves
    /// no more than a text that is gone, and is left out.
    pub fn known(&self) -> Observation<'_> {
        Observation {
            snapshot: self.snapshot.as_deref().filter(|_| !self.forgotten),
            ..self.observation()
        }
    }

    /// Returns the observation as [`jobstats_core::increment`] takes it.
    pub fn observation(&self) -> Observation<'_> {
        Observation {
            time: self.time,
            server: self.server,
            snapshot: self.snapshot.as_deref(),
            carried: self.carried.as_ref(),
        }
    }

    /// Returns the earliest time at which a row of increments that is computed from this observation may begin.
    pub fn earliest(&self) -> Micros {
        earliest(&self.observation())
    }

    /// Returns the cleanup interval of the text in seconds: its own one, or else `otherwise`.
    pub fn cleanup_interval(&self, otherwise: Option<u32>) -> u32 {
        cleanup_interval(self.snapshot.as_deref(), otherwise)
    }
}

/// Returns the earliest time at which a row of increments that is computed from an observation may begin.
pub fn earliest(observation: &Observation<'_>) -> Micros {
    let carried = observation.carried.iter();
    carried
        .flat_map(|carried| &carried.records)
        .filter_map(|record| record.last_seen)
        .fold(observation.time, Micros::min)
}

/// Returns the digest of the target's text of exactly this time, if there is one.
pub fn digest(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
) -> Result<Option<Vec<u8>>, Error> {
    let row = client.execute_opt(
        "SELECT digest FROM jobstats.observations WHERE target_id = $1 AND \"time\" = $2",
        &[target_id.into(), timestamptz(time)?.into()],
    )?;
    row.map(|row| row.get("digest")).transpose()
}

/// Returns the observation before this time, unless it is older by more than `raw_retention`. The text of such an
/// observation is gone, or soon will be, and the target begins anew with a baseline. This bounds the number of rows
/// into which an increment is divided.
pub fn before(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    raw_retention: Micros,
) -> Result<Option<Stored>, Error> {
    // Nearly always the observation is less than a day old. Looking there first avoids a look into every chunk of the
    // past.
    for back in [DAY.min(raw_retention), raw_retention] {
        let found = find(
            client,
            "WHERE target_id = $1 AND \"time\" < $2 AND \"time\" >= $3 ORDER BY \"time\" DESC",
            target_id,
            &[time, time.saturating_sub(back).max(0)],
            cache::take,
        )?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Returns the observation after this time.
pub fn after(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
) -> Result<Option<Stored>, Error> {
    find(
        client,
        "WHERE target_id = $1 AND \"time\" > $2 ORDER BY \"time\"",
        target_id,
        &[time],
        |_| None,
    )
}

/// Returns the observation of exactly this time.
pub fn at(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
) -> Result<Option<Stored>, Error> {
    find(
        client,
        "WHERE target_id = $1 AND \"time\" = $2",
        target_id,
        &[time],
        |_| None,
    )
}

/// Looks up the snapshot of a text that this session has read before.
type Lookup = fn(cache::Key) -> Option<Snapshot<'static>>;

/// Returns the first observation that matches the clauses of a SELECT.
fn find(
    client: &mut SpiClient<'_>,
    clauses: &str,
    target_id: i32,
    times: &[Micros],
    lookup: Lookup,
) -> Result<Option<Stored>, Error> {
    let statement = format!(
        "SELECT \"time\", since, server, extract(epoch FROM cleanup_interval)::bigint AS cleanup_seconds, digest \
         FROM jobstats.observations {clauses} LIMIT 1"
    );
    let mut values = vec![DatumWithOid::from(target_id)];
    for time in times {
        values.push(timestamptz(*time)?.into());
    }
    let Some(row) = client.execute_opt(statement.as_str(), &values)? else {
        return Ok(None);
    };
    let time: TimestampWithTimeZone = row.get("time")?;
    let since: Option<TimestampWithTimeZone> = row.get("since")?;
    let cleanup_seconds: Option<i64> = row.get("cleanup_seconds")?;
    let digest: Option<[u8; 16]> = row.get::<Vec<u8>>("digest")?.try_into().ok();
    let lookup = |packed| {
        lookup(cache::Key {
            digest: digest?,
            packed,
        })
    };
    let raw = raw(client, target_id, time, lookup)?;
    let server = match raw.server {
        Some(server) => server,
        None => row.get("server")?,
    };
    Ok(Some(Stored {
        time: micros(time)?,
        since: since.map(micros).transpose()?,
        server,
        text: raw.text,
        carried: raw.carried,
        forgotten: raw.forgotten,
        cleanup_interval: cleanup_seconds.and_then(|seconds| u32::try_from(seconds).ok()),
    }))
}

/// A row of `jobstats.raw`, unpacked; every field is empty if there is no such row.
#[derive(Default)]
struct Raw {
    server: Option<String>,
    text: Option<Text>,
    carried: Option<Vec<u8>>,
    forgotten: bool,
}

/// Reads the text of an observation and its carried records. A value that cannot be unpacked counts as gone, because a
/// damaged row must not make every later feed fail.
fn raw(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: TimestampWithTimeZone,
    lookup: impl FnOnce(usize) -> Option<Snapshot<'static>>,
) -> Result<Raw, Error> {
    let row = client.execute_opt(
        "SELECT server, body, carried, octet_length(body) AS packed FROM jobstats.raw WHERE target_id = $1 AND \"time\" = $2",
        &[target_id.into(), time.into()],
    )?;
    let Some(row) = row else {
        return Ok(Raw::default());
    };
    let column = |name| -> Result<Unpacked, Error> {
        let Some(packed) = row.get::<Option<&[u8]>>(name)? else {
            return Ok(Ok(None));
        };
        match timed(Phase::Unpack, || unpack(packed)) {
            Err(error) if error.is_of_packed() => {
                pgrx::warning!(
                    "the raw text of target_id {target_id} of {time} is damaged and counts as gone: {error}"
                );
                Ok(Err(Damaged))
            }
            text => text.map(Some).map(Ok),
        }
    };
    // The text is unpacked before the carried records: it is larger, and so saves more by using the spare memory.
    let packed: Option<i32> = row.get("packed")?;
    let packed = packed.and_then(|size| usize::try_from(size).ok());
    let text = match packed.and_then(lookup).map(Text::Scanned) {
        None => column("body")?.unwrap_or_default().map(Text::Lines),
        scanned => scanned,
    };
    let carried = column("carried")?;
    Ok(Raw {
        server: row.get("server")?,
        text,
        forgotten: carried.is_err(),
        carried: carried.unwrap_or_default(),
    })
}

/// The unpacked value, or [`Damaged`] if it cannot be unpacked.
type Unpacked = Result<Option<Vec<u8>>, Damaged>;

#[derive(Debug)]
struct Damaged;

/// The text of a new observation.
pub struct NewText<'a> {
    /// The packed text, as it is stored.
    pub packed: Bytea<'a>,
    /// The size of the unpacked text in bytes.
    pub bytes: usize,
    /// XXH3-128 of the text.
    pub digest: [u8; 16],
    /// The cleanup interval in seconds.
    pub cleanup_interval: u32,
}

impl NewText<'_> {
    /// Returns the key of the text in the cache of this session.
    pub fn key(&self) -> cache::Key {
        cache::Key {
            digest: self.digest,
            packed: self.packed.len(),
        }
    }
}

/// Stores a new observation.
pub fn insert(
    client: &mut SpiClient<'_>,
    target_id: i32,
    delivery: &Delivery,
    received: Micros,
    text: &NewText<'_>,
    computed: &Computed,
) -> Result<(), Error> {
    let time = timestamptz(delivery.time)?;
    plans::update(
        client,
        "INSERT INTO jobstats.raw (target_id, \"time\", server, body, carried) VALUES ($1, $2, $3, $4, $5)",
        &[
            target_id.into(),
            time.into(),
            delivery.server.as_str().into(),
            text.packed.into(),
            computed.carried_packed()?.into(),
        ],
    )?;
    let mut values = counts(target_id, time, computed)?;
    values.extend([
        delivery.server.as_str().into(),
        timestamptz(received)?.into(),
        delivery.duration.into(),
        delivery.shipper.as_deref().into(),
        i64::try_from(text.bytes).unwrap_or(i64::MAX).into(),
        text.digest.as_slice().into(),
        f64::from(text.cleanup_interval).into(),
    ]);
    plans::update(
        client,
        "INSERT INTO jobstats.observations (target_id, \"time\", since, entries, active, added, resets, removed, \
         carried, unknown, problems, server, received, duration, shipper, bytes, digest, cleanup_interval) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, make_interval(secs => $18))",
        &values,
    )?;
    count(client, target_id, text, computed)
}

/// Adds a new observation to the counts of its target, which is locked.
fn count(
    client: &mut SpiClient<'_>,
    target_id: i32,
    text: &NewText<'_>,
    computed: &Computed,
) -> Result<(), Error> {
    plans::update(
        client,
        "UPDATE jobstats.targets SET observations_total = observations_total + 1, \
         text_bytes_total = text_bytes_total + $2, problems_total = problems_total + $3 WHERE target_id = $1",
        &[
            target_id.into(),
            i64::try_from(text.bytes).unwrap_or(i64::MAX).into(),
            i64::from(computed.counts.problems).into(),
        ],
    )?;
    Ok(())
}

/// Writes the newly computed values of an observation that is stored already.
pub fn update(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    computed: &Computed,
) -> Result<(), Error> {
    let time = timestamptz(time)?;
    client.execute(
        "UPDATE jobstats.raw SET carried = $3 WHERE target_id = $1 AND \"time\" = $2",
        &[
            target_id.into(),
            time.into(),
            computed.carried_packed()?.into(),
        ],
    )?;
    client.execute(
        "UPDATE jobstats.observations SET since = $3, entries = $4, active = $5, added = $6, resets = $7, \
         removed = $8, carried = $9, unknown = $10, problems = $11 WHERE target_id = $1 AND \"time\" = $2",
        &counts(target_id, time, computed)?,
    )?;
    Ok(())
}

/// Writes those columns of an observation that depend on its raw text alone.
pub fn correct(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    server: &str,
    bytes: i64,
) -> Result<(), Error> {
    client.execute(
        "UPDATE jobstats.observations SET server = $3, bytes = $4 \
         WHERE target_id = $1 AND \"time\" = $2 AND (server, bytes) IS DISTINCT FROM ($3, $4)",
        &[
            target_id.into(),
            timestamptz(time)?.into(),
            server.into(),
            bytes.into(),
        ],
    )?;
    Ok(())
}

/// Increments that are to be replaced.
#[derive(Debug, Clone, Copy)]
pub struct Stale {
    /// The time of the observation before.
    pub after: Micros,
    /// The time of the observation whose increments are replaced. Increments observed in between belong to no
    /// observation and are replaced, too.
    pub observed: Micros,
    /// The earliest time at which one of these increments begins.
    pub earliest: Micros,
}

/// Deletes increments of a target in a single search in time, and returns their number.
pub fn delete_increments(
    client: &mut SpiClient<'_>,
    target_id: i32,
    stale: &[Stale],
) -> Result<usize, Error> {
    let times = |time: fn(&Stale) -> Micros| stale.iter().map(time);
    let (Some(earliest), Some(latest)) = (
        times(|stale| stale.earliest).min(),
        times(|stale| stale.observed).max(),
    ) else {
        return Ok(0);
    };
    rollup::changed(client, target_id, earliest, latest)?;
    let all = |time: fn(&Stale) -> Micros| {
        times(time)
            .map(timestamptz)
            .collect::<Result<Vec<_>, Error>>()
    };
    client.execute(
        "DELETE FROM jobstats.increments WHERE target_id = $1 AND \"time\" > $4 AND \"time\" <= $5 \
         AND observed <@ (SELECT range_agg(tstzrange(s.after, s.observed, '(]')) \
         FROM unnest($2::timestamptz[], $3::timestamptz[]) AS s (after, observed))",
        &[
            target_id.into(),
            all(|stale| stale.after)?.into(),
            all(|stale| stale.observed)?.into(),
            timestamptz(earliest)?.into(),
            timestamptz(latest)?.into(),
        ],
    )
}

/// Returns the key, `since` and the counts, in the order of the statements above.
fn counts(
    target_id: i32,
    time: TimestampWithTimeZone,
    computed: &Computed,
) -> Result<Vec<DatumWithOid<'_>>, Error> {
    let c = computed.counts;
    let mut values: Vec<DatumWithOid> = vec![
        target_id.into(),
        time.into(),
        computed.since.map(timestamptz).transpose()?.into(),
    ];
    let numbers = [
        c.entries, c.active, c.added, c.resets, c.removed, c.carried, c.unknown, c.problems,
    ];
    values.extend(numbers.map(DatumWithOid::from));
    Ok(values)
}
