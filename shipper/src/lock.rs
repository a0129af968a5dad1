//! One instance for each server at a time.

use std::env;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody else has it.
    #[error("another instance is at work: {} is locked", .0.display())]
    Taken(PathBuf),
    /// The file cannot be used.
    #[error("lock file {}: {cause}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// The lock, as long as it lives. The file stays: to remove it would let two instances lock two files of one name.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it, or says at once that it is taken.
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
            // Where everybody may make files, a link may stand for a file of somebody else.
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
            .map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Taken(path.to_owned())),
            Err(TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }
}

/// Where the lock for this server is: root's in /run, that of others among their temporary files.
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
