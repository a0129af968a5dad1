//! Runs a command of the shell and takes what it prints as the text of a source.

use std::io;
use std::process::Command;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::spool::Covers;

use crate::frame::{Reading, Recorder};
use crate::system::lock::Lock;
use crate::system::message::{self, warn};
use crate::system::process::{Ended, Process, ending};

/// An error that prevents a reading.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no shell.
    #[error("/bin/sh cannot be run: {0}")]
    NotRun(io::Error),
    /// The command took too long.
    #[error(
        "the command did not end within {timeout:?} and was killed; its output is dropped{}",
        message::list(said)
    )]
    TimedOut {
        /// The time limit.
        timeout: Duration,
        /// The lines that the command printed on its stderr.
        said: Vec<String>,
    },
    /// The command ended with an error.
    #[error(
        "the command ended with {ending}; its output is dropped{}",
        message::list(said)
    )]
    Failed {
        /// The exit code or signal.
        ending: String,
        /// The lines that the command printed on its stderr.
        said: Vec<String>,
    },
    /// The command printed nothing.
    #[error("the command printed nothing{}", message::list(.0))]
    Empty(Vec<String>),
    /// The pipe or the temporary file failed.
    #[error("the reading failed: {0}")]
    Io(#[from] io::Error),
}

/// A command of the shell, and the source of what it prints.
#[derive(Debug, Clone)]
pub struct Script {
    /// The name in messages.
    pub name: String,
    /// The source of the text.
    pub source: String,
    /// The command.
    pub command: String,
    /// The time before the start of the command from which on the text has everything.
    pub covers: Option<Duration>,
    /// The time limit of a call.
    pub timeout: Duration,
    /// The largest reading in bytes, when compressed.
    pub most: u64,
}

impl Script {
    /// Runs the command.
    pub fn read(&self, lock: &Lock) -> Result<Reading, Error> {
        let started = Timestamp::now();
        let mut recorder = Recorder::of(&self.source, self.most);
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(&self.command);
        let process = Process::start(&mut shell, &self.name, Some(lock)).map_err(Error::NotRun)?;
        let Ended { status, said } =
            process.finish(self.timeout, |text, at| recorder.push(text, at))?;
        let Some(status) = status else {
            let timeout = self.timeout;
            return Err(Error::TimedOut { timeout, said });
        };
        if !status.success() {
            let ending = ending(status);
            return Err(Error::Failed { ending, said });
        }
        let mut reading = recorder.finish()?;
        if reading.texts.is_empty() {
            return Err(Error::Empty(said));
        }
        reading.covers = self.covers.map(|span| before(started, span));
        for line in said {
            warn(format_args!("{}: {line}", self.name));
        }
        Ok(reading)
    }
}

/// Returns the span that ends at a time.
pub fn before(until: Timestamp, span: Duration) -> Covers {
    let span = SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX);
    Covers {
        since: until.saturating_sub(span).unwrap_or(Timestamp::MIN),
        until,
    }
}
