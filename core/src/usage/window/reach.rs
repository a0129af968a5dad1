//! The end of a window that reaches now: up to when the targets in scope have been observed.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::base::instant::Micros;

/// A target whose usual interval is at most so many times the median is waited for.
const AWAITED: Micros = 2;
/// No cut is longer than so many medians.
const LONGEST_CUT: Micros = 4;

/// The last observation of a target.
#[derive(Debug, Clone)]
pub struct LastObservation {
    /// The name of the target.
    pub target: String,
    /// The time of the observation.
    pub time: Micros,
    /// The server that the target was read from.
    pub server: String,
    /// The usual interval between observations of the target; `None` if it was observed only once.
    pub usual_interval: Option<Micros>,
    /// Set if the target has not been observed for two usual intervals.
    pub late: bool,
    /// Set if the target has not been observed for three usual intervals and at least ten minutes.
    pub silent: bool,
}

/// The end of a window that reaches now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// The end; `None` if the window need not be cut. If it is not after the start, the window is empty.
    pub end: Option<Micros>,
    /// The position of the target that was waited for, if that cut the window by more than the median of usual intervals.
    pub cut_by: Option<usize>,
}

/// Returns where a window from `since` to now ends: at the oldest last observation of the targets that are waited for. These are
/// observed in the window, neither late nor silent, and read at least half as often as is usual. Others must not hold up all: they
/// count for their observed time. If no target is waited for, the window ends at the last observation of any, unless all are
/// silent and were so before it.
pub fn reach(lasts: &[LastObservation], since: Micros, now: Micros) -> Reach {
    let median = median_interval(lasts);
    let is_awaited = |last: &LastObservation| {
        let own = last.usual_interval.zip(median);
        let is_frequent = own.is_some_and(|(own, median)| own <= median.saturating_mul(AWAITED));
        is_frequent && !last.silent && !last.late && last.time > since
    };
    let awaited = lasts.iter().enumerate().filter(|it| is_awaited(it.1));
    let awaited = awaited.min_by_key(|it| it.1.time);
    let cut_by = awaited.filter(|it| median.is_some_and(|median| now - it.1.time > median));
    let latest = lasts.iter().map(|it| it.time).max();
    let all_silent = lasts.iter().all(|it| it.silent);
    let end = awaited.map(|it| it.1.time);
    let end = end.or(latest.filter(|&time| time > since || !all_silent));
    let least = median.map_or(Micros::MIN, |median| now - median * LONGEST_CUT);
    Reach {
        end: end.map(|end| if end > since { end.max(least) } else { end }),
        cut_by: cut_by.map(|it| it.0),
    }
}

/// Returns the median of the usual intervals of servers, each the median of its targets: whoever feeds many targets of one server has
/// one vote.
fn median_interval(lasts: &[LastObservation]) -> Option<Micros> {
    let mut servers: BTreeMap<&str, Vec<Micros>> = BTreeMap::new();
    for last in lasts {
        let intervals = servers.entry(&last.server).or_default();
        intervals.extend(last.usual_interval);
    }
    median(servers.into_values().filter_map(median).collect())
}

/// Returns the median; the lower one of an even number, so that one of two cannot make it longer.
fn median(mut intervals: Vec<Micros>) -> Option<Micros> {
    intervals.sort_unstable();
    let last = intervals.len().checked_sub(1)?;
    intervals.get(last / 2).copied()
}
