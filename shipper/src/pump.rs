//! Reads pipes to their ends, all at once, until a moment that is not passed.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What a pipe of Linux holds at most, so one read empties it.
const PIECE: usize = 64 << 10;

/// Something to read, and what takes it.
pub struct Stream<'a> {
    /// A pipe, a file or a terminal.
    pub source: Box<dyn Source + 'a>,
    /// Takes each piece.
    pub sink: Sink<'a>,
}

/// Takes pieces of text.
pub type Sink<'a> = Box<dyn FnMut(&[u8]) -> io::Result<()> + 'a>;

/// What can be waited for and read.
pub trait Source: Read + AsFd {}
impl<S: Read + AsFd> Source for S {}

/// Reads every stream to its end. False if that had not come by the deadline.
pub fn pump(mut streams: Vec<Stream<'_>>, deadline: Instant) -> io::Result<bool> {
    let mut buffer = vec![0; PIECE];
    while !streams.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        // From the last to the first, so that a removal moves none that is still to be read.
        for index in wait(&streams, left)?.into_iter().rev() {
            if !streams[index].take(&mut buffer)? {
                streams.remove(index);
            }
        }
    }
    Ok(true)
}

impl Stream<'_> {
    /// Reads once. False at the end.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.source.read(buffer) {
            Ok(0) => Ok(false),
            Ok(read) => (self.sink)(&buffer[..read]).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// The indices of the streams that have something to read, or have ended.
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
