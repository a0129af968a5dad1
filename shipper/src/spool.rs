//! The spool: readings are on disk until the database has stored each of their texts, or until a limit drops them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jobstats_client::FileError;
use jobstats_client::spool::{Directory, DroppedCounts, Entry, Limits, Losses, SpoolError};

use crate::frame::Reading;
use crate::send::Unsent;
use crate::state::{Event, StateFile};
use crate::system::lock::{Lock, LockError};
use crate::system::message::{report, warn};

pub mod clock;
pub mod sender;

/// The lock of the sender, in the spool.
const LOCK: &str = "sending.lock";

/// An error that keeps readings waiting, or lost one.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error("the spool {0}")]
    Directory(FileError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Unsent(#[from] Unsent),
    #[error("1 damaged scrape was set aside")]
    Damaged,
    #[error("1 scrape was dropped: it could neither be written to the spool nor sent directly")]
    Dropped,
}

/// A spool with its limits.
#[derive(Debug, Clone)]
pub struct Spool {
    pub(super) directory: Directory,
    limits: Limits,
    pub(super) state: StateFile,
    /// The file that counts losses while the directory is on a read-only file system.
    spare: PathBuf,
}

/// The right to send queued readings, until this value is dropped. Nothing can be removed from a spool on a read-only file system, so it
/// needs no lock.
pub struct Turn {
    _lock: Option<Lock>,
}

/// Returns the file next to a lock that counts losses while the spool cannot be written.
pub fn spare(lock: &Path) -> PathBuf {
    lock.with_extension("losses")
}

impl Spool {
    /// Opens the directory. `spare` counts losses while the directory cannot be written.
    pub fn open(
        path: PathBuf,
        limits: Limits,
        state: StateFile,
        spare: PathBuf,
    ) -> Result<Self, DeliveryError> {
        let broken = |cause| DeliveryError::Directory(FileError::at(&path)(cause));
        let directory = Directory::open(&path).map_err(broken)?;
        // If this fails, the counts stay where they are.
        let _ = directory.take_counts_over(&spare);
        Ok(Self {
            directory,
            limits,
            state,
            spare,
        })
    }

    /// Returns true if the spool is on a read-only file system.
    pub fn is_read_only(&self) -> bool {
        self.directory.is_read_only()
    }

    /// Writes a reading to the disk. Gives it back if that fails, so that it can be sent at once.
    pub fn put(&self, reading: Reading) -> Option<Reading> {
        let error = self.try_put(&reading).err()?;
        let when = match self.is_read_only() {
            true => "directly; queued scrapes stay there",
            false => "after the queued scrapes",
        };
        let path = self.path().display();
        warn(format_args!(
            "cannot write the scrape to {path}: {error}; sending it {when}"
        ));
        Some(reading)
    }

    pub fn try_put(&self, reading: &Reading) -> Result<(), SpoolError> {
        if reading.packed_bytes() > self.limits.bytes {
            return Err(io::Error::other("it is larger than --spool-size").into());
        }
        reading.put(&self.directory)?;
        self.enforce();
        Ok(())
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Drops the readings that the limits do not allow, and reports it.
    fn enforce(&self) {
        let path = self.path().display();
        let dropped = match self.directory.enforce(self.limits, SystemTime::now()) {
            Ok(dropped) => dropped,
            Err(error) => {
                return report(format_args!("cannot enforce the limits of {path}: {error}"));
            }
        };
        let DroppedCounts { waiting, rejected } = dropped;
        if dropped != DroppedCounts::default() {
            self.count(|losses| losses.limits = waiting);
            report(format_args!(
                "dropped {waiting} queued and {rejected} set-aside scrapes from {path}: older than --spool-age, or over --spool-size in total"
            ));
        }
    }

    /// Counts a reading that could neither be written to the spool nor sent, and returns the error to report.
    pub fn dropped(&self) -> DeliveryError {
        self.count(|losses| losses.room = 1);
        DeliveryError::Dropped
    }

    /// Adds to the counts of lost readings. A failure is only reported: the readings are lost in any case.
    pub(super) fn count(&self, add: impl FnOnce(&mut Losses)) {
        self.state.note(Event::Lost);
        let mut losses = Losses::default();
        add(&mut losses);
        let counted = self.directory.count(losses);
        if let Err(error) = counted.or_else(|_| Losses::add(&self.spare, losses)) {
            let path = self.path().display();
            report(format_args!("cannot count losses in {path}: {error}"));
        }
    }

    /// Takes the lock of the sender. Returns `None` if another instance is sending.
    pub fn turn(&self) -> Result<Option<Turn>, DeliveryError> {
        if self.is_read_only() {
            return Ok(Some(Turn { _lock: None }));
        }
        match Lock::take(&self.path().join(LOCK)) {
            Ok(lock) => Ok(Some(Turn { _lock: Some(lock) })),
            Err(LockError::Taken(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the readings that wait, in the order of their numbers.
    pub fn waiting(&self) -> Result<Vec<Entry>, DeliveryError> {
        self.directory.waiting().map_err(|cause| self.broken(cause))
    }

    pub(super) fn broken(&self, cause: io::Error) -> DeliveryError {
        DeliveryError::Directory(FileError::at(self.path())(cause))
    }
}
