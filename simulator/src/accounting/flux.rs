//! Flux: the output of `flux jobs -a --json`.

use std::io::{self, Write};

use serde::Serializer;
use serde_json::{Value, json};

use crate::jobs::{
    FIRST_NUMBER, JobRecord, JobsRow, Outcome, Phase, Query, Run, Scenario, Scheduler, Site,
};
use crate::lustre::identifier::text;
use crate::time::{DAY, Nanos, SECOND, shown};

pub static FLUX: Scheduler = Scheduler {
    name: "flux",
    about: "Flux: `flux jobs -a --json`",
    odd_names: &[
        (b"say \"hi\"", "quotes"),
        (b"two\nlines", "newline"),
        (b"back\\slash", "backslash"),
        ("\u{1f980}".as_bytes(), "not ASCII"),
        (b"\"}],\"jobs\":[{\"id\":1}", "looks like JSON"),
    ],
    lacks: &[Scenario::Het, Scenario::Array, Scenario::Requeued],
    grain: SECOND / 1_000_000,
    job: |site, run| id(site, run).to_string(),
    label: |site, run| f58(id(site, run)),
    variable: |site, run| run.label(site),
    lists_all: true,
    write,
    row: |shown| JobsRow {
        uid: Some(shown.run.owner(shown.site).uid),
        state: Some(status(shown).to_owned()),
        node_list: shown.start().map(|_| shown.run.host_list()),
        exit_code: return_code(shown).map(|code| code.to_string()),
        ..JobsRow::new(shown)
    },
    ..Scheduler::DEFAULT
};

/// The milliseconds from the start of an instance to its first job.
const BOOT: u64 = 60_000;

/// Returns the identifier of a job: the milliseconds since the instance began, and a number in the last 24 bits.
fn id(site: &Site, run: &Run) -> u64 {
    let count = run.number - FIRST_NUMBER;
    let milliseconds = BOOT + count * (DAY as u64 / 1_000_000) / site.jobs;
    (milliseconds << 24) + count % 1_024
}

/// Returns an identifier as users see it: `ƒ` and the number in base 58.
fn f58(id: u64) -> String {
    const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let quotients = std::iter::successors(Some(id), |id| Some(id / 58).filter(|id| *id > 0));
    let digits: Vec<_> = quotients
        .map(|id| char::from(DIGITS[(id % 58) as usize]))
        .collect();
    std::iter::once('ƒ')
        .chain(digits.into_iter().rev())
        .collect()
}

fn write(site: &Site, query: Query, runs: &[Run], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"jobs\": [")?;
    for (position, shown) in site.shown(query, runs).iter().enumerate() {
        if position > 0 {
            write!(out, ", ")?;
        }
        // A value that is not known yet has no key.
        let known = fields(query, shown)
            .into_iter()
            .filter(|(_, value)| !value.is_null());
        serde_json::Serializer::new(&mut *out).collect_map(known)?;
    }
    writeln!(out, "]}}")
}

/// Returns the fields of a job in the order in which Flux prints them.
fn fields(query: Query, shown: &JobRecord) -> [(&'static str, Value); 28] {
    let (site, run) = (shown.site, shown.run);
    let owner = run.owner(site);
    let (start, end) = (shown.start(), shown.end());
    let returned = return_code(shown);
    let last = run.first_node + run.nodes - 1;
    let ranks = match run.nodes {
        1 => last.to_string(),
        _ => format!("[{}-{last}]", run.first_node),
    };
    let runtime = start.map(|start| (end.unwrap_or(query.time) - start) as f64 / 1e9);
    [
        ("t_depend", unix(run.submitted).into()),
        ("t_run", start.map(unix).into()),
        ("t_cleanup", end.map(unix).into()),
        ("t_inactive", end.map(unix).into()),
        ("duration", 0.0.into()),
        ("name", text(&run.name.bytes()).into()),
        ("cwd", format!("/home/{}", owner.name).into()),
        ("queue", run.partition.into()),
        ("bank", run.account_name(site).into()),
        ("ntasks", run.cpus.into()),
        ("ncores", run.cpus.into()),
        ("nnodes", run.nodes.into()),
        ("priority", 16.into()),
        ("ranks", start.map(|_| ranks).into()),
        ("nodelist", start.map(|_| run.host_list()).into()),
        (
            "success",
            end.map(|_| run.outcome == Outcome::Completed).into(),
        ),
        ("result", end.map(|_| status(shown)).into()),
        ("waitstatus", returned.map(|code| code << 8).into()),
        ("id", id(site, run).into()),
        ("t_submit", unix(run.submitted).into()),
        ("state", state(shown).into()),
        ("username", owner.name.as_str().into()),
        ("userid", owner.uid.into()),
        ("urgency", 16.into()),
        ("runtime", runtime.into()),
        ("status", status(shown).into()),
        ("returncode", returned.into()),
        (
            "exception",
            json!({"occurred": status(shown) == "CANCELED"}),
        ),
    ]
}

/// Returns a time in seconds, to the microsecond.
fn unix(time: Nanos) -> f64 {
    shown(time).div_euclid(1_000) as f64 / 1e6
}

fn state(shown: &JobRecord) -> &'static str {
    match shown.phase {
        Phase::Pending => "SCHED",
        Phase::Running => "RUN",
        Phase::Ended => "INACTIVE",
    }
}

/// Returns the state of a job or, if the job is over, its result.
fn status(shown: &JobRecord) -> &'static str {
    match (shown.phase, shown.run.outcome) {
        (Phase::Pending | Phase::Running, _) => state(shown),
        (_, Outcome::Completed) => "COMPLETED",
        (_, Outcome::Timeout) => "TIMEOUT",
        (_, Outcome::Cancelled) => "CANCELED",
        _ => "FAILED",
    }
}

/// Returns the exit code of a finished job.
fn return_code(shown: &JobRecord) -> Option<u32> {
    let code = match shown.run.outcome {
        Outcome::Completed => 0,
        Outcome::Failed(code) => code.into(),
        _ => 143,
    };
    shown.end().and(shown.run.started).map(|_| code)
}

#[cfg(test)]
mod tests {
    use super::f58;

    #[test]
    fn identifiers_of_flux_are_in_base_58() {
        assert_eq!(f58(0), "ƒ1");
        assert_eq!(f58(57), "ƒz");
        assert_eq!(f58(58), "ƒ21");
        assert_eq!(f58(15_032_385_536), "ƒPuMuVy");
    }
}
