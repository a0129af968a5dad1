//! Writes the manual pages and the completions of this program.

use std::path::Path;

use clap::CommandFactory;
use jobstats_client::generate;

pub use jobstats_client::generate::Error;

use crate::options::Options;

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
    fn each_command_has_a_page_and_each_shell_a_completion() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path()).unwrap();
        for name in [
            "jobstats-console.1",
            "jobstats-console-top.1",
            "jobstats-console.bash",
            "_jobstats-console",
        ] {
            assert!(directory.path().join(name).exists(), "{name}");
        }
        assert!(write(Path::new("/nonexistent")).is_err());
        Options::command().debug_assert();
    }
}
