//! Reads stored snapshots: rows of `jobstats.observations` with their text in `jobstats.raw`.
//!
//! Each statement takes a new snapshot of the database, to see what the previous feed committed while this one waited for the
//! lock of the target.

use std::borrow::Cow;

use jobstats_core::base::instant::{DAY, Micros};
use jobstats_core::rules::increment::{Observation, Retention};
use jobstats_core::rules::snapshot::{self, Snapshot};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::feed::job_stats::cache;
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::pg::plans;
use crate::pg::spi::{Row, Statements, values};
use crate::pg::time::timestamptz;
use crate::store::{Reduction, uid_limit};
use crate::text::zstd::unpack;

/// A row of `jobstats.observations` with its text.
pub struct StoredSnapshot {
    /// The time at which the text was read.
    pub time: Micros,
    /// The time of its predecessor; `None` for a baseline.
    pub since: Option<Micros>,
    /// The server of the raw text, or of the observation if the raw text is gone.
    pub server: String,
    /// The text, unless retention has deleted it.
    pub text: Unpacked<Text>,
    /// The carried records, if there are any.
    pub carried: Unpacked<Vec<u8>>,
    /// The cleanup interval in seconds when the text arrived.
    pub cleanup_interval: Option<u32>,
    pub reduced: Reduction,
}

/// A stored packed value.
pub enum Unpacked<T> {
    Missing,
    Value(T),
    /// The reason why the value cannot be unpacked.
    Damaged(Error),
}

impl<T> Unpacked<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::Damaged(_) => None,
        }
    }

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
        use Error::{NotZstd, Ratio, TextTooLarge};
        let value = packed.map(|packed| timed(Phase::Unpack, || unpack(packed)));
        match value.transpose() {
            // Such a value can never be unpacked.
            Err(error @ (NotZstd(_) | TextTooLarge { .. } | Ratio { .. })) => {
                Ok(Self::Damaged(error))
            }
            value => Ok(value?.into()),
        }
    }

    /// Scans the carried records, if they are readable.
    pub fn records(&self) -> Result<Option<Snapshot<'_>>, Error> {
        let records = self.value();
        let records = records.map(|records| snapshot::read_carried(records, PAUSE));
        Ok(records.transpose()?)
    }

    /// Returns whether exactly these bytes are stored, or no value for `None`.
    pub fn is(&self, bytes: Option<&[u8]>) -> bool {
        self.damage().is_none() && self.value().map(Vec::as_slice) == bytes
    }
}

/// The text of an observation.
pub enum Text {
    /// The lines as lctl printed them.
    Lines(Vec<u8>),
    /// The cached snapshot of the text.
    Scanned(Snapshot<'static>),
}

/// A stored snapshot whose text and carried records are scanned.
pub struct ScannedSnapshot<'a> {
    /// The time at which the text was read.
    pub time: Micros,
    server: &'a str,
    snapshot: Option<Cow<'a, Snapshot<'a>>>,
    carried: Option<Snapshot<'a>>,
    /// Set if the carried records cannot be read.
    forgotten: bool,
}

impl StoredSnapshot {
    /// Reads an observation, and its row of `jobstats.raw` if it has one; both may be one row. A text in the cache is not
    /// unpacked: `lookup` needs the columns `digest` and `packed`, the packed size.
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
            reduced: Reduction {
                keep: keep
                    .and_then(|name| Retention::find(&name))
                    .unwrap_or_default(),
                fold_uids_below: uid_limit(fold_uids_below),
            },
        };
        if let Some(raw) = raw {
            stored.server = raw
                .get::<Option<String>>("raw_server")?
                .unwrap_or(stored.server);
            // The text is unpacked first: as the larger one it gains more from the recycled memory.
            stored.text = text(row, raw, lookup)?;
            stored.carried = Unpacked::of(raw.get("carried_records")?)?;
        }
        Ok(stored)
    }

    pub fn lines(&self) -> Option<&[u8]> {
        match self.text.value()? {
            Text::Lines(lines) => Some(lines),
            Text::Scanned(_) => None,
        }
    }

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

    pub fn read(&self) -> Result<ScannedSnapshot<'_>, Error> {
        Ok(ScannedSnapshot {
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

impl ScannedSnapshot<'_> {
    /// Returns the observation as a predecessor. Without its carried records the text proves nothing about earlier entries, so
    /// it is ignored.
    pub fn known(&self) -> Observation<'_> {
        Observation {
            snapshot: self.snapshot.as_deref().filter(|_| !self.forgotten),
            ..self.observation()
        }
    }

    pub fn observation(&self) -> Observation<'_> {
        Observation {
            time: self.time,
            server: self.server,
            snapshot: self.snapshot.as_deref(),
            carried: self.carried.as_ref(),
        }
    }
}

/// Returns the digest of the text of exactly this time.
pub fn digest(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
) -> Result<Option<Vec<u8>>, Error> {
    let row = client.execute_opt(
        "SELECT digest FROM jobstats.observations WHERE target_id = $1 AND \"time\" = $2",
        &values![target_id, timestamptz(time)?],
    )?;
    row.map(|row| row.get("digest")).transpose()
}

/// Returns the observation before this time, within `raw_retention`. The text of an older one is gone or soon will be: the
/// target gets a new baseline, which bounds the rows of an increment.
pub fn before(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    raw_retention: Micros,
) -> Result<Option<StoredSnapshot>, Error> {
    // Nearly always the observation is less than a day old: looking there first opens no older chunk.
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

/// The clauses of [`next_to`]: the observation after a time, and the one of exactly this time.
pub const AFTER: &str = "WHERE target_id = $1 AND \"time\" > $2 ORDER BY \"time\"";
pub const AT: &str = "WHERE target_id = $1 AND \"time\" = $2";

/// Returns the observation next to a time, without the cache.
pub fn next_to(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    clauses: &str,
) -> Result<Option<StoredSnapshot>, Error> {
    find(client, clauses, target_id, &[time], None)
}

/// Looks up a snapshot in the cache.
type Lookup = fn(cache::Key) -> Option<Snapshot<'static>>;

/// Returns the first observation that matches the clauses of a SELECT. A damaged value counts as gone and raises a warning: it
/// must not make all later feeds fail.
fn find(
    client: &mut SpiClient<'_>,
    clauses: &str,
    target_id: i32,
    times: &[Micros],
    lookup: Option<Lookup>,
) -> Result<Option<StoredSnapshot>, Error> {
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
        &values![target_id, time],
    )?;
    let raw = raw.next();
    let stored = StoredSnapshot::of(&row, raw.as_ref(), lookup)?;
    let damages = [stored.text.damage(), stored.carried.damage()];
    for error in damages.into_iter().flatten() {
        pgrx::warning!(
            "the raw text of target_id {target_id} of {time} is damaged and ignored: {error}"
        );
    }
    Ok(Some(stored))
}
