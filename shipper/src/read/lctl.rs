//! Runs `lctl get_param` and decides whether its output counts.

use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rustix::process::geteuid;

use crate::frame::{Reading, Recorder};
use crate::system::lock::Lock;
use crate::system::message::{self, warn};
use crate::system::process::{Ended, Process, ending};

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
    /// Reads all targets of this server. lctl inherits the lock, if there is one.
    pub fn read(&self, lock: Option<&Lock>) -> Result<Reading, Error> {
        let mut recorder = Recorder::start(self.most);
        let mut command = Command::new(&self.path);
        command
            .arg("get_param")
            .args(PATTERNS)
            // The messages of lctl are compared, so they must be in English.
            .env("LC_ALL", "C");
        let process =
            Process::start(&mut command, "lctl", lock).map_err(|cause| Error::NotRun {
                path: self.path.clone(),
                cause,
            })?;
        let Ended { status, said } =
            process.finish(self.timeout, |text, at| recorder.push(text, at))?;
        let Some(status) = status else {
            let timeout = self.timeout;
            return Err(Error::TimedOut { timeout, said });
        };
        let reading = recorder.finish()?;
        judge(status, &said, &reading, geteuid().is_root())?;
        Ok(reading)
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
