//! Reads the observations of a target with their raw text, in batches, and checks the text by its digest.

use jobstats_core::instant::Micros;
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;
use xxhash_rust::xxh3::xxh3_128;

use crate::audit::finding::Finding;
use crate::feed::job_stats::compute::Counts;
use crate::pg::error::Error;
use crate::pg::spi::{Row, Statements};
use crate::pg::template::sql;
use crate::pg::time::{micros, timestamptz};
use crate::text::zstd::unpack;

/// The largest number of observations in a batch.
const BATCH: i64 = 256;

/// The largest size in bytes of the texts of a batch, packed and unpacked. A single observation may be larger.
const PACKED: i64 = 8 << 20;
const UNPACKED: usize = 32 << 20;

/// The stored values of one observation.
pub struct Loaded {
    pub time: Micros,
    pub since: Option<Micros>,
    /// The server according to the raw text; if that is gone, according to the observation.
    pub server: String,
    pub counts: Counts,
    pub cleanup_interval: Option<u32>,
    /// The text; `None` if it is gone or is not the text that came.
    pub text: Option<Vec<u8>>,
    pub carried: Carried,
    /// The findings about the row of `jobstats.raw`, and about the columns of the observation that depend on that row.
    pub findings: Vec<Finding>,
}

/// The records carried with an observation, as they are stored.
pub enum Carried {
    /// The records; `None` if there are none.
    Readable(Option<Vec<u8>>),
    Damaged,
}

impl Carried {
    /// Returns whether these records are stored.
    pub fn is(&self, records: Option<&[u8]>) -> bool {
        match self {
            Self::Readable(stored) => stored.as_deref() == records,
            Self::Damaged => false,
        }
    }
}

impl Loaded {
    /// Returns the size of the text in bytes.
    pub fn bytes(&self) -> i64 {
        let bytes = self.text.as_ref().map_or(0, Vec::len);
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

/// A reader of the observations of a target.
pub struct Loader {
    pub target_id: i32,
    /// The time since which no raw text may be missing; `None` if there is no raw text.
    pub raw_since: Option<Micros>,
}

impl Loader {
    /// Reads the last observation up to a time.
    pub fn last(&self, client: &SpiClient<'_>, until: Micros) -> Result<Option<Loaded>, Error> {
        let parameters = self.parameters(until, 1, None)?;
        let row = client.query_opt(&statement(Side::UpTo), &parameters)?;
        row.map(|row| self.loaded(&row)).transpose()
    }

    /// Reads the next observations after a time, up to another one (`None`: without a limit). Returns an empty batch if
    /// there are no more.
    pub fn next(
        &self,
        client: &SpiClient<'_>,
        after: Micros,
        until: Option<Micros>,
    ) -> Result<Vec<Loaded>, Error> {
        let parameters = self.parameters(after, BATCH, until)?;
        let mut batch: Vec<Loaded> = Vec::new();
        let mut size = 0;
        for row in client.query(&statement(Side::After), &parameters)? {
            let loaded = self.loaded(&row)?;
            size += loaded.text.as_ref().map_or(0, Vec::len);
            if size > UNPACKED && !batch.is_empty() {
                break;
            }
            batch.push(loaded);
        }
        Ok(batch)
    }

    /// Returns the parameters of the [statement].
    fn parameters(
        &self,
        edge: Micros,
        rows: i64,
        until: Option<Micros>,
    ) -> Result<[DatumWithOid<'static>; 5], Error> {
        Ok([
            self.target_id.into(),
            timestamptz(edge)?.into(),
            rows.into(),
            PACKED.into(),
            until.map(timestamptz).transpose()?.into(),
        ])
    }

    fn loaded(&self, row: &Row<'_>) -> Result<Loaded, Error> {
        let time = micros(row.get("time")?)?;
        let since: Option<TimestampWithTimeZone> = row.get("since")?;
        let server: String = row.get("server")?;
        let mut findings = Vec::new();
        let text = match row.get("body")? {
            Some(body) => text(time, row, body, &mut findings)?,
            None => {
                if self.raw_since.is_some_and(|oldest| oldest < time) {
                    let bytes: i64 = row.get("bytes")?;
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
        let kept_server: Option<String> = row.get("raw_server")?;
        if let Some(kept) = kept_server.as_ref().filter(|kept| **kept != server) {
            let (stored, kept) = (server.clone(), kept.clone());
            findings.push(Finding::new(time, "server", stored, kept));
        }
        let carried = match unpacked(row.get("carried_records")?)? {
            Ok(carried) => Carried::Readable(carried),
            Err(reason) => {
                findings.push(Finding::new(time, "carried records", reason, None));
                Carried::Damaged
            }
        };
        let cleanup_interval: Option<i64> = row.get("cleanup_interval")?;
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

/// The side of an instant on which observations are read, and the direction away from it.
#[derive(Debug, Clone, Copy)]
enum Side {
    UpTo,
    After,
}

/// Returns the statement that reads observations. The parameters: $1 is the target, $2 the instant, $3 the largest number
/// of rows, $4 the largest number of bytes of raw text, $5 the time of the last observation that is wanted.
fn statement(side: Side) -> String {
    let (compared, direction) = match side {
        Side::UpTo => ("<=", "DESC"),
        Side::After => (">", "ASC"),
    };
    sql!(
        "observations.sql",
        compared = compared,
        direction = direction
    )
}

/// Returns the text of an observation if it is the text that came, and adds findings if its size or its digest differ.
fn text(
    time: Micros,
    row: &Row<'_>,
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
    let bytes: i64 = row.get("bytes")?;
    if usize::try_from(bytes) != Ok(text.len()) {
        let (stored, computed) = (bytes.to_string(), text.len().to_string());
        findings.push(Finding::new(time, "bytes", stored, computed));
    }
    let stored: &[u8] = row.get("digest")?;
    let digest = xxh3_128(&text).to_be_bytes();
    if stored == digest {
        return Ok(Some(text));
    }
    findings.push(Finding::new(time, "digest", hex(stored), hex(&digest)));
    Ok(None)
}

/// Returns the unpacked value, or the reason why it cannot be unpacked.
fn unpacked(packed: Option<&[u8]>) -> Result<Result<Option<Vec<u8>>, String>, Error> {
    match packed.map(unpack) {
        None => Ok(Ok(None)),
        Some(Ok(text)) => Ok(Ok(Some(text))),
        Some(Err(Error::NotZstd(reason))) => Ok(Err(format!("not zstd data: {reason}"))),
        Some(Err(error)) if error.is_of_packed() => Ok(Err(error.to_string())),
        Some(Err(error)) => Err(error),
    }
}

fn counts(row: &Row<'_>) -> Result<Counts, Error> {
    Ok(Counts {
        entries: row.get("entries")?,
        active: row.get("active")?,
        added: row.get("added")?,
        resets: row.get("resets")?,
        removed: row.get("removed")?,
        carried: row.get("carried")?,
        unknown: row.get("unknown")?,
        problems: row.get("problems")?,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
