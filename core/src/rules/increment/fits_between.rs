//! Checks whether a late snapshot can be as old as its time (rule 8).

use std::collections::TryReserveError;

use super::compare::{latest_start_times, wall};
use super::history::History;
use super::truncated::idle_limit;
use super::{LateReason, Observation};
use crate::base::pause::Pause;
use crate::rules::snapshot::{ByKey, Keys, Record, Snapshot};
use crate::text::job_stats::Clock;

/// Checks that `late` can have been read between `previous` and `next`, the observations around its time. The records
/// carried with `previous` are checked too.
///
/// A server's clock may be wrong. A snapshot in the wrong place makes counters fall, and their growth would be counted
/// twice.
pub fn can_be_older(
    late: &Observation,
    previous: Option<&Observation>,
    next: &Observation,
    pause: Pause<'_>,
) -> Result<(), LateReason> {
    let is_neighbour = |other: &Observation| other.server == late.server;
    if !is_neighbour(next) && !previous.is_some_and(is_neighbour) {
        return Err(LateReason::Server);
    }
    if let Some(previous) = previous {
        dates_agree(previous, late, pause)?;
    }
    dates_agree(late, next, pause)?;
    counters_agree(late, previous, next, pause)
}

/// Checks that the snapshots after `late`, which are `next` and the one after that, can lack the entries without `start_time` that `late` is the
/// first to have. If the server's clock went back, `late` was read after them, and what these entries did would count again when they come.
///
/// Lustre cannot have dropped an entry that was active within the cleanup interval of `next`, and a snapshot that skipped it is followed by a
/// snapshot with it. Without such a snapshot there is no decision: the carried records keep the sums right for a while.
pub fn can_be_followed(
    late: &Observation,
    previous: Option<&Observation>,
    (next, after): (&Observation, Option<&Observation>),
    cleanup_interval: u32,
    pause: Pause<'_>,
) -> Result<(), LateReason> {
    let (Some(previous), Some(snapshot)) = (previous, late.snapshot) else {
        return Ok(());
    };
    let Some((in_next, others)) = going_on(late, previous, Some(next), pause)? else {
        return Ok(());
    };
    let in_after = going_on(late, previous, after, pause)?;
    let mut before = History::new(previous, pause)?;
    let undated = snapshot.records.iter().filter(|it| it.start_time.is_none());
    for record in pause.among(undated) {
        let was_active = |snapshot: &Observation| {
            let active = wall(record.snapshot_time);
            active.is_some_and(|at| snapshot.time.saturating_sub(at) < idle_limit(cleanup_interval))
        };
        if !was_active(next) || before.find(snapshot, record)?.is_some() {
            continue;
        }
        let (key, id) = (snapshot.key(record), || snapshot.id(record).to_owned());
        match (in_next.get(&key), &in_after) {
            (Some(false), _) => return Err(LateReason::Fell(id())),
            // Once Lustre may have dropped the entry, it has only if it dropped others.
            (None, Some((seen, others_after)))
                if seen.get(&key) != Some(&true)
                    && (after.is_some_and(was_active) || *others_after >= others) =>
            {
                return Err(LateReason::Lost(id()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the entries of a later snapshot that `late` is the first to have, with whether they go on from there, and how many others go on.
/// Returns `None` unless the snapshot is complete and from the same server, others go on in it, and all of these go on: else the target may
/// have been reset.
fn going_on<'a>(
    late: &Observation,
    previous: &Observation,
    later: Option<&Observation<'a>>,
    pause: Pause<'_>,
) -> Result<Option<(ByKey<'a, bool>, usize)>, TryReserveError> {
    let snapshot = later.filter(|later| later.server == late.server);
    let snapshot = snapshot.and_then(|later| later.snapshot);
    let Some(snapshot) = snapshot.filter(|snapshot| snapshot.complete) else {
        return Ok(None);
    };
    let (mut before, mut late) = (History::new(previous, pause)?, History::new(late, pause)?);
    let (mut new, mut others) = (ByKey::default(), 0);
    for record in pause.among(&snapshot.records) {
        match (
            restarts(&mut late, snapshot, record)?,
            before.find(snapshot, record)?,
        ) {
            (Some(true), Some(_)) => return Ok(None),
            (Some(false), Some(_)) => others += 1,
            (Some(restarts), None) => {
                new.try_reserve(1)?;
                new.insert(snapshot.key(record), !restarts);
            }
            (None, _) => {}
        }
    }
    Ok((others > 0).then_some((new, others)))
}

/// Checks that every entry with a `start_time` goes on or is followed by a later epoch.
fn dates_agree(
    before: &Observation,
    next: &Observation,
    pause: Pause<'_>,
) -> Result<(), LateReason> {
    let Some(next) = next.snapshot else {
        return Ok(());
    };
    for known in [before.snapshot, before.carried].into_iter().flatten() {
        starts_ascend(known, next, pause)?;
    }
    let mut history = History::new(before, pause)?;
    let dated = next.records.iter().filter(|it| it.start_time.is_some());
    for record in pause.among(dated) {
        let head = history.find(next, record)?;
        let epoch = head.and_then(|head| history.epoch(head, record.start_time));
        if epoch.is_some_and(|epoch| epoch.falls(next, record)) {
            return Err(LateReason::Fell(next.id(record).to_owned()));
        }
    }
    Ok(())
}

fn starts_ascend(before: &Snapshot, next: &Snapshot, pause: Pause<'_>) -> Result<(), LateReason> {
    let latest = latest_start_times(next, pause)?;
    let is_later = |record: &&Record| {
        let latest = latest.get(&before.key(record)).copied().flatten();
        record
            .start_time
            .zip(latest)
            .is_some_and(|(start, latest)| {
                (start.clock, latest.clock) == (Clock::Epoch, Clock::Epoch) && start > latest
            })
    };
    match pause.among(&before.records).find(is_later) {
        Some(record) => Err(LateReason::StartTime(before.id(record).to_owned())),
        None => Ok(()),
    }
}

/// Checks that no entry without `start_time` goes on from `previous` to `next` and yet restarts before or after `late`.
fn counters_agree(
    late: &Observation,
    previous: Option<&Observation>,
    next: &Observation,
    pause: Pause<'_>,
) -> Result<(), LateReason> {
    let (Some(previous), Some(snapshot), Some(next)) = (previous, late.snapshot, next.snapshot)
    else {
        return Ok(());
    };
    let mut before = History::new(previous, pause)?;
    let mut restarted = Keys::default();
    for record in pause.among(&snapshot.records) {
        if restarts(&mut before, snapshot, record)? == Some(true) {
            restarted.try_reserve(1)?;
            restarted.insert(snapshot.key(record));
        }
    }
    let mut before = History::new(previous, pause)?;
    let mut late = History::new(late, pause)?;
    for record in pause.among(&next.records) {
        let restarts_once = restarted.contains(&next.key(record))
            || restarts(&mut late, next, record)? == Some(true);
        if restarts_once && restarts(&mut before, next, record)? == Some(false) {
            return Err(LateReason::Fell(next.id(record).to_owned()));
        }
    }
    Ok(())
}

/// Returns true if the record's entry restarted since it was known. Returns `None` if the entry was not known or if
/// `start_time` decides.
fn restarts(
    history: &mut History,
    snapshot: &Snapshot,
    record: &Record,
) -> Result<Option<bool>, TryReserveError> {
    let head = history.find(snapshot, record)?;
    let epoch = head.and_then(|head| history.latest_epoch(head));
    let undated = epoch.filter(|epoch| epoch.start_time().is_none() || record.start_time.is_none());
    Ok(undated.map(|epoch| epoch.restarted(snapshot, record).is_some()))
}
