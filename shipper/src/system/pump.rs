//! Reads several pipes to their ends at once, until a deadline.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The size of a read. Linux pipes hold at most 64 KiB by default, so one read empties a pipe.
const PIECE: usize = 64 << 10;

/// A source and the sink that takes its bytes.
pub struct Stream<'a> {
    /// A pipe, a file or a terminal.
    pub source: Box<dyn Source + 'a>,
    /// The function that takes each piece.
    pub sink: Sink<'a>,
}

/// A function that takes pieces of text.
pub type Sink<'a> = Box<dyn FnMut(&[u8]) -> io::Result<()> + 'a>;

/// A source that can be polled and read.
pub trait Source: Read + AsFd {}
impl<S: Read + AsFd> Source for S {}

/// Reads every stream to its end. Returns false if the deadline came first.
pub fn pump(mut streams: Vec<Stream<'_>>, deadline: Instant) -> io::Result<bool> {
    let mut buffer = vec![0; PIECE];
    while !streams.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        // The indices run from last to first, so that a removal moves no stream that is still to be read.
        for index in wait(&streams, left)?.into_iter().rev() {
            if !streams[index].take(&mut buffer)? {
                streams.remove(index);
            }
        }
    }
    Ok(true)
}

impl Stream<'_> {
    /// Reads once. Returns false at the end of the stream.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.source.read(buffer) {
            Ok(0) => Ok(false),
            Ok(read) => (self.sink)(&buffer[..read]).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Waits, and returns the indices of the streams that have data or have ended.
fn wait(streams: &[Stream<'_>], left: Duration) -> io::Result<Vec<usize>> {
    let mut waiting: Vec<_> = streams
        .iter()
        .map(|stream| PollFd::from_borrowed_fd(stream.source.as_fd(), PollFlags::IN))
        .collect();
    let left = Timespec::try_from(left).ok();
    match poll(&mut waiting, left.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = waiting
        .iter()
        .enumerate()
        .filter(|(_, stream)| !stream.revents().is_empty());
    Ok(ready.map(|(index, _)| index).collect())
}
