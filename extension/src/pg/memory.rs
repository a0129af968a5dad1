//! Allocation that fails with an error of PostgreSQL when memory runs out. An abort would end every session of the server.

use std::io;

use jobstats_core::usage;
use rustix::mm::{Advice, madvise};

use crate::pg::error::Error;

/// Reserves room for `more` items.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), Error> {
    items
        .try_reserve_exact(more)
        .map_err(|_| Error::Memory(more.saturating_mul(size_of::<T>())))
}

/// Reserves room for `more` bytes of text, in huge pages if the system has them. With pages of 4 kB, the page faults
/// take half of the time of unpacking a text of 110 MB.
pub fn reserve_large(text: &mut Vec<u8>, more: usize) -> Result<(), Error> {
    reserve(text, more)?;
    if text.capacity() >= LARGE {
        // The system may ignore the advice.
        advise(text, Advice::LinuxHugepage);
    }
    Ok(())
}

/// The size in bytes from which the C library maps memory for a vector alone, and unmaps it with the vector.
const LARGE: usize = 32 << 20;

/// Empties a text and lets the system reclaim its memory when it needs some, until the text is written again. Returns
/// whether the system supports this.
pub fn lend(text: &mut Vec<u8>) -> bool {
    text.clear();
    advise(text, Advice::LinuxFree)
}

/// Advises the system about the whole pages of a text. Returns whether the system accepts the advice.
#[allow(unsafe_code)]
fn advise(text: &mut Vec<u8>, advice: Advice) -> bool {
    const PAGE: usize = 4096;
    let start = text.as_mut_ptr();
    let skipped = start.align_offset(PAGE);
    let Some(len) = text.capacity().checked_sub(skipped) else {
        return false;
    };
    // SAFETY: the pages are the vector's own. The call neither moves nor shares its memory; LinuxFree may zero their
    // content, which callers do not use any more.
    unsafe { madvise(start.wrapping_add(skipped).cast(), len - len % PAGE, advice) }.is_ok()
}

/// Gives unused memory back to the system. The C library keeps it in pieces between memory in use: after a feed with a
/// million new entries 691 MB, for the rest of the session.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    #[allow(unsafe_code)]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: the call touches only memory that is not in use.
        unsafe { malloc_trim(0) };
    }
}

/// Fails if there is no memory for `things` small allocations of `each` bytes. Collections of strings abort the process if they
/// cannot grow.
pub fn require_room(things: usize, each: usize) -> Result<(), Error> {
    let bytes = things.saturating_mul(each);
    usage::require_room(bytes).map_err(|_| Error::Memory(bytes))
}

/// A text that grows while it is written.
#[derive(Default)]
pub struct GrowingBuffer(pub Vec<u8>);

impl io::Write for GrowingBuffer {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0.try_reserve(piece.len())?;
        self.0.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
