//! The commands.

mod doctor;
mod error;
pub mod options;
mod probe;
mod record;
mod replay;
mod requeue;
mod shipper;
mod status;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::CommandFactory;
use jobstats_client::program::generate;

pub use error::{CommandError, USAGE};
pub use options::Options;

use crate::commands::options::Command;
use crate::commands::shipper::Shipper;
use crate::read::schedule::Schedule;
use crate::read::sources::sources;

impl Command {
    /// Executes the command and returns its exit code.
    pub fn execute(self) -> Result<ExitCode, CommandError> {
        match self {
            Self::Once(once) => {
                let (reader, origin) = (&once.common.reader, &once.common.origin);
                let sources = sources(reader, origin, Some(&once.input), Duration::ZERO)?;
                let server = reader.identity.server_name().server;
                let shipper = Shipper::of(once.common, sources)?;
                if let Some(spread) = once.spread {
                    thread::sleep(Schedule::new(spread, &server).offset());
                }
                shipper.once()?;
            }
            Self::Run(run) => {
                let sources = sources(&run.common.reader, &run.common.origin, None, run.interval)?;
                Shipper::of(run.common, sources)?.run()?;
            }
            Self::Record(options) => record::execute(options)?,
            Self::Probe(options) => probe::execute(options)?,
            Self::ProbeDirectory(attempt) => attempt.execute(),
            Self::Replay(options) => replay::execute(options)?,
            Self::Requeue(options) => requeue::execute(options)?,
            Self::Doctor(options) => return Ok(doctor::execute(options)),
            Self::Status(options) => return Ok(status::execute(&options)),
            Self::Generate { directory } => {
                generate::write(&Options::command(), &directory).map_err(CommandError::Generate)?
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
