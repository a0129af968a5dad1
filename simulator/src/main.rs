//! Plays the `job_stats` of a whole Lustre cluster from a seed, and knows the truth about them.

use std::process::ExitCode;

use clap::Parser;

mod answer;
mod cli;
mod cluster;
mod compare;
mod counter;
mod database;
mod feed;
mod identifier;
mod labels;
mod layout;
mod lctl;
mod operation;
mod parallel;
mod plan;
mod play;
mod profile;
mod question;
mod random;
mod reading;
mod render;
mod report;
mod schedule;
mod scheduler;
mod tally;
mod target;
#[cfg(test)]
mod tests;
mod time;
mod totals;
mod truth;
mod work;
mod workload;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jobstats-simulator: {error}");
            ExitCode::FAILURE
        }
    }
}
