//! The elements of an array.

use jobstats_client::answers::{Filters, JobRow, JobsRow, Window};

use super::{groups, list, run_time};
use crate::ask::store::{Error, Store};
use crate::subject::{Fact, Ranking, RankingRow, Subject, Value};
use crate::values::text::joined;
use crate::values::when;

/// The largest number of elements of an array that are loaded.
pub(super) const ELEMENTS: i32 = 10_000;

/// Returns the elements of an array, or the job under another name; empty for a job of this name.
pub(super) fn elements(
    store: &mut Store,
    name: &str,
    row: &JobRow,
    own: &Filters,
) -> Result<Vec<JobsRow>, Error> {
    if row.runs.is_none() {
        return Ok(Vec::new());
    }
    let window = Window {
        since: row.started,
        until: row.ended,
    };
    let mut elements = list(store, name, window, own.clone(), ELEMENTS)?.rows;
    // The leader of a job of several components is no array.
    elements.retain(|it| !it.job.contains('+') && groups(&it.job) != groups(name));
    elements.sort_by(|one, other| one.job.cmp(&other.job));
    Ok(elements)
}

/// Ranks the elements of an array by usage, and finds the slowest.
pub(super) fn by_element(subject: &mut Subject, elements: &[JobsRow]) {
    // A single element needs no ranking.
    if elements.len() < 2 {
        return;
    }
    let times = elements
        .iter()
        .filter_map(|it| Some((run_time(it)?, &it.job)));
    let mut times: Vec<_> = times.collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let longest = times
        .last()
        .map(|(time, label)| format!("{label}, {}", when::length(*time)));
    let median = times.get(times.len().saturating_sub(1) / 2);
    let median = median.map(|(time, _)| Value::Number(*time, when::length));
    let count = Value::Count(elements.len() as i64);
    subject.add([
        Fact::new("elements", "Elements", Some(count)),
        Fact::text("longest", "Longest", longest.as_ref()),
        Fact::new("median_run_time", "Median time", median),
    ]);
    let ranked = elements.iter().map(|it| RankingRow {
        name: Some(it.job.clone()),
        detail: joined(
            [run_time(it).map(when::length), it.state.clone()]
                .into_iter()
                .flatten(),
        ),
        share: None,
        amounts: [it.read_bytes, it.write_bytes, it.metadata, it.service_time],
    });
    let ranking = Ranking::by_amount("element", ranked.collect());
    subject.rankings.push(ranking);
}
