//! `jobstats_reprocess()`: reads stored texts again, and replaces what differs.

use jobstats_core::base::instant::{Micros, Span};
use pgrx::prelude::*;

use crate::audit::reread::reread;
use crate::audit::target_counters::{self, CheckResult};
use crate::audit::walk::WalkResult;
use crate::audit::{Purpose, Target, Walk, WrongObservation, begin_as_feed, targets};
use crate::feed::job_stats::compute::recompute;
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::stored::{self, StoredSnapshot};
use crate::feed::job_stats::write;
use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::pg::statement::Snapshot;
use crate::pg::time::{timestamptz, window};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::filters::{Filters, OF_TARGETS};
use crate::store::rights::owner::as_owner_of_store;
use crate::store::rights::writer::LCTL;
use crate::store::{self, Settings, spans};

/// The result for one target.
struct Outcome {
    target: Target,
    walked: WalkResult,
    counters: CheckResult,
    deleted: usize,
    inserted: i64,
}

impl Outcome {
    fn computed(&self) -> u64 {
        self.walked.computed + self.counters.computed
    }

    fn left(&self) -> u64 {
        self.walked.left + self.counters.left
    }

    fn write(&self, rows: &mut Rows) -> Result<(), Error> {
        let first = self.changed().min().map(timestamptz).transpose()?;
        let last = self.changed().max().map(timestamptz).transpose()?;
        rows.put(|| {
            [
                LCTL.cell(),
                self.target.cluster.as_str().cell(),
                self.target.name.as_str().cell(),
                count(self.computed()).cell(),
                count(self.left()).cell(),
                count(self.changed().count() as u64).cell(),
                first.cell(),
                last.cell(),
                count(self.deleted as u64).cell(),
                self.inserted.cell(),
                None::<&str>.cell(),
            ]
        });
        Ok(())
    }

    /// Returns the times of the replaced snapshots.
    fn changed(&self) -> impl Iterator<Item = Micros> + '_ {
        let observations = self.walked.wrong.iter().map(|wrong| wrong.time);
        observations.chain(self.counters.wrong.iter().copied())
    }
}

#[pg_extern(sql = false)]
fn jobstats_reprocess(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let window = window(arguments.take()?, arguments.take()?)?;
    let filters = Filters::take(&mut arguments)?;
    let source: Option<String> = arguments.take()?;
    let source = source.as_deref();
    let is_lctl = |name| name == LCTL;
    if source.is_none_or(is_lctl) {
        filters.require_keys(&OF_TARGETS)?;
        let outcomes = as_owner_of_store(|| reprocess(window, &filters))?;
        outcomes.iter().try_for_each(|it| it.write(&mut rows))?;
    }
    if source.is_none_or(|name| !is_lctl(name)) {
        reread(window, source, &filters, &mut rows)?;
    }
    Ok(())
}

fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn reprocess(window: Span, filters: &Filters) -> Result<Vec<Outcome>, Error> {
    let (settings, targets) = connect_mut(|client| -> Result<_, Error> {
        begin_as_feed(client, "reprocessing")?;
        Ok((store::settings(client)?, targets(client, filters)?))
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
    window: Span,
    settings: Settings,
    entries: &mut Entries,
    target: Target,
) -> Result<Outcome, Error> {
    // Targets come in the order in which feeds lock them. Later statements see all that was committed before the lock.
    let _held = Snapshot::Latest.hold();
    connect_mut(|client| {
        let lock = "SELECT FROM jobstats.targets WHERE target_id = $1 FOR NO KEY UPDATE";
        client.execute(lock, &values![target.id])
    })?;
    let walk = Walk::new(Purpose::Repair, window, settings, Some(target.id))?;
    let walked = walk.target(target.id, entries, &mut |_| Ok(()))?;
    let stale: Vec<_> = walked.wrong.iter().map(|wrong| wrong.stale).collect();
    let deleted = connect_mut(|client| write::delete_increments(client, target.id, &stale))?;
    let counters = target_counters::check(&walk, target.id, &mut |_| Ok(()))?;
    let mut inserted = counters.inserted as i64;
    for wrong in &walked.wrong {
        pause();
        inserted += i64::from(put_right(entries, target.id, wrong, settings)?);
    }
    let last = walked.wrong.iter().map(|wrong| wrong.time).max();
    let reached = (window.0, last.unwrap_or(window.1).max(window.1));
    connect_mut(|client| spans::mend(client, target.id, reached))?;
    Ok(Outcome {
        target,
        walked,
        deleted: deleted + counters.deleted,
        inserted,
        counters,
    })
}

/// Replaces the stored values of an observation whose predecessors are correct. Returns the number of its increments.
fn put_right(
    entries: &mut Entries,
    target_id: i32,
    wrong: &WrongObservation,
    settings: Settings,
) -> Result<i32, Error> {
    connect_mut(|client| {
        write::correct(client, target_id, wrong.time, &wrong.server, wrong.bytes)?;
        let mut read = |time: Micros| -> Result<StoredSnapshot, Error> {
            let found = stored::next_to(client, target_id, time, stored::AT)?;
            found.ok_or_else(|| Error::Damaged("an observation vanished".to_owned()))
        };
        let previous = wrong.previous.map(&mut read).transpose()?;
        let next = read(wrong.time)?;
        let before = previous.as_ref().map(StoredSnapshot::read).transpose()?;
        let this = (&next, &next.read()?);
        let computed = recompute(client, entries, target_id, before.as_ref(), this, settings)?;
        Ok(computed.increments)
    })
}
