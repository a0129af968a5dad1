//! Observations in the store: `jobstats.observations` with `jobstats.raw`.
//!
//! Every statement takes a new snapshot of the database, so that it shows what the previous feed committed while this
//! feed waited for the lock of the target.

use std::borrow::Cow;

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::rules::increment::{Counts, Observation, Retention};
use jobstats_core::rules::snapshot::{self, Snapshot};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::feed::delivery::Delivery;
use crate::feed::job_stats::cache;
use crate::feed::timing::{Phase, timed};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::plans;
use crate::pg::spi::{Row, Statements};
use crate::pg::time::timestamptz;
use crate::store::{Reduced, rollup, spans, uid_limit};
use crate::text::zstd::{pack, unpack};

/// An observation with its text.
pub struct Stored {
    /// The time at which the text was read.
    pub time: Micros,
    /// The time of the observation with which this one was compared; `None` for a baseline.
    pub since: Option<Micros>,
    /// The server on which the text was read, according to the raw text; if that is gone, according to the observation.
    pub server: String,
    /// The text; missing if retention has deleted it.
    pub text: Unpacked<Text>,
    /// The carried records; missing if there are none.
    pub carried: Unpacked<Vec<u8>>,
    /// The cleanup interval in seconds, as it was known when the text came.
    pub cleanup_interval: Option<u32>,
    /// The values of its increments that are stored.
    pub kept: Reduced,
}

/// A value that is stored packed.
pub enum Unpacked<T> {
    Missing,
    Value(T),
    /// The value cannot be unpacked, for this reason.
    Damaged(Error),
}

impl<T> Unpacked<T> {
    /// Returns the value, if it is readable.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::Damaged(_) => None,
        }
    }

    /// Returns the reason why the value cannot be unpacked, if there is one.
    pub fn damage(&self) -> Option<&Error> {
        match self {
            Self::Damaged(error) => Some(error),
            Self::Missing | Self::Value(_) => None,
        }
    }
}

impl<T> From<Option<T>> for Unpacked<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Self::Value)
    }
}

impl Unpacked<Vec<u8>> {
    fn of(packed: Option<&[u8]>) -> Result<Self, Error> {
        match packed.map(|packed| timed(Phase::Unpack, || unpack(packed))) {
            Some(Err(error)) if error.is_of_packed() => Ok(Self::Damaged(error)),
            value => Ok(value.transpose()?.into()),
        }
    }

    /// Scans the carried records, if they are readable.
    pub fn records(&self) -> Result<Option<Snapshot<'_>>, Error> {
        let records = self.value();
        let records = records.map(|records| snapshot::read_carried(records, PAUSE));
        Ok(records.transpose()?)
    }

    /// Returns whether these bytes are stored, or none are.
    pub fn is(&self, bytes: Option<&[u8]>) -> bool {
        self.damage().is_none() && self.value().map(Vec::as_slice) == bytes
    }
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
    /// The time at which the text was read.
    pub time: Micros,
    server: &'a str,
    snapshot: Option<Cow<'a, Snapshot<'a>>>,
    carried: Option<Snapshot<'a>>,
    /// Set if the carried records cannot be read.
    forgotten: bool,
}

impl Stored {
    /// Takes an observation from a row with the columns `time`, `since`, `server`, `cleanup_seconds`, `digest`, `kept`
    /// and `folded_below` of `jobstats.observations`, and a row with the columns `raw_server`, `body` and `carried_records` of `jobstats.raw`, if
    /// there is one. Both may be one row. A text that `lookup` finds is not unpacked; its row needs a column `packed` with
    /// its packed size.
    pub fn of(row: &Row<'_>, raw: Option<&Row<'_>>, lookup: Option<Lookup>) -> Result<Self, Error> {
        let cleanup_seconds: Option<i64> = row.get("cleanup_seconds")?;
        let keep: Option<String> = row.get("kept")?;
        let fold_uids_below: Option<i64> = row.get("folded_below")?;
        let mut stored = Self {
            time: row.time("time")?,
            since: row.time_opt("since")?,
            server: row.get("server")?,
            text: Unpacked::Missing,
            carried: Unpacked::Missing,
            cleanup_interval: cleanup_seconds.and_then(|seconds| u32::try_from(seconds).ok()),
            kept: Reduced {
                keep: keep
                    .and_then(|name| Retention::parse(&name))
                    .unwrap_or_default(),
                fold_uids_below: uid_limit(fold_uids_below),
            },
        };
        if let Some(raw) = raw {
            stored.server = raw
                .get::<Option<String>>("raw_server")?
                .unwrap_or(stored.server);
            // The text is unpacked before the carried records: it is larger, and so saves more by using the spare memory.
            stored.text = text(row, raw, lookup)?;
            stored.carried = Unpacked::of(raw.get("carried_records")?)?;
        }
        Ok(stored)
    }

    /// Returns the lines of the text, if they were unpacked.
    pub fn lines(&self) -> Option<&[u8]> {
        match self.text.value()? {
            Text::Lines(lines) => Some(lines),
            Text::Scanned(_) => None,
        }
    }

    /// Scans the text.
    pub fn snapshot(&self) -> Result<Option<Cow<'_, Snapshot<'_>>>, Error> {
        Ok(match self.text.value() {
            Some(Text::Scanned(snapshot)) => Some(Cow::Borrowed(snapshot)),
            Some(Text::Lines(lines)) => {
                let reading = timed(Phase::Scan, || snapshot::read(lines, PAUSE))?;
                reading.snapshots.into_iter().next().map(Cow::Owned)
            }
            None => None,
        })
    }

    /// Scans the text and the carried records.
    pub fn read(&self) -> Result<Read<'_>, Error> {
        Ok(Read {
            time: self.time,
            server: &self.server,
            snapshot: self.snapshot()?,
            carried: self.carried.records()?,
            forgotten: self.carried.damage().is_some(),
        })
    }
}

/// Unpacks the text of an observation.
fn text(row: &Row<'_>, raw: &Row<'_>, lookup: Option<Lookup>) -> Result<Unpacked<Text>, Error> {
    if let Some(lookup) = lookup {
        let digest: Option<[u8; 16]> = row.get::<Vec<u8>>("digest")?.try_into().ok();
        let packed: Option<i32> = raw.get("packed")?;
        let packed = packed.and_then(|size| usize::try_from(size).ok());
        let key = digest.zip(packed);
        let found = key.and_then(|(digest, packed)| lookup(cache::Key { digest, packed }));
        if let Some(snapshot) = found {
            return Ok(Unpacked::Value(Text::Scanned(snapshot)));
        }
    }
    Ok(match Unpacked::of(raw.get("body")?)? {
        Unpacked::Missing => Unpacked::Missing,
        Unpacked::Value(lines) => Unpacked::Value(Text::Lines(lines)),
        Unpacked::Damaged(error) => Unpacked::Damaged(error),
    })
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

    /// Returns the observation as [`jobstats_core::rules::increment`] takes it.
    pub fn observation(&self) -> Observation<'_> {
        Observation {
            time: self.time,
            server: self.server,
            snapshot: self.snapshot.as_deref(),
            carried: self.carried.as_ref(),
        }
    }
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
            Some(cache::take),
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
        None,
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
        None,
    )
}

/// Looks up the snapshot of a text that this session has read before.
type Lookup = fn(cache::Key) -> Option<Snapshot<'static>>;

/// Returns the first observation that matches the clauses of a SELECT. A value that cannot be unpacked counts as gone,
/// because a damaged row must not make every later feed fail.
fn find(
    client: &mut SpiClient<'_>,
    clauses: &str,
    target_id: i32,
    times: &[Micros],
    lookup: Option<Lookup>,
) -> Result<Option<Stored>, Error> {
    let statement = format!(
        "SELECT \"time\", since, server, extract(epoch FROM cleanup_interval)::bigint AS cleanup_seconds, digest, kept, folded_below \
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
    let mut raw = plans::rows(
        client,
        "SELECT server AS raw_server, body, carried AS carried_records, octet_length(body) AS packed FROM jobstats.raw \
         WHERE target_id = $1 AND \"time\" = $2",
        &[target_id.into(), time.into()],
    )?;
    let raw = raw.next();
    let stored = Stored::of(&row, raw.as_ref(), lookup)?;
    let damages = [stored.text.damage(), stored.carried.damage()];
    for error in damages.into_iter().flatten() {
        pgrx::warning!(
            "the raw text of target_id {target_id} of {time} is damaged and counts as gone: {error}"
        );
    }
    Ok(Some(stored))
}

/// The result of comparing an observation with the one before; its increments are stored already.
pub struct Computed {
    pub since: Option<Micros>,
    pub counts: Counts,
    /// The carried records as text; `None` if there are none.
    pub carried: Option<Vec<u8>>,
    pub increments: i32,
    /// The number of further problems, which are not reported one by one.
    pub dropped: u64,
    /// True if the text ends too early, though its last line is whole (rule 3).
    pub ends_early: bool,
    /// The values of the increments that are stored.
    pub kept: Reduced,
}

impl Computed {
    /// Returns the carried records packed, as they are stored.
    pub fn carried_packed(&self) -> Result<Option<Vec<u8>>, Error> {
        self.carried.as_deref().map(pack).transpose()
    }
}

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
         carried, unknown, problems, kept, folded_below, server, received, duration, shipper, bytes, digest, cleanup_interval) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, make_interval(secs => $20))",
        &values,
    )?;
    // The span before ends at what `count` replaces.
    if computed.since.is_none() {
        spans::begin(client, target_id, delivery.time)?;
    }
    count(client, target_id, delivery, received, text, computed)
}

/// Adds a new observation to the counts of its target, which is locked.
fn count(
    client: &mut SpiClient<'_>,
    target_id: i32,
    delivery: &Delivery,
    received: Micros,
    text: &NewText<'_>,
    computed: &Computed,
) -> Result<(), Error> {
    plans::update(
        client,
        "UPDATE jobstats.targets SET observations_total = observations_total + 1, \
         text_bytes_total = text_bytes_total + $2, problems_total = problems_total + $3, \
         last_observation = greatest(last_observation, $4), \
         server = CASE WHEN last_observation > $4 THEN server ELSE $5 END, \
         received = CASE WHEN last_observation > $4 THEN received ELSE $6 END WHERE target_id = $1",
        &[
            target_id.into(),
            i64::try_from(text.bytes).unwrap_or(i64::MAX).into(),
            i64::from(computed.counts.problems).into(),
            timestamptz(delivery.time)?.into(),
            delivery.server.as_str().into(),
            timestamptz(received)?.into(),
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
         removed = $8, carried = $9, unknown = $10, problems = $11, kept = $12, folded_below = $13 \
         WHERE target_id = $1 AND \"time\" = $2 \
         AND (since, entries, active, added, resets, removed, carried, unknown, problems, kept, folded_below) \
         IS DISTINCT FROM ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
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

/// Returns the key, `since`, the counts and the kind of values that are kept, in the order of the statements above.
fn counts(
    target_id: i32,
    time: TimestampWithTimeZone,
    computed: &Computed,
) -> Result<Vec<DatumWithOid<'_>>, Error> {
    let mut values: Vec<DatumWithOid> = vec![
        target_id.into(),
        time.into(),
        computed.since.map(timestamptz).transpose()?.into(),
    ];
    values.extend(computed.counts.values().map(DatumWithOid::from));
    let Reduced {
        keep,
        fold_uids_below,
    } = computed.kept;
    let keep = Some(keep).filter(|keep| *keep != Retention::Everything);
    values.push(keep.map(Retention::name).into());
    let folded_below = Some(i64::from(fold_uids_below)).filter(|limit| *limit > 0);
    values.push(folded_below.into());
    Ok(values)
}
