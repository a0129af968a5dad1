//! The command `record`: readings are kept in a directory, in the format of the spool, to be sent later by `replay`.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jobstats_client::duration;
use jobstats_client::spool::{self, Directory};

use crate::commands;
use crate::frame::{LCTL, Reading, Sender};
use crate::read::lctl::Lctl;
use crate::read::options::{Input, Reader};
use crate::read::schedule::Schedule;
use crate::read::sources::ReadError;
use crate::system::lock::Lock;
use crate::system::message::{info, report};
use crate::system::{notify, priority};

/// The options of `record`.
#[derive(Debug, Args)]
pub struct Options {
    /// Directory of the recording, created if it is not there; later readings are added
    #[arg(value_name = "DIRECTORY")]
    pub directory: PathBuf,
    /// Read again and again, at multiples of this interval, until the process is ended [default: read once]
    #[arg(long, value_parser = duration::parse, conflicts_with = "input")]
    pub interval: Option<Duration>,
    /// The options of the reader.
    #[command(flatten)]
    pub reader: Reader,
    /// The options for text from elsewhere.
    #[command(flatten)]
    pub input: Input,
}

/// A reading cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("the reading cannot be written to {}: {cause}", path.display())]
pub struct Error {
    path: PathBuf,
    cause: spool::Error,
}

/// Reads once, or again and again.
///
/// # Errors
///
/// Fails if the directory or the lock cannot be used, and if a single reading cannot be made or kept.
pub fn execute(options: Options) -> Result<(), commands::Error> {
    let recorder = Recorder::new(&options)?;
    let lock = Lock::take(&options.reader.lock())?;
    priority::lower(priority::USUAL);
    let Some(interval) = options.interval else {
        return recorder.record(&options.input, &lock);
    };
    let schedule = Schedule::new(interval, &recorder.sender.server);
    notify::ready();
    loop {
        schedule.sleep();
        // A failed reading is only reported, because the next one may succeed.
        if let Err(error) = recorder.record(&options.input, &lock) {
            report(format_args!("{error}"));
        }
    }
}

struct Recorder {
    sender: Sender,
    lctl: Lctl,
    directory: Directory,
}

impl Recorder {
    fn new(options: &Options) -> Result<Self, Error> {
        let recorder = Self {
            sender: options.reader.sender(),
            lctl: options.reader.lctl(),
            directory: Directory::at(&options.directory),
        };
        create(&options.directory).map_err(|cause| recorder.broken(cause))?;
        Ok(recorder)
    }

    fn record(&self, input: &Input, lock: &Lock) -> Result<(), commands::Error> {
        let reading = self.read(input, lock).map_err(commands::Error::from)?;
        let put = reading.put(&self.directory, &self.sender);
        let sequence = put.map_err(|cause| self.broken(cause))?;
        info(format_args!(
            "reading {sequence}: {} targets in {} bytes",
            reading.texts.len(),
            reading.packed_bytes()
        ));
        Ok(())
    }

    fn read(&self, input: &Input, lock: &Lock) -> Result<Reading, ReadError> {
        match input.saved(LCTL, self.lctl.timeout, self.lctl.most) {
            Some(saved) => Ok(saved.read()?),
            None => Ok(self.lctl.read(Some(lock))?),
        }
    }

    fn broken(&self, cause: impl Into<spool::Error>) -> Error {
        Error {
            path: self.directory.path().to_owned(),
            cause: cause.into(),
        }
    }
}

/// Creates the directory for its owner only, because texts name users.
fn create(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
