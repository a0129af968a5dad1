//! Runs a shell command with a time limit, and returns its output.

use std::io;
use std::ops::Range;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::program::process::{Process, ending};
use jobstats_core::base::instant::{Micros, SECOND};

pub use jobstats_client::program::process::end_all;

use crate::live::state::{Arrival, Scrape};
use crate::values::text;

#[cfg(test)]
mod tests;

/// The largest text of a command. Longer texts cannot be read.
pub const MOST: usize = 1 << 30;

/// The number of bytes of a message that are shown.
const LONGEST_MESSAGE: usize = 200;

/// The exit codes of lctl for a pattern without a match: ENOENT, and ESRCH of Lustre 2.5.
const NO_MATCH: [i32; 2] = [2, 3];

/// The times that a clock may have. Other numbers are no times.
const TIMES: Range<Micros> = 100_000_000 * SECOND..100_000_000_000 * SECOND;

/// An error of a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot run the command: {0}")]
    Io(#[from] io::Error),
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The last line that the command printed on its stderr, and its exit code or signal.
    #[error("{0}")]
    Failed(String),
    #[error("the command printed more than {0} bytes")]
    TooMuch(usize),
}

/// Runs a command that may print this many bytes, and returns them without a line that has the time.
pub fn run(command: &str, limit: Duration, most: usize) -> Result<Scrape, Error> {
    let started = Timestamp::now();
    let mut process = Process::start(Command::new("/bin/sh").arg("-c").arg(command))?;
    let mut printed = Scrape::default();
    let (status, said) = process.finish(limit, false, |piece, after| {
        if printed.text.len() + piece.len() > most {
            return Err(Error::TooMuch(most));
        }
        // The steady clock, so that times within a reading never run backwards.
        let time = started.saturating_add(after).unwrap_or(started);
        printed.arrivals.push(Arrival {
            from: printed.text.len(),
            at: time.as_microsecond(),
        });
        printed.text.extend_from_slice(piece);
        Ok(())
    })?;
    let status = status.ok_or(Error::TimedOut(limit))?;
    judge(status, &said, !printed.text.is_empty())?;
    Ok(by_clock_of_server(printed))
}

/// Decides whether a scrape counts. lctl fails if one of several patterns has no match, which is normal.
fn judge(status: ExitStatus, said: &[String], has_text: bool) -> Result<(), Error> {
    let mut lines = said.iter().map(|line| line.trim());
    let is_no_match = |line: &str| {
        line.starts_with("error: get_param: ")
            && (line.ends_with("No such file or directory") || line.ends_with("Found no match"))
    };
    let no_match = status.code().is_some_and(|code| NO_MATCH.contains(&code));
    if status.success() || no_match && has_text && lines.clone().all(is_no_match) {
        return Ok(());
    }
    let said = lines.next_back().map(text::shown);
    let said = said.map(|said| text::cut(&said, LONGEST_MESSAGE));
    let ending = ending(status);
    Err(Error::Failed(match said {
        Some(said) => format!("{said} ({ending})"),
        None => ending,
    }))
}

/// Takes the time of the server, if the text begins with a line of it: `date +%s.%N` in front of lctl prints that. A clock
/// that differs from ours would make entries seem older or younger than they are.
fn by_clock_of_server(mut printed: Scrape) -> Scrape {
    let end = printed.text.iter().take(32).position(|byte| *byte == b'\n');
    let line = end.map(|end| (end + 1, time(&printed.text[..end])));
    let (Some((begin, Some(there))), Some(first)) = (line, printed.arrivals.first()) else {
        return printed;
    };
    let shift = there - first.at;
    printed.text.drain(..begin);
    for arrival in &mut printed.arrivals {
        arrival.from = arrival.from.saturating_sub(begin);
        arrival.at = arrival.at.saturating_add(shift);
    }
    printed
}

/// Parses seconds since 1970, with or without a fraction.
fn time(line: &[u8]) -> Option<Micros> {
    let line = str::from_utf8(line).ok()?.trim_end();
    let since: SignedDuration = format!("{line}s").parse().ok()?;
    let micros = Micros::try_from(since.as_micros()).ok()?;
    TIMES.contains(&micros).then_some(micros)
}
