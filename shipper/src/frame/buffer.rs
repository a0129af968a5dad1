//! Keeps the compressed text of a reading: in a temporary file without a name, or in memory if there is no room on disk.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem;
use std::os::unix::fs::FileExt;

use jobstats_client::spool::Data;
use xxhash_rust::xxh3::Xxh3;

use crate::system::message::warn;

#[cfg(test)]
mod tests;

/// The largest size of a reading in memory.
const MOST_MEMORY: u64 = 32 << 20;

/// The compressed text of a reading.
#[derive(Debug)]
pub enum Buffer {
    /// A file, and the position at which the text begins in it.
    File {
        file: File,
        start: u64,
    },
    Memory(Vec<u8>),
}

impl Buffer {
    /// Creates an empty buffer: a temporary file, or memory if no file can be created.
    fn new() -> Self {
        match tempfile::tempfile() {
            Ok(file) => Self::File { file, start: 0 },
            Err(error) => {
                warn(format_args!(
                    "cannot create a temporary file, using memory: {error}"
                ));
                Self::Memory(Vec::new())
            }
        }
    }

    /// Fills the buffer with the bytes from this position on.
    pub fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        match self {
            Self::File { file, start } => file.read_exact_at(buffer, start + position),
            Self::Memory(bytes) => {
                let rest = bytes.get(position as usize..).unwrap_or_default();
                (&*rest).read_exact(buffer)
            }
        }
    }
}

/// Writes a buffer.
pub struct Writer {
    buffer: Buffer,
    /// The number of bytes so far.
    pub length: u64,
    checksum: Xxh3,
    most: u64,
}

impl Writer {
    /// Starts with an empty buffer that takes at most this number of bytes.
    pub fn new(most: u64) -> Self {
        Self {
            buffer: Buffer::new(),
            length: 0,
            checksum: Xxh3::new(),
            most,
        }
    }

    /// Returns the buffer with its size and checksum.
    pub fn finish(self) -> (Buffer, Data) {
        let data = Data {
            bytes: self.length,
            checksum: self.checksum.digest(),
        };
        (self.buffer, data)
    }

    /// Moves the bytes that a full disk has taken so far into memory.
    fn move_to_memory(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; usize::try_from(self.length).unwrap_or(usize::MAX)];
        self.buffer.read_exact_at(&mut bytes, 0)?;
        self.buffer = Buffer::Memory(bytes);
        Ok(())
    }

    fn is_small_file(&self) -> bool {
        matches!(self.buffer, Buffer::File { .. }) && self.length <= MOST_MEMORY
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.buffer {
            Buffer::File { file, start } => file.write_all_at(bytes, *start + self.length),
            Buffer::Memory(memory) if self.length + bytes.len() as u64 <= MOST_MEMORY => {
                memory.extend_from_slice(bytes);
                Ok(())
            }
            Buffer::Memory(memory) => {
                // The memory is of no use any more.
                mem::take(memory);
                Err(io::Error::new(
                    io::ErrorKind::StorageFull,
                    "no space on disk, and it is too large for memory",
                ))
            }
        }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = self.most;
        if self.length + bytes.len() as u64 > most {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it is larger than {most} bytes when compressed (--max-reading)"),
            ));
        }
        match self.append(bytes) {
            Err(error) if is_full(&error) && self.is_small_file() => {
                warn(format_args!(
                    "cannot write the temporary file, using memory: {error}"
                ));
                self.move_to_memory()?;
                self.append(bytes)?;
            }
            appended => appended?,
        }
        self.checksum.update(bytes);
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}
