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
    #[error("cannot run {}: {cause}; give its path with --lctl", path.display())]
    NoLctl { path: PathBuf, cause: io::Error },
    #[error("cannot run /bin/sh: {0}")]
    NoShell(io::Error),
    #[error(
        "{program} did not finish within {timeout:?} and was killed; its output is dropped{}",
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
    #[error("lctl could not read all parameters; its output is dropped{}", list(.0))]
    Incomplete(Vec<String>),
    /// lctl ended with the exit code for a pattern without match, which hid that a text was cut.
    #[error("the output of lctl ends mid-line and is dropped: a target went away")]
    Cut,
    /// lctl printed unexpected text, or nothing and no error.
    #[error("the output of lctl has no target with job_stats and is dropped{}", list(.0))]
    Unknown(Vec<String>),
    #[error("lctl found no target with job_stats on this server")]
    NoTarget,
    /// The input cannot be opened.
    #[error(transparent)]
    NoInput(FileError),
    #[error("the input did not finish within {0:?}; it is dropped")]
    InputTimedOut(Duration),
    /// The input was printed by something else than lctl, or without names.
    #[error(
        "the input has no target, such as mdt.scratch-MDT0000.job_stats=; create it with \
         lctl get_param '*.*.job_cleanup_interval' '*.*.job_stats', without -n"
    )]
    InputWithoutTarget,
    /// The input is empty, most likely because the program that should write it failed.
    #[error("the input is empty")]
    EmptyInput,
    /// A file that is followed cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    #[error("position file {0}")]
    Position(FileError),
    #[error("cannot write the scrape to the spool, will retry: {0}")]
    Spool(#[from] SpoolError),
    /// A pipe or the temporary file failed.
    #[error("the scrape failed: {0}")]
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
