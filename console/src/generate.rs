//! Writes the manual pages and the completions of shells, which packages install, from the definition of the command line.

use std::io;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::options::Options;

/// The shells that packages install completions for.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// An error that prevents a file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", directory.display())]
pub struct Error {
    directory: PathBuf,
    #[source]
    cause: io::Error,
}

/// Writes a manual page for the program and for each command, and a completion for each shell.
///
/// # Errors
///
/// Fails if the directory does not exist or a file cannot be written.
pub fn write(directory: &Path) -> Result<(), Error> {
    let failed = |cause| Error {
        directory: directory.to_owned(),
        cause,
    };
    let mut command = Options::command();
    let name = command.get_name().to_owned();
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut command, &name, directory).map_err(failed)?;
    }
    // A page about the command `help` would say nothing.
    let documented = Options::command().disable_help_subcommand(true);
    clap_mangen::generate_to(documented, directory).map_err(failed)
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
