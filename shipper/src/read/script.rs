//! Runs a command of the shell and takes its output as the text of a source.

use std::process::Command;
use std::time::Duration;

use jiff::Timestamp;
use jobstats_client::program::process::ending;
use jobstats_client::spool::Covers;

use crate::frame::Reading;
use crate::read::error::ReadError;
use crate::read::sources::Source;
use crate::system::lock::Lock;
use crate::system::message::warn;
use crate::system::process;

/// Runs a command. The text has everything from this time before the start of the command on.
pub fn read(
    source: &Source,
    command: &str,
    covers: Option<Duration>,
    lock: Option<&Lock>,
) -> Result<Reading, ReadError> {
    let started = Timestamp::now();
    let mut recorder = source.recorder();
    let mut shell = Command::new("/bin/sh");
    let shell = process::start(shell.arg("-c").arg(command), lock).map_err(ReadError::NoShell)?;
    let (status, said) = source.finish(shell, "the command", &mut recorder)?;
    if !status.success() {
        return Err(ReadError::Failed {
            program: "the command",
            ending: ending(status),
            said,
        });
    }
    let mut reading = recorder.finish()?;
    if reading.index.texts.is_empty() {
        return Err(ReadError::NothingPrinted(said));
    }
    reading.index.covers = covers.map(|span| Covers {
        since: started.saturating_sub(span).unwrap_or(Timestamp::MIN),
        until: started,
    });
    for line in said {
        warn(format_args!("{}: {line}", source.name));
    }
    Ok(reading)
}
