//! Files with commands, which run with the rights of whoever reads them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::trust;

/// The reason why such a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// Others than root and the user of this process can write to the file.
    #[error("{} can be written by others than root and its user: give it to root or to that user, and chmod 644 it", .0.display())]
    Writable(PathBuf),
    /// Others can put another file in its place.
    #[error(transparent)]
    Directory(#[from] trust::Error),
}

/// Reads a file that only root or the user of this process can write.
///
/// # Errors
///
/// Fails if the file cannot be read, or if others can write to it or to its directory.
pub fn read(path: &Path) -> Result<String, Error> {
    let unreadable = |cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if trust::owner(path, &metadata).is_err() || metadata.mode() & 0o022 != 0 {
        return Err(Error::Writable(path.to_owned()));
    }
    trust::place(path)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, chown};

    use rustix::process::geteuid;

    use super::*;

    #[test]
    fn a_file_that_others_can_write_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), "command = 'x'\n").unwrap();
        let read_with = |mode| {
            set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            read(file.path())
        };
        assert_eq!(read_with(0o644).unwrap(), "command = 'x'\n");
        for mode in [0o664, 0o646] {
            let error = read_with(mode).unwrap_err();
            assert!(matches!(error, Error::Writable(_)), "{mode:o}");
            let path = file.path().display();
            assert_eq!(
                error.to_string(),
                format!(
                    "{path} can be written by others than root and its user: give it to root or to that user, and chmod 644 it"
                )
            );
        }
        // Whoever can write to its directory can replace it.
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("sources.toml");
        write(&copy, "").unwrap();
        assert!(read(&copy).is_ok());
        set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            read(&copy),
            Err(Error::Directory(trust::Error::Open(_)))
        ));
        // Only root can give the file away.
        if geteuid().is_root() {
            chown(file.path(), Some(65534), None).unwrap();
            assert!(matches!(read_with(0o600), Err(Error::Writable(_))));
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = read(Path::new("/nonexistent/file")).unwrap_err();
        assert!(
            error.to_string().starts_with("/nonexistent/file: "),
            "{error}"
        );
    }
}
