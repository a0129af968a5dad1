//! The command `record`: readings are kept in a directory, in the format of the spool, to be sent later by `replay`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jobstats_client::program::duration;
use jobstats_client::spool::{Directory, SpoolError};

use crate::commands::CommandError;
use crate::read::options::{Input, Reader};
use crate::read::schedule::Schedule;
use crate::read::sources::Source;
use crate::system::lock::Lock;
use crate::system::message::{info, report};
use crate::system::{notify, priority};

/// The options of `record`.
#[derive(Debug, Args)]
pub struct Options {
    /// Directory of the recording, created if missing; later scrapes are appended
    #[arg(value_name = "DIRECTORY")]
    pub directory: PathBuf,
    /// Scrape at multiples of this interval until the process is ended [default: scrape once]
    #[arg(long, value_parser = duration::parse, conflicts_with = "input")]
    pub interval: Option<Duration>,
    #[command(flatten)]
    pub reader: Reader,
    #[command(flatten)]
    pub input: Input,
}

/// Reads once, or again and again.
pub fn execute(options: Options) -> Result<(), CommandError> {
    let Options {
        directory,
        interval,
        reader,
        input,
    } = options;
    // Only its owner may read the directory, because texts name users.
    let mut builder = DirBuilder::new();
    let created = builder.recursive(true).mode(0o700).create(&directory);
    let recorder = Recorder {
        source: Source::of_job_stats(&reader, Some(&input), Duration::ZERO),
        directory: Directory::at(&directory),
    };
    created.map_err(|cause| recorder.broken(cause))?;
    let lock = Lock::take(&reader.identity.lock())?;
    priority::lower(priority::USUAL);
    let Some(interval) = interval else {
        return recorder.record(&lock);
    };
    let schedule = Schedule::new(interval, &recorder.source.server_name.server);
    notify::ready();
    loop {
        schedule.sleep();
        // A failed reading is only reported, because the next one may succeed.
        if let Err(error) = recorder.record(&lock) {
            report(error);
        }
    }
}

struct Recorder {
    source: Source,
    directory: Directory,
}

impl Recorder {
    fn record(&self, lock: &Lock) -> Result<(), CommandError> {
        let Some(reading) = self.source.read(Some(lock))? else {
            return Ok(());
        };
        let put = reading.put(&self.directory);
        let sequence = put.map_err(|cause| self.broken(cause))?;
        let (targets, bytes) = (reading.targets(), reading.packed_bytes());
        info(format_args!(
            "scrape {sequence}: {targets} targets in {bytes} bytes"
        ));
        Ok(())
    }

    fn broken(&self, cause: impl Into<SpoolError>) -> CommandError {
        CommandError::Record {
            path: self.directory.path().to_owned(),
            cause: cause.into(),
        }
    }
}
