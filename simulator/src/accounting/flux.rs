//! The output of `flux jobs -a --json`.

use std::io::{self, Write};

use serde::Serialize;

use crate::time::{Nanos, shown};

use crate::accounting::calls::Call;
use crate::accounting::known::Phase;
use crate::accounting::text::Shown;
use crate::jobs::job::{Outcome, Run};
use crate::jobs::{Site, flux, names, nodes};

/// A job as Flux prints it. What is not known yet has no key.
#[derive(Serialize)]
struct Job<'a> {
    t_depend: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    t_run: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t_cleanup: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    t_inactive: Option<f64>,
    duration: f64,
    name: String,
    cwd: String,
    queue: &'a str,
    bank: &'a str,
    ntasks: u64,
    ncores: u64,
    nnodes: u64,
    priority: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodelist: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waitstatus: Option<u32>,
    id: u64,
    t_submit: f64,
    state: &'a str,
    username: &'a str,
    userid: u32,
    urgency: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<f64>,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    returncode: Option<u32>,
    exception: Exception,
}

#[derive(Serialize)]
struct Exception {
    occurred: bool,
}

/// Writes the jobs.
pub fn write(site: &Site, call: Call, shown: &[Shown], out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"jobs\": [")?;
    for (position, shown) in shown.iter().enumerate() {
        if position > 0 {
            write!(out, ", ")?;
        }
        serde_json::to_writer(&mut *out, &job(site, call, shown))?;
    }
    writeln!(out, "]}}")
}

fn job<'a>(site: &'a Site, call: Call, shown: &Shown<'a>) -> Job<'a> {
    let run = shown.run;
    let owner = run.owner(site);
    let (start, end) = (shown.start(), shown.end());
    let returned = end.and(run.started).map(|_| return_code(run));
    let last = run.first_node + run.nodes - 1;
    let ranks = match run.nodes {
        1 => last.to_string(),
        _ => format!("[{}-{last}]", run.first_node),
    };
    Job {
        t_depend: unix(run.submitted),
        t_run: start.map(unix),
        t_cleanup: end.map(unix),
        t_inactive: end.map(unix),
        duration: 0.0,
        name: names::shown(&run.name.bytes()),
        cwd: format!("/home/{}", owner.name),
        queue: run.partition,
        bank: run.account_name(site),
        ntasks: run.cpus,
        ncores: run.cpus,
        nnodes: run.nodes,
        priority: 16,
        ranks: start.map(|_| ranks),
        nodelist: start.map(|_| nodes::hostlist(run.cluster, run.first_node, run.nodes)),
        success: end.map(|_| run.outcome == Outcome::Completed),
        result: end.map(|_| status(shown)),
        waitstatus: returned.map(|code| code << 8),
        id: flux::id(site, run.number),
        t_submit: unix(run.submitted),
        state: state(shown),
        username: &owner.name,
        userid: owner.uid,
        urgency: 16,
        runtime: start.map(|start| (end.unwrap_or(call.time) - start) as f64 / 1e9),
        status: status(shown),
        returncode: returned,
        exception: Exception {
            occurred: status(shown) == "CANCELED",
        },
    }
}

/// Returns a time in seconds, to the microsecond.
fn unix(time: Nanos) -> f64 {
    shown(time).div_euclid(1_000) as f64 / 1e6
}

/// Returns the state of a job.
fn state(shown: &Shown) -> &'static str {
    match shown.phase {
        Phase::Pending => "SCHED",
        Phase::Running => "RUN",
        Phase::Ended => "INACTIVE",
    }
}

/// Returns the state of a job or, if the job is over, its result.
pub fn status(shown: &Shown) -> &'static str {
    match (shown.phase, shown.run.outcome) {
        (Phase::Pending | Phase::Running, _) => state(shown),
        (_, Outcome::Completed) => "COMPLETED",
        (_, Outcome::Timeout) => "TIMEOUT",
        (_, Outcome::Cancelled) => "CANCELED",
        _ => "FAILED",
    }
}

/// Returns the code with which a job returned.
pub fn return_code(run: &Run) -> u32 {
    match run.outcome {
        Outcome::Completed => 0,
        Outcome::Failed(code) => code.into(),
        _ => 143,
    }
}
