//! Reads files that a program trusts, with commands or secrets, and checks who may change them and its directories.
//!
//! Whoever may write to a directory can put another file in the place of any file in it, so the directory of a file counts as much as the
//! file. Directories further above are the administrator's: checkouts and homes are often open to a group.

use std::env;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::files::file::{FileError, directory_of};

/// The directory of the credentials that systemd gives to a service, which only the environment can name.
pub(crate) const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The sticky bit, which protects the files in a directory such as /tmp from other users.
const STICKY: u32 = 0o1000;

/// The reason why a file or a directory is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file or directory cannot be read.
    #[error(transparent)]
    Unreadable(#[from] FileError),
    /// Another user can change the file or directory.
    #[error(
        "{} is owned by another user (uid {owner}), who could change it: run this command as that user, or chown it to root or to the \
         user of this command",
        path.display()
    )]
    Foreign {
        /// The path.
        path: PathBuf,
        /// The user.
        owner: u32,
    },
    /// Others than its owner can write to the directory.
    #[error("{} is writable by other users, who could replace its files; chmod go-w it", .0.display())]
    Open(PathBuf),
    /// Others than root and the user of this process can write to a file with commands.
    #[error("{} is writable by users other than root and the user of this command: chown it to one of them, and chmod 644 it", .0.display())]
    Writable(PathBuf),
    /// Others than its owner can read or write a file that may hold a secret.
    #[error("{} may hold a secret and is accessible to other users; chmod 600 it", .0.display())]
    Exposed(PathBuf),
}

/// Reads a file with commands, which run with the rights of whoever reads them.
///
/// # Errors
///
/// Fails if others than root and the user of this process can write to the file or to its directory.
pub fn commands(path: &Path) -> Result<String, TrustError> {
    let (file, metadata) = open(path)?;
    if owner(path, &metadata).is_err() || metadata.mode() & 0o022 != 0 {
        return Err(TrustError::Writable(path.to_owned()));
    }
    place(path)?;
    Ok(io::read_to_string(file).map_err(FileError::at(path))?)
}

/// Reads a file that may hold a secret. As in libpq, a group may read a file of root.
///
/// # Errors
///
/// Fails if others have access to the file, or if its owner is neither root nor this process's user.
pub fn secret(path: &Path) -> Result<String, TrustError> {
    let (file, metadata) = open(path)?;
    // systemd opens a credential to the user of the service by an access control list, which the mode shows as access for the group.
    let is_credential =
        env::var_os(CREDENTIALS).is_some_and(|directory| path.starts_with(directory));
    if !is_credential {
        let of_others = if metadata.uid() == 0 { 0o037 } else { 0o077 };
        if metadata.mode() & of_others != 0 {
            return Err(TrustError::Exposed(path.to_owned()));
        }
        owner(path, &metadata)?;
    }
    Ok(io::read_to_string(file).map_err(FileError::at(path))?)
}

fn open(path: &Path) -> Result<(File, Metadata), FileError> {
    let file = File::open(path).map_err(FileError::at(path))?;
    let metadata = file.metadata().map_err(FileError::at(path))?;
    Ok((file, metadata))
}

/// Fails unless a file or directory belongs to root or to the user of this process.
fn owner(path: &Path, metadata: &Metadata) -> Result<(), TrustError> {
    match metadata.uid() {
        0 => Ok(()),
        own if own == geteuid().as_raw() => Ok(()),
        owner => Err(TrustError::Foreign {
            path: path.to_owned(),
            owner,
        }),
    }
}

/// Fails if others than root and the user of this process can write to a directory, or put another one in its place.
pub fn directory(path: &Path) -> Result<(), TrustError> {
    place(path)?;
    let metadata = fs::metadata(path).map_err(FileError::at(path))?;
    owner(path, &metadata)?;
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(TrustError::Open(path.to_owned())),
    }
}

/// Fails if users other than root and this process's user can replace a path. For a link, the directories of the link and of its target
/// count.
fn place(path: &Path) -> Result<(), TrustError> {
    let real = path.canonicalize().map_err(FileError::at(path))?;
    for parent in [path, &real].map(directory_of) {
        let metadata = fs::metadata(parent).map_err(FileError::at(parent))?;
        owner(parent, &metadata)?;
        if metadata.mode() & 0o022 != 0 && metadata.mode() & STICKY == 0 {
            return Err(TrustError::Open(parent.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn directories_that_others_can_write_are_not_trusted() {
        let above = tempfile::tempdir().unwrap();
        let [own, other] = ["own", "other"].map(|name| above.path().join(name));
        let (file, link) = (own.join("file"), other.join("link"));
        create_dir(&own).unwrap();
        create_dir(&other).unwrap();
        write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        let set = |path: &Path, mode| {
            set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        let trusted = || [place(&file), place(&link), directory(&own)].map(|result| result.is_ok());
        assert_eq!(trusted(), [true; 3]);
        for (path, mode, expected) in [
            (own.as_path(), 0o775, [false; 3]),
            // Everybody may add files to a directory such as /tmp, but not replace files of others.
            (own.as_path(), 0o1777, [true, true, false]),
            (other.as_path(), 0o757, [true, false, true]),
            (above.path(), 0o777, [true, true, false]),
            (above.path(), 0o1777, [true; 3]),
        ] {
            set(path, mode);
            assert_eq!(trusted(), expected, "{} {mode:o}", path.display());
            set(path, 0o755);
        }
        // Only root can give a directory away.
        if geteuid().is_root() {
            chown(&own, Some(65534), None).unwrap();
            assert_eq!(trusted(), [false; 3]);
            let error = directory(&own).unwrap_err().to_string();
            assert!(
                error.contains("own is owned by another user (uid 65534)"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_that_others_can_write_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), "command = 'x'\n").unwrap();
        let read_with = |mode| {
            set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            commands(file.path())
        };
        assert_eq!(read_with(0o644).unwrap(), "command = 'x'\n");
        for mode in [0o664, 0o646] {
            let error = read_with(mode).unwrap_err();
            assert!(matches!(error, TrustError::Writable(_)), "{mode:o}");
            let path = file.path().display();
            assert_eq!(
                error.to_string(),
                format!(
                    "{path} is writable by users other than root and the user of this command: chown it to one of them, and chmod 644 it"
                )
            );
        }
        // Whoever can write to its directory can replace it.
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("sources.toml");
        write(&copy, "").unwrap();
        assert!(commands(&copy).is_ok());
        set_permissions(directory.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(commands(&copy), Err(TrustError::Open(_))));
        // Only root can give the file away.
        if geteuid().is_root() {
            chown(file.path(), Some(65534), None).unwrap();
            assert!(matches!(read_with(0o600), Err(TrustError::Writable(_))));
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = commands(Path::new("/nonexistent/file")).unwrap_err();
        assert!(
            error.to_string().starts_with("/nonexistent/file: "),
            "{error}"
        );
    }
}
