//! Files whose commands run with the rights of whoever reads them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;

/// The reason why such a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// Others than root and the user of this process can write to the file.
    #[error("can be written by others than root and its user")]
    Open,
}

/// Reads a file that only root or the user of this process can write.
///
/// # Errors
///
/// Fails if the file cannot be read, or if others can write to it.
pub fn read(path: &Path) -> Result<String, Error> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let is_own = [0, geteuid().as_raw()].contains(&metadata.uid());
    if !is_own || metadata.mode() & 0o022 != 0 {
        return Err(Error::Open);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}
