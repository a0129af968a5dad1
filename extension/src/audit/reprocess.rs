//! `jobstats_reprocess()`: computes anew what the audit finds wrong, and replaces it.

use jobstats_core::instant::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::audit::walk::Walked;
use crate::audit::wholes::{self, Checked};
use crate::audit::{Purpose, Target, Walk, Window, Wrong, begin_as_feed, targets};
use crate::feed::job_stats::compute::recompute;
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::stored::{self, Stored};
use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, Statements, connect_mut};
use crate::pg::statement::Snapshot;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::store::rights::owner::as_owner_of_store;
use crate::store::{self, Settings};

/// The work done on one target.
struct Outcome {
    target: Target,
    walked: Walked,
    wholes: Checked,
    deleted: usize,
    inserted: i64,
}

impl Outcome {
    fn computed(&self) -> u64 {
        self.walked.computed + self.wholes.computed
    }

    fn left(&self) -> u64 {
        self.walked.left + self.wholes.left
    }

    /// Returns the times of what was replaced.
    fn changed(&self) -> impl Iterator<Item = Micros> + '_ {
        let observations = self.walked.wrong.iter().map(|wrong| wrong.time);
        observations.chain(self.wholes.wrong.iter().copied())
    }
}

#[pg_extern(sql = false)]
fn jobstats_reprocess(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    target: Option<Short<Vec<Option<String>>>>,
    mut rows: Rows,
) -> SqlResult<()> {
    let window = Window::new(since, until)?;
    for outcome in as_owner_of_store(|| reprocess(window, plain(target)))? {
        let first = outcome.changed().min().map(timestamptz).transpose()?;
        let last = outcome.changed().max().map(timestamptz).transpose()?;
        rows.put(|| {
            [
                outcome.target.cluster.as_str().cell(),
                outcome.target.name.as_str().cell(),
                count(outcome.computed()).cell(),
                count(outcome.left()).cell(),
                count(outcome.changed().count() as u64).cell(),
                first.cell(),
                last.cell(),
                count(outcome.deleted as u64).cell(),
                outcome.inserted.cell(),
            ]
        });
    }
    Ok(())
}

fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn reprocess(window: Window, patterns: Option<Vec<Option<String>>>) -> Result<Vec<Outcome>, Error> {
    let (settings, targets) = connect_mut(|client| -> Result<_, Error> {
        begin_as_feed(client, "reprocessing")?;
        Ok((store::settings(client)?, targets(client, patterns)?))
    })?;
    let mut entries = Entries::default();
    let mut outcomes = Vec::new();
    for target in targets {
        entries.sent_by(&target.cluster);
        outcomes.push(reprocess_target(window, settings, &mut entries, target)?);
    }
    let changed = outcomes.iter().flat_map(|outcome| &outcome.walked.wrong);
    if let Some(first) = changed.map(|wrong| wrong.time).min() {
        // New entries are inserted in the last step and for all targets at once, as in a feed.
        connect_mut(|client| entries.insert_new(client, first))?;
    }
    outcomes.retain(|outcome| outcome.computed() + outcome.left() > 0);
    let name = |outcome: &Outcome| (outcome.target.cluster.clone(), outcome.target.name.clone());
    outcomes.sort_by_key(name);
    Ok(outcomes)
}

fn reprocess_target(
    window: Window,
    settings: Settings,
    entries: &mut Entries,
    target: Target,
) -> Result<Outcome, Error> {
    // Targets come in the order in which feeds lock them. Later statements read what is committed once the lock is
    // ours.
    let _held = Snapshot::Latest.hold();
    connect_mut(|client| {
        let lock = "SELECT FROM jobstats.targets WHERE target_id = $1 FOR NO KEY UPDATE";
        client.execute(lock, &[target.id.into()])
    })?;
    let walk = Walk::new(Purpose::Repair, window, settings, Some(target.id))?;
    let walked = walk.target(target.id, entries, &mut |_| Ok(()))?;
    let stale: Vec<_> = walked.wrong.iter().map(|wrong| wrong.stale).collect();
    let deleted = connect_mut(|client| stored::delete_increments(client, target.id, &stale))?;
    let wholes = wholes::check(
        Purpose::Repair,
        target.id,
        window,
        settings,
        &mut |_| Ok(()),
    )?;
    let mut inserted = wholes.inserted as i64;
    for wrong in &walked.wrong {
        pause();
        inserted += i64::from(put_right(entries, target.id, wrong, settings)?);
    }
    Ok(Outcome {
        target,
        walked,
        deleted: deleted + wholes.deleted,
        inserted,
        wholes,
    })
}

/// Replaces the stored values of an observation; earlier observations are right already. Returns the number of its
/// increments.
fn put_right(
    entries: &mut Entries,
    target_id: i32,
    wrong: &Wrong,
    settings: Settings,
) -> Result<i32, Error> {
    connect_mut(|client| {
        stored::correct(client, target_id, wrong.time, &wrong.server, wrong.bytes)?;
        let mut read = |time: Micros| -> Result<Stored, Error> {
            let found = stored::at(client, target_id, time)?;
            found.ok_or_else(|| Error::Damaged("an observation vanished".to_owned()))
        };
        let previous = wrong.previous.map(&mut read).transpose()?;
        let next = read(wrong.time)?;
        let before = previous.as_ref().map(Stored::read).transpose()?;
        let this = (&next, &next.read()?);
        let computed = recompute(client, entries, target_id, before.as_ref(), this, settings)?;
        Ok(computed.increments)
    })
}
