//! Probes one directory in a process that may hang.

use std::path::PathBuf;
use std::process::Command;
use std::sync::PoisonError;
use std::time::Duration;

use jobstats_client::program::process::ending;

use crate::read::probe::fault::{BUSY, ERROR, Fault, TIMEOUT};
use crate::read::probe::turns::Steps;
use crate::system::lock::{Lock, LockError};
use crate::system::process;

/// This program, also after an upgrade has replaced its file.
pub const PROGRAM: &str = "/proc/self/exe";

/// The hidden command that probes one directory.
const COMMAND: &str = "probe-directory";

/// The program to call, the directory, and the limits.
#[derive(Debug)]
pub struct Worker {
    pub program: PathBuf,
    pub directory: PathBuf,
    /// The size of the file, or 0 to check the directory alone.
    pub size: u64,
    pub limit: Duration,
    pub lock: PathBuf,
}

impl Worker {
    /// Calls the program and takes its steps. The process has the lock of the directory as long as it lives: also after this program has ended,
    /// if it hangs.
    pub fn probe(&self, steps: &Steps) -> Result<(), Fault> {
        let lock = Lock::take(&self.lock).map_err(|error| match error {
            LockError::Taken(_) => Fault::new(BUSY, "an earlier probe has not ended"),
            LockError::Unusable(error) => Fault::new(ERROR, error),
        })?;
        let mut command = Command::new(&self.program);
        command.args([COMMAND, "--size", &self.size.to_string()]);
        command.arg(&self.directory);
        let mut failed = None;
        // Each line comes in one piece.
        let take = |text: &[u8], _| {
            for line in String::from_utf8_lossy(text).lines() {
                match step(line) {
                    Some(took) => steps
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(took),
                    None => failed = Fault::parse(line),
                }
            }
            Ok(())
        };
        let name = self.directory.display().to_string();
        let ended = process::start(&mut command, Some(&lock))
            .and_then(|process| process::finish(process, &name, self.limit, take));
        match ended.map_err(|error| Fault::new(ERROR, error))?.0 {
            None => Err(Fault::new(TIMEOUT, "the probe hangs")),
            Some(status) if !status.success() => Err(Fault::new(ERROR, ending(status))),
            Some(_) => failed.map_or(Ok(()), Err),
        }
    }
}

/// Reads the line of a step: its name and its seconds.
fn step(line: &str) -> Option<Duration> {
    let (_, seconds) = line.split_once(' ')?;
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}
