//! Runs `lctl get_param` and decides whether its output counts.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use crate::message::{self, warn};
use crate::notify;
use crate::pump::{Stream, pump};
use crate::reading::{Reading, Recorder};

mod leash;
#[cfg(test)]
mod tests;

/// The parameters to read. The cleanup intervals come first, so that each is known before the text that it explains.
pub const PATTERNS: [&str; 4] = [
    "mdt.*.job_cleanup_interval",
    "obdfilter.*.job_cleanup_interval",
    "mdt.*.job_stats",
    "obdfilter.*.job_stats",
];

/// The exit codes of lctl when a pattern matches nothing: ENOENT, and ESRCH of Lustre 2.5.
const NO_MATCH: [i32; 2] = [2, 3];

/// The number of bytes of lctl's stderr that are kept.
const MOST_MESSAGES: usize = 16 << 10;

/// The time to wait for a killed lctl before reporting that it is stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// An error that prevents a reading.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program does not exist or must not be run.
    #[error("{} cannot be run: {cause}; --lctl gives its path", path.display())]
    NotRun {
        /// The path of the program.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// lctl took too long.
    #[error(
        "lctl did not end within {timeout:?} and was killed; its output is dropped{}",
        message::list(said)
    )]
    TimedOut {
        /// The time limit.
        timeout: Duration,
        /// The lines that lctl printed on its stderr.
        said: Vec<String>,
    },
    /// lctl ended with an error.
    #[error(
        "lctl ended with {ending}; its output is dropped{}",
        message::list(said)
    )]
    Failed {
        /// The exit code or signal.
        ending: String,
        /// The lines that lctl printed on its stderr.
        said: Vec<String>,
    },
    /// lctl ended well, but could not read a parameter.
    #[error("lctl could not read everything; its output is dropped{}", message::list(.0))]
    Incomplete(Vec<String>),
    /// lctl ended with the exit code of a pattern that matched nothing, which hid that a text was cut.
    #[error("the output of lctl ends in mid line: a target went away; it is dropped")]
    Cut,
    /// lctl printed something else than asked for, or nothing at all without saying why.
    #[error("the output of lctl names no target with job_stats; it is dropped{}", message::list(.0))]
    Unknown(Vec<String>),
    /// This server has neither an MDT nor an OST.
    #[error("lctl finds no target with job_stats on this server")]
    NoTarget,
    /// The pipe or the temporary file failed.
    #[error("the reading failed: {0}")]
    Io(#[from] io::Error),
}

/// The lctl to run and its time limit.
#[derive(Debug, Clone)]
pub struct Lctl {
    /// The path of the program.
    pub path: PathBuf,
    /// The time limit of a call.
    pub timeout: Duration,
    /// The largest reading in bytes, when compressed.
    pub most: u64,
}

impl Lctl {
    /// Reads all targets of this server.
    pub fn read(&self) -> Result<Reading, Error> {
        let start = Instant::now();
        let deadline = start + self.timeout;
        let mut recorder = Recorder::start(self.most);
        let mut said = Vec::new();
        let mut running = Running::start(&self.path)?;
        let streams = running.streams(
            |text| recorder.push(text, start.elapsed()),
            |text| {
                said.extend_from_slice(&text[..text.len().min(MOST_MESSAGES - said.len())]);
                Ok(())
            },
        );
        let ended = if pump(streams, deadline)? {
            running.wait_until(deadline)?
        } else {
            None
        };
        let Some(status) = ended else {
            running.kill()?;
            return Err(Error::TimedOut {
                timeout: self.timeout,
                said: lines(&said),
            });
        };
        let reading = recorder.finish()?;
        judge(status, &lines(&said), &reading, geteuid().is_root())?;
        Ok(reading)
    }
}

/// A child in a process group of its own, which is killed when this value is dropped or this process ends.
struct Running {
    child: Child,
    ended: bool,
}

impl Running {
    fn start(path: &Path) -> Result<Self, Error> {
        let child = leash::tie(&mut Command::new(path))
            .arg("get_param")
            .args(PATTERNS)
            // The messages of lctl are compared, so they must be in English.
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|cause| Error::NotRun {
                path: path.to_owned(),
                cause,
            })?;
        Ok(Self {
            child,
            ended: false,
        })
    }

    fn streams<'a>(
        &mut self,
        on_text: impl FnMut(&[u8]) -> io::Result<()> + 'a,
        on_message: impl FnMut(&[u8]) -> io::Result<()> + 'a,
    ) -> Vec<Stream<'a>> {
        let text = self.child.stdout.take().map(|source| Stream {
            source: Box::new(source),
            sink: Box::new(on_text),
        });
        let messages = self.child.stderr.take().map(|source| Stream {
            source: Box::new(source),
            sink: Box::new(on_message),
        });
        text.into_iter().chain(messages).collect()
    }

    fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.child.try_wait()?;
            self.ended = status.is_some();
            if self.ended || Instant::now() >= deadline {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills lctl with all that it started, and waits until it is gone. A process inside the kernel cannot be killed,
    /// and a second lctl beside it would only wait for the same lock.
    fn kill(&mut self) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        // This fails only if nothing is left to kill.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        if self.wait_until(Instant::now() + PATIENCE)?.is_none() {
            warn(format_args!(
                "lctl (process {}) is stuck in the kernel; waiting for it",
                self.child.id()
            ));
            notify::rest();
            self.child.wait()?;
            notify::beat();
            self.ended = true;
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing more can be done about a failure here.
        let _ = self.kill();
    }
}

/// Decides whether the reading counts, and reports the messages of lctl.
///
/// From 2.16 on, lctl tells only root that a pattern matched nothing: `is_root` says who runs lctl. To others the exit code
/// must say so.
fn judge(
    status: ExitStatus,
    said: &[String],
    reading: &Reading,
    is_root: bool,
) -> Result<(), Error> {
    let (no_match, other): (Vec<_>, Vec<_>) =
        said.iter().cloned().partition(|line| is_no_match(line));
    let ended_without_match = status.code().is_some_and(|code| NO_MATCH.contains(&code));
    let has_no_match = !no_match.is_empty() || (ended_without_match && !is_root);
    let only_no_match = ended_without_match && has_no_match;
    // A line that is no error, such as a warning of the linker, says nothing about the reading.
    let has_error = other.iter().any(|line| is_error(line));
    let is_well = status.success() || (only_no_match && !has_error);
    if !is_well {
        return Err(Error::Failed {
            ending: ending(status),
            said: said.to_vec(),
        });
    }
    if other.iter().any(|line| is_unread(line)) {
        return Err(Error::Incomplete(other));
    }
    if reading.texts.is_empty() && has_no_match {
        return Err(Error::NoTarget);
    }
    if !reading.has_target() {
        return Err(Error::Unknown(other));
    }
    // Up to Lustre 2.12, lctl skips a target that goes away during the poll without a message, and the exit code of a
    // pattern that matched nothing before hides the failure.
    if !status.success() && !reading.whole {
        return Err(Error::Cut);
    }
    for line in other {
        warn(format_args!("lctl: {line}"));
    }
    Ok(())
}

/// Returns true if the message says that a pattern matched nothing. This is normal: on an OSS nothing matches `mdt.*`,
/// on an MDS nothing matches `obdfilter.*`.
fn is_no_match(line: &str) -> bool {
    line.starts_with("error: get_param: ")
        && PATTERNS
            .iter()
            .any(|pattern| line.contains(pattern) || line.contains(&pattern.replace('.', "/")))
        && (line.ends_with("No such file or directory") || line.ends_with("Found no match"))
}

/// Returns true if the message says that a parameter could not be read. Lustre 2.5 and 2.17 can still end with exit
/// code 0.
fn is_unread(line: &str) -> bool {
    is_error(line) && (line.contains("job_stats") || line.contains("job_cleanup_interval"))
}

fn is_error(line: &str) -> bool {
    line.starts_with("error: ")
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

fn lines(said: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(said)
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.trim().is_empty())
        .collect()
}
