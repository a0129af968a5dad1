//! `jobstats_unpack()`: unpacks text and shows it as the view `raw_text` does.

use jobstats_core::base::escape::{escape, pieces};
use pgrx::prelude::*;

use crate::pg::ballast;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::SqlResult;
use crate::text::zstd::unpack;

#[pg_extern(sql = false)]
fn jobstats_unpack(packed: &[u8]) -> SqlResult<String> {
    ballast::hold()?;
    Ok(shown(unpack(packed)?)?)
}

/// The number of bytes that are escaped at a time.
const PIECE: usize = 1 << 20;

/// The longest text that PostgreSQL holds, without its header.
const LIMIT: u64 = (1 << 30) - 5;

/// Escapes a text of any length.
///
/// # Errors
/// [`Error::TextTooLarge`] if the escaped text is longer than a value of PostgreSQL, [`Error::Memory`] if there is no
/// memory for it.
fn shown(bytes: Vec<u8>) -> Result<String, Error> {
    let mut size = 0;
    for piece in pieces(&bytes, PIECE) {
        pause();
        size += escape(piece).len();
    }
    if size as u64 > LIMIT {
        return Err(Error::TextTooLarge { limit: LIMIT });
    }
    // With the same size, the text has no escapes and is not copied.
    if size == bytes.len() {
        return String::from_utf8(bytes).map_err(|_| Error::Memory(size));
    }
    let mut text = String::new();
    text.try_reserve_exact(size)
        .map_err(|_| Error::Memory(size))?;
    for piece in pieces(&bytes, PIECE) {
        pause();
        text.push_str(&escape(piece));
    }
    Ok(text)
}
