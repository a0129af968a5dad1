//! Packing and unpacking of text, with sizes checked before memory is allocated.

use std::cell::Cell;
use std::io;

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::{decompress_bound, find_frame_compressed_size, get_error_name};

use crate::pg::error::Error;
use crate::pg::memory::{lend, reserve, reserve_large};
use crate::pg::pause::pause;

/// The compression level: fast, and good enough for texts that repeat themselves.
const LEVEL: i32 = 1;

/// `ZSTD_error_memory_allocation`, as functions return it.
const NO_MEMORY: usize = 64_usize.wrapping_neg();

/// `ZSTD_error_dstSize_tooSmall`, likewise.
const NO_ROOM: usize = 70_usize.wrapping_neg();

/// `ZSTD_error_srcSize_wrong`, likewise.
const INCOMPLETE: usize = 72_usize.wrapping_neg();

/// The number of packed bytes that are unpacked at a time, about a megabyte of text: half of the processor's cache.
const PIECE: usize = 64 << 10;

/// The number of bytes that a piece unpacks to at most, about.
const UNPACKED_PIECE: u64 = 4 << 20;

/// The largest size of an unpacked text, as of any field of PostgreSQL.
const UNPACKED_LIMIT: u64 = (1 << 30) - 1;

/// The largest ratio of unpacked to packed size, for texts over 16 MB. Texts of Lustre reach 155.
const RATIO: u64 = 500;
const RATIO_FROM: u64 = 16 << 20;

/// The largest memory that a session keeps for its next text; nearly all texts fit.
const KEPT: usize = 128 << 20;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Registers the thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    SPARE.with(|_| ());
}

/// Keeps the memory of a text that is not used any more for the next text that is unpacked: getting memory from the
/// system takes as long as unpacking into it.
pub fn recycle(text: Vec<u8>) {
    let spare = SPARE.take();
    SPARE.set(if text.capacity() < spare.capacity() {
        spare
    } else {
        text
    });
}

/// Returns memory for a text of this size: the spare memory if there is any, unless the text is much smaller.
fn memory(size: usize) -> Result<Vec<u8>, Error> {
    let mut text = SPARE.take();
    if size < text.capacity() / 2 {
        SPARE.set(text);
        text = Vec::new();
    }
    text.clear();
    reserve_large(&mut text, size)?;
    Ok(text)
}

/// A guard that lends the spare memory to the system when it is dropped, also after an error of PostgreSQL. The system
/// may reclaim the memory if it has no other. Memory that is not reclaimed saves the session's next text a fifth of its
/// time.
pub struct Recycling;

impl Drop for Recycling {
    fn drop(&mut self) {
        let mut spare = SPARE.take();
        if spare.capacity() <= KEPT && lend(&mut spare) {
            SPARE.set(spare);
        }
    }
}

/// Packs text as zstd data.
pub fn pack(text: &[u8]) -> Result<Vec<u8>, Error> {
    let mut packed = Vec::new();
    reserve(&mut packed, zstd::zstd_safe::compress_bound(text.len()))?;
    // The buffer is large enough for any result: only allocating memory to work in can fail.
    zstd::bulk::Compressor::new(LEVEL)
        .and_then(|mut compressor| compressor.compress_to_buffer(text, &mut packed))
        .map_err(|_| Error::Memory(text.len()))?;
    Ok(packed)
}

/// Unpacks zstd data.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>, Error> {
    unpack_with(packed, |_| ())
}

/// Unpacks zstd data, and gives `each` every piece of the text while it is still in the processor's cache.
pub fn unpack_with(packed: &[u8], mut each: impl FnMut(&[u8])) -> Result<Vec<u8>, Error> {
    let limit = allowed(packed.len()).min(UNPACKED_LIMIT);
    let most = most(packed)?;
    // Reserved memory costs nothing until it is written.
    let mut text = memory(usize::try_from(most.min(limit)).unwrap_or(usize::MAX))?;
    let failed = |error: io::Error| match error.to_string() {
        reason if reason == get_error_name(NO_MEMORY) => Error::Memory(packed.len()),
        reason if reason == get_error_name(NO_ROOM) && most > limit => match limit {
            UNPACKED_LIMIT => Error::TextTooLarge { limit },
            _ => Error::Ratio { limit: RATIO },
        },
        reason => Error::NotZstd(reason),
    };
    let mut decoder = Decoder::new().map_err(failed)?;
    // The buffer holds the whole text, so zstd need not keep a copy of its window, which took a tenth of its time.
    let in_place = DParameter::StableOutBuffer(true);
    decoder.set_parameter(in_place).map_err(failed)?;
    for piece in packed.chunks(piece(packed.len(), most.min(limit))) {
        pause();
        let known = text.len();
        let mut input = InBuffer::around(piece);
        while input.pos < piece.len() {
            let filled = text.len();
            let mut output = OutBuffer::around_pos(&mut text, filled);
            decoder.run(&mut input, &mut output).map_err(failed)?;
        }
        each(&text[known..]);
    }
    Ok(text)
}

/// Fails for a text that [`unpack`] would refuse.
pub fn require_ratio(text: usize, packed: usize) -> Result<(), Error> {
    match text as u64 > allowed(packed) {
        true => Err(Error::Ratio { limit: RATIO }),
        false => Ok(()),
    }
}

/// Returns how many bytes data of this size may unpack to.
fn allowed(packed: usize) -> u64 {
    RATIO_FROM.max(packed as u64 * RATIO)
}

/// Returns how many bytes of data to unpack at a time, so that the statement can be cancelled in between.
fn piece(packed: usize, unpacked: u64) -> usize {
    let share = packed as u64 * UNPACKED_PIECE / unpacked.max(1);
    usize::try_from(share).unwrap_or(PIECE).clamp(1, PIECE)
}

/// Returns an upper bound of the size of the text: the sizes in the frame headers, if present, else the size of as many
/// blocks as there are.
fn most(packed: &[u8]) -> Result<u64, Error> {
    let failed = |code| {
        Error::NotZstd(match get_error_name(code) {
            reason if reason == get_error_name(INCOMPLETE) => "incomplete frame".to_owned(),
            reason => reason.to_owned(),
        })
    };
    let mut most = 0_u64;
    let mut rest = packed;
    while !rest.is_empty() {
        let size = find_frame_compressed_size(rest).map_err(failed)?;
        let (frame, after) = rest.split_at(size);
        most = most.saturating_add(decompress_bound(frame).map_err(failed)?);
        rest = after;
    }
    Ok(most)
}
