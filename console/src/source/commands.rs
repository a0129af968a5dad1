//! Runs a command for each server, all at once, and compares each output with the one before.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use rustix::system::uname;

use super::{Error, Source, Step, Update};
use crate::live::interval::Round;
use crate::live::state::{Scrape, Tracker};
use crate::source::process::{self, MOST};
use crate::source::recording::Recorder;

/// Commands that are run again and again.
pub struct Commands {
    /// For each server, the command of the shell that prints its statistics.
    pub inputs: BTreeMap<String, String>,
    /// The time limit of a command.
    pub limit: Duration,
    pub recorder: Option<Recorder>,
    pub tracker: Tracker,
}

impl Commands {
    /// Runs all commands at once, and returns their outputs in order.
    fn run(&self) -> Vec<Result<Scrape, process::Error>> {
        thread::scope(|scope| {
            let run = |command| process::run(command, self.limit, MOST);
            let commands = self.inputs.values();
            let threads: Vec<_> = commands.map(|it| scope.spawn(move || run(it))).collect();
            let ended = threads.into_iter().map(|thread| {
                let broken = || Err(std::io::Error::other("the thread ended").into());
                thread.join().unwrap_or_else(|_| broken())
            });
            ended.collect()
        })
    }
}

impl Source for Commands {
    fn step(&mut self, _step: Step) -> Result<Update, Error> {
        let printed = self.run();
        self.tracker.begin();
        let mut round = Round::default();
        for (server, printed) in self.inputs.keys().zip(printed) {
            let Ok(printed) = printed.map_err(|error| round.fail(server, error)) else {
                continue;
            };
            match self.tracker.take(server, &printed) {
                Ok(taken) => {
                    if let Some(recorder) = &self.recorder {
                        recorder.record(server, &printed, &taken.parts)?;
                    }
                    round.snapshots.extend(taken.snapshots);
                }
                Err(error) => round.fail(server, error),
            }
        }
        round.notes = self.tracker.notes();
        round.time = round
            .last()
            .unwrap_or_else(|| Timestamp::now().as_microsecond());
        Ok(Update {
            rounds: vec![round],
            ..Update::default()
        })
    }

    fn is_live(&self) -> bool {
        true
    }
}

/// Options of ssh that take an argument.
const WITH_ARGUMENT: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// Returns the name of the server that a command reads: the host of `ssh`, or else this machine.
pub fn server_of(command: &str) -> String {
    let mut words = command.split_whitespace();
    let first = words.next().unwrap_or_default();
    if first == "ssh" || first.ends_with("/ssh") {
        while let Some(word) = words.next() {
            let Some(options) = word.strip_prefix('-') else {
                let host = word.trim_matches(['\'', '"']);
                let host = host.rsplit('@').next().unwrap_or(host);
                return host.to_owned();
            };
            // The argument of an option is the rest of its word, or the next word.
            let takes = options.find(|option| WITH_ARGUMENT.contains(option));
            if takes.is_some_and(|at| at + 1 == options.len()) {
                words.next();
            }
        }
    }
    uname().nodename().to_string_lossy().into_owned()
}
