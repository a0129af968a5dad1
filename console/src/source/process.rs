//! Runs a command of the shell to its end or to a time limit, and takes what it prints.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jobstats_core::instant::Micros;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::live::track::Arrival;
use crate::values::text;

#[cfg(test)]
mod tests;

/// The size of a read. A pipe of Linux holds 64 KiB.
const PIECE: usize = 64 << 10;

/// The number of bytes of a command's stderr that are kept.
const MOST_MESSAGES: usize = 16 << 10;

/// The number of bytes of a message that are shown.
const LONGEST_MESSAGE: usize = 200;

/// The exit codes of lctl when a pattern matches nothing: ENOENT, and ESRCH of Lustre 2.5.
const NO_MATCH: [i32; 2] = [2, 3];

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The shell cannot be run, or a pipe failed.
    #[error("the command cannot be run: {0}")]
    Io(#[from] io::Error),
    /// The command took too long.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The command ended with an error.
    #[error("{}", failure(ending, said))]
    Failed {
        /// The exit code or signal.
        ending: String,
        /// The last line that the command printed on its stderr.
        said: Option<String>,
    },
    /// The command printed too much.
    #[error("the command printed more than {0} bytes")]
    TooMuch(usize),
}

fn failure(ending: &str, said: &Option<String>) -> String {
    match said {
        Some(said) => format!("{said} ({ending})"),
        None => ending.to_owned(),
    }
}

/// The output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text, without a line that has the time.
    pub text: Vec<u8>,
    /// The time at which each piece arrived, by the clock of the server if the text begins with the time there.
    pub arrivals: Vec<Arrival>,
}

/// Runs a command that may print this many bytes.
///
/// # Errors
///
/// Fails if the command cannot be run, takes too long, prints too much or ends with an error.
pub fn run(command: &str, limit: Duration, most: usize) -> Result<Printed, Error> {
    let (started, clock) = (Timestamp::now(), Instant::now());
    let deadline = clock + limit;
    let child = Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let mut process = Process::new(child);
    let mut printed = Printed {
        text: Vec::new(),
        arrivals: Vec::new(),
    };
    let mut said = Vec::new();
    let time = || {
        // The steady clock, so that times within a reading never run backwards.
        started
            .saturating_add(clock.elapsed())
            .unwrap_or(started)
            .as_microsecond()
    };
    let in_time = process.pump(deadline, &mut said, |piece| {
        if printed.text.len() + piece.len() > most {
            return Err(Error::TooMuch(most));
        }
        printed.arrivals.push(Arrival {
            from: printed.text.len(),
            at: time(),
        });
        printed.text.extend_from_slice(piece);
        Ok(())
    })?;
    let status = if in_time {
        process.wait(deadline)?
    } else {
        None
    };
    let status = status.ok_or(Error::TimedOut(limit))?;
    judge(status, &said, !printed.text.is_empty())?;
    Ok(printed.by_clock_of_server())
}

/// The commands that are running.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// Kills all commands that are running, before the program ends: a connection that hangs would outlive it.
pub fn end_all() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for process in running.iter() {
        // This fails only if nothing is left to kill.
        let _ = kill_process_group(*process, Signal::KILL);
    }
}

/// A child in a process group of its own, which is killed unless it has ended.
struct Process {
    child: Child,
    ended: bool,
}

impl Process {
    fn new(child: Child) -> Self {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.push(Pid::from_child(&child));
        drop(running);
        Self {
            child,
            ended: false,
        }
    }

    /// Asks whether the child has ended. Its number, which may be another's soon, is forgotten then.
    fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let status = self.child.try_wait()?;
        if status.is_some() {
            self.ended = true;
            let own = Pid::from_child(&self.child);
            running.retain(|process| *process != own);
        }
        Ok(status)
    }

    /// Passes on what the child prints until its stdout ends. Returns false if the deadline came first.
    ///
    /// The end of stderr is not waited for: a connection that ssh keeps open for later commands (`ControlPersist`) holds it.
    fn pump(
        &mut self,
        deadline: Instant,
        said: &mut Vec<u8>,
        mut take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let (Some(mut out), Some(mut messages)) =
            (self.child.stdout.take(), self.child.stderr.take())
        else {
            return Ok(true);
        };
        let mut buffer = vec![0; PIECE];
        let mut has_messages = true;
        let mut keep = |piece: &[u8]| {
            let room = MOST_MESSAGES.saturating_sub(said.len());
            said.extend_from_slice(&piece[..piece.len().min(room)]);
        };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let ready = match has_messages {
                true => wait(&[out.as_fd(), messages.as_fd()], left)?,
                false => wait(&[out.as_fd()], left)?,
            };
            if ready.get(1) == Some(&true) {
                let read = read(&mut messages, &mut buffer)?;
                has_messages = read != Some(0);
                keep(&buffer[..read.unwrap_or(0)]);
            }
            if ready.first() == Some(&true) {
                match read(&mut out, &mut buffer)? {
                    Some(0) => break,
                    read => take(&buffer[..read.unwrap_or(0)])?,
                }
            }
        }
        while has_messages && wait(&[messages.as_fd()], Duration::from_millis(1))? == [true] {
            let read = read(&mut messages, &mut buffer)?;
            has_messages = read != Some(0);
            keep(&buffer[..read.unwrap_or(0)]);
        }
        Ok(true)
    }

    fn wait(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.ended()?;
            if self.ended || Instant::now() >= deadline {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        // This fails only if nothing is left to kill.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        while self.ended().is_ok_and(|status| status.is_none()) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn wait(fds: &[impl AsFd], left: Duration) -> Result<Vec<bool>, Error> {
    let mut waiting: Vec<_> = fds
        .iter()
        .map(|fd| PollFd::new(fd, PollFlags::IN))
        .collect();
    let left = Timespec::try_from(left).ok();
    match poll(&mut waiting, left.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(Error::Io(error.into())),
    }
    Ok(waiting.iter().map(|it| !it.revents().is_empty()).collect())
}

/// Reads once. Returns `None` if the read was interrupted.
fn read(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match source.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        read => read.map(Some),
    }
}

/// Decides whether a text counts. lctl ends with an error if one of several patterns matches nothing, which is normal.
fn judge(status: ExitStatus, said: &[u8], has_text: bool) -> Result<(), Error> {
    let said = String::from_utf8_lossy(said);
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_no_match = |line: &str| {
        line.starts_with("error: get_param: ")
            && (line.ends_with("No such file or directory") || line.ends_with("Found no match"))
    };
    let no_match = status.code().is_some_and(|code| NO_MATCH.contains(&code));
    if status.success() || no_match && has_text && lines.clone().all(is_no_match) {
        return Ok(());
    }
    let ending = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    };
    let said = lines.next_back().map(text::shown);
    let said = said.map(|said| text::cut(&said, LONGEST_MESSAGE));
    Err(Error::Failed { ending, said })
}

impl Printed {
    /// Takes the time of the server, if the text begins with a line of it: `date +%s.%N` in front of lctl prints that. A clock
    /// that differs from ours would make entries seem older or younger than they are.
    fn by_clock_of_server(mut self) -> Self {
        let end = self.text.iter().take(32).position(|byte| *byte == b'\n');
        let line = end.map(|end| (end + 1, time(&self.text[..end])));
        let (Some((begin, Some(there))), Some(first)) = (line, self.arrivals.first()) else {
            return self;
        };
        let shift = there - first.at;
        self.text.drain(..begin);
        for arrival in &mut self.arrivals {
            arrival.from = arrival.from.saturating_sub(begin);
            arrival.at = arrival.at.saturating_add(shift);
        }
        self
    }
}

/// Parses seconds since 1970, with or without a fraction.
fn time(line: &[u8]) -> Option<Micros> {
    let line = str::from_utf8(line).ok()?.trim_end();
    let (seconds, fraction) = line.split_once('.').unwrap_or((line, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !(9..=11).contains(&seconds.len()) || !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    Some(seconds.parse::<Micros>().ok()? * 1_000_000 + micros.parse::<Micros>().ok()?)
}
