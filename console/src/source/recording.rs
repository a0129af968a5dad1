//! Keeps readings in a directory, as `jobstats-shipper record` does: one file for each server and reading.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use jobstats_client::program::exit;
use jobstats_client::spool::{self, Data, Directory, Index, SpoolError};
use xxhash_rust::xxh3::xxh3_64;
use zstd::stream::write::Encoder;

use crate::ask::error::Error;
use crate::live::state::{Scrape, ScrapePart};
use crate::values::when;

/// The zstd level. The texts are so repetitive that the fastest level makes them small.
const LEVEL: i32 = 1;

/// The source of `job_stats` in a recording.
pub const LCTL: &str = "lctl";

/// A directory that readings are added to.
#[derive(Debug, Clone)]
pub struct Recorder {
    directory: Directory,
    cluster: String,
}

impl Recorder {
    /// Opens the directory, and creates it if it is not there. Only its owner may read it, because texts name users.
    pub fn open(path: &Path, cluster: &str) -> Result<Self, Error> {
        let broken = |cause: io::Error| broken(path, cause.into());
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(path).map_err(broken)?;
        // Check now whether it is writable, not after the first round.
        tempfile::tempfile_in(path).map_err(broken)?;
        Ok(Self {
            directory: Directory::at(path),
            cluster: cluster.to_owned(),
        })
    }

    /// Adds the text of a server.
    pub fn record(&self, server: &str, scrape: &Scrape, parts: &[ScrapePart]) -> Result<(), Error> {
        let put = self.put(server, scrape, parts);
        put.map_err(|cause| broken(self.directory.path(), cause))
    }

    fn put(&self, server: &str, scrape: &Scrape, parts: &[ScrapePart]) -> Result<(), SpoolError> {
        let (mut data, mut texts) = (Vec::new(), Vec::new());
        for part in parts {
            let begin = data.len() as u64;
            let bytes = pack(&scrape.text, part, &mut data)?;
            let frame = begin..data.len() as u64;
            let micros = part.until.saturating_sub(part.time).unsigned_abs();
            texts.push(spool::Text {
                name: part.name.clone(),
                time: when::timestamp(part.time),
                duration: Some(Duration::from_micros(micros)),
                bytes,
                frames: vec![frame],
            });
        }
        let index = Index {
            // The directory gives the number.
            sequence: 0,
            source: LCTL.to_owned(),
            covers: None,
            cluster: self.cluster.clone(),
            server: server.to_owned(),
            texts,
            data: Data {
                bytes: data.len() as u64,
                checksum: xxh3_64(&data),
            },
        };
        self.directory.put(index, &mut data.as_slice())?;
        Ok(())
    }
}

/// Returns the error of a reading that cannot be kept.
fn broken(path: &Path, cause: SpoolError) -> Error {
    let path = path.display();
    let message = format!("cannot write the scrape to {path}: {cause}");
    Error::other(exit::SYSTEM, message)
}

/// Adds a part of a text as a zstd frame, and returns its size before compression.
fn pack(text: &[u8], part: &ScrapePart, data: &mut Vec<u8>) -> io::Result<u64> {
    let mut encoder = Encoder::new(data, LEVEL)?;
    encoder.include_checksum(true)?;
    let mut bytes = 0;
    for range in &part.ranges {
        let piece = text.get(range.clone()).unwrap_or_default();
        encoder.write_all(piece)?;
        bytes += piece.len() as u64;
    }
    encoder.finish()?;
    Ok(bytes)
}
