//! Memory: an error of PostgreSQL where there is none, instead of the end of the process, which would be that of every
//! session of the server.

use std::hint::black_box;
use std::io;

#[cfg(target_os = "linux")]
use rustix::mm::{Advice, madvise};

use crate::error::Error;

/// Room for `more` items.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), Error> {
    items
        .try_reserve_exact(more)
        .map_err(|_| Error::Memory(more.saturating_mul(size_of::<T>())))
}

/// Room for `more` bytes of text, in large pages where the system has them: it takes half of the time to unpack a text
/// of 110 MB that its memory is had for the first time, 4 kB by 4 kB.
pub fn reserve_large(text: &mut Vec<u8>, more: usize) -> Result<(), Error> {
    reserve(text, more)?;
    #[cfg(target_os = "linux")]
    if text.capacity() >= LARGE {
        advise_large(text);
    }
    Ok(())
}

/// Vectors from here on lie in memory of their own, which goes when they do.
#[cfg(target_os = "linux")]
const LARGE: usize = 32 << 20;

#[cfg(target_os = "linux")]
fn advise_large(text: &mut Vec<u8>) {
    // Only a wish: where it is not granted, nothing is lost.
    advise(text, Advice::LinuxHugepage);
}

/// Empties a text and lets the system take its memory when it needs some, until it is written again; whether it can be
/// kept on these terms.
pub fn lend(text: &mut Vec<u8>) -> bool {
    text.clear();
    #[cfg(target_os = "linux")]
    {
        advise(text, Advice::LinuxFree)
    }
    #[cfg(not(target_os = "linux"))]
    {
        false
    }
}

/// Says what the whole pages of a text are for; whether the system takes note.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn advise(text: &mut Vec<u8>, advice: Advice) -> bool {
    const PAGE: usize = 4096;
    let start = text.as_mut_ptr();
    let skipped = start.align_offset(PAGE);
    let Some(len) = text.capacity().checked_sub(skipped) else {
        return false;
    };
    // SAFETY: the pages are the vector's own. Its memory is neither moved nor shared; LinuxFree may make zeros of what is
    // in them, which callers have no use for any more.
    unsafe { madvise(start.wrapping_add(skipped).cast(), len - len % PAGE, advice) }.is_ok()
}

/// Gives memory that is not in use any more back to the system. The C library keeps it in pieces between what is in use: of
/// a feed with a million new entries 691 MB, for as long as the session lasted.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: it touches only what is not in use.
        unsafe { malloc_trim(0) };
    }
}

/// Fails where there is no room for many small things that are about to be made, `each` of so many bytes. Collections
/// of strings and the like end the process where they cannot grow.
pub fn require_room(things: usize, each: usize) -> Result<(), Error> {
    let mut room: Vec<u8> = Vec::new();
    reserve(&mut room, things.saturating_mul(each))?;
    // What is never looked at might never be asked for.
    black_box(&room);
    Ok(())
}

/// Text in the making.
#[derive(Default)]
pub struct Growing(pub Vec<u8>);

impl io::Write for Growing {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0.try_reserve(piece.len())?;
        self.0.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
