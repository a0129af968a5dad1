//! The source `lctl`: the texts of `job_stats`, of which observations and increments of their entries are stored.
//!
//! The steps, in this order: scan the text, find and lock its targets, place the part of each target between its
//! neighbours and write the results ([`place`]), store the new identifiers ([`entries`]).

pub mod cache;
pub mod compute;
pub mod entries;
mod part;
mod place;
mod reidentify;
pub mod rows;
pub mod stored;

use std::borrow::Cow;
use std::collections::HashMap;

use jobstats_core::feed::{Outcome, reason};
use jobstats_core::job_stats::is_job_stats;
use jobstats_core::snapshot::{self, Contents, Snapshot, Words};
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::source::Source;
use crate::feed::targets::{self, Target};
use crate::feed::text::{Text, require_size};
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::connect_mut;
use crate::store::Settings;
use entries::Entries;
use part::Part;
use place::Placing;

/// The output of `lctl get_param` with `job_stats` and `job_cleanup_interval`.
pub struct JobStats;

impl Source for JobStats {
    fn recognizes(&self, text: &[u8]) -> bool {
        is_job_stats(text)
    }

    fn kept<'t>(&self, _: &'t [u8], _: &Settings) -> Result<Option<Cow<'t, [u8]>>, Error> {
        // The text of each target is in `jobstats.raw`.
        Ok(None)
    }

    fn ingest(
        &self,
        client: &mut SpiClient<'_>,
        ingest: &mut Ingest<'_>,
        text: Text<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        let contents = timed(Phase::Scan, || snapshot::read(text.bytes(), PAUSE))?;
        require_limits(&contents, ingest)?;
        ingest.rejects.add_problems(&contents.problems, None);
        ingest.rejects.add_dropped(contents.problems_dropped);
        let mut words: Vec<Words> = Vec::new();
        words.resize_with(contents.snapshots.len(), Words::default);
        let mut parts = Vec::new();
        reserve(&mut parts, contents.snapshots.len())?;
        for (snapshot, words) in contents.snapshots.into_iter().zip(&mut words) {
            parts.push(Part::new(&text, snapshot, words)?);
        }
        text.leave();
        let mut outcomes = Vec::new();
        let parts = reject_nameless(ingest, parts, &mut outcomes)?;
        let parts = reject_others(client, ingest, parts, &mut outcomes)?;
        let mut entries = Entries::of_cluster(&ingest.delivery.cluster);
        for (mut target, part) in find_and_lock(client, &ingest.delivery.cluster, parts)? {
            pause();
            // Each target has its own connection, because the rows that its statements read stay in memory as long as the
            // connection.
            let outcome = connect_mut(|client| {
                Placing::new(client, ingest, &mut entries, &mut target).place(part)
            });
            outcomes.push(outcome?);
        }
        let time = ingest.delivery.time;
        timed(Phase::Entries, || entries.insert_new(client, time))?;
        if ingest.limits().is_old(time) {
            entries.note_earlier(client, time)?;
        }
        Ok(outcomes)
    }
}

/// Checks the number of targets and the size of the part of each.
fn require_limits(contents: &Contents<'_>, ingest: &Ingest<'_>) -> Result<(), Error> {
    let (found, limit) = (contents.snapshots.len(), ingest.settings.max_targets);
    if found > limit {
        return Err(Error::TooManyTargets { found, limit });
    }
    let mut sizes = contents.snapshots.iter().map(Snapshot::bytes);
    sizes.try_for_each(|size| require_size(size, ingest.settings.max_text))
}

/// Rejects text of `lctl get_param -n`, whose target cannot be known, and returns the other parts.
fn reject_nameless<'a, 'w>(
    ingest: &mut Ingest<'_>,
    parts: Vec<Part<'a, 'w>>,
    outcomes: &mut Vec<Outcome>,
) -> Result<Vec<Part<'a, 'w>>, Error> {
    let mut named = Vec::new();
    reserve(&mut named, parts.len())?;
    for part in parts {
        if part.snapshot.target.is_some() {
            named.push(part);
        } else {
            outcomes.push(ingest.reject(None, reason::NO_TARGET, Some(&part.beginning)));
        }
    }
    Ok(named)
}

/// Rejects the parts of targets that the sender may not feed, and returns the others.
fn reject_others<'a, 'w>(
    client: &SpiClient<'_>,
    ingest: &mut Ingest<'_>,
    parts: Vec<Part<'a, 'w>>,
    outcomes: &mut Vec<Outcome>,
) -> Result<Vec<Part<'a, 'w>>, Error> {
    let Some(patterns) = &ingest.delivery.own_targets else {
        return Ok(parts);
    };
    let names: Vec<_> = parts.iter().map(Part::target).collect();
    let matching = targets::matching(client, &names, patterns)?;
    let mut own = Vec::new();
    reserve(&mut own, parts.len())?;
    for (part, name) in parts.into_iter().zip(names) {
        match name {
            Some(name) if !matching.contains(&name) => {
                let beginning = Some(part.beginning.as_slice());
                outcomes.push(ingest.reject(Some(&name), reason::NOT_YOURS, beginning));
            }
            _ => own.push(part),
        }
    }
    Ok(own)
}

/// Returns the parts with their targets, which are locked, in the order of `target_id`.
fn find_and_lock<'a, 'w>(
    client: &mut SpiClient<'_>,
    cluster: &str,
    parts: Vec<Part<'a, 'w>>,
) -> Result<Vec<(Target, Part<'a, 'w>)>, Error> {
    let names = parts.iter().filter_map(|part| part.snapshot.target);
    let targets: HashMap<String, Target> = targets::find_and_lock(client, cluster, names)?;
    let mut found = Vec::new();
    reserve(&mut found, parts.len())?;
    for part in parts {
        // A damaged text may name a target both as MDT and as OST; then the target occurs twice.
        let target = part.target().and_then(|name| targets.get(&name).cloned());
        let target = target.ok_or_else(|| Error::Damaged("a target vanished".to_owned()))?;
        found.push((target, part));
    }
    found.sort_by_key(|(target, _)| target.id);
    Ok(found)
}

/// Registers thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    cache::register_memory();
    rows::register_memory();
}
