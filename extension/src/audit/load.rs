//! Reads the observations of a target with their raw text, in batches, and checks the text by its digest.

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::audit::Finding;
use jobstats_core::rules::increment::Counts;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use xxhash_rust::xxh3::xxh3_128;

use crate::feed::job_stats::stored::{StoredSnapshot, Unpacked};
use crate::pg::error::Error;
use crate::pg::spi::{Row, Statements, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;

/// The largest number of observations in a batch.
const BATCH: i64 = 256;

/// The largest size in bytes of the texts of a batch, packed and unpacked. A single observation may be larger.
const PACKED: i64 = 8 << 20;
const UNPACKED: usize = 32 << 20;

/// The stored values of one observation.
pub struct LoadedObservation {
    /// The observation. Its text is missing if it is not the text that came.
    pub stored: StoredSnapshot,
    pub counts: Counts,
    /// The findings about the row of `jobstats.raw`, and about the columns of the observation that depend on that row.
    pub findings: Vec<Finding>,
}

impl LoadedObservation {
    /// Returns the size of the text in bytes.
    pub fn bytes(&self) -> usize {
        self.stored.lines().map_or(0, <[u8]>::len)
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
    pub fn last(
        &self,
        client: &SpiClient<'_>,
        until: Micros,
    ) -> Result<Option<LoadedObservation>, Error> {
        let parameters = self.parameters(until, 1, None)?;
        let row = client.query_opt(&statement("<=", "DESC"), &parameters)?;
        row.map(|row| self.loaded(&row)).transpose()
    }

    /// Reads the next observations after a time, up to another one (`None`: without a limit). Returns an empty batch if
    /// there are no more.
    pub fn next(
        &self,
        client: &SpiClient<'_>,
        after: Micros,
        until: Option<Micros>,
    ) -> Result<Vec<LoadedObservation>, Error> {
        let parameters = self.parameters(after, BATCH, until)?;
        let mut batch: Vec<LoadedObservation> = Vec::new();
        let mut size = 0;
        for row in client.query(&statement(">", "ASC"), &parameters)? {
            // What does not fit any more is not even unpacked.
            let bytes = usize::try_from(row.get::<i64>("bytes")?).unwrap_or(usize::MAX);
            if !batch.is_empty() && bytes > UNPACKED.saturating_sub(size) {
                break;
            }
            let loaded = self.loaded(&row)?;
            size = size.saturating_add(loaded.bytes());
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
        Ok(values![
            self.target_id,
            timestamptz(edge)?,
            rows,
            PACKED,
            until.map(timestamptz).transpose()?
        ])
    }

    fn loaded(&self, row: &Row<'_>) -> Result<LoadedObservation, Error> {
        let mut stored = StoredSnapshot::of(row, Some(row), None)?;
        let mut findings = Vec::new();
        let time = stored.time;
        self.check_text(row, &mut stored, &mut findings)?;
        let server: String = row.get("server")?;
        if stored.server != server {
            findings.push(Finding::new(time, "server", server, stored.server.clone()));
        }
        if let Some(error) = stored.carried.damage() {
            findings.push(Finding::new(time, "carried records", reason(error), None));
        }
        let mut counts = Counts::default().values();
        for (count, name) in counts.iter_mut().zip(Counts::NAMES) {
            *count = row.get(name)?;
        }
        Ok(LoadedObservation {
            stored,
            counts: Counts::of_values(counts),
            findings,
        })
    }

    /// Adds findings if the text is missing, damaged, or differs in size or digest. Text of another digest is ignored.
    fn check_text(
        &self,
        row: &Row<'_>,
        stored: &mut StoredSnapshot,
        findings: &mut Vec<Finding>,
    ) -> Result<(), Error> {
        let (time, bytes): (_, i64) = (stored.time, row.get("bytes")?);
        let mut add = |what, stored: Option<String>, computed: Option<String>| {
            findings.push(Finding::new(time, what, stored, computed));
        };
        match &stored.text {
            Unpacked::Damaged(error) => add("raw text", Some(reason(error)), None),
            Unpacked::Missing if self.raw_since.is_some_and(|oldest| oldest < time) => {
                add("raw text", None, Some(format!("{bytes} bytes")));
            }
            _ => {}
        }
        let Some(text) = stored.lines() else {
            return Ok(());
        };
        if usize::try_from(bytes) != Ok(text.len()) {
            add(
                "bytes",
                Some(bytes.to_string()),
                Some(text.len().to_string()),
            );
        }
        let (came, digest): (&[u8], _) = (row.get("digest")?, xxh3_128(text).to_be_bytes());
        if came != digest {
            add("digest", Some(hex(came)), Some(hex(&digest)));
            stored.text = Unpacked::Missing;
        }
        Ok(())
    }
}

/// Returns the statement that reads observations on the side of an instant that SQL names, in the direction away from it. The parameters: $1 is the target, $2 the instant, $3 the largest number
/// of rows, $4 the largest number of bytes of raw text, $5 the time of the last observation that is wanted.
fn statement(compared: &str, direction: &str) -> String {
    sql!(
        "observations.sql",
        compared = compared,
        direction = direction
    )
}

/// Returns the reason why a value cannot be unpacked.
fn reason(error: &Error) -> String {
    match error {
        Error::NotZstd(reason) => format!("not zstd data: {reason}"),
        error => error.to_string(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
