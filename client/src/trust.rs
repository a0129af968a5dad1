//! Checks who may change what a program trusts: files with commands or passwords, and directories of its own.
//!
//! Whoever may write to a directory can put another file in the place of any file in it, so the directory of a file counts as much as the
//! file. Directories further above are the administrator's: checkouts and homes are often open to a group.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// The bit of a directory, such as /tmp, in which nobody can replace files of others.
const STICKY: u32 = 0o1000;

/// The reason why a file or a directory is not trusted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or directory cannot be looked at.
    #[error("{}: {cause}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// Another user can change the file or directory.
    #[error(
        "{} belongs to another user (uid {owner}), who can change it: run this command as that user, or give it to root or to the \
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
    #[error("{} can be written by others than its owner, who can replace what is in it; chmod go-w it", .0.display())]
    Open(PathBuf),
}

/// Fails unless a file or directory belongs to root or to the user of this process.
///
/// # Errors
///
/// [`Error::Foreign`] names the path and its owner.
pub fn owner(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    match metadata.uid() {
        0 => Ok(()),
        own if own == geteuid().as_raw() => Ok(()),
        owner => Err(Error::Foreign {
            path: path.to_owned(),
            owner,
        }),
    }
}

/// Fails if others than root and the user of this process can write to a directory, or put another one in its place.
///
/// # Errors
///
/// Names the directory that they can change.
pub fn directory(path: &Path) -> Result<(), Error> {
    place(path)?;
    let metadata = fs::metadata(path).map_err(unreadable(path))?;
    owner(path, &metadata)?;
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(Error::Open(path.to_owned())),
    }
}

/// Fails if others than root and the user of this process can put something else in the place of what is at a path. Where the path is a
/// link, the directories of the link and of what it stands for count.
///
/// # Errors
///
/// Names the directory that they can change.
pub fn place(path: &Path) -> Result<(), Error> {
    let real = path.canonicalize().map_err(unreadable(path))?;
    for path in [path, &real] {
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        let metadata = fs::metadata(parent).map_err(unreadable(parent))?;
        owner(parent, &metadata)?;
        if metadata.mode() & 0o022 != 0 && metadata.mode() & STICKY == 0 {
            return Err(Error::Open(parent.to_owned()));
        }
    }
    Ok(())
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> Error {
    move |cause| Error::Unreadable {
        path: path.to_owned(),
        cause,
    }
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
            // Everybody adds files to a directory such as /tmp, and nobody replaces those of others.
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
                error.contains("own belongs to another user (uid 65534)"),
                "{error}"
            );
        }
    }
}
