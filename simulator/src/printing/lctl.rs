//! Plays `lctl get_param`.

use globset::{Glob, GlobMatcher};

use crate::failure::Failure;
use crate::printing::reading::{Reading, Records};
use crate::time::{Nanos, SECOND, Span};
use crate::world::plan::DUMP;
use crate::world::{Cluster, Plan, ServerIndex, Target, TargetIndex, TargetState, Workload};

/// The result of a call of `lctl`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Printed {
    pub stdout: Vec<u8>,
    pub stderr: String,
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
) -> Result<Printed, Failure> {
    let mut printed = Printed::default();
    let workload = Workload::new(cluster);
    for pattern in patterns {
        let parameters = matching(cluster, server, time, &matcher(pattern)?);
        if parameters.is_empty() {
            let path = pattern.replace('.', "/");
            let problem = format!("param_path '{path}': No such file or directory");
            printed.fail(ENOENT, &problem);
        }
        for (name, target) in parameters {
            if name.ends_with(".job_cleanup_interval") {
                let line = cleanup_interval(cluster, target);
                printed.stdout.extend(line.bytes());
            } else {
                printed.job_stats(&workload, target, time);
            }
        }
    }
    Ok(printed)
}

impl Printed {
    fn fail(&mut self, status: u8, problem: &str) {
        let line = format!("error: get_param: {problem}\n");
        self.stderr.push_str(&line);
        self.status = status;
    }

    /// Adds the text of a target.
    fn job_stats(&mut self, workload: &Workload, target: TargetIndex, time: Nanos) {
        let mut state = TargetState::new(workload, target, Span::new(time, DUMP));
        let name = parameter(&workload.cluster.targets[target], "job_stats");
        if let Some(reading) = Reading::take(&mut state, time, false, |_| ()) {
            let text = reading.text(&state, &mut Records::default());
            self.stdout.extend(framed(&name, &text));
            if reading.cut.is_none() {
                return;
            }
        }
        let path = name.replace('.', "/");
        let problem = format!("read('/proc/fs/lustre/{path}') failed: Input/output error");
        self.fail(EIO, &problem);
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, Failure> {
    let glob = Glob::new(pattern).map_err(|error| format!("bad pattern {pattern:?}: {error}"))?;
    Ok(glob.compile_matcher())
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
                .map(|name| (parameter(&cluster.targets[target], name), target))
        })
        .filter(|(name, _)| pattern.is_match(name))
        .collect();
    parameters.sort();
    parameters
}

/// Returns the full name of one of a target's parameters.
pub fn parameter(target: &Target, name: &str) -> String {
    format!("{}.{}.{name}", target.kind.device(), target.name)
}

/// Returns the line of a target's cleanup interval.
pub fn cleanup_interval(cluster: &Cluster, target: TargetIndex) -> String {
    let name = parameter(&cluster.targets[target], "job_cleanup_interval");
    format!("{name}={}\n", cluster.cleanup_interval / SECOND)
}

/// Formats a parameter and its value. A value of several lines begins on a line of its own.
pub fn framed(name: &str, value: &[u8]) -> Vec<u8> {
    let has_lines = value.strip_suffix(b"\n").unwrap_or(value).contains(&b'\n');
    let before: &[u8] = if has_lines { b"\n" } else { b"" };
    let after: &[u8] = if value.is_empty() { b"\n" } else { b"" };
    [name.as_bytes(), b"=", before, value, after].concat()
}
