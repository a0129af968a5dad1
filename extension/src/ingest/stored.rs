//! Observations in the store: `jobstats.observations` with `jobstats.raw`.
//!
//! Everything is read by statements that take a new snapshot of the database: what the feed before us committed while
//! we waited for the target's lock is seen.

use std::borrow::Cow;

use jobstats_core::increment::{Micros, Observation};
use jobstats_core::snapshot::{self, Snapshot};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use super::Feed;
use super::compute::Computed;
use super::kept;
use super::steps::{Step, timed};
use super::targets::cleanup_interval;
use crate::by_pointer::Bytea;
use crate::error::Error;
use crate::pause::PAUSE;
use crate::prepared;
use crate::rollup;
use crate::time::{DAY, micros, timestamptz};
use crate::zstd_text::unpack;

/// An observation with its text.
pub struct Stored {
    /// When it was read.
    pub time: Micros,
    /// The observation that it was compared with; None for a baseline.
    pub since: Option<Micros>,
    /// Where.
    pub server: String,
    /// None where retention has taken it.
    pub text: Option<Text>,
    /// The carried records, unpacked; None where there are none.
    pub carried: Option<Vec<u8>>,
    /// Whether the carried records cannot be read.
    pub forgotten: bool,
    /// In seconds, as it was known when the text came.
    pub cleanup_interval: Option<u32>,
}

/// The text of an observation.
pub enum Text {
    /// As lctl printed it.
    Lines(Vec<u8>),
    /// What it says, where this session has read it before.
    Kept(Snapshot<'static>),
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
    /// Scans text and carried records.
    pub fn read(&self) -> Result<Read<'_>, Error> {
        let snapshot = match &self.text {
            Some(Text::Kept(snapshot)) => Some(Cow::Borrowed(snapshot)),
            Some(Text::Lines(lines)) => {
                let reading = timed(Step::Scan, || snapshot::read(lines, PAUSE))?;
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
    /// As the one before another. Where it is not known what it carried, its text proves no more than one that is gone.
    pub fn known(&self) -> Observation<'_> {
        Observation {
            snapshot: self.snapshot.as_deref().filter(|_| !self.forgotten),
            ..self.observation()
        }
    }

    /// As rules look at it.
    pub fn observation(&self) -> Observation<'_> {
        Observation {
            time: self.time,
            server: self.server,
            snapshot: self.snapshot.as_deref(),
            carried: self.carried.as_ref(),
        }
    }

    /// The earliest time at which a row may begin that is computed from this observation.
    pub fn earliest(&self) -> Micros {
        earliest(&self.observation())
    }

    /// The cleanup interval that holds for the text, in seconds.
    pub fn cleanup_interval(&self, otherwise: Option<u32>) -> u32 {
        cleanup_interval(self.snapshot.as_deref(), otherwise)
    }
}

/// The earliest time at which a row may begin that is computed from an observation.
pub fn earliest(observation: &Observation<'_>) -> Micros {
    let carried = observation.carried.iter();
    carried
        .flat_map(|carried| &carried.records)
        .filter_map(|record| record.last_seen)
        .fold(observation.time, Micros::min)
}

/// The digest of the target's text of exactly this time, if there is one.
pub fn digest(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
) -> Result<Option<Vec<u8>>, Error> {
    let rows = client.update(
        "SELECT digest FROM jobstats.observations WHERE target_id = $1 AND \"time\" = $2",
        Some(1),
        &[target_id.into(), timestamptz(time)?.into()],
    )?;
    let row = rows.into_iter().next();
    Ok(row.map(|row| row.get::<Vec<u8>>(1)).transpose()?.flatten())
}

/// The observation before this time, unless it is older by more than `raw_retention`: then its text is gone, or about to go,
/// and the target begins anew. So the number of rows that an increment is divided into has a bound.
pub fn before(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    raw_retention: Micros,
) -> Result<Option<Stored>, Error> {
    // Nearly always it is less than a day old: looking there first spares a look into every chunk of the past.
    for back in [DAY.min(raw_retention), raw_retention] {
        let found = find(
            client,
            "WHERE target_id = $1 AND \"time\" < $2 AND \"time\" >= $3 ORDER BY \"time\" DESC",
            target_id,
            &[time, time.saturating_sub(back).max(0)],
            kept::take,
        )?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The observation after this time.
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

/// The observation of exactly this time.
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

/// What is known of a text already, as the one before another.
type Known = fn(kept::Key) -> Option<Snapshot<'static>>;

/// The first observation that the clauses of a SELECT leave.
fn find(
    client: &mut SpiClient<'_>,
    clauses: &str,
    target_id: i32,
    times: &[Micros],
    known: Known,
) -> Result<Option<Stored>, Error> {
    let statement = format!(
        "SELECT \"time\", since, server, extract(epoch FROM cleanup_interval)::bigint, digest \
         FROM jobstats.observations {clauses} LIMIT 1"
    );
    let mut values = vec![DatumWithOid::from(target_id)];
    for time in times {
        values.push(timestamptz(*time)?.into());
    }
    let found = client.update(&statement, Some(1), &values)?;
    let Some(row) = found.into_iter().next() else {
        return Ok(None);
    };
    let (Some(time), Some(server)) = (row.get::<TimestampWithTimeZone>(1)?, row.get::<String>(3)?)
    else {
        return Err(Error::Damaged(
            "an observation has no time or server".to_owned(),
        ));
    };
    let since = row.get::<TimestampWithTimeZone>(2)?;
    let cleanup_interval = row
        .get::<i64>(4)?
        .and_then(|seconds| u32::try_from(seconds).ok());
    let digest: Option<[u8; 16]> = row.get::<&[u8]>(5)?.and_then(|it| it.try_into().ok());
    let known = |packed| {
        known(kept::Key {
            digest: digest?,
            packed,
        })
    };
    let raw = raw(client, target_id, time, known)?;
    Ok(Some(Stored {
        time: micros(time)?,
        since: since.map(micros).transpose()?,
        server: raw.server.unwrap_or(server),
        text: raw.text,
        carried: raw.carried,
        forgotten: raw.forgotten,
        cleanup_interval,
    }))
}

/// A row of `jobstats.raw`, unpacked; without anything where there is none.
#[derive(Default)]
struct Raw {
    server: Option<String>,
    text: Option<Text>,
    carried: Option<Vec<u8>>,
    forgotten: bool,
}

/// The text of an observation and its carried records. What cannot be unpacked is as good as gone: a feed must not fail
/// for ever because a row is damaged.
fn raw(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: TimestampWithTimeZone,
    known: impl FnOnce(usize) -> Option<Snapshot<'static>>,
) -> Result<Raw, Error> {
    let rows = client.update(
        "SELECT server, body, carried, octet_length(body) FROM jobstats.raw WHERE target_id = $1 AND \"time\" = $2",
        Some(1),
        &[target_id.into(), time.into()],
    )?;
    let Some(row) = rows.into_iter().next() else {
        return Ok(Raw::default());
    };
    let column = |position| -> Result<Unpacked, Error> {
        let Some(packed) = row.get::<&[u8]>(position)? else {
            return Ok(Ok(None));
        };
        match timed(Step::Unpack, || unpack(packed)) {
            Err(error) if error.is_of_packed() => {
                pgrx::warning!(
                    "the raw text of target_id {target_id} of {time} is damaged and counts as gone: {error}"
                );
                Ok(Err(Damaged))
            }
            text => text.map(Some).map(Ok),
        }
    };
    // The text first, as the larger of them makes more of spare memory.
    let packed = row
        .get::<i32>(4)?
        .and_then(|size| usize::try_from(size).ok());
    let kept = packed.and_then(known).map(Text::Kept);
    let text = match kept {
        None => column(2)?.unwrap_or_default().map(Text::Lines),
        kept => kept,
    };
    let carried = column(3)?;
    Ok(Raw {
        server: row.get(1)?,
        text,
        forgotten: carried.is_err(),
        carried: carried.unwrap_or_default(),
    })
}

/// What was packed, if it can be unpacked.
type Unpacked = Result<Option<Vec<u8>>, Damaged>;

#[derive(Debug)]
struct Damaged;

/// The text of a new observation.
pub struct NewText<'a> {
    /// As it is stored.
    pub packed: Bytea<'a>,
    /// Its size, unpacked.
    pub bytes: usize,
    /// XXH3-128.
    pub digest: [u8; 16],
    /// In seconds.
    pub cleanup_interval: u32,
}

impl NewText<'_> {
    /// By what it is known from now on.
    pub fn key(&self) -> kept::Key {
        kept::Key {
            digest: self.digest,
            packed: self.packed.len(),
        }
    }
}

/// Stores a new observation.
pub fn insert(
    client: &mut SpiClient<'_>,
    target_id: i32,
    feed: &Feed,
    received: Micros,
    text: &NewText<'_>,
    computed: &Computed,
) -> Result<(), Error> {
    let time = timestamptz(feed.time)?;
    prepared::update(
        client,
        "INSERT INTO jobstats.raw (target_id, \"time\", server, body, carried) VALUES ($1, $2, $3, $4, $5)",
        &[
            target_id.into(),
            time.into(),
            feed.server.as_str().into(),
            text.packed.into(),
            computed.carried_packed()?.into(),
        ],
    )?;
    let mut values = counts(target_id, time, computed)?;
    values.extend([
        feed.server.as_str().into(),
        timestamptz(received)?.into(),
        feed.duration.into(),
        feed.shipper.as_deref().into(),
        i64::try_from(text.bytes).unwrap_or(i64::MAX).into(),
        text.digest.as_slice().into(),
        f64::from(text.cleanup_interval).into(),
    ]);
    prepared::update(
        client,
        "INSERT INTO jobstats.observations (target_id, \"time\", since, entries, active, added, resets, removed, \
         carried, unknown, problems, server, received, duration, shipper, bytes, digest, cleanup_interval) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, make_interval(secs => $18))",
        &values,
    )?;
    Ok(())
}

/// Writes what was computed anew for an observation that is there.
pub fn update(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    computed: &Computed,
) -> Result<(), Error> {
    let time = timestamptz(time)?;
    client.update(
        "UPDATE jobstats.raw SET carried = $3 WHERE target_id = $1 AND \"time\" = $2",
        None,
        &[
            target_id.into(),
            time.into(),
            computed.carried_packed()?.into(),
        ],
    )?;
    client.update(
        "UPDATE jobstats.observations SET since = $3, entries = $4, active = $5, added = $6, resets = $7, \
         removed = $8, carried = $9, unknown = $10, problems = $11 WHERE target_id = $1 AND \"time\" = $2",
        None,
        &counts(target_id, time, computed)?,
    )?;
    Ok(())
}

/// Writes what the raw text says of an observation whatever it is compared with.
pub fn correct(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    server: &str,
    bytes: i64,
) -> Result<(), Error> {
    client.update(
        "UPDATE jobstats.observations SET server = $3, bytes = $4 \
         WHERE target_id = $1 AND \"time\" = $2 AND (server, bytes) IS DISTINCT FROM ($3, $4)",
        None,
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
    /// The observation before.
    pub after: Micros,
    /// The observation that gave them. What was observed in between belongs to none.
    pub observed: Micros,
    /// None of them begins before.
    pub earliest: Micros,
}

/// Deletes increments of a target, by one search in time for all; gives how many they were.
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
    let deleted = client.update(
        "DELETE FROM jobstats.increments WHERE target_id = $1 AND \"time\" > $4 AND \"time\" <= $5 \
         AND observed <@ (SELECT range_agg(tstzrange(s.after, s.observed, '(]')) \
         FROM unnest($2::timestamptz[], $3::timestamptz[]) AS s (after, observed))",
        None,
        &[
            target_id.into(),
            all(|stale| stale.after)?.into(),
            all(|stale| stale.observed)?.into(),
            timestamptz(earliest)?.into(),
            timestamptz(latest)?.into(),
        ],
    )?;
    Ok(deleted.len())
}

/// Key, `since` and counts, in the order of the statements above.
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
