//! Allows one instance per server at a time.

use std::env;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use jobstats_client::own_file;
use rustix::process::geteuid;

/// The most of a lock file that is read.
const MOST_TEXT: usize = 100;

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
        let file = own_file::open(path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(Error::Taken(path.to_owned())),
            Err(TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }
}

impl Lock {
    /// Returns the text of the lock file.
    pub fn text(&self) -> io::Result<String> {
        let mut bytes = vec![0; MOST_TEXT];
        let read = self.file.read_at(&mut bytes, 0)?;
        Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
    }

    /// Replaces the text of the lock file, which only whoever holds the lock reads and writes.
    pub fn set_text(&self, text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all_at(text.as_bytes(), 0)
    }

    /// Returns a second descriptor of the locked file, which holds the lock too.
    pub fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// Returns the path of the lock of another source than lctl.
pub fn of_source(path: &Path, name: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(format!(".{name}"));
    path.into()
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
