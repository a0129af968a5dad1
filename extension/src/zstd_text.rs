//! Packing and unpacking of text, with sizes checked before memory is taken.

use std::cell::Cell;
use std::io;

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use crate::error::Error;
use crate::memory::{reserve, reserve_large};

/// Fast, and smaller than the texts need: they repeat themselves.
const LEVEL: i32 = 1;

/// `ZSTD_error_memory_allocation`, as functions return it.
const NO_MEMORY: usize = 64_usize.wrapping_neg();

/// Room that is made first for text of unknown size.
const PIECE: u64 = 128 << 10;

/// Unpacked text is never larger than a field of PostgreSQL.
pub const UNPACKED_LIMIT: u64 = (1 << 30) - 1;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Keeps the memory of a text that is done with for the next one that is unpacked: to get memory from the system takes as
/// long as to unpack into it.
pub fn recycle(text: Vec<u8>) {
    SPARE.set(text);
}

/// Gives the spare memory back in the end, also where that is an error of PostgreSQL.
pub struct Recycling;

impl Drop for Recycling {
    fn drop(&mut self) {
        SPARE.take();
    }
}

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
    let limit_reached = || Error::TextTooLarge { limit };
    let mut decoder = Decoder::new().map_err(not_zstd)?;
    let mut input = InBuffer::around(packed);
    let mut text = SPARE.take();
    text.clear();
    // The frame says how large the text is, if its writer knew. It may lie, but memory that is reserved and not written
    // costs nothing.
    let stated = zstd::zstd_safe::get_frame_content_size(packed);
    let stated = stated.ok().flatten().unwrap_or(PIECE);
    let mut more = usize::try_from(stated.min(limit)).map_err(|_| limit_reached())?;
    let mut hint = 0;
    while input.pos < packed.len() || (hint > 0 && text.len() == text.capacity()) {
        pgrx::check_for_interrupts!();
        if text.len() == text.capacity() {
            reserve_large(&mut text, more.max(1))?;
            more = text.capacity();
        }
        let filled = text.len();
        hint = decoder
            .run(&mut input, &mut OutBuffer::around_pos(&mut text, filled))
            .map_err(not_zstd)?;
        if text.len() as u64 > limit {
            return Err(limit_reached());
        }
    }
    if hint > 0 {
        return Err(Error::NotZstd("incomplete frame".to_owned()));
    }
    Ok(text)
}
