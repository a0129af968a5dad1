//! Plays the `job_stats` of a whole Lustre cluster from a seed, and knows the truth about them.
//!
//! # The rooms
//!
//! A room uses only rooms that stand below it.
//!
//! | room | task |
//! |---|---|
//! | [`commands`] | runs the commands of the command line |
//! | [`store`] | loads a cluster into a store, asks the store, and compares its answers with the truth |
//! | [`truth`] | sums up all work and the part of it that nobody can know, and attributes identifiers to jobs |
//! | [`accounting`] | knows the jobs that accounting has seen at a time, and prints the texts of each scheduler |
//! | [`printing`] | prints the texts of servers, with all that can go wrong in them |
//! | [`world`] | a cluster, its disturbances, its users and programs, and its targets as time goes by |
//! | [`jobs`] | draws the people of a site, their jobs, and the activities of these; has the interface of a scheduler |
//! | [`lustre`] | lists requests and counters, and the form that each release gives them |
//! | [`random`], [`time`], [`failure`] | draw by a seed, keep the time of the simulated world, and describe why a command failed |

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

use std::process::ExitCode;

use clap::Parser;

mod accounting;
mod commands;
mod failure;
mod jobs;
mod lustre;
mod printing;
mod random;
mod store;
#[cfg(test)]
mod tests;
mod time;
mod truth;
mod world;

use crate::commands::cli::Cli;

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
