//! Plays `lctl get_param`.

use std::fmt::Write;

use globset::{GlobBuilder, GlobMatcher};
use thiserror::Error;

use crate::printing::reading::{Outcome, Reading};
use crate::time::{Nanos, SECOND};
use crate::world::cluster::{Cluster, ServerIndex, TargetIndex};
use crate::world::plan::{DUMP, Plan};
use crate::world::target::TargetState;
use crate::world::workload::Workload;

/// An error that prevents playing `lctl`.
#[derive(Debug, Error)]
pub enum Error {
    /// The pattern is not one that a shell could expand.
    #[error("bad pattern {pattern:?}: {source}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The error in the pattern.
        source: globset::Error,
    },
}

/// The result of a call of `lctl`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: String,
    /// The exit status.
    pub status: u8,
}

/// The exit status if there is no such parameter.
const ENOENT: u8 = 2;
/// The exit status if reading failed.
const EIO: u8 = 5;

/// Plays `lctl get_param PATTERN…` on a server at a time.
pub fn get_param(
    cluster: &Cluster,
    server: ServerIndex,
    time: Nanos,
    patterns: &[String],
) -> Result<Printed, Error> {
    let mut printed = Printed::default();
    let workload = Workload::new(cluster);
    for pattern in patterns {
        let parameters = matching(cluster, server, time, &matcher(pattern)?);
        if parameters.is_empty() {
            let _: std::fmt::Result = writeln!(
                printed.stderr,
                "error: get_param: param_path '{}': No such file or directory",
                pattern.replace('.', "/")
            );
            printed.status = ENOENT;
        }
        for (name, target) in parameters {
            if name.ends_with(".job_cleanup_interval") {
                printed
                    .stdout
                    .extend(cleanup_interval(cluster, target).bytes());
            } else {
                job_stats(&workload, cluster, target, time, &mut printed);
            }
        }
    }
    Ok(printed)
}

fn matcher(pattern: &str) -> Result<GlobMatcher, Error> {
    GlobBuilder::new(pattern)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|source| Error::Pattern {
            pattern: pattern.to_owned(),
            source,
        })
}

/// Returns the parameters that match a pattern, sorted as in a shell.
fn matching(
    cluster: &Cluster,
    server: ServerIndex,
    time: Nanos,
    pattern: &GlobMatcher,
) -> Vec<(String, TargetIndex)> {
    let plan = Plan::new(cluster);
    let mut parameters: Vec<_> = (0..cluster.targets.len())
        .filter(|&target| plan.owner(target, time) == server)
        .flat_map(|target| {
            ["job_cleanup_interval", "job_stats"]
                .map(|name| (cluster.targets[target].parameter(name), target))
        })
        .filter(|(name, _)| pattern.is_match(name))
        .collect();
    parameters.sort();
    parameters
}

/// Returns the line of a target's cleanup interval.
pub fn cleanup_interval(cluster: &Cluster, target: TargetIndex) -> String {
    let name = cluster.targets[target].parameter("job_cleanup_interval");
    format!("{name}={}\n", cluster.cleanup_interval / SECOND)
}

fn job_stats(
    workload: &Workload,
    cluster: &Cluster,
    target: TargetIndex,
    time: Nanos,
    printed: &mut Printed,
) {
    let horizon = time + DUMP;
    let mut state = TargetState::new(workload, cluster, target, time, horizon);
    let name = cluster.targets[target].parameter("job_stats");
    let outcome = Reading::take(&mut state, time, false, |_| ());
    let failed = match &outcome {
        Outcome::Read(reading) => {
            printed.stdout.extend(framed(&name, &reading.text(&state)));
            reading.cut.is_some()
        }
        Outcome::Failed => true,
    };
    if failed {
        let _: std::fmt::Result = writeln!(
            printed.stderr,
            "error: get_param: read('/proc/fs/lustre/{}') failed: Input/output error",
            name.replace('.', "/")
        );
        printed.status = EIO;
    }
}

/// Formats a parameter and its value. A value of several lines begins on a line of its own.
pub fn framed(name: &str, value: &[u8]) -> Vec<u8> {
    let mut text = format!("{name}=").into_bytes();
    let body = value.strip_suffix(b"\n").unwrap_or(value);
    if body.contains(&b'\n') {
        text.push(b'\n');
    }
    text.extend(value);
    if value.is_empty() {
        text.push(b'\n');
    }
    text
}
