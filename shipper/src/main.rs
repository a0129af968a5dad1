//! Reads `job_stats` and some other parameters of a Lustre server with `lctl get_param` and sends the text, compressed and otherwise
//! unchanged, to `jobstats.feed` in PostgreSQL. Of the format, the shipper knows only the boundaries between targets.
//!
//! # The rooms
//!
//! A room uses only rooms below it.
//!
//! | room | task |
//! |---|---|
//! | [`commands`] | executes the command line |
//! | [`read`] | reads lctl, commands, growing files and text from elsewhere, probes directories, and schedules readings |
//! | [`spool`] | stores readings until they are sent, and the clock of the last reading |
//! | [`send`] | stores texts through PostgreSQL or PostgREST |
//! | [`state`] | keeps the record that `status` shows |
//! | [`frame`] | divides readings into texts, compressed |
//! | [`system`] | locks, starts programs, writes messages, notifies systemd |

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod commands;
mod frame;
mod read;
mod send;
mod spool;
mod state;
mod system;

use std::process::ExitCode;

use clap::Parser;

use crate::commands::{Options, USAGE};
use crate::system::message;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Help and version are errors here too, but go to stdout.
            let _ = error.print();
            return match error.use_stderr() {
                true => USAGE.into(),
                false => ExitCode::SUCCESS,
            };
        }
    };
    message::show(options.messages.level());
    match options.command.execute() {
        Ok(code) => code,
        Err(error) => {
            error.report();
            error.code().into()
        }
    }
}
