//! The body of a request: a JSON array with an object per text, made while it is sent.

use std::io::{self, Read};
use std::iter::once;

use jiff::Timestamp;
use jobstats_client::spool::Text;
use serde_json::json;

use crate::frame::{Pieces, Reading};
use crate::send::row::SHIPPER;

#[cfg(test)]
mod tests;

/// The columns of an object, as the parameter `columns` names them. PostgREST then does not parse the body itself, which
/// would take several times the size of the body as memory.
pub const COLUMNS: &str = "cluster,server,time,body_zstd,duration,shipper,source,covers";

const PIECE: usize = 32 << 10;

/// A body of known length that takes the memory of one piece.
pub struct Body<'a> {
    pieces: Pieces<Box<dyn Iterator<Item = io::Result<Vec<u8>>> + 'a>>,
    /// The length in bytes.
    pub length: u64,
    /// The error of reading the text, if that is why the request was not sent.
    pub failure: Option<io::Error>,
}

impl<'a> Body<'a> {
    /// Prepares the body of a request that stores these texts.
    pub fn new(reading: &'a Reading, texts: &[&'a Text]) -> Self {
        let heads: Vec<_> = texts.iter().map(|text| head(reading, text)).collect();
        let length: usize = heads.iter().map(|head| head.len() + "\"},".len()).sum();
        let packed: u64 = texts.iter().map(|text| text.packed_bytes()).sum();
        let objects: Vec<_> = texts.iter().copied().zip(heads).enumerate().collect();
        let pieces = objects.into_iter().flat_map(move |(index, (text, head))| {
            let begin = if index == 0 { "[" } else { "\"}," };
            let head = [begin.as_bytes(), head.as_bytes()].concat();
            let text = reading.pieces(text, PIECE);
            once(Ok(head)).chain(text.map(|piece| piece.map(|piece| hex(&piece))))
        });
        // The first object has a bracket before it, and the last one has a bracket instead of a comma after it.
        let length = length as u64 + 1 + 2 * packed;
        Self::of(pieces.chain(once(Ok(b"\"}]".to_vec()))), length)
    }

    /// Returns the body of a request without texts.
    pub fn nothing() -> Self {
        Self::of(once(Ok(b"[]".to_vec())), 2)
    }

    fn of(pieces: impl Iterator<Item = io::Result<Vec<u8>>> + 'a, length: u64) -> Self {
        Self {
            pieces: Pieces::new(Box::new(pieces)),
            length,
            failure: None,
        }
    }
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.pieces.read(buffer).map_err(|error| {
            self.failure = Some(error);
            io::Error::other("the text cannot be read")
        })
    }
}

/// Returns the object of a text up to the compressed text itself. Times have microseconds, as in the binary format that is
/// sent to PostgreSQL directly.
fn head(reading: &Reading, text: &Text) -> String {
    let time = text.time.as_microsecond();
    let covers = reading.index.covers;
    let object = json!({
        "cluster": reading.index.cluster,
        "server": reading.index.server,
        "time": Timestamp::from_microsecond(time).unwrap_or(text.time).to_string(),
        "duration": text.duration.map(|duration| {
            format!("{}.{:06} seconds", duration.as_secs(), duration.subsec_micros())
        }),
        "shipper": SHIPPER,
        "source": reading.index.source,
        "covers": covers.map(|covers| format!("[{},{})", covers.since, covers.until)),
    });
    let mut object = object.to_string();
    object.pop();
    object + r#","body_zstd":"\\x"#
}

/// Encodes bytes as PostgreSQL reads them.
fn hex(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
    bytes.iter().flat_map(digits).collect()
}
