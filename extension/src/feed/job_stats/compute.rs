//! Computes rows of `jobstats.increments` from two neighbouring texts.

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
use crate::feed::job_stats::stored::{self, Computed, Read, Stale, Stored, Unpacked};
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::memory::{Growing, require_room, reserve};
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::connect_mut;
use crate::store::Settings;
use crate::store::rollup;

/// The memory of an increment in bytes, nearly always at most: two histograms, a total and a time for a dozen
/// operations, and details.
const INCREMENT_BYTES: usize = 2048;

/// The memory of a new entry in bytes until it is stored: several copies of its name, and the fields of its identity.
const ENTRY_BYTES: usize = 1024;

/// The result of comparing an observation with the one before; its increments are not yet stored.
pub struct Computation<'a> {
    pub computed: Computed,
    pub increments: Vec<Increment<'a>>,
    pub problems: Vec<Problem<'a>>,
}

/// Computes an observation from the one before; `cleanup_interval` is in seconds.
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
            kept: settings.reduced,
        },
        problems: comparison.problems,
        increments: comparison.increments,
    })
}

/// Compares an observation with the one before. What no server can do, and what is not kept, is left out.
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

/// Compares an observation with the one before and stores the increments. Returns the result and the problems.
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

/// Returns the increments as rows with the keys of their entries.
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

/// Computes an observation again and replaces its stored values. The caller has already deleted its increments. They keep
/// what they had, and what the setting `keep` adds to that.
///
/// # Errors
/// [`Error::Damaged`] if the raw text of the observation is gone.
pub fn recompute(
    client: &mut SpiClient<'_>,
    entries: &mut Entries,
    target_id: i32,
    previous: Option<&Read<'_>>,
    (next, read): (&Stored, &Read<'_>),
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
        previous.map(Read::known).as_ref(),
        &this,
        cleanup_interval,
        settings.once_more(next.kept),
    )?;
    stored::update(client, target_id, next.time, &computed)?;
    Ok(computed)
}

/// The observation with which a stored one was compared when it was stored.
pub struct Former {
    pub time: Micros,
    /// The carried records as text.
    pub carried: Unpacked<Vec<u8>>,
}

impl Former {
    /// Returns the increments of `next` that were computed from this observation. A wider search, back to the first of
    /// all carried records, would read up to a day of all targets for every observation that is computed again.
    fn stale(&self, after: Micros, next: &Read<'_>) -> Result<Stale, Error> {
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

/// Computes the observations after a placed text again, one by one, until the next one does not change any more: that
/// is the case when an observation carries the same records as before.
///
/// `former` is the observation with which `next` was compared until now; `None` if `next` was a baseline.
///
/// Each observation has its own connection, because the rows that its statements read stay in memory as long as the
/// connection.
pub fn compute_on(
    entries: &mut Entries,
    target_id: i32,
    mut former: Option<Former>,
    placed: Stored,
    next: Stored,
    settings: Settings,
) -> Result<(), Error> {
    let (mut previous, mut next) = (placed, next);
    loop {
        pause();
        // An observation that cannot be computed stays as it is.
        if next.text.value().is_none() {
            return Ok(());
        }
        let carried = {
            let (before, read) = (previous.read()?, next.read()?);
            let neighbours = Neighbours {
                former: former.as_ref(),
                before: &before,
                next: (&next, &read),
            };
            connect_mut(|client| neighbours.compute(client, entries, target_id, settings))?
        };
        if next.carried.is(carried.as_deref()) {
            return Ok(());
        }
        former = Some(Former {
            time: next.time,
            carried: mem::replace(&mut next.carried, carried.into()),
        });
        previous = next;
        match connect_mut(|client| stored::after(client, target_id, previous.time))? {
            Some(after) => next = after,
            None => return Ok(()),
        }
    }
}

/// An observation that is computed again, because what it is compared with has changed.
struct Neighbours<'n, 'r> {
    /// The observation with which it was compared until now; `None` if it was a baseline.
    former: Option<&'n Former>,
    /// The observation with which it is compared now.
    before: &'r Read<'r>,
    next: (&'n Stored, &'r Read<'r>),
}

impl Neighbours<'_, '_> {
    /// Computes the observation again and stores what changes. Returns the records that it now carries, as text.
    ///
    /// Nearly always a late text changes many observations in nothing but the carried records: an entry that had ended
    /// is remembered for a day. Their increments are not written again, which would take most of the time.
    fn compute(
        &self,
        client: &mut SpiClient<'_>,
        entries: &mut Entries,
        target_id: i32,
        settings: Settings,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (next, read) = self.next;
        let settings = settings.once_more(next.kept);
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
                kept: next.kept,
                ..are.computed
            }
        } else {
            if let Some(former) = self.former {
                let stale = former.stale(self.before.time, read)?;
                stored::delete_increments(client, target_id, &[stale])?;
            }
            store(client, entries, target_id, are)?.0
        };
        stored::update(client, target_id, next.time, &computed)?;
        Ok(computed.carried)
    }

    /// Returns the records that the observation before carried until now, if nothing else of it has changed; `None` if
    /// more has changed, or if they are unknown.
    fn carried_formerly(&self) -> Result<Option<Option<Snapshot<'_>>>, Error> {
        let former = self
            .former
            .filter(|former| former.time == self.before.time && former.carried.damage().is_none());
        former.map(|former| former.carried.records()).transpose()
    }
}

/// Returns the carried records as text; `None` if there are none.
fn carried(records: &Snapshot<'_>) -> Result<Option<Vec<u8>>, Error> {
    if records.records.is_empty() {
        return Ok(None);
    }
    let mut text = Growing::default();
    print_to(records, &mut text).map_err(|_| Error::Memory(text.0.len()))?;
    Ok(Some(text.0))
}
