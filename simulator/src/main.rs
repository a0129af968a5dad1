//! Plays the `job_stats` of a whole Lustre cluster from a seed, and knows the truth about them.
//!
//! # The rooms
//!
//! A room uses only rooms that stand below it.
//!
//! | room | task |
//! |---|---|
//! | [`commands`] | does what the command line says |
//! | [`store`] | loads a cluster into a store, asks the store, and compares its answers with the truth |
//! | [`truth`] | sums up what was done and what nobody can know of it, and judges which job an identifier belongs to |
//! | [`accounting`] | prints what schedulers know of jobs at a time |
//! | [`printing`] | prints the texts of servers, with all that can go wrong in them |
//! | [`world`] | a cluster, what goes wrong in it, who works on it, and its targets as time goes by |
//! | [`jobs`] | draws the people of a site, their jobs, and the work of these |
//! | [`lustre`] | lists requests and counters, and what each release has of them |
//! | [`random`], [`time`] | draw by a seed, and keep the time of the simulated world |

use std::process::ExitCode;

use clap::Parser;

mod accounting;
mod commands;
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
