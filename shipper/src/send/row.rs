//! One row of `jobstats.feed` in the binary format of COPY, around a body that is sent separately.

use std::time::Duration;

use jiff::Timestamp;
use jobstats_client::spool::{Covers, Text};

use crate::frame::Reading;
use crate::send::SendError;

/// The statement that stores a row. COPY streams, so memory does not grow with the text; the trigger on the view sees an ordinary row.
pub const COPY: &str = r#"COPY jobstats.feed (cluster, server, "time", body_zstd, duration, shipper, source, covers) FROM STDIN (FORMAT binary)"#;

/// The signature, with no flags and no header extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: &[u8] = &(-1_i16).to_be_bytes();
const COLUMNS: i16 = 8;
/// The flag of a range whose lower bound belongs to it.
const LOWER_INCLUSIVE: u8 = 2;
/// 2000-01-01, the epoch of PostgreSQL, in microseconds since the Unix epoch.
const EPOCH: i64 = 946_684_800_000_000;
/// The name and version of this program.
pub const SHIPPER: &str = concat!("jobstats-shipper ", env!("CARGO_PKG_VERSION"));

/// The bytes of a row before and after the body.
pub struct Row {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
}

impl Row {
    /// Encodes the row of a text without its body.
    pub fn new(reading: &Reading, text: &Text) -> Result<Self, SendError> {
        let body = text.packed_bytes();
        let body_length = i32::try_from(body).map_err(|_| SendError::TooLarge(body))?;
        let mut head = HEADER.to_vec();
        head.extend(COLUMNS.to_be_bytes());
        field(&mut head, Some(reading.index.cluster.as_bytes()))?;
        field(&mut head, Some(reading.index.server.as_bytes()))?;
        field(&mut head, Some(&timestamptz(text.time)))?;
        head.extend(body_length.to_be_bytes());
        let mut tail = Vec::new();
        let duration = text.duration.map(interval);
        field(&mut tail, duration.as_ref().map(<[u8; 16]>::as_slice))?;
        field(&mut tail, Some(SHIPPER.as_bytes()))?;
        field(&mut tail, Some(reading.index.source.as_bytes()))?;
        field(&mut tail, reading.index.covers.map(tstzrange).as_deref())?;
        tail.extend(TRAILER);
        Ok(Self { head, tail })
    }
}

fn field(row: &mut Vec<u8>, value: Option<&[u8]>) -> Result<(), SendError> {
    let length = value.map_or(Ok(-1), |value| {
        i32::try_from(value.len()).map_err(|_| SendError::TooLarge(value.len() as u64))
    })?;
    row.extend(length.to_be_bytes());
    row.extend(value.unwrap_or_default());
    Ok(())
}

fn timestamptz(time: Timestamp) -> [u8; 8] {
    (time.as_microsecond() - EPOCH).to_be_bytes()
}

/// Encodes a span of time: flags, then each bound with its length.
fn tstzrange(covers: Covers) -> Vec<u8> {
    let mut bytes = vec![LOWER_INCLUSIVE];
    for bound in [covers.since, covers.until] {
        let bound = timestamptz(bound);
        bytes.extend((bound.len() as u32).to_be_bytes());
        bytes.extend(bound);
    }
    bytes
}

/// Encodes an interval: microseconds, days, months.
fn interval(duration: Duration) -> [u8; 16] {
    let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&micros.to_be_bytes());
    bytes
}
