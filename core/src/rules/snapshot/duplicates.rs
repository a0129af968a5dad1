//! Resolves identifiers that stand in one text twice (rule 5).
//!
//! Lustre prints an identifier twice if its entry was removed and made again while the text was printed, or if the
//! position in the list of entries was lost. Records with different start times are two epochs of the entry, and so are
//! records without start times if the later one has restarted; otherwise they are one epoch, read twice.

use std::cmp::Reverse;
use std::collections::TryReserveError;

use super::read::Budget;
use super::{Identifiers, Record, Snapshot};
use crate::base::pause::Pause;
use crate::base::try_vec::{collect, filled, push};
use crate::text::job_stats::{Problem, Reason};

/// Leaves one record for each epoch: one of identical records, the last of differing ones. The epochs of one entry stand
/// in order of time.
pub(super) fn resolve<'a>(
    snapshot: &mut Snapshot<'a>,
    job_id_lines: &[&'a [u8]],
    budget: &mut Budget,
    pause: Pause<'_>,
) -> Result<(), TryReserveError> {
    if !may_repeat(&snapshot.records, pause)? {
        return Ok(());
    }
    let groups = groups(&snapshot.records, &snapshot.ids, pause)?;
    if groups.is_empty() {
        return Ok(());
    }
    let mut is_removed = filled(false, snapshot.records.len())?;
    for group in pause.among(groups) {
        let used = epochs(snapshot, &group)?;
        snapshot.has_several_epochs |= used.len() > 1;
        for position in &group {
            let record = &snapshot.records[*position];
            // The record that is used of an epoch is its last one.
            let epoch = used.partition_point(|used| {
                (snapshot.records[*used].start_time, used) < (record.start_time, position)
            });
            if !used
                .get(epoch)
                .is_some_and(|used| is_same(snapshot, *position, *used))
            {
                let problem = Problem {
                    line: record.line,
                    target: snapshot.target,
                    entry: None,
                    reason: Reason::DuplicateRecord,
                    text: job_id_lines[*position],
                };
                snapshot.has_duplicates = true;
                snapshot.problems_found += 1;
                let entry = Some(snapshot.ids.get(&record.id));
                budget.report(problem, entry, &mut snapshot.problems)?;
            }
        }
        let records = used.iter().map(|position| {
            let record = snapshot.records[*position].clone();
            let ended = record.start_time.is_none() && used.last() != Some(position);
            Record { ended, ..record }
        });
        let records = collect(records)?;
        for (position, record) in group.iter().zip(records) {
            snapshot.records[*position] = record;
        }
        for position in &group[used.len()..] {
            is_removed[*position] = true;
        }
    }
    let mut is_removed = is_removed.into_iter();
    snapshot
        .records
        .retain(|_| is_removed.next() == Some(false));
    Ok(())
}

/// Returns true if any identifier can stand in the records twice. This answers for nearly every text, in a tenth of the
/// time of [`groups`].
fn may_repeat(records: &[Record], pause: Pause<'_>) -> Result<bool, TryReserveError> {
    // A hash table: the upper half of a hash is at the place that the lower half gives, or in the next free place.
    let len = (2 * records.len()).next_power_of_two();
    let mut halves = filled(0_u32, len)?;
    for record in pause.among(records) {
        // A free place is 0.
        let half = (record.hash >> 32) as u32 | 1;
        let mut place = record.hash as usize % len;
        while halves[place] != 0 {
            if halves[place] == half {
                return Ok(true);
            }
            place = (place + 1) % len;
        }
        halves[place] = half;
    }
    Ok(false)
}

/// Returns the positions of records that share an identifier, in the text's order.
fn groups(
    records: &[Record],
    ids: &Identifiers,
    pause: Pause<'_>,
) -> Result<Vec<Vec<usize>>, TryReserveError> {
    let mut order = Vec::new();
    order.try_reserve_exact(records.len())?;
    order.extend(records.iter().map(|record| record.hash).zip(0_u32..));
    let id = |position: u32| ids.get(&records[position as usize].id);
    let mut compared = 0;
    order.sort_unstable_by(|one, other| {
        compared += 1;
        pause.after(compared);
        let by_id = || id(one.1).cmp(id(other.1)).then(one.1.cmp(&other.1));
        one.0.cmp(&other.0).then_with(by_id)
    });
    let mut groups = Vec::new();
    for group in order.chunk_by(|one, other| one.0 == other.0 && id(one.1) == id(other.1)) {
        if group.len() > 1 {
            let positions = group.iter().map(|(_, position)| *position as usize);
            push(&mut groups, collect(positions)?)?;
        }
    }
    Ok(groups)
}

/// Returns the record that is used of each epoch, the oldest epoch first. If some records have a start time, a record
/// without one has lost it and its epoch is unknown.
fn epochs(snapshot: &Snapshot<'_>, group: &[usize]) -> Result<Vec<usize>, TryReserveError> {
    let start = |position: &usize| snapshot.records[*position].start_time;
    let mut used = collect(group.iter().copied())?;
    if group.iter().any(|position| start(position).is_some()) {
        used.retain(|position| start(position).is_some());
        // The last record of each epoch comes first.
        used.sort_unstable_by_key(|position| (start(position), Reverse(*position)));
        used.dedup_by_key(|position| start(position));
        return Ok(used);
    }
    let mut followers = group.iter().skip(1);
    used.retain(|position| {
        let next = followers.next();
        next.is_none_or(|next| has_restarted(snapshot, *position, *next))
    });
    Ok(used)
}

/// Returns true if the later of two records without start time is of another epoch (rule 4).
fn has_restarted(snapshot: &Snapshot<'_>, earlier: usize, later: usize) -> bool {
    let [earlier, later] = [earlier, later].map(|position| &snapshot.records[position]);
    let mut counters = snapshot.counters_of(later);
    snapshot.counters_of(earlier).any(|before| {
        let now = Snapshot::value_among(&mut counters, later, before.slot);
        now.is_some_and(|now| before.restarted(&now))
    })
}

/// Returns true if two records are equal.
fn is_same(snapshot: &Snapshot<'_>, a: usize, b: usize) -> bool {
    let [a, b] = [a, b].map(|position| &snapshot.records[position]);
    let words = |record: &Record| snapshot.counters.words(record.counters.clone());
    snapshot.key(a) == snapshot.key(b)
        && a.snapshot_time == b.snapshot_time
        && a.start_time == b.start_time
        && a.present == b.present
        && words(a) == words(b)
}
