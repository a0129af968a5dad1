//! Commands about events: `events` lists or explains them, `check` is a plug-in for Nagios and all that calls its plug-ins.

use std::io::{Write, stdout};
use std::process::ExitCode;

use clap::Args;
use jobstats_client::answers::{EventRow, Health, Window, words};

use super::inquiry::{Form, Period, Source};
use crate::ask::config::Common;
use crate::ask::error::Error;
use crate::report::event_list;
use crate::serve;
use crate::subject::events::{ALERTED, culprit, place};
use crate::values::text::shown;

/// The list of exit codes that `check --help` shows.
pub const HELP: &str = "\
Prints one line. Events marked as false or known are ignored: SELECT jobstats_confirm_event(7, 'known').

Exit codes, as for Nagios:
   0  no alert
   1  warning
   2  critical
   3  unknown: the store cannot be queried, or event detection does not run";

/// The options of `events`.
#[derive(Debug, Args)]
pub struct EventsOptions {
    /// Number of an event to explain [default: list all]
    #[arg(value_name = "EVENT")]
    pub event: Option<i64>,
    /// Also list events without an alert
    #[arg(long, conflicts_with = "event")]
    pub all: bool,
    /// File system, or a pattern with *; may be repeated
    #[arg(long, value_name = "NAME")]
    pub filesystem: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub period: Period,
    #[command(flatten)]
    pub source: Source,
}

/// The options of `check`.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// File system, or a pattern with *; may be repeated
    #[arg(long, value_name = "NAME")]
    pub filesystem: Vec<String>,
    /// Include names of users and jobs
    #[arg(long)]
    pub names: bool,
    #[command(flatten)]
    pub common: Common,
}

/// Runs `events`.
pub fn list(options: &EventsOptions) -> Result<(), Error> {
    let source = &options.source;
    let filesystems = options.filesystem.join(",");
    let words = serve::Words {
        event: options.event,
        all: options.all,
        ..source.common.words(&filesystems, &options.period)
    };
    let form = Form {
        json: options.json,
        html: None,
    };
    form.print(words, |words| source.answer(serve::Kind::Events, words))
}

/// Runs `check`. Its only output is a line and the exit code, so an error is a line, too.
pub fn check(options: &CheckOptions) -> ExitCode {
    let (code, line) = checked(options).unwrap_or_else(|error| {
        let problem = error.to_string();
        (3, problem.lines().next().map(shown).unwrap_or_default())
    });
    let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][usize::from(code)];
    // Whoever does not read the line has the code.
    let _ = writeln!(stdout(), "JOBSTATS {word} - {line}");
    code.into()
}

fn checked(options: &CheckOptions) -> Result<(u8, String), Error> {
    let mut store = options.common.store()?;
    let health = store.ask(&Health::default())?.rows.into_iter();
    let mut problems = health.filter(|row| row.states == ["maintenance"]);
    let (names, severity) = (&options.filesystem, words(ALERTED));
    let mut open = event_list::ask(&mut store, names, Window::default(), severity)?;
    let is_silenced = |row: &EventRow| row.verdict.as_deref().is_some_and(|it| it != "real");
    open.retain(|row| row.ended.is_none() && !is_silenced(row));
    open.sort_by_key(|row| (row.severity != "critical", row.began));
    let count = |severity: &str| open.iter().filter(|row| row.severity == severity).count();
    let (critical, warning) = (count("critical"), count("warning"));
    let counts = format!(" | critical={critical} warning={warning}");
    let Some(worst) = open.first() else {
        let problem = problems.next().map(|row| row.remedy.unwrap_or_default());
        return Ok(match problem {
            Some(problem) => (3, shown(&problem)),
            None => (0, format!("no alerts{counts}")),
        });
    };
    let clock = &options.common.zone;
    let owner = culprit(worst).filter(|_| options.names);
    let more = (open.len() > 1).then(|| format!("; {} more", open.len() - 1));
    let text = format!(
        "{}: {} since {}, {}{}{}",
        worst.filesystem,
        worst.event,
        clock.stamp(worst.began),
        place(worst),
        owner.map(|it| format!(", {it}")).unwrap_or_default(),
        more.unwrap_or_default()
    );
    // A bar would begin the numbers.
    let text = shown(&text).replace('|', "/");
    Ok((if critical > 0 { 2 } else { 1 }, text + &counts))
}
