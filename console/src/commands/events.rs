//! Commands about events: `events` lists or explains them, `check` is a plug-in for Nagios and all that calls its plug-ins.

use std::io::{Write, stdout};
use std::process::ExitCode;

use clap::Args;
use jobstats_client::answers::{EventRow, Events, Explain, Filters, Health, Window, words};
use serde_json::{Value, json};

use crate::ask::config::Common;
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::commands::inquiry::Period;
use crate::subject::events::{ALERTED, culprit, lasted, measured, owner, place};
use crate::values::text::{left, shown, width};
use crate::values::when::Clock;

/// The list of exit codes that `check --help` shows.
pub const HELP: &str = "\
Prints one line. An event that somebody has judged false or known counts no more: SELECT jobstats_confirm_event(7, 'known').

Exit codes, as Nagios has them:
   0  no event is told
   1  a warning
   2  something critical
   3  unknown: the store cannot be asked, or nobody looks for events";

/// The options of `events`.
#[derive(Debug, Args)]
pub struct EventsOptions {
    /// Number of an event to explain; all are listed if there is none
    #[arg(value_name = "EVENT")]
    pub event: Option<i64>,
    /// List also those of which nobody is told
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
    pub common: Common,
}

/// The options of `check`.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// File system, or a pattern with *; may be repeated
    #[arg(long, value_name = "NAME")]
    pub filesystem: Vec<String>,
    /// Name users and jobs
    #[arg(long)]
    pub names: bool,
    #[command(flatten)]
    pub common: Common,
}

/// Runs `events`.
pub fn list(options: &EventsOptions) -> Result<(), Error> {
    let window = options.period.window(&options.common.zone)?;
    let mut store = options.common.store()?;
    if let Some(event_id) = options.event {
        return explain(&mut store, event_id, options);
    }
    let severity = if options.all { None } else { words(ALERTED) };
    let window = Window::new(window.0, window.1);
    let rows = events(&mut store, &options.filesystem, window, severity)?;
    let mut out = stdout().lock();
    if options.json {
        let all: Vec<Value> = rows.iter().map(to_json).collect();
        return Ok(writeln!(out, "{}", Value::Array(all))?);
    }
    if rows.is_empty() {
        let which = if options.all { "" } else { " that is told" };
        return Ok(writeln!(out, "There is no event{which} in this time.")?);
    }
    let clock = options.common.clock();
    let lines: Vec<_> = rows.iter().map(|row| cells(row, &clock)).collect();
    out.write_all(table(&lines).as_bytes())?;
    Ok(writeln!(out, "{}", clock.note())?)
}

/// Loads the events of file systems, or of all without names.
fn events(
    store: &mut Store,
    names: &[String],
    window: Window,
    severity: Option<String>,
) -> Result<Vec<EventRow>, Error> {
    let events = store.ask(&Events {
        window,
        filter: Filters {
            filesystem: (!names.is_empty()).then(|| names.to_vec()),
            ..Filters::default()
        },
        severity,
    })?;
    Ok(events.rows)
}

fn explain(store: &mut Store, event_id: i64, options: &EventsOptions) -> Result<(), Error> {
    let lines = store.ask(&Explain { event_id })?.rows;
    let mut out = stdout().lock();
    if options.json {
        let line = |it: &jobstats_client::answers::ExplainRow| json!({ "topic": it.topic, "text": it.text, "details": it.details });
        let all: Vec<Value> = lines.iter().map(line).collect();
        return Ok(writeln!(out, "{}", Value::Array(all))?);
    }
    for line in lines {
        writeln!(out, "{}{}", left(&line.topic, 10), shown(&line.text))?;
    }
    Ok(writeln!(out, "{}", options.common.clock().note())?)
}

/// Returns the cells of a line, each with the head of its column.
fn cells(row: &EventRow, clock: &Clock) -> [(&'static str, String); 9] {
    [
        ("number", row.event_id.to_string()),
        ("began", clock.minute(row.began)),
        ("lasted", lasted(row)),
        ("severity", row.severity.clone()),
        ("event", row.event.clone()),
        ("file system", row.filesystem.clone()),
        ("where", place(row)),
        ("value", measured(row)),
        ("who", owner(row)),
    ]
}

/// Aligns lines below the head of the table.
fn table<const N: usize>(lines: &[[(&str, String); N]]) -> String {
    let head = lines.iter().take(1);
    let head = head.map(|line| line.each_ref().map(|(head, _)| (*head).to_owned()));
    let lines = lines.iter();
    let lines = lines.map(|line| line.each_ref().map(|(_, cell)| shown(cell)));
    let all: Vec<_> = head.chain(lines).collect();
    let widest = |column: usize| all.iter().map(|line| width(&line[column])).max();
    let mut text = String::new();
    for line in &all {
        let cells = line.iter().enumerate();
        let cells = cells.map(|(column, cell)| left(cell, widest(column).unwrap_or(0)));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn to_json(row: &EventRow) -> Value {
    json!({
        "event_id": row.event_id, "event": row.event, "severity": row.severity, "name": row.name,
        "cluster": row.cluster, "filesystem": row.filesystem, "began": row.began.to_string(),
        "detected_at": row.detected_at.to_string(), "ended": row.ended.map(|it| it.to_string()),
        "targets": row.targets, "servers": row.servers, "value": row.value, "usual": row.usual,
        "load_times": row.load_times, "culprits": row.culprits, "reason": row.reason,
        "notified": row.notified.map(|it| it.to_string()), "verdict": row.verdict, "note": row.note,
    })
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
    let mut problems = health.filter(|row| row.status == "maintenance");
    let (names, severity) = (&options.filesystem, words(ALERTED));
    let mut open = events(&mut store, names, Window::default(), severity)?;
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
            None => (0, format!("nothing is wrong{counts}")),
        });
    };
    let clock = options.common.clock();
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
