//! The command `probe`: directories are probed again and again, and the times are sent like any other text.

use std::io::{Write, stdout};

use clap::Args;

use crate::commands::CommandError;
use crate::commands::options::Delivery;
use crate::commands::shipper::Shipper;
use crate::read::options::Identity;
use crate::read::pace::Pace;
use crate::read::probe::{self, ProbeOptions};
use crate::read::sources::Way;
use crate::system::lock::Lock;

/// The options of `probe`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    pub probe: ProbeOptions,
    /// Probe once, and print the result instead of sending it
    #[arg(long)]
    pub print: bool,
    #[command(flatten)]
    pub identity: Identity,
    #[command(flatten)]
    pub delivery: Delivery,
}

/// Probes once or repeatedly. The priority is not lowered, because probes measure what users experience.
pub fn execute(options: Options) -> Result<(), CommandError> {
    let lock = Lock::take(&probe::lock(&options.identity))?;
    let source = options.probe.source(&options.identity)?;
    if let (true, Way::Probe(probe)) = (options.print, &source.way) {
        // The reader may have gone away.
        let _ = stdout().write_all(probe.round().as_bytes());
        return Ok(());
    }
    drop(lock);
    // A round takes less than its interval.
    let pace = Pace { percent: 100 };
    Shipper::new(&options.identity, pace, vec![source], options.delivery)?.run()
}
