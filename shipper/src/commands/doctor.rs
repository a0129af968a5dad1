//! The command `doctor`: it goes the whole way of a text, from lctl to a transaction that is rolled back, and says of each
//! step whether it is well and what to do if it is not.

use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jobstats_client::{Settings, duration};

use crate::commands::options::Common;
use crate::commands::status::{self, Verdict};
use crate::frame::{LCTL, Reading, Sender};
use crate::read::lctl;
use crate::read::options::{Input, Reader};
use crate::send::{Http, Timeouts, http};
use crate::system::lock::{self, Lock};

mod database;
mod text;

#[cfg(test)]
mod tests;

use database::{Database, advice};
use text::{Look, look};

/// The list of exit codes that `--help` shows.
pub const HELP: &str = "\
Exit codes:
   0  all is well
   1  something should be changed
   2  text is not read or not stored
  64  wrong arguments";

/// The options of `doctor`.
#[derive(Debug, Args)]
pub struct Options {
    /// Interval of the readings, which is compared with the cleanup interval of the targets
    #[arg(long, value_parser = duration::parse, default_value = "120s")]
    pub interval: Duration,
    /// The options that `once` has too.
    #[command(flatten)]
    pub common: Common,
    /// The options for text from elsewhere.
    #[command(flatten)]
    pub input: Input,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    verdict: Verdict,
    step: &'static str,
    message: String,
}

impl Finding {
    fn ok(step: &'static str, message: impl Into<String>) -> Self {
        let verdict = Verdict::Ok;
        let message = message.into();
        Self {
            verdict,
            step,
            message,
        }
    }

    fn warning(step: &'static str, message: impl Into<String>) -> Self {
        let verdict = Verdict::Warning;
        Self {
            verdict,
            ..Self::ok(step, message)
        }
    }

    fn failed(step: &'static str, message: impl Into<String>) -> Self {
        let verdict = Verdict::Critical;
        Self {
            verdict,
            ..Self::ok(step, message)
        }
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

/// Tries each step and prints what it finds.
pub fn execute(options: Options) -> ExitCode {
    let mut worst = Verdict::Ok;
    examine(options, &mut |finding| {
        finding.print();
        worst = worst.max(finding.verdict);
    });
    ExitCode::from(worst as u8)
}

fn examine(options: Options, found: &mut dyn FnMut(Finding)) {
    let Options {
        interval,
        common,
        input,
    } = options;
    let sender = common.reader.sender();
    let reading = read(&common.reader, &input, found);
    if let Some(reading) = &reading {
        look_at(reading, interval, found);
    }
    if let Some(spool) = common.spool.spool.clone() {
        found(of_spool(spool));
    }
    let timeouts = Timeouts {
        connect: common.connect_timeout,
        statement: common.statement_timeout,
    };
    if let Some(settings) = common.http.settings(&common.database) {
        return found(of_http(settings, timeouts));
    }
    match common.database.settings("jobstats-shipper doctor") {
        Err(error) => found(Finding::failed("settings", error.to_string())),
        Ok(settings) => ask(settings, timeouts, &sender, reading.as_ref(), found),
    }
}

/// Sends PostgREST nothing to store. A text could not be rolled back.
fn of_http(settings: http::Settings, timeouts: Timeouts) -> Finding {
    let url = settings.url.to_string();
    match Http::new(settings, timeouts).and_then(|mut http| http.rehearse()) {
        Ok(()) => Finding::ok(
            "delivery",
            format!(
                "{url}: the role of the token may insert into jobstats.feed; `once` shows whether it may feed this server"
            ),
        ),
        Err(error) => Finding::failed("delivery", format!("{url}: {error}")),
    }
}

/// Reads lctl or the input.
fn read(options: &Reader, input: &Input, found: &mut dyn FnMut(Finding)) -> Option<Reading> {
    let lctl = options.lctl();
    if let Some(saved) = input.saved(LCTL, lctl.timeout, lctl.most) {
        return match saved.read() {
            Ok(reading) => {
                let targets = reading.texts.len();
                found(Finding::ok("input", format!("{targets} targets")));
                Some(reading)
            }
            Err(error) => {
                found(Finding::failed("input", error.to_string()));
                None
            }
        };
    }
    // An administrator may call lctl beside the shipper, too.
    let (lock, beside) = match Lock::take(&options.lock()) {
        Ok(lock) => (Some(lock), ""),
        Err(lock::Error::Taken(_)) => (None, ", beside a shipper that is running"),
        Err(error) => {
            found(Finding::failed("lock", error.to_string()));
            (None, "")
        }
    };
    match lctl.read(lock.as_ref()) {
        Ok(reading) => {
            let targets = reading.texts.len();
            found(Finding::ok("lctl", format!("{targets} targets{beside}")));
            Some(reading)
        }
        Err(error) => {
            found(unread(&error));
            None
        }
    }
}

fn unread(error: &lctl::Error) -> Finding {
    match error {
        lctl::Error::NoTarget => Finding::warning(
            "lctl",
            format!(
                "{error}: this is normal on the standby of a pair; otherwise mount the targets"
            ),
        ),
        lctl::Error::Unknown(_) | lctl::Error::Failed { .. } | lctl::Error::Incomplete(_) => {
            let who = "the user of the shipper must be allowed to read job_stats, as root is";
            Finding::failed("lctl", format!("{error}; {who}"))
        }
        _ => Finding::failed("lctl", error.to_string()),
    }
}

/// Looks for what keeps numbers from coming into being.
fn look_at(reading: &Reading, interval: Duration, found: &mut dyn FnMut(Finding)) {
    let mut looks = Vec::new();
    for text in &reading.texts {
        match look(reading, text) {
            Ok(look) => looks.push((text.shown_name(), look)),
            Err(error) => found(Finding::failed("job_stats", error.to_string())),
        }
    }
    found(of_entries(&looks));
    found(of_intervals(&looks, interval));
}

fn of_entries(looks: &[(&str, Look)]) -> Finding {
    let entries: u64 = looks.iter().map(|(_, look)| look.entries).sum();
    let (empty, targets) = (
        looks.iter().filter(|(_, look)| look.entries == 0).count(),
        looks.len(),
    );
    let step = "job_stats";
    if empty == targets {
        return Finding::warning(
            step,
            "empty on all targets: either no client has worked for the cleanup interval, or the clients send no identifiers; \
             on a client, lctl get_param jobid_var must not print disable; to set it for all clients, first in the database: \
             UPDATE jobstats.entry_formats SET format = '%u:%j:%H' WHERE format = '%j:%u:%H'; then on the MGS: \
             lctl set_param -P jobid_var=SLURM_JOB_ID, and lctl set_param -P jobid_name=%u:%j:%H",
        );
    }
    Finding::ok(
        step,
        format!("{entries} entries; {empty} of {targets} targets have none"),
    )
}

/// An entry that is used once and then removed must be read in between. Lustre removes it after one to one and a half
/// cleanup intervals.
fn of_intervals(looks: &[(&str, Look)], interval: Duration) -> Finding {
    let step = "intervals";
    let seconds = interval.as_secs_f64();
    let cleanups = looks
        .iter()
        .filter_map(|(name, look)| Some((*name, look.cleanup?)));
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
                "job_cleanup_interval of {short} of {} targets is shorter than twice the {seconds} s between readings, such as \
                 {cleanup} s of {name}: entries vanish before they are read; on the MGS: lctl set_param -P \
                 {name}.job_cleanup_interval={needed}, or read more often",
                looks.len()
            ),
        ),
        Some((_, cleanup)) => Finding::ok(
            step,
            format!(
                "job_cleanup_interval is {cleanup} s or more, and readings are {seconds} s apart"
            ),
        ),
        None if looks.iter().all(|(_, look)| look.cleanup.is_none()) => {
            Finding::ok(step, "job_cleanup_interval is not in the text")
        }
        None => Finding::ok(step, "no target removes entries"),
    }
}

fn of_spool(path: std::path::PathBuf) -> Finding {
    let (verdict, message) = status::of_spool(path);
    Finding {
        verdict,
        ..Finding::ok("spool", message)
    }
}

/// Asks the database.
fn ask(
    settings: Settings,
    timeouts: Timeouts,
    sender: &Sender,
    reading: Option<&Reading>,
    found: &mut dyn FnMut(Finding),
) {
    let mut database = match Database::new(settings, timeouts) {
        Ok(database) => database,
        Err(error) => return found(Finding::failed("settings", error.to_string())),
    };
    let names = database.resolve();
    let is_resolved = names.iter().any(|name| name.verdict == Verdict::Ok);
    let is_local = names.is_empty();
    names.into_iter().for_each(&mut *found);
    if !is_resolved && !is_local {
        return;
    }
    if let Err(error) = database.connect() {
        let message = format!("{error}; {}", advice(error.kind()));
        return found(Finding::failed("connection", message));
    }
    match database.facts() {
        Ok(facts) => facts.findings(&mut *found),
        Err(error) => return found(Finding::failed("connection", error.to_string())),
    }
    match reading {
        Some(reading) => database.rehearse(sender, reading, found),
        None => found(Finding::warning(
            "delivery",
            "not tried, because nothing was read",
        )),
    }
}
