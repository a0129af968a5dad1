//! Runs programs to their ends or to a time limit, and reads pipes until a deadline.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

#[cfg(test)]
mod tests;

/// The size of a read. Linux pipes hold at most 64 KiB by default, so one read empties a pipe.
const PIECE: usize = 64 << 10;

/// The number of bytes of a program's stderr that are kept.
const MOST_MESSAGES: usize = 64 << 10;

/// The time without data after which a stream is left whose end is not waited for.
const QUIET: Duration = Duration::from_millis(1);

/// The pause between two checks whether a program has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// The programs that are running.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Kills all programs that are running, before this one ends: a connection that hangs would outlive it.
pub fn end_all() {
    running().iter().copied().for_each(kill_group);
}

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill_group(process: Pid) {
    // This fails only if the group has ended.
    let _ = kill_process_group(process, Signal::KILL);
}

/// The exit status of a program, or `None` if it did not end within its time limit, and the lines that it printed on its stderr, except
/// blank ones.
pub type ExitOutcome = (Option<ExitStatus>, Vec<String>);

/// A program in a new process group, which is killed when the value is dropped.
pub struct Process {
    started: Instant,
    child: Child,
    ended: bool,
}

impl Process {
    /// Starts a program.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let started = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        running().push(Pid::from_child(&child));
        Ok(Self {
            started,
            child,
            ended: false,
        })
    }

    /// Passes on the output of the program, each piece with its time since the start, until the program ends or the time is over.
    /// The end of stderr may not come: a connection that ssh keeps open for later commands (`ControlPersist`) holds it.
    pub fn finish<E: From<io::Error>>(
        &mut self,
        limit: Duration,
        waits_for_stderr: bool,
        mut sink: impl FnMut(&[u8], Duration) -> Result<(), E>,
    ) -> Result<ExitOutcome, E> {
        let (start, deadline) = (self.started, self.started + limit);
        let mut said = Vec::new();
        let text = self.child.stdout.take().map(|source| Stream {
            source: Box::new(source),
            sink: Box::new(|text| sink(text, start.elapsed())),
            has_end: true,
        });
        let messages = self.child.stderr.take().map(|source| Stream {
            source: Box::new(source),
            sink: Box::new(|text| {
                said.extend_from_slice(&text[..text.len().min(MOST_MESSAGES - said.len())]);
                Ok(())
            }),
            has_end: waits_for_stderr,
        });
        let status = match pump(text.into_iter().chain(messages).collect(), deadline)? {
            true => self.wait(deadline)?,
            false => None,
        };
        let said = String::from_utf8_lossy(&said);
        let said = said.lines().filter(|line| !line.trim().is_empty());
        Ok((status, said.map(str::to_owned).collect()))
    }

    /// Kills the program with all that it started, unless it has ended. Returns false if it is not gone within this time: a process
    /// inside the kernel cannot be killed.
    pub fn kill(&mut self, patience: Duration) -> io::Result<bool> {
        if !self.ended {
            kill_group(Pid::from_child(&self.child));
            self.wait(Instant::now() + patience)?;
        }
        Ok(self.ended)
    }

    /// Returns the number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn wait(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.look()?;
            if self.ended || Instant::now() >= deadline {
                return Ok(status);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Checks whether the program has ended, and forgets its process ID then, which may be reused.
    fn look(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut running = running();
        let status = self.child.try_wait()?;
        if status.is_some() {
            self.ended = true;
            let own = Pid::from_child(&self.child);
            running.retain(|process| *process != own);
        }
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        while self.kill(Duration::from_secs(3600)).is_ok_and(|gone| !gone) {}
    }
}

/// Describes how a program ended.
pub fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// A source, and the sink that takes its bytes.
pub struct Stream<'a, E> {
    /// A pipe, a file or a terminal.
    pub source: Box<dyn Source + 'a>,
    /// The function that takes each piece.
    pub sink: Sink<'a, E>,
    /// True if the end of the source is waited for.
    pub has_end: bool,
}

/// A function that takes pieces.
pub type Sink<'a, E> = Box<dyn FnMut(&[u8]) -> Result<(), E> + 'a>;

/// A source that can be polled and read.
pub trait Source: Read + AsFd {}
impl<S: Read + AsFd> Source for S {}

/// Reads several streams at once, each to its end. Returns false if the deadline came first.
pub fn pump<E: From<io::Error>>(
    mut streams: Vec<Stream<'_, E>>,
    deadline: Instant,
) -> Result<bool, E> {
    let mut buffer = vec![0; PIECE];
    while !streams.is_empty() {
        let has_end = streams.iter().any(|stream| stream.has_end);
        let left = match has_end {
            true => deadline.saturating_duration_since(Instant::now()),
            false => QUIET,
        };
        if left.is_zero() {
            return Ok(false);
        }
        let ready = wait(&streams, left)?;
        if ready.is_empty() && !has_end {
            break;
        }
        // The indices run from last to first, so that a removal moves no stream that is still to be read.
        for index in ready.into_iter().rev() {
            let stream = &mut streams[index];
            match stream.source.read(&mut buffer) {
                Ok(0) => drop(streams.remove(index)),
                Ok(read) => (stream.sink)(&buffer[..read])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(true)
}

/// Waits, and returns the indices of the streams that have data or have ended.
fn wait<E>(streams: &[Stream<'_, E>], left: Duration) -> io::Result<Vec<usize>> {
    let waiting = streams.iter();
    let waiting = waiting.map(|it| PollFd::from_borrowed_fd(it.source.as_fd(), PollFlags::IN));
    let mut waiting: Vec<_> = waiting.collect();
    match poll(&mut waiting, Timespec::try_from(left).ok().as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = waiting.iter().enumerate();
    let ready = ready.filter(|(_, stream)| !stream.revents().is_empty());
    Ok(ready.map(|(index, _)| index).collect())
}
