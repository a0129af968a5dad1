//! Allows one instance per server at a time.

use std::env;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::geteuid;

/// An error that prevents the lock.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another instance holds the lock.
    #[error("another instance is running: {} is locked", .0.display())]
    Taken(PathBuf),
    /// The lock file cannot be used.
    #[error("lock file {}: {cause}", path.display())]
    Unusable {
        /// The path of the lock file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
}

/// The lock, held as long as this value lives. The file is never removed: after a removal, two instances could lock two
/// files of one name.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Releases the lock, also where a child has inherited it.
    fn drop(&mut self) {
        // If this fails, the lock is released when the last process that has the file open ends.
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock, or fails at once if another instance holds it.
    pub fn take(path: &Path) -> Result<Self, Error> {
        let unusable = |cause| Error::Unusable {
            path: path.to_owned(),
            cause,
        };
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .mode(0o600)
            // In a directory where everybody may create files, a link could stand for somebody else's file.
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
            .map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(Error::Taken(path.to_owned())),
            Err(TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }
}

impl Lock {
    /// Lets children inherit the lock. If this process is killed, the lock is then held until they have ended, so that no
    /// second lctl starts beside one that is still running.
    pub fn inherited(self) -> io::Result<Self> {
        fcntl_setfd(&self.file, FdFlags::empty())?;
        Ok(self)
    }
}

/// Returns the path of the lock for this server: in /run for root, in the temporary directory for other users.
pub fn default_path(server: &str) -> PathBuf {
    let server = server.replace(
        |c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c),
        "_",
    );
    let user = geteuid();
    if user.is_root() {
        PathBuf::from(format!("/run/jobstats-shipper.{server}.lock"))
    } else {
        env::temp_dir().join(format!("jobstats-shipper.{}.{server}.lock", user.as_raw()))
    }
}
