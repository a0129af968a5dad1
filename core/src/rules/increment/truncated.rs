//! Finds texts that end too early although their last line is whole (rule 3).
//!
//! Lustre prints entries in the order in which they were created. So a text that was cut between two records has only
//! entries that the previous text has too, and the entries behind its last one are all missing. Lustre drops idle
//! entries, or all of them; it never drops an entry that was active a moment ago while the others go on.

use super::Observation;
use crate::base::instant::{DAY, Micros, SECOND};
use crate::rules::snapshot::{Record, Snapshot};
use crate::text::job_stats::{Clock, Time};

/// Returns true if any of these records of the previous text was active within a cleanup interval before `next`, so that
/// Lustre cannot have dropped the record for being idle. With a cleanup interval of 0 Lustre never does so; a day then counts.
pub(super) fn is_any_active(
    missing: &[Record],
    previous: &Observation<'_>,
    next: &Observation<'_>,
    cleanup_interval: u32,
) -> bool {
    let Some(text) = next.snapshot else {
        return false;
    };
    let limit = idle_limit(cleanup_interval);
    let times = missing.iter().filter_map(|record| record.snapshot_time);
    times
        .filter_map(|time| age(time, previous, next, text))
        .any(|age| age < limit)
}

/// Returns the idle time after which Lustre may drop an entry; a day if Lustre never does so.
pub(super) fn idle_limit(cleanup_interval: u32) -> Micros {
    match cleanup_interval {
        0 => DAY,
        seconds => Micros::from(seconds) * SECOND,
    }
}

/// Returns how long before `next` an entry was active at most; `None` if that is not known. A clock that counts from boot is
/// compared with the last activity in the text, which was after the previous observation if any entry was active since.
fn age(
    time: Time,
    previous: &Observation<'_>,
    next: &Observation<'_>,
    text: &Snapshot<'_>,
) -> Option<Micros> {
    if time.clock == Clock::Epoch {
        return Some(next.time.saturating_sub(micros(time)?));
    }
    let latest = |snapshot: &Snapshot<'_>| {
        let times = snapshot.records.iter().map(|record| record.snapshot_time);
        times.flatten().filter(|it| it.clock == time.clock).max()
    };
    let now = latest(text)?;
    let before = previous.snapshot.and_then(latest)?;
    let since = micros(now)?.saturating_sub(micros(time)?);
    (now > before).then(|| since + next.time.saturating_sub(previous.time))
}

fn micros(time: Time) -> Option<Micros> {
    Micros::try_from(time.seconds).ok()?.checked_mul(SECOND)
}
