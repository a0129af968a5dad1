//! Observations of a target with their raw text, some at a time, and whether the text is the one that came.

use jobstats_core::increment::Micros;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::{SpiClient, SpiHeapTupleData};
use xxhash_rust::xxh3::xxh3_128;

use super::finding::Finding;
use crate::error::Error;
use crate::ingest::compute::Counts;
use crate::time::{micros, timestamptz};
use crate::zstd_text::unpack;

/// Observations that are in memory at once.
const BATCH: i64 = 256;

/// Bytes of their texts: packed, and unpacked. One observation may be larger.
const PACKED: i64 = 8 << 20;
const UNPACKED: usize = 32 << 20;

/// What is stored of one observation.
pub struct Loaded {
    pub time: Micros,
    pub since: Option<Micros>,
    /// As the raw text says; where that is gone, as the observation says.
    pub server: String,
    pub counts: Counts,
    pub cleanup_interval: Option<u32>,
    /// None where it is gone or is not the text that came.
    pub text: Option<Vec<u8>>,
    pub carried: Carried,
    /// What is wrong with the row of `jobstats.raw`, and with what the observation says of it.
    pub findings: Vec<Finding>,
}

/// The records carried with an observation, as they are stored.
pub enum Carried {
    /// None where there are none.
    Readable(Option<Vec<u8>>),
    Damaged,
}

impl Carried {
    /// Whether these records are stored.
    pub fn is(&self, records: Option<&[u8]>) -> bool {
        match self {
            Self::Readable(stored) => stored.as_deref() == records,
            Self::Damaged => false,
        }
    }
}

impl Loaded {
    /// Size of the text.
    pub fn bytes(&self) -> i64 {
        let bytes = self.text.as_ref().map_or(0, Vec::len);
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

/// Reads the observations of a target.
pub struct Loader {
    pub target_id: i32,
    /// Since when no raw text may be missing; None where none is there.
    pub raw_since: Option<Micros>,
}

impl Loader {
    /// The last observation up to a time.
    pub fn last(&self, client: &SpiClient<'_>, until: Micros) -> Result<Option<Loaded>, Error> {
        let statement = statement("\"time\" <= $2", "\"time\" DESC", "o.\"time\" <= $2");
        let parameters = [
            self.target_id.into(),
            timestamptz(until)?.into(),
            1_i64.into(),
            PACKED.into(),
        ];
        let row = client.select(&statement, Some(1), &parameters)?.next();
        row.map(|row| self.loaded(&row)).transpose()
    }

    /// The next observations after a time, up to another one (None: all that there are); none where there is none.
    pub fn next(
        &self,
        client: &SpiClient<'_>,
        after: Micros,
        until: Option<Micros>,
    ) -> Result<Vec<Loaded>, Error> {
        let condition = "\"time\" > $2 AND ($5 IS NULL OR \"time\" <= $5)";
        let statement = statement(condition, "\"time\"", "o.\"time\" > $2");
        let parameters: [DatumWithOid; 5] = [
            self.target_id.into(),
            timestamptz(after)?.into(),
            BATCH.into(),
            PACKED.into(),
            until.map(timestamptz).transpose()?.into(),
        ];
        let mut batch: Vec<Loaded> = Vec::new();
        let mut size = 0;
        for row in client.select(&statement, None, &parameters)? {
            let loaded = self.loaded(&row)?;
            size += loaded.text.as_ref().map_or(0, Vec::len);
            if size > UNPACKED && !batch.is_empty() {
                break;
            }
            batch.push(loaded);
        }
        Ok(batch)
    }

    fn loaded(&self, row: &SpiHeapTupleData<'_>) -> Result<Loaded, Error> {
        let time = micros(must(row.get::<TimestampWithTimeZone>(1)?)?)?;
        let since = row.get::<TimestampWithTimeZone>(2)?;
        let server: String = must(row.get(3)?)?;
        let mut findings = Vec::new();
        let text = match row.get::<&[u8]>(8)? {
            Some(body) => text(time, row, body, &mut findings)?,
            None => {
                if self.raw_since.is_some_and(|oldest| oldest < time) {
                    let bytes: i64 = must(row.get(5)?)?;
                    findings.push(Finding::new(
                        time,
                        "raw text",
                        None,
                        format!("{bytes} bytes"),
                    ));
                }
                None
            }
        };
        let kept_server: Option<String> = row.get(7)?;
        if let Some(kept) = kept_server.as_ref().filter(|kept| **kept != server) {
            let (stored, kept) = (server.clone(), kept.clone());
            findings.push(Finding::new(time, "server", stored, kept));
        }
        let carried = match unpacked(row.get::<&[u8]>(9)?)? {
            Ok(carried) => Carried::Readable(carried),
            Err(reason) => {
                findings.push(Finding::new(time, "carried records", reason, None));
                Carried::Damaged
            }
        };
        let cleanup_interval = row.get::<i64>(4)?;
        Ok(Loaded {
            time,
            since: since.map(micros).transpose()?,
            server: kept_server.unwrap_or(server),
            counts: counts(row)?,
            cleanup_interval: cleanup_interval.and_then(|seconds| u32::try_from(seconds).ok()),
            text,
            carried,
            findings,
        })
    }
}

/// `condition` chooses observations, `nearby` the rows of `raw` among which theirs are, which the planner does not see by
/// itself. $1 is the target, $3 how many rows at most, $4 how many bytes of raw text at most.
fn statement(condition: &str, order: &str, nearby: &str) -> String {
    include_str!("../sql/audit_observations.sql")
        .replace("@condition@", condition)
        .replace("@order@", order)
        .replace("@nearby@", &nearby.replace("o.", "r."))
}

/// The text of an observation if it is the one that came.
fn text(
    time: Micros,
    row: &SpiHeapTupleData<'_>,
    body: &[u8],
    findings: &mut Vec<Finding>,
) -> Result<Option<Vec<u8>>, Error> {
    let text = match unpacked(Some(body))? {
        Ok(text) => text.unwrap_or_default(),
        Err(reason) => {
            findings.push(Finding::new(time, "raw text", reason, None));
            return Ok(None);
        }
    };
    let bytes: i64 = must(row.get(5)?)?;
    if usize::try_from(bytes) != Ok(text.len()) {
        let (stored, computed) = (bytes.to_string(), text.len().to_string());
        findings.push(Finding::new(time, "bytes", stored, computed));
    }
    let stored: &[u8] = must(row.get(6)?)?;
    let digest = xxh3_128(&text).to_be_bytes();
    if stored == digest {
        return Ok(Some(text));
    }
    findings.push(Finding::new(time, "digest", hex(stored), hex(&digest)));
    Ok(None)
}

/// What was packed, or why it cannot be unpacked.
fn unpacked(packed: Option<&[u8]>) -> Result<Result<Option<Vec<u8>>, String>, Error> {
    match packed.map(unpack) {
        None => Ok(Ok(None)),
        Some(Ok(text)) => Ok(Ok(Some(text))),
        Some(Err(Error::NotZstd(reason))) => Ok(Err(format!("not zstd data: {reason}"))),
        Some(Err(error)) if error.is_of_packed() => Ok(Err(error.to_string())),
        Some(Err(error)) => Err(error),
    }
}

fn counts(row: &SpiHeapTupleData<'_>) -> Result<Counts, Error> {
    let count = |position| -> Result<i32, Error> { must(row.get(position)?) };
    Ok(Counts {
        entries: count(10)?,
        active: count(11)?,
        added: count(12)?,
        resets: count(13)?,
        removed: count(14)?,
        carried: count(15)?,
        unknown: count(16)?,
        problems: count(17)?,
    })
}

fn must<T>(value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| Error::Damaged("an observation is incomplete".to_owned()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
