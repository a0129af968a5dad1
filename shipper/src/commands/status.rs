//! The command `status`: the last readings and deliveries, the spool, and whether somebody must act.

use std::io::{self, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use jobstats_client::database::failure::one_line;
use jobstats_client::program::duration;
use jobstats_client::spool::{Directory, Entry, Losses};
use serde::Serialize;

use crate::read::options::lock_of;
use crate::spool;
use crate::state::{Failure, State, StateFile, Work};
use crate::system::message::{moment, report, waiting};

#[cfg(test)]
mod tests;

/// The age of the last reading from which on it is too old, if no interval is known.
const USUAL_AGE: Duration = Duration::from_secs(600);

/// The number of intervals after which the last reading is too old.
const INTERVALS: f64 = 3.0;

/// The period after a loss in which it is a warning.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// The message about a spool whose file system is read-only.
const READ_ONLY: &str = "the spool is on a read-only file system: scrapes bypass it or are dropped, and this status is out of date";

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Exit codes, as for monitoring plugins:
   0  ok
   1  warning: the last scrape or delivery failed, or scrapes were lost or set aside within 24 hours
   2  critical: no scrape, or no delivery of queued scrapes, for longer than --max-age
   3  unknown: the shipper has not run yet, or its files cannot be read";

/// The options of `status`.
#[derive(Debug, Args)]
pub struct Options {
    /// Directory of the spool, as given to `once` or `run` [default: none]
    #[arg(long, value_name = "DIRECTORY")]
    pub spool: Option<PathBuf>,
    /// Name of this server, as given to `once` or `run` [default: the name of this machine]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Lock file, as given to `once` or `run`; only needed without a spool
    #[arg(long, value_name = "FILE")]
    pub lock: Option<PathBuf>,
    /// Critical age of the last scrape, or of the oldest in the spool [default: three intervals of `run`, or 10 minutes]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub max_age: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The urgency of somebody's help. The numbers are the exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Verdict {
    Ok = 0,
    /// Something is wrong, but readings are made and sent.
    Warning = 1,
    /// Readings are not made or not sent.
    Critical = 2,
    /// The status is unknown.
    Unknown = 3,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct SpoolStatus {
    path: PathBuf,
    /// The number of readings that wait.
    waiting: u64,
    waiting_bytes: u64,
    /// The time at which the oldest of them was written.
    oldest: Option<Timestamp>,
    set_aside: u64,
    read_only: bool,
    losses: Losses,
}

#[derive(Debug, Serialize)]
struct Answer {
    status: Verdict,
    problems: Vec<String>,
    #[serde(flatten)]
    state: State,
    spool: Option<SpoolStatus>,
}

/// Prints the status. The exit code is its severity.
pub fn execute(options: &Options) -> ExitCode {
    let verdict = match answer(options) {
        Ok(answer) => {
            let text = match options.json {
                true => serde_json::to_string_pretty(&answer).unwrap_or_default() + "\n",
                false => answer.text(Timestamp::now()),
            };
            // A reader that closed the pipe has seen enough.
            let _ = stdout().lock().write_all(text.as_bytes());
            answer.status
        }
        Err(error) => {
            report(error);
            Verdict::Unknown
        }
    };
    ExitCode::from(verdict as u8)
}

/// Describes the state of a spool in one line.
pub fn of_spool(path: PathBuf) -> (Verdict, String) {
    let shown = path.display().to_string();
    if !path.exists() {
        return (Verdict::Ok, format!("{shown} does not exist yet"));
    }
    match SpoolStatus::read(&path, Losses::default()) {
        Err(error) => (Verdict::Critical, format!("{shown}: {error}")),
        Ok(spool) if spool.read_only => (Verdict::Critical, format!("{shown}: {READ_ONLY}")),
        Ok(SpoolStatus { set_aside, .. }) if set_aside > 0 => (
            Verdict::Warning,
            format!(
                "{set_aside} files are set aside in {shown}/rejected; fix the cause, then run jobstats-shipper requeue"
            ),
        ),
        Ok(spool) => {
            let depth = spool.depth(Timestamp::now());
            (Verdict::Ok, format!("{shown}, {depth}"))
        }
    }
}

fn answer(options: &Options) -> io::Result<Answer> {
    let lock = lock_of(options.lock.as_deref(), options.server.as_deref());
    let file = StateFile::beside(options.spool.as_deref(), &lock);
    let state = file.load().map_err(|error| {
        let path = file.path.display();
        io::Error::other(format!(
            "{path}: {error}; the shipper has not run with this spool or lock"
        ))
    })?;
    let counted = Losses::read_file(&spool::spare(&lock))?;
    let read = |path| SpoolStatus::read(path, counted);
    let spool = options.spool.as_deref().map(read).transpose()?;
    let found = problems(&state, spool.as_ref(), options.max_age, Timestamp::now());
    let verdict = found.iter().map(|(verdict, _)| *verdict).max();
    Ok(Answer {
        status: verdict.unwrap_or(Verdict::Ok),
        problems: found.into_iter().map(|(_, problem)| problem).collect(),
        state,
        spool,
    })
}

impl SpoolStatus {
    /// Reads the spool. `counted` are losses that were counted elsewhere.
    fn read(path: &Path, counted: Losses) -> io::Result<Self> {
        let directory = Directory::at(path);
        let waiting = directory.waiting()?;
        let written = |entry: &Entry| Timestamp::try_from(entry.written).ok();
        Ok(Self {
            path: path.to_owned(),
            waiting: waiting.len() as u64,
            waiting_bytes: waiting.iter().map(|entry| entry.bytes).sum(),
            oldest: waiting.iter().filter_map(written).min(),
            set_aside: directory.rejected()?.len() as u64,
            read_only: directory.is_read_only(),
            losses: Losses::read(path)?.plus(counted),
        })
    }

    fn depth(&self, now: Timestamp) -> String {
        match self.oldest {
            None => "no scrapes queued".to_owned(),
            Some(oldest) => format!(
                "{} ({:.1} MB), the oldest for {}",
                waiting(self.waiting),
                self.waiting_bytes as f64 / 1e6,
                shown_age(oldest, now)
            ),
        }
    }
}

/// Returns the problems, and how urgent each is.
fn problems(
    state: &State,
    spool: Option<&SpoolStatus>,
    max_age: Option<Duration>,
    now: Timestamp,
) -> Vec<(Verdict, String)> {
    use Verdict::{Critical, Warning};
    let mut found = Vec::new();
    if spool.is_some_and(|spool| spool.read_only) {
        found.push((Critical, READ_ONLY.to_owned()));
    }
    let mut longest = USUAL_AGE;
    for (source, readings) in &state.sources {
        let usual = readings.interval_seconds.map(|seconds| seconds * INTERVALS);
        let usual = usual.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let most = max_age.or(usual).unwrap_or(USUAL_AGE);
        longest = longest.max(most);
        let last = readings.last.map_or(state.since, |last| last.time);
        if age(last, now) > most {
            let ago = shown_age(last, now);
            found.push((Critical, format!("no scrape of {source} for {ago}")));
        } else if readings.failure.is_some() {
            found.push((Warning, format!("the last scrape of {source} failed")));
        }
    }
    let most = max_age.unwrap_or(longest);
    let is_old = |time: &Timestamp| age(*time, now) > most;
    let oldest = spool.and_then(|spool| spool.oldest).filter(is_old);
    if let Some(oldest) = oldest {
        let ago = shown_age(oldest, now);
        found.push((Critical, format!("a scrape has been queued for {ago}")));
    } else if let Some(Failure { since, .. }) = &state.deliveries.failure {
        let verdict = if is_old(since) { Critical } else { Warning };
        let ago = shown_age(*since, now);
        found.push((verdict, format!("deliveries have failed for {ago}")));
    }
    if let Some(lost) = state.lost.filter(|lost| now.duration_since(*lost) < RECENT) {
        let ago = shown_age(lost, now);
        found.push((Warning, format!("a scrape was lost or set aside {ago} ago")));
    }
    found
}

impl Answer {
    /// Returns a line with the verdict, and a table.
    fn text(&self, now: Timestamp) -> String {
        let summary = one_line(&self.summary(now));
        let mut text = format!("{}: {summary}\n", self.status.name());
        // Whoever writes the file may not be whoever reads it here, on a terminal.
        let mut row = |name: &str, value: String| {
            let (name, value) = (one_line(name), one_line(&value));
            text.push_str(&format!("{name:<11} {value}\n"));
        };
        for (source, readings) in &self.state.sources {
            let interval = readings.interval_seconds;
            let interval = interval.map_or(String::new(), |seconds| format!("every {seconds} s, "));
            let (last, failed) = (shown_work(readings.last, now), readings.failed);
            let succeeded = readings.succeeded;
            let counts = format!("{succeeded} scrapes, {failed} failed");
            row(source, format!("{interval}{last}; {counts}"));
            if let Some(failure) = &readings.failure {
                row("", shown_failure(failure, now));
            }
        }
        let deliveries = &self.state.deliveries;
        let last = shown_work(deliveries.last, now);
        let (stored, rejected) = (deliveries.stored_targets, deliveries.rejected_targets);
        let counts = format!("{stored} targets stored, {rejected} rejected");
        row("delivery", format!("{last}; {counts}"));
        if let Some(failure) = &deliveries.failure {
            row("", shown_failure(failure, now));
        }
        if let Some(spool) = &self.spool {
            let (losses, set_aside) = (spool.losses, spool.set_aside);
            let (limits, room) = (losses.limits, losses.room);
            let dropped = format!("{limits} by limits, {room} for lack of space");
            let (refused, damaged) = (losses.refused, losses.damaged);
            let aside =
                format!("{refused} refused, {damaged} damaged; {set_aside} files in rejected/");
            let path = spool.path.display();
            row("spool", format!("{path}, {}", spool.depth(now)));
            row("dropped", dropped);
            row("set aside", aside);
        }
        row("counted", format!("since {}", moment(self.state.since)));
        text
    }

    fn summary(&self, now: Timestamp) -> String {
        if !self.problems.is_empty() {
            return self.problems.join(", ");
        }
        let readings = self.state.sources.values();
        let last = readings.filter_map(|readings| readings.last);
        let last = match last.map(|last| last.time).max() {
            None => "no scrape yet".to_owned(),
            Some(last) => format!("last scrape {} ago", shown_age(last, now)),
        };
        match &self.spool {
            Some(spool) => format!("{last}, {}", spool.depth(now)),
            None => last,
        }
    }
}

fn shown_work(work: Option<Work>, now: Timestamp) -> String {
    let Some(Work { time, targets }) = work else {
        return "none yet".to_owned();
    };
    let ago = shown_age(time, now);
    format!("last {}, {ago} ago, {targets} targets", moment(time))
}

fn shown_failure(failure: &Failure, now: Timestamp) -> String {
    format!(
        "failed {} times since {}, last {} ago: {}",
        failure.times,
        moment(failure.since),
        shown_age(failure.time, now),
        failure.message
    )
}

/// Returns the age of a time. A time in the future, by a clock that stepped, is new.
fn age(time: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(time)).unwrap_or_default()
}

/// Returns an age in its largest unit that makes at least two of it.
fn shown_age(time: Timestamp, now: Timestamp) -> String {
    let seconds = age(time, now).as_secs();
    let units = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    match units.iter().find(|(unit, _)| seconds >= 2 * unit) {
        None => format!("{seconds} seconds"),
        Some((unit, name)) => format!("{} {name}", seconds / unit),
    }
}
