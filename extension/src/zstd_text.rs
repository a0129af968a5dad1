//! Packing and unpacking of text, with sizes checked before memory is taken.

use std::io::{self, Read};

use crate::error::Error;
use crate::memory::reserve;

/// Fast, and smaller than the texts need: they repeat themselves.
const LEVEL: i32 = 1;

/// `ZSTD_error_memory_allocation`, as functions return it.
const NO_MEMORY: usize = 64_usize.wrapping_neg();

/// Bytes that are unpacked at once.
const PIECE: usize = 128 << 10;

/// Unpacked text is never larger than a field of PostgreSQL.
pub const UNPACKED_LIMIT: u64 = (1 << 30) - 1;

/// Text → zstd.
pub fn pack(text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut packed = Vec::new();
    reserve(&mut packed, zstd::zstd_safe::compress_bound(text.len()))?;
    // There is room for anything: what fails is getting memory to work in.
    zstd::bulk::Compressor::new(LEVEL)
        .and_then(|mut compressor| compressor.compress_to_buffer(text, &mut packed))
        .map_err(|_| Error::Memory(text.len()))?;
    Ok(packed)
}

/// zstd → text of at most `limit` bytes.
pub fn unpack(packed: &[u8], limit: u64) -> Result<Vec<u8>, Error> {
    let not_zstd = |error: io::Error| match error.to_string() {
        reason if reason == zstd::zstd_safe::get_error_name(NO_MEMORY) => {
            Error::Memory(packed.len())
        }
        reason => Error::NotZstd(reason),
    };
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(not_zstd)?;
    let mut text = Vec::new();
    // The frame says how large the text is, if its writer knew. It may lie, but memory that is reserved and not written
    // costs nothing.
    let stated = zstd::zstd_safe::get_frame_content_size(packed)
        .ok()
        .flatten()
        .unwrap_or(0);
    reserve(&mut text, usize::try_from(stated.min(limit)).unwrap_or(0))?;
    let mut piece = vec![0; PIECE];
    loop {
        pgrx::check_for_interrupts!();
        let read = decoder.read(&mut piece).map_err(not_zstd)?;
        if read == 0 {
            return Ok(text);
        }
        if (text.len() + read) as u64 > limit {
            return Err(Error::TextTooLarge { limit });
        }
        if text.capacity() - text.len() < read {
            let more = text.len().max(PIECE);
            reserve(&mut text, more)?;
        }
        text.extend_from_slice(&piece[..read]);
    }
}
