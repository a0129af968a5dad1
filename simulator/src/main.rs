//! The command `jobstats-simulator`.

use std::process::ExitCode;

use clap::Parser;
use jobstats_simulator::Cli;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jobstats-simulator: {error}");
            ExitCode::FAILURE
        }
    }
}
