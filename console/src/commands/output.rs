//! Writes answers to files and the standard output.

use std::fs;
use std::io::{self, Write, stdout};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jobstats_client::files::file::{FileError, directory_of};
use rustix::process::geteuid;
use tempfile::NamedTempFile;

use crate::ask::error::Error;

/// Writes a page to a file or to the standard output.
pub fn write(path: &Path, document: &str) -> Result<(), Error> {
    if [Path::new("-"), Path::new("/dev/stdout")].contains(&path) {
        let mut out = stdout().lock();
        out.write_all(document.as_bytes())?;
        return Ok(out.flush()?);
    }
    let written = match is_stream(path) {
        true => fs::write(path, document),
        false => replace(path, document),
    };
    Ok(written.map_err(FileError::at(path))?)
}

/// Returns true for a pipe or a device, and for the names that the system gives to open files, such as /dev/stderr, which are links.
fn is_stream(path: &Path) -> bool {
    let is_special = |file: fs::Metadata| !(file.is_file() || file.is_dir() || file.is_symlink());
    let is_of_system = path.starts_with("/proc") || path.starts_with("/dev");
    (is_of_system && !path.starts_with("/dev/shm"))
        || fs::symlink_metadata(path).is_ok_and(is_special)
}

/// Writes a file that takes the place of the one of this name when it is complete. A page names users, so only its owner may read a new
/// one; a file that this user has opened to others stays open to them.
fn replace(path: &Path, document: &str) -> io::Result<()> {
    let mut file = NamedTempFile::new_in(directory_of(path))?;
    file.write_all(document.as_bytes())?;
    if let Ok(before) = fs::symlink_metadata(path)
        && before.is_file()
        && before.uid() == geteuid().as_raw()
    {
        file.as_file().set_permissions(before.permissions())?;
    }
    // Some file systems report a full disk only here.
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;
    use std::thread;

    use jobstats_client::program::exit;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_page_is_written_for_its_owner_and_keeps_the_mode_that_it_got() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page.html");
        write(&path, "one").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        write(&path, "two").unwrap();
        assert_eq!(mode(&path), 0o644);
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let [target, path] = ["target", "page.html"].map(|name| directory.path().join(name));
        fs::write(&target, "text").unwrap();
        symlink(&target, &path).unwrap();
        write(&path, "page").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "text");
        assert_eq!(fs::read_to_string(&path).unwrap(), "page");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn a_page_is_there_as_a_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("page.html");
        fs::create_dir(&path).unwrap();
        assert!(matches!(write(&path, "page"), Err(Error::File { .. })));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        // Who reads the page before keeps the whole of it.
        let path = directory.path().join("whole.html");
        write(&path, "one").unwrap();
        let before = fs::File::open(&path).unwrap();
        write(&path, "two").unwrap();
        assert_eq!(io::read_to_string(before).unwrap(), "one");
    }

    #[test]
    fn pipes_and_devices_are_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let reader = thread::spawn({
            let path = path.clone();
            move || fs::read_to_string(path).unwrap()
        });
        write(&path, "page").unwrap();
        assert_eq!(reader.join().unwrap(), "page");
        write(Path::new("/dev/null"), "page").unwrap();
        // Replaced by a file, these would be lost to all programs.
        for name in ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"] {
            assert!(is_stream(Path::new(name)), "{name}");
        }
        assert!(!is_stream(Path::new("/dev/shm/page.html")));
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = write(Path::new("/dev/full"), "page").unwrap_err();
        assert_eq!(full.code(), exit::SYSTEM);
    }
}
