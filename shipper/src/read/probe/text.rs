//! The times as an exporter would print them, in the text format of Prometheus.

use std::fmt::Write;
use std::time::Duration;

use crate::read::probe::Place;
use crate::read::probe::attempt::STEPS;
use crate::read::probe::fault::{REASONS, TIMEOUT};
use crate::read::probe::turns::Outcome;

/// The description of the times.
const SECONDS: &str = "\
# HELP jobstats_probe_seconds Duration of a step of the last probe; for a step that hangs, the time so far.
# TYPE jobstats_probe_seconds gauge
";

/// The description of the failures.
const FAILED: &str = "\
# HELP jobstats_probe_failed 1 if the last probe failed for this reason.
# TYPE jobstats_probe_failed gauge
";

/// Returns the text for these directories and the last probe of each.
pub fn exposition<'a>(probes: impl Iterator<Item = (&'a Place, &'a Outcome)>) -> String {
    let (mut seconds, mut failures) = (SECONDS.to_owned(), FAILED.to_owned());
    for (place, outcome) in probes {
        let labels = labels(place);
        let reason = outcome.fault.as_ref().map(|fault| fault.reason);
        let known: Duration = outcome.steps.iter().sum();
        let so_far = (reason == Some(TIMEOUT)).then(|| outcome.elapsed.saturating_sub(known));
        let times = outcome.steps.iter().copied().chain(so_far);
        for (step, time) in STEPS.iter().zip(times) {
            let time = time.as_secs_f64();
            let _ = writeln!(
                seconds,
                "jobstats_probe_seconds{{{labels},step=\"{step}\"}} {time:.6}"
            );
        }
        for known in REASONS {
            let failed = u8::from(reason == Some(known));
            let _ = writeln!(
                failures,
                "jobstats_probe_failed{{{labels},reason=\"{known}\"}} {failed}"
            );
        }
    }
    seconds + &failures
}

fn labels(Place { target, directory }: &Place) -> String {
    let directory = directory.to_string_lossy();
    let directory = directory.replace('\\', r"\\").replace('"', r#"\""#);
    let target = target
        .as_ref()
        .map(|target| format!(",target=\"{target}\""));
    format!("directory=\"{directory}\"{}", target.unwrap_or_default())
}
