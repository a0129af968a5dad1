//! Notices about servers without times (Lustre before 2.14).

use jobstats_core::usage::{Measure, Scope, Times};

use crate::pg::error::shown;
use crate::query::notice::{NAMED, hinted, listed};
use crate::query::question::Question;

/// Raises a notice if a question needs times that targets do not report. Returns the targets that report them.
pub fn note(question: &Question, scope: &Scope) -> Times {
    if !question.measures.list.iter().any(Measure::is_time) {
        return Times::Everywhere;
    }
    let times = scope.times.of_all();
    match times {
        Times::Everywhere => {}
        Times::Somewhere => note_some(scope),
        Times::Nowhere if question.measures.without_times.is_empty() => hinted(
            "no target in scope reports times (Lustre before 2.14), so all times in the answer are unknown",
            "Use the operations metadata (of MDTs) and bytes (of OSTs) instead.",
        ),
        Times::Nowhere => pgrx::notice!(
            "no target in scope reports times (Lustre before 2.14), so metadata of MDTs and bytes of OSTs replace service_time"
        ),
    }
    times
}

/// Raises a notice that names the targets without times.
fn note_some(scope: &Scope) {
    let mut targets: Vec<(&str, &str)> = scope
        .untimed()
        .map(|it| (&*it.cluster, &*it.name))
        .collect();
    targets.sort_unstable();
    targets.dedup();
    // A target of another cluster than the unnamed one is shown with its cluster.
    let named = |(cluster, name): (&str, &str)| match cluster.is_empty() {
        true => shown(name).into_owned(),
        false => shown(&format!("{cluster}/{name}")).into_owned(),
    };
    let targets: Vec<String> = targets.into_iter().map(named).collect();
    let (report, their) = match targets.len() {
        1 => ("target reports", "its"),
        _ => ("targets report", "their"),
    };
    pgrx::notice!(
        "{} {report} no times (Lustre before 2.14), so {their} time is missing from the answer: {}",
        targets.len(),
        listed(&targets, NAMED)
    );
}
