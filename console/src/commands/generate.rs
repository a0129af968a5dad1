//! Writes the manual pages and the completions of this program.

use std::path::Path;

use clap::CommandFactory;
use jobstats_client::generate;

pub use jobstats_client::FileError as Error;

use crate::commands::options::Options;

/// Writes a manual page for the program and for each command, and a completion for each shell.
///
/// # Errors
///
/// Fails if the directory does not exist or a file cannot be written.
pub fn write(directory: &Path) -> Result<(), Error> {
    generate::write(&Options::command(), directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_this_program() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path()).unwrap();
        assert!(directory.path().join("jobstats-console-top.1").exists());
        Options::command().debug_assert();
    }
}
