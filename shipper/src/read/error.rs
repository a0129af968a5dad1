//! The errors that prevent a reading.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use jobstats_client::FileError;
use jobstats_client::spool::SpoolError;

use crate::system::message::list;

/// An error that prevents a reading. `said` are the lines that a program printed on its stderr.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{} cannot be run: {cause}; --lctl gives its path", path.display())]
    NoLctl { path: PathBuf, cause: io::Error },
    #[error("/bin/sh cannot be run: {0}")]
    NoShell(io::Error),
    #[error(
        "{program} did not end within {timeout:?} and was killed; its output is dropped{}",
        list(said)
    )]
    TimedOut {
        program: &'static str,
        timeout: Duration,
        said: Vec<String>,
    },
    #[error("{program} ended with {ending}; its output is dropped{}", list(said))]
    Failed {
        program: &'static str,
        ending: String,
        said: Vec<String>,
    },
    #[error("the command printed nothing{}", list(.0))]
    NothingPrinted(Vec<String>),
    /// lctl ended well, but could not read a parameter.
    #[error("lctl could not read everything; its output is dropped{}", list(.0))]
    Incomplete(Vec<String>),
    /// lctl ended with the exit code for a pattern without match, which hid that a text was cut.
    #[error("the output of lctl ends in mid line: a target went away; it is dropped")]
    Cut,
    /// lctl printed unexpected text, or nothing and no error.
    #[error("the output of lctl names no target with job_stats; it is dropped{}", list(.0))]
    Unknown(Vec<String>),
    #[error("lctl finds no target with job_stats on this server")]
    NoTarget,
    /// The input cannot be opened.
    #[error(transparent)]
    NoInput(FileError),
    #[error("the input did not end within {0:?}; it is dropped")]
    InputTimedOut(Duration),
    /// The input was printed by something else than lctl, or without names.
    #[error(
        "no line of the input begins a target, such as mdt.scratch-MDT0000.job_stats=; print the text with \
         lctl get_param '*.*.job_cleanup_interval' '*.*.job_stats', and without the option -n"
    )]
    InputWithoutTarget,
    /// The input is empty, most likely because the program that should write it failed.
    #[error("the input is empty")]
    EmptyInput,
    /// A file that is followed cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    #[error("the position {0}")]
    Position(FileError),
    #[error("the reading cannot be written to the spool: {0}; it is tried again")]
    Spool(#[from] SpoolError),
    /// A pipe or the temporary file failed.
    #[error("the reading failed: {0}")]
    Io(#[from] io::Error),
    /// The command or file of a source failed.
    #[error("{source_name}: {cause}")]
    Source {
        source_name: String,
        cause: Box<ReadError>,
    },
}

impl ReadError {
    /// Returns a function that names the source in errors.
    pub fn of_source(name: &str) -> impl FnOnce(Self) -> Self {
        move |cause| Self::Source {
            source_name: name.to_owned(),
            cause: Box::new(cause),
        }
    }
}
