//! Reads the command line, and runs its commands.

mod events;
mod inquiry;
mod options;
mod output;
mod top;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use jobstats_client::program::exit::USAGE;
use jobstats_client::program::generate;

use crate::ask::error::Error;
use crate::export;
use crate::serve;
use crate::terminal::signals;
use crate::values::text;

use options::{Command, Options};

/// Runs the command of the command line, and returns the exit code.
pub fn run() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Help and version are errors here too, but go to stdout.
            let _ = error.print();
            let code = if error.use_stderr() { USAGE } else { 0 };
            return code.into();
        }
    };
    // A service ends by itself, and runs no commands.
    if !matches!(options.command, Command::Serve(_)) {
        signals::end_commands();
    }
    match execute(options.command) {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let lines = error.to_string();
            let lines: Vec<_> = lines.lines().map(text::shown).collect();
            eprintln!("jobstats-console: {}", lines.join("\n"));
            error.code().into()
        }
    }
}

fn execute(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Top(top) => top::run(&top)?,
        Command::Job(job) => inquiry::job(&job)?,
        Command::Jobs(jobs) => inquiry::jobs(&jobs)?,
        Command::User(user) => inquiry::user(&user)?,
        Command::Target(target) => inquiry::target(&target)?,
        Command::Compare(compare) => inquiry::compare(&compare)?,
        Command::Report(report) => inquiry::report(&report)?,
        Command::Events(options) => events::list(&options)?,
        // A plug-in has different exit codes.
        Command::Check(check) => return Ok(events::check(&check)),
        Command::Export(export) => {
            export::run(&export)?;
        }
        Command::Serve(options) => serve::run(&options)?,
        Command::Generate(generate) => generate::write(&Options::command(), &generate.directory)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_this_program() {
        let directory = tempfile::tempdir().unwrap();
        generate::write(&Options::command(), directory.path()).unwrap();
        assert!(directory.path().join("jobstats-console-top.1").exists());
        Options::command().debug_assert();
    }
}
