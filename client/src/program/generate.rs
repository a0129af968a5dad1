//! Writes the manual pages and the completions of shells, which packages install, from the definition of a command line.

use std::path::Path;

use clap::Command;
use clap_complete::Shell;

use crate::files::file::FileError;

/// The shells that packages install completions for.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes a manual page for a program and for each of its commands, and a completion for each shell.
pub fn write(program: &Command, directory: &Path) -> Result<(), FileError> {
    let mut completed = program.clone();
    let name = completed.get_name().to_owned();
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut completed, &name, directory)
            .map_err(FileError::at(directory))?;
    }
    // A page about the command `help` would be empty.
    let documented = program.clone().disable_help_subcommand(true);
    clap_mangen::generate_to(documented, directory).map_err(FileError::at(directory))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_command_has_a_page_and_each_shell_a_completion() {
        let directory = tempfile::tempdir().unwrap();
        let program = Command::new("program")
            .subcommand(Command::new("shown").about("Shows"))
            .subcommand(Command::new("hidden").hide(true));
        write(&program, directory.path()).unwrap();
        let entries = fs::read_dir(directory.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(
            names,
            [
                "_program",
                "program-shown.1",
                "program.1",
                "program.bash",
                "program.fish"
            ]
        );
        let page = fs::read_to_string(directory.path().join("program-shown.1")).unwrap();
        assert!(page.contains("Shows"), "{page}");
        let failed = write(&program, Path::new("/nonexistent")).unwrap_err();
        assert!(failed.to_string().starts_with("/nonexistent: "), "{failed}");
    }
}
