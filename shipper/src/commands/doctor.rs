//! The command `doctor`: it follows the path of a text from lctl to a transaction that is rolled back, and reports for each step whether it
//! works and how to fix it.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jobstats_client::program::duration;

use crate::commands::options::Common;
use crate::commands::status::{self, Verdict};
use crate::frame::{LCTL, Reading};
use crate::read::error::ReadError;
use crate::read::options::{Input, Reader};
use crate::read::sources::{Source, Way};
use crate::send::{Http, HttpSettings, Store, Timeouts};
use crate::state::StateFile;
use crate::system::lock::{Lock, LockError};

mod database;
mod text;

#[cfg(test)]
mod tests;

use database::DatabaseCheck;
use text::{TextSummary, look};

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Exit codes:
   0  ok
   1  warnings
   2  data is not read or not stored
  64  wrong arguments";

/// The options of `doctor`.
#[derive(Debug, Args)]
pub struct Options {
    /// Scrape interval, to compare with job_cleanup_interval of the targets
    #[arg(long, value_parser = duration::parse, default_value = "120s")]
    pub interval: Duration,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub input: Input,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    verdict: Verdict,
    step: &'static str,
    message: String,
}

impl Finding {
    fn new(verdict: Verdict, step: &'static str, message: impl Into<String>) -> Self {
        Self {
            verdict,
            step,
            message: message.into(),
        }
    }

    fn ok(step: &'static str, message: impl Into<String>) -> Self {
        Self::new(Verdict::Ok, step, message)
    }

    fn warning(step: &'static str, message: impl Into<String>) -> Self {
        Self::new(Verdict::Warning, step, message)
    }

    fn failed(step: &'static str, message: impl Into<String>) -> Self {
        Self::new(Verdict::Critical, step, message)
    }

    /// Prints the finding. A reader that closed the pipe has seen enough.
    fn print(&self) {
        let verdict = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warning | Verdict::Unknown => "warning",
            Verdict::Critical => "FAILED",
        };
        let message = self.message.replace(char::is_control, " ");
        let _ = writeln!(stdout().lock(), "{verdict:<8} {:<11} {message}", self.step);
    }
}

/// Tries each step and prints the findings.
pub fn execute(options: Options) -> ExitCode {
    let mut worst = Verdict::Ok;
    examine(options, &mut |finding| {
        finding.print();
        worst = worst.max(finding.verdict);
    });
    ExitCode::from(worst as u8)
}

fn examine(options: Options, found: &mut dyn FnMut(Finding)) {
    let common = options.common;
    let delivery = common.delivery;
    let timeouts = delivery.timeouts();
    let reading = read(&common.reader, &options.input, found);
    if let Some(reading) = &reading {
        look_at(reading, options.interval, found);
    }
    let state = StateFile::beside(
        delivery.spool.spool.as_deref(),
        &common.reader.identity.lock(),
    );
    if let Some(spool) = delivery.spool.spool {
        let (verdict, message) = status::of_spool(spool);
        found(Finding::new(verdict, "spool", message));
    }
    match Store::new(delivery.http, &delivery.database, "jobstats-shipper doctor") {
        Err(error) => found(Finding::failed("settings", error.to_string())),
        Ok(Store::Http(settings)) => found(of_http(settings, timeouts)),
        Ok(Store::Database(settings)) => match DatabaseCheck::new(*settings, timeouts, state) {
            Err(error) => found(Finding::failed("settings", error.to_string())),
            Ok(mut database) => database.examine(reading.as_ref(), found),
        },
    }
}

/// Sends PostgREST no text, because it could not be rolled back.
fn of_http(settings: HttpSettings, timeouts: Timeouts) -> Finding {
    let url = settings.url.to_string();
    match Http::new(settings, timeouts).and_then(|mut http| http.rehearse()) {
        Ok(()) => {
            let may = "the token's role may insert into jobstats.feed; `once` shows whether it may feed this server";
            Finding::ok("delivery", format!("{url}: {may}"))
        }
        Err(error) => Finding::failed("delivery", format!("{url}: {error}")),
    }
}

/// Reads lctl or the input.
fn read(options: &Reader, input: &Input, found: &mut dyn FnMut(Finding)) -> Option<Reading> {
    let source = Source::of_job_stats(options, Some(input), Duration::ZERO);
    let (mut step, mut _lock, mut beside) = ("input", None, "");
    if let Way::Lctl(_) = source.way {
        step = LCTL;
        // An administrator may run lctl at the same time.
        match Lock::take(&options.identity.lock()) {
            Ok(taken) => _lock = Some(taken),
            Err(LockError::Taken(_)) => beside = ", while a shipper is running",
            Err(error) => found(Finding::failed("lock", error.to_string())),
        }
    }
    // With the lock, the next reading of the shipper would lack the used space.
    match source.read(None) {
        Ok(reading) => {
            let targets: u64 = reading.iter().map(Reading::targets).sum();
            found(Finding::ok(step, format!("{targets} targets{beside}")));
            reading
        }
        Err(error) => {
            found(unread(step, &error));
            None
        }
    }
}

fn unread(step: &'static str, error: &ReadError) -> Finding {
    match error {
        ReadError::NoTarget => {
            let remedy = "normal on the standby of a failover pair; otherwise mount the targets";
            Finding::warning(step, format!("{error}: {remedy}"))
        }
        ReadError::Unknown(_) | ReadError::Failed { .. } | ReadError::Incomplete(_) => {
            let who = "run it as root or as a user that may read job_stats";
            Finding::failed(step, format!("{error}; {who}"))
        }
        _ => Finding::failed(step, error.to_string()),
    }
}

/// Looks for reasons why there are no numbers.
fn look_at(reading: &Reading, interval: Duration, found: &mut dyn FnMut(Finding)) {
    let mut looks = Vec::new();
    for text in reading.of_targets() {
        match look(reading, text) {
            Ok(look) => looks.push((text.shown_name(), look)),
            Err(error) => found(Finding::failed("job_stats", error.to_string())),
        }
    }
    found(of_parameters(reading));
    found(of_entries(&looks));
    found(of_intervals(&looks, interval));
}

/// Reports the size of the additional parameters, and which are missing.
fn of_parameters(reading: &Reading) -> Finding {
    let others = reading.index.texts.iter().filter(|it| it.name.is_none());
    let bytes: u64 = others.map(|text| text.bytes).sum();
    let mut message = format!("{bytes} bytes");
    if !reading.unread.is_empty() {
        // lctl puts the path of a parameter between quotes.
        let path = |line: &String| line.split('\'').nth(1).unwrap_or(line).to_owned();
        let paths: Vec<_> = reading.unread.iter().map(path).collect();
        message += "; missing or unreadable (--verbose shows why): ";
        message += &paths.join(", ");
    }
    Finding::ok("parameters", message)
}

fn of_entries(looks: &[(&str, TextSummary)]) -> Finding {
    let entries: u64 = looks.iter().map(|(_, look)| look.entries).sum();
    let empty = looks.iter().filter(|(_, look)| look.entries == 0).count();
    let (targets, step) = (looks.len(), "job_stats");
    if empty == targets {
        return Finding::warning(
            step,
            "empty on all targets: no client did I/O for the cleanup interval, or clients send no identifiers; \
             on a client, lctl get_param jobid_var must not print disable; to set it for all clients, on the MGS: \
             lctl set_param -P jobid_var=SLURM_JOB_ID, and lctl set_param -P jobid_name=%u:%j:%H",
        );
    }
    Finding::ok(
        step,
        format!("{entries} entries; {empty} of {targets} targets are empty"),
    )
}

/// An entry that is used once and then removed must be read in between. Lustre removes it after one to one and a half
/// cleanup intervals.
fn of_intervals(looks: &[(&str, TextSummary)], interval: Duration) -> Finding {
    let step = "intervals";
    let seconds = interval.as_secs_f64();
    let cleanups = looks.iter();
    let cleanups = cleanups.filter_map(|(name, look)| Some((*name, look.cleanup?)));
    let needed = (2.0 * seconds).ceil();
    // Zero means that entries are never removed.
    let cleanups: Vec<_> = cleanups.filter(|(_, cleanup)| *cleanup > 0).collect();
    let is_short = |(_, cleanup): &&(&str, u64)| (*cleanup as f64) < needed;
    let short = cleanups.iter().filter(is_short).count();
    let shortest = cleanups.iter().min_by_key(|(_, cleanup)| *cleanup);
    match shortest {
        Some((name, cleanup)) if short > 0 => Finding::warning(
            step,
            format!(
                "job_cleanup_interval is less than twice the scrape interval of {seconds} s on {short} of {} targets, such as {cleanup} s \
                 on {name}: entries vanish before they are read; on the MGS: lctl set_param -P \
                 {name}.job_cleanup_interval={needed}, or scrape more often",
                looks.len()
            ),
        ),
        Some((_, cleanup)) => Finding::ok(
            step,
            format!(
                "job_cleanup_interval is at least {cleanup} s, the scrape interval {seconds} s"
            ),
        ),
        None if looks.iter().all(|(_, look)| look.cleanup.is_none()) => {
            Finding::ok(step, "the output has no job_cleanup_interval")
        }
        None => Finding::ok(step, "no target removes entries"),
    }
}
