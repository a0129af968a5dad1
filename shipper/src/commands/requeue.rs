//! The command `requeue`: it takes back readings that were set aside, so that they are sent again.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use jobstats_client::FileError;
use jobstats_client::spool::Directory;

use crate::commands::CommandError;
use crate::spool::DeliveryError;
use crate::system::message::{self, notice};

/// The options of `requeue`.
#[derive(Debug, Args)]
pub struct Options {
    /// Numbers of scrapes, as in their file names [default: all set-aside scrapes]
    #[arg(value_name = "NUMBER")]
    pub numbers: Vec<u64>,
    /// Directory of the spool, as given to `once` or `run`
    #[arg(long, value_name = "DIRECTORY")]
    pub spool: PathBuf,
}

/// Moves the readings back to the queue. The shipper may run at the same time.
///
/// # Errors
///
/// Fails if the spool cannot be used, or if a requested reading is not set aside.
pub fn execute(options: Options) -> Result<(), CommandError> {
    let Options { numbers, spool } = options;
    let wanted: BTreeSet<u64> = numbers.into_iter().collect();
    let requeued = Directory::open(&spool).and_then(|directory| {
        let mut requeued = 0;
        for entry in directory.rejected()? {
            if wanted.is_empty() || wanted.contains(&entry.sequence) {
                requeued += u64::from(directory.requeue(&entry)?);
            }
        }
        Ok(requeued)
    });
    let requeued =
        requeued.map_err(|cause| DeliveryError::Directory(FileError::at(&spool)(cause)))?;
    if requeued > 0 {
        let (waiting, path) = (message::waiting(requeued), spool.display());
        notice(format_args!(
            "{waiting} again in {path}; the next once or run sends them"
        ));
    }
    match requeued < (wanted.len() as u64).max(1) {
        true => Err(CommandError::NothingSetAside(spool)),
        false => Ok(()),
    }
}
