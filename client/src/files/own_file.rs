//! Files that a program keeps for itself, such as locks and counts.
//!
//! They may lie in a directory that others can write: root's shipper has its lock in the directory of the service's user. A link there
//! could point to any file, and a pipe would block.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::process::geteuid;
use tempfile::Builder;

use crate::files::file::{directory_of, if_there};

/// Opens a file to read it. Like the functions below it fails at a link, at all that is no file, and at a file of a user other than root,
/// this one and the owner of the directory: where all may make files, anybody could make a lock in advance and hold it.
pub fn read(path: &Path) -> io::Result<File> {
    opened(OpenOptions::new().read(true), path)
}

/// Opens a file to read it and to overwrite it.
pub fn existing(path: &Path) -> io::Result<File> {
    opened(OpenOptions::new().read(true).write(true), path)
}

/// Opens a file for reading and writing. A new file is readable by its owner only. Its owner is the directory's owner even if root
/// creates it, or the service's user could not open it.
pub fn open(path: &Path) -> io::Result<File> {
    if let Some(file) = if_there(existing(path))? {
        return Ok(file);
    }
    let mut options = OpenOptions::new();
    options.create_new(true).read(true).write(true).mode(0o600);
    match opened(&mut options, path) {
        // Somebody else has made it in the meantime.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => existing(path),
        made => {
            let made = made?;
            give(&made, path)?;
            Ok(made)
        }
    }
}

/// Replaces a file as a whole: readers find the old bytes or the new ones. The new file has a name with this prefix until then. If it is
/// `durable`, the new bytes are there after a crash too.
pub fn replace(path: &Path, prefix: &str, bytes: &[u8], durable: bool) -> io::Result<()> {
    let directory = directory_of(path);
    let mut file = Builder::new().prefix(prefix).tempfile_in(directory)?;
    file.write_all(bytes)?;
    if durable {
        file.as_file().sync_all()?;
    }
    file.persist(path)?;
    match durable {
        true => File::open(directory)?.sync_all(),
        false => Ok(()),
    }
}

/// Gives a new file of root's to the owner of its directory.
fn give(file: &File, path: &Path) -> io::Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let directory = fs::metadata(directory_of(path))?;
    match directory.uid() {
        0 => Ok(()),
        owner => fchown(file, Some(owner), Some(directory.gid())),
    }
}

fn opened(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let owner = found.uid();
    let is_own = owner == 0 || owner == geteuid().as_raw();
    match is_own || owner == fs::metadata(directory_of(path))?.uid() {
        true => Ok(file),
        false => Err(io::Error::other("owned by another user")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_file_is_made_once_and_keeps_what_it_has() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert!(read(&path).is_err());
        open(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(&path, "text").unwrap();
        open(&path).unwrap();
        assert_eq!(io::read_to_string(read(&path).unwrap()).unwrap(), "text");
    }

    #[test]
    fn a_file_of_roots_is_of_the_owner_of_its_directory() {
        // Only root can give something away.
        if geteuid().is_root() {
            let directory = tempfile::tempdir().unwrap();
            let [own, given] = ["own", "given"].map(|name| directory.path().join(name));
            open(&own).unwrap();
            std::os::unix::fs::chown(directory.path(), Some(65534), Some(65534)).unwrap();
            for _ in 0..2 {
                open(&own).unwrap();
                open(&given).unwrap();
                let owner = |path| fs::metadata(path).unwrap().uid();
                assert_eq!([owner(&own), owner(&given)], [0, 65534]);
            }
        }
    }

    #[test]
    fn a_file_of_another_user_is_not_used() {
        // Only root can give something away.
        if geteuid().is_root() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("file");
            fs::write(&path, "text").unwrap();
            std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
            assert!(read(&path).is_err() && existing(&path).is_err() && open(&path).is_err());
            std::os::unix::fs::chown(directory.path(), Some(65534), None).unwrap();
            assert!(open(&path).is_ok());
        }
    }

    #[test]
    fn links_pipes_and_directories_are_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let [target, link, loose, pipe] =
            ["target", "link", "loose", "pipe"].map(|name| directory.path().join(name));
        fs::write(&target, "text").unwrap();
        symlink(&target, &link).unwrap();
        symlink(directory.path().join("new"), &loose).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        for path in [&link, &loose, &pipe, directory.path()] {
            assert!(read(path).is_err(), "{}", path.display());
            assert!(open(path).is_err(), "{}", path.display());
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "text");
        assert!(!directory.path().join("new").exists());
    }
}
