//! Memory: an error of PostgreSQL where there is none, instead of the end of the process, which would be that of every
//! session of the server.

use std::hint::black_box;
use std::io;

use crate::error::Error;

/// Room for `more` items.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), Error> {
    items
        .try_reserve_exact(more)
        .map_err(|_| Error::Memory(more.saturating_mul(size_of::<T>())))
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
