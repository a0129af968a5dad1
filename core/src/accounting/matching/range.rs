//! Puts the days of an entry together.

use crate::accounting::matching::{Activity, Entry, Job, Verdict, day_of, decide};
use crate::base::instant::Micros;

/// The end of an open range.
pub const FOREVER: i64 = i64::MAX;

/// Days on which an entry belongs to the same job, or has the same other verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first day.
    pub from: i64,
    /// The day after the last one, or [`FOREVER`].
    pub until: i64,
    /// The answer; never [`Verdict::Unknown`].
    pub verdict: Verdict,
}

/// Returns to which of the jobs of a number an entry belongs, in order. The days on which it was active come in order.
///
/// The range of a job ends when its work must be over, so that an entry has one range however many days it works. I/O after all
/// its days has no range.
pub fn ranges(entry: Entry<'_>, days: &[Activity], jobs: &[Job], late: Micros) -> Vec<Range> {
    let mut ranges = Vec::<Range>::new();
    let mut last = Verdict::Unknown;
    for &activity in days {
        let verdict = decide(entry, activity, jobs, late);
        if let Some(range) = ranges.last_mut() {
            if last == verdict && verdict != Verdict::Unknown {
                range.until = range.until.max(activity.day + 1);
                continue;
            }
            range.until = range.until.min(activity.day);
        }
        ranges.extend((verdict != Verdict::Unknown).then(|| Range {
            from: activity.day,
            until: reach(verdict, jobs, late).max(activity.day + 1),
            verdict,
        }));
        last = verdict;
    }
    ranges
}

/// Returns the first day on which work can no longer belong to a job. A verdict that names no job has a day before all others.
fn reach(verdict: Verdict, jobs: &[Job], late: Micros) -> i64 {
    match verdict {
        Verdict::Job(position) => jobs[position]
            .ended
            .map_or(FOREVER, |ended| day_of(ended.saturating_add(late)) + 1),
        _ => i64::MIN,
    }
}
