//! Runs a command for each server, all at once, and compares what they print with what they printed before.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::system::uname;

use super::{Error, Source, Step, Update};
use crate::live::interval::{Failure, Reading};
use crate::live::track::{self, Text, Tracker};
use crate::source::process::{self, Printed};
use crate::source::recording::Recorder;

/// A command that prints the statistics of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name of the server.
    pub server: String,
    /// The command, for the shell.
    pub command: String,
}

/// Commands that are run again and again.
pub struct Commands {
    inputs: Vec<Input>,
    limit: Duration,
    most: usize,
    recorder: Option<Recorder>,
    tracker: Tracker,
}

impl Commands {
    /// Takes commands, each with this time limit and this largest number of bytes.
    ///
    /// # Errors
    ///
    /// Fails if a format of identifiers is none.
    pub fn new(
        inputs: Vec<Input>,
        formats: &[String],
        (limit, most): (Duration, usize),
        recorder: Option<Recorder>,
    ) -> Result<Self, Error> {
        Ok(Self {
            inputs,
            limit,
            most,
            recorder,
            tracker: Tracker::new(formats)?,
        })
    }

    /// Runs all commands at once, and returns what they print in their order.
    fn run(&self) -> Vec<Result<Printed, process::Error>> {
        thread::scope(|scope| {
            let threads = self
                .inputs
                .iter()
                .map(|input| scope.spawn(|| process::run(&input.command, self.limit, self.most)));
            let threads: Vec<_> = threads.collect();
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
        let mut reading = Reading::default();
        for (input, printed) in self.inputs.iter().zip(printed) {
            let taken = printed
                .map_err(|error| error.to_string())
                .and_then(|printed| {
                    let text = Text {
                        server: &input.server,
                        bytes: &printed.text,
                        arrivals: &printed.arrivals,
                    };
                    let taken = self
                        .tracker
                        .take(text)
                        .map_err(|error: track::Error| error.to_string())?;
                    Ok((taken, printed))
                });
            let (taken, printed) = match taken {
                Ok(taken) => taken,
                Err(reason) => {
                    let server = Arc::from(input.server.as_str());
                    reading.failures.push(Failure {
                        server,
                        reason,
                        since: None,
                    });
                    continue;
                }
            };
            if let Some(recorder) = &self.recorder {
                let text = Text {
                    server: &input.server,
                    bytes: &printed.text,
                    arrivals: &printed.arrivals,
                };
                recorder.keep(text, &taken.parts)?;
            }
            reading.seen.extend(taken.seen);
        }
        let now = jiff::Timestamp::now().as_microsecond();
        reading.time = reading
            .seen
            .iter()
            .map(|seen| seen.time)
            .max()
            .unwrap_or(now);
        Ok(Update {
            readings: vec![reading],
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
    if words
        .next()
        .is_some_and(|first| first == "ssh" || first.ends_with("/ssh"))
    {
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
