//! Allows one instance per server at a time.

use std::env;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use jobstats_client::{FileError, files::own_file};
use rustix::fs::{Access, access};
use rustix::process::geteuid;

/// The directories of the user of the packages: the unit makes the first, and the package the second.
const OF_PACKAGE: [&str; 2] = ["/run/jobstats-shipper", "/var/lib/jobstats-shipper"];

/// The most of a lock file that is read.
const MOST_TEXT: usize = 100;

/// An error that prevents the lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another instance is running: {} is locked", .0.display())]
    Taken(PathBuf),
    #[error("lock file {0}")]
    Unusable(FileError),
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
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let unusable = |cause| LockError::Unusable(FileError::at(path)(cause));
        let file = own_file::open(path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(LockError::Taken(path.to_owned())),
            Err(TryLockError::Error(cause)) => Err(unusable(cause)),
        }
    }

    fn text(&self) -> io::Result<String> {
        let mut bytes = vec![0; MOST_TEXT];
        let read = self.file.read_at(&mut bytes, 0)?;
        Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
    }

    /// Returns a line of the lock file, or an empty one. The first line has the number 0.
    pub fn line(&self, number: usize) -> io::Result<String> {
        let text = self.text()?;
        Ok(text.lines().nth(number).unwrap_or_default().to_owned())
    }

    /// Replaces a line of the lock file, which only whoever holds the lock reads and writes.
    pub fn set_line(&self, number: usize, line: &str) -> io::Result<()> {
        let text = self.text()?;
        let mut lines: Vec<&str> = text.lines().collect();
        lines.resize(lines.len().max(number + 1), "");
        lines[number] = line;
        self.file.set_len(0)?;
        let text = lines.join("\n") + "\n";
        self.file.write_all_at(text.as_bytes(), 0)
    }

    /// Returns a second descriptor of the locked file, which holds the lock too.
    pub fn try_clone(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

/// Returns the path of the lock for this server: in the first of the package's directories that exists and is writable for this user,
/// otherwise in /run for root and in the temporary directory for other users. So the unit, cron and manual calls share a lock that no other
/// user can hold.
pub fn default_path(server: &str) -> PathBuf {
    default_in(&OF_PACKAGE.map(Path::new), server)
}

fn default_in(directories: &[&Path], server: &str) -> PathBuf {
    let server = server.replace(
        |c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c),
        "_",
    );
    let user = geteuid();
    let mut directories = directories.iter();
    let is_open = |path: &&&Path| access(**path, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if let Some(directory) = directories.find(is_open) {
        directory.join(format!("{server}.lock"))
    } else if user.is_root() {
        PathBuf::from(format!("/run/jobstats-shipper.{server}.lock"))
    } else {
        env::temp_dir().join(format!("jobstats-shipper.{}.{server}.lock", user.as_raw()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_write_to_the_directory_of_the_unit_has_its_lock() {
        let [directory, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let missing = directory.path().join("missing");
        let path = |directories: [&Path; 2]| default_in(&directories, "oss 1.site");
        let own = directory.path().join("oss_1.site.lock");
        assert_eq!(path([directory.path(), other.path()]), own);
        assert_eq!(path([&missing, directory.path()]), own);
        let other = path([&missing, &missing]);
        let name = other.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("jobstats-shipper.") && name.ends_with("oss_1.site.lock"));
    }

    #[test]
    fn a_line_of_the_lock_file_changes_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let lock = Lock::take(&directory.path().join("lock")).unwrap();
        lock.set_line(1, "second").unwrap();
        lock.set_line(0, "a long first line").unwrap();
        lock.set_line(0, "first").unwrap();
        let lines = [0, 1, 2].map(|number| lock.line(number).unwrap());
        assert_eq!(lines, ["first", "second", ""]);
    }
}
