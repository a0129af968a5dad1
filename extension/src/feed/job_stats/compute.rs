//! Computes rows of `jobstats.increments` from two consecutive snapshots.

use std::borrow::Cow;
use std::mem;

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::increment::edge_distance;
use jobstats_core::rules::increment::{
    Comparison, Counts, Increment, Observation, Problem, clamp, compare, span,
};
use jobstats_core::rules::snapshot::{Snapshot, cleanup_interval, print_to};
use pgrx::spi::SpiClient;

use crate::feed::job_stats::entries::{Entries, Folding};
use crate::feed::job_stats::rows::{EntryIncrement, insert_increments};
use crate::feed::job_stats::stored::{self, ScannedSnapshot, StoredSnapshot, Unpacked};
use crate::feed::job_stats::write::{self, Computed, Stale};
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::memory::{GrowingBuffer, require_room, reserve};
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::connect_mut;
use crate::store::Settings;
use crate::store::rollup;

/// The memory of an increment in bytes, which very few exceed: two histograms, a total and a time for a dozen operations, and details.
const INCREMENT_BYTES: usize = 2048;

/// The memory of a new entry in bytes: several copies of its name, and the fields of its identity.
const ENTRY_BYTES: usize = 1024;

/// The result of comparing an observation with its predecessor, before the increments are stored.
pub struct Computation<'a> {
    pub computed: Computed,
    pub increments: Vec<Increment<'a>>,
    pub problems: Vec<Problem<'a>>,
}

/// Compares an observation with its predecessor; `cleanup_interval` is in seconds.
pub fn computation<'a>(
    previous: Option<&Observation<'a>>,
    next: &Observation<'a>,
    cleanup_interval: u32,
    settings: Settings,
    folding: &Folding<'_>,
) -> Result<Computation<'a>, Error> {
    let comparison = comparison(previous, next, cleanup_interval, settings, folding)?;
    Ok(Computation {
        computed: Computed {
            since: previous.map(|previous| previous.time),
            counts: Counts::of_comparison(&comparison, next),
            carried: carried(&comparison.carried)?,
            increments: 0,
            dropped: comparison.problems_found - comparison.problems.len() as u64,
            ends_early: comparison.ends_early,
            reduced: settings.reduced,
        },
        problems: comparison.problems,
        increments: comparison.increments,
    })
}

/// Compares two observations, without impossible growth and without values that the settings discard.
fn comparison<'a>(
    previous: Option<&Observation<'a>>,
    next: &Observation<'a>,
    cleanup_interval: u32,
    settings: Settings,
    folding: &Folding<'_>,
) -> Result<Comparison<'a>, Error> {
    let records = next.snapshot.map_or(0, |snapshot| snapshot.records.len());
    require_room(records, INCREMENT_BYTES)?;
    let mut comparison = timed(Phase::Compare, || {
        compare(previous, next, cleanup_interval, PAUSE)
    })?;
    if let Some(previous) = previous {
        comparison.limit(next.time.saturating_sub(previous.time), settings.max_rate)?;
    }
    if folding.is_any() {
        comparison.fold(|entry| folding.uid(entry), PAUSE)?;
    }
    for increment in PAUSE.among(&mut comparison.increments) {
        settings.reduced.keep.apply(increment);
    }
    Ok(comparison)
}

/// Compares an observation with its predecessor and stores the increments. Returns the result and the problems.
pub fn compute<'a>(
    client: &mut SpiClient<'_>,
    entries: &mut Entries,
    target_id: i32,
    previous: Option<&Observation<'a>>,
    next: &Observation<'a>,
    cleanup_interval: u32,
    settings: Settings,
) -> Result<(Computed, Vec<Problem<'a>>), Error> {
    let folding = entries.folding(client, settings.reduced.fold_uids_below)?;
    let computation = computation(previous, next, cleanup_interval, settings, &folding)?;
    store(client, entries, target_id, computation)
}

/// Stores the increments of a computation. Returns the result and the problems.
fn store<'a>(
    client: &mut SpiClient<'_>,
    entries: &mut Entries,
    target_id: i32,
    mut computation: Computation<'a>,
) -> Result<(Computed, Vec<Problem<'a>>), Error> {
    let increments = || computation.increments.iter();
    if let Some((from, to)) = span(increments()) {
        rollup::changed(client, target_id, from, to)?;
    }
    for (distance, width) in rollup::COARSE {
        let is_coarse = |it: &&Increment<'_>| edge_distance(it.since, it.time) == distance;
        if let Some(span) = span(increments().filter(is_coarse)) {
            rollup::coarse(client, span, width)?;
        }
    }
    let rows = timed(Phase::Entries, || {
        rows(client, entries, mem::take(&mut computation.increments))
    })?;
    let increments = timed(Phase::Increments, || {
        insert_increments(client, target_id, rows)
    })?;
    computation.computed.increments = clamp(increments as u64);
    Ok((computation.computed, computation.problems))
}

/// Returns the name of the entry of each increment.
pub fn names<'a>(increments: &[Increment<'a>]) -> Result<Vec<Cow<'a, str>>, Error> {
    let mut names = Vec::new();
    reserve(&mut names, increments.len())?;
    names.extend(increments.iter().map(Increment::entry));
    Ok(names)
}

/// Resolves the entries of increments.
pub fn rows(
    client: &SpiClient<'_>,
    entries: &mut Entries,
    increments: Vec<Increment<'_>>,
) -> Result<Vec<EntryIncrement>, Error> {
    require_room(increments.len(), ENTRY_BYTES)?;
    let names = names(&increments)?;
    entries.resolve(client, names.iter().map(AsRef::as_ref))?;
    let mut rows = Vec::new();
    reserve(&mut rows, increments.len())?;
    for (increment, name) in PAUSE.among(increments.into_iter().zip(&names)) {
        rows.push(EntryIncrement::new(entries.id(name)?, increment));
    }
    Ok(rows)
}

/// Recomputes an observation whose increments the caller has deleted. The new increments have the old values, and the values
/// that the setting `keep` adds.
///
/// # Errors
/// [`Error::Damaged`] if the raw text of the observation is gone.
pub fn recompute(
    client: &mut SpiClient<'_>,
    entries: &mut Entries,
    target_id: i32,
    previous: Option<&ScannedSnapshot<'_>>,
    (next, read): (&StoredSnapshot, &ScannedSnapshot<'_>),
    settings: Settings,
) -> Result<Computed, Error> {
    if next.text.value().is_none() {
        return Err(Error::Damaged(
            "raw text to compute from is gone".to_owned(),
        ));
    }
    let this = read.observation();
    let cleanup_interval = cleanup_interval(this.snapshot, next.cleanup_interval);
    let (computed, _) = compute(
        client,
        entries,
        target_id,
        previous.map(ScannedSnapshot::known).as_ref(),
        &this,
        cleanup_interval,
        settings.once_more(next.reduced),
    )?;
    write::update(client, target_id, next.time, &computed)?;
    Ok(computed)
}

/// The former predecessor of a stored observation.
pub struct OldPredecessor {
    pub time: Micros,
    /// The carried records as text.
    pub carried: Unpacked<Vec<u8>>,
}

impl OldPredecessor {
    /// Returns the increments of `next` that were computed from this observation. Searching back to the first carried record
    /// would read up to a day of all targets for each observation.
    fn stale(&self, after: Micros, next: &ScannedSnapshot<'_>) -> Result<Stale, Error> {
        let carried = self.carried.records()?;
        let this = next.observation();
        let former = Observation {
            time: self.time,
            server: this.server,
            snapshot: None,
            carried: carried.as_ref(),
        };
        let text = this.snapshot.map(|text| former.earliest_in(text));
        Ok(Stale {
            after,
            observed: this.time,
            earliest: text.transpose()?.unwrap_or(self.time),
        })
    }
}

/// Recomputes the observations after a late snapshot in order, until the carried records no longer change.
///
/// `former` is the previous predecessor of `next`; `None` if `next` was a baseline.
///
/// Each observation has its own connection, whose end frees the rows that were read.
pub fn compute_on(
    entries: &mut Entries,
    target_id: i32,
    mut former: Option<OldPredecessor>,
    placed: StoredSnapshot,
    next: StoredSnapshot,
    settings: Settings,
) -> Result<(), Error> {
    let (mut previous, mut next) = (placed, next);
    loop {
        pause();
        // Without its text an observation stays as it is.
        if next.text.value().is_none() {
            return Ok(());
        }
        let carried = {
            let (before, read) = (previous.read()?, next.read()?);
            let recomputation = Recomputation {
                former: former.as_ref(),
                before: &before,
                next: (&next, &read),
            };
            connect_mut(|client| recomputation.compute(client, entries, target_id, settings))?
        };
        if next.carried.is(carried.as_deref()) {
            return Ok(());
        }
        former = Some(OldPredecessor {
            time: next.time,
            carried: mem::replace(&mut next.carried, carried.into()),
        });
        previous = next;
        match connect_mut(|client| {
            stored::next_to(client, target_id, previous.time, stored::AFTER)
        })? {
            Some(after) => next = after,
            None => return Ok(()),
        }
    }
}

/// Recomputes an observation whose predecessor has changed.
struct Recomputation<'n, 'r> {
    /// The previous predecessor; `None` if it was a baseline.
    former: Option<&'n OldPredecessor>,
    /// The new predecessor.
    before: &'r ScannedSnapshot<'r>,
    next: (&'n StoredSnapshot, &'r ScannedSnapshot<'r>),
}

impl Recomputation<'_, '_> {
    /// Stores what changes, and returns the new carried records as text.
    ///
    /// Nearly always a late snapshot changes only the carried records of many observations: an entry that had ended is carried
    /// for a day. Increments that stay equal are not rewritten, which would take most of the time.
    fn compute(
        &self,
        client: &mut SpiClient<'_>,
        entries: &mut Entries,
        target_id: i32,
        settings: Settings,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (next, read) = self.next;
        let settings = settings.once_more(next.reduced);
        let folding = entries.folding(client, settings.reduced.fold_uids_below)?;
        let this = read.observation();
        let cleanup_interval = cleanup_interval(this.snapshot, next.cleanup_interval);
        let records = self.carried_formerly()?;
        let were = match &records {
            Some(records) => {
                let former = Observation {
                    carried: records.as_ref(),
                    ..self.before.observation()
                };
                let were = comparison(Some(&former), &this, cleanup_interval, settings, &folding)?;
                Some(were.increments)
            }
            None => None,
        };
        let before = self.before.known();
        let are = computation(Some(&before), &this, cleanup_interval, settings, &folding)?;
        let computed = if were.is_some_and(|were| were == are.increments) {
            Computed {
                reduced: next.reduced,
                ..are.computed
            }
        } else {
            if let Some(former) = self.former {
                let stale = former.stale(self.before.time, read)?;
                write::delete_increments(client, target_id, &[stale])?;
            }
            store(client, entries, target_id, are)?.0
        };
        write::update(client, target_id, next.time, &computed)?;
        Ok(computed.carried)
    }

    /// Returns the former carried records of the predecessor if they are all that has changed of it, and are readable.
    fn carried_formerly(&self) -> Result<Option<Option<Snapshot<'_>>>, Error> {
        let former = self
            .former
            .filter(|former| former.time == self.before.time && former.carried.damage().is_none());
        former.map(|former| former.carried.records()).transpose()
    }
}

/// Prints the carried records, if there are any.
fn carried(records: &Snapshot<'_>) -> Result<Option<Vec<u8>>, Error> {
    if records.records.is_empty() {
        return Ok(None);
    }
    let mut text = GrowingBuffer::default();
    print_to(records, &mut text).map_err(|_| Error::Memory(text.0.len()))?;
    Ok(Some(text.0))
}
