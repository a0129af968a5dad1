//! The source `lctl`: the texts of `job_stats`, of which observations and increments of their entries are stored.
//!
//! The steps, in this order: scan the text, find and lock its targets, place the part of each target between its
//! neighbours and write the results ([`place`]), store the new identifiers ([`entries`]).

pub mod cache;
pub mod compute;
pub mod entries;
mod packed_snapshot;
mod place;
mod reidentify;
pub mod rows;
pub mod stored;
pub mod write;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jobstats_core::base::target::TargetName;
use jobstats_core::rules::feed::{Outcome, reason};
use jobstats_core::rules::snapshot::{self, Contents, Snapshot, Words};
use jobstats_core::text::job_stats::is_job_stats;
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::server_parameters::Beside;
use crate::feed::sources::Source;
use crate::feed::target_counters::{self, Reading};
use crate::feed::targets::{self, Target};
use crate::feed::text::{Text, require_size};
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::connect_mut;
use crate::store::rights::writer::LCTL;
use entries::Entries;
use packed_snapshot::PackedSnapshot;
use place::Placing;

/// The reason to reject values of further targets.
const TOO_MANY_TARGETS: &str = "too many targets";

/// The output of `lctl get_param` with `job_stats` and `job_cleanup_interval`.
pub struct JobStats;

impl Source for JobStats {
    fn name(&self) -> &'static str {
        LCTL
    }

    fn recognizes(&self, text: &[u8]) -> bool {
        is_job_stats(text)
    }

    fn max_size(&self, _: u64) -> u64 {
        // `max_text` limits the lines of each target.
        u64::MAX
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
        let readings = Reading::all(&contents, ingest)?;
        let mut beside = Beside::read(&contents, ingest)?;
        let mut words: Vec<Words> = Vec::new();
        words.resize_with(contents.snapshots.len(), Words::default);
        let mut parts = Vec::new();
        reserve(&mut parts, contents.snapshots.len())?;
        for (snapshot, words) in contents.snapshots.into_iter().zip(&mut words) {
            parts.push(PackedSnapshot::new(&text, snapshot, words)?);
        }
        text.leave();
        let mut outcomes = Vec::new();
        let parts = reject_nameless(ingest, parts, &mut outcomes)?;
        let (parts, mut readings) =
            reject_others(ingest, parts, readings, &mut beside, &mut outcomes)?;
        let beyond = reject_beyond_limit(ingest, &parts, &mut readings, &mut beside);
        outcomes.extend(beyond);
        let mut entries = Entries::of_cluster(&ingest.delivery.cluster);
        let names = parts.iter().filter_map(|part| part.snapshot.target);
        let names = names
            .chain(readings.iter().map(Reading::target))
            .chain(beside.targets());
        let names = distinct(names, ingest.settings.max_targets)?;
        let targets =
            targets::find_and_lock(client, &ingest.delivery.cluster, names.values().copied())?;
        for (mut target, part) in with_targets(&targets, parts, |part| part.target())? {
            pause();
            // Each target has its own connection, because the rows that its statements read stay in memory as long as the
            // connection.
            let outcome = connect_mut(|client| {
                let placing = Placing {
                    client,
                    ingest,
                    entries: &mut entries,
                    target: &mut target,
                };
                placing.place(part)
            });
            outcomes.push(outcome?);
        }
        let readings = with_targets(&targets, readings, |it| Some(it.target().shown()))?;
        outcomes.extend(target_counters::place(ingest, &readings)?);
        outcomes.extend(timed(Phase::Beside, || beside.store(ingest, &targets))?);
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
    parts: Vec<PackedSnapshot<'a, 'w>>,
    outcomes: &mut Vec<Outcome>,
) -> Result<Vec<PackedSnapshot<'a, 'w>>, Error> {
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

/// Returns the targets of a text by their names.
///
/// # Errors
/// [`Error::TooManyTargets`] if there are more than `limit`.
fn distinct<'t>(
    targets: impl Iterator<Item = TargetName<'t>>,
    limit: usize,
) -> Result<BTreeMap<String, TargetName<'t>>, Error> {
    let mut distinct = BTreeMap::new();
    for target in targets {
        distinct.entry(target.shown()).or_insert(target);
        if distinct.len() > limit {
            let found = distinct.len();
            return Err(Error::TooManyTargets { found, limit });
        }
    }
    Ok(distinct)
}

/// Rejects what is of targets that the sender may not feed, or of the server, and returns the rest. A target of which several parts
/// are rejected is named once.
fn reject_others<'a, 'w>(
    ingest: &mut Ingest<'_>,
    mut parts: Vec<PackedSnapshot<'a, 'w>>,
    mut readings: Vec<Reading>,
    beside: &mut Beside,
    outcomes: &mut Vec<Outcome>,
) -> Result<(Vec<PackedSnapshot<'a, 'w>>, Vec<Reading>), Error> {
    let Some(patterns) = &ingest.delivery.own_targets else {
        return Ok((parts, readings));
    };
    let others = readings.iter().map(Reading::target).chain(beside.targets());
    let others: BTreeSet<_> = others.map(TargetName::shown).collect();
    let others = others.into_iter().map(Some);
    let names: Vec<_> = parts
        .iter()
        .map(PackedSnapshot::target)
        .chain(others)
        .collect();
    let own = targets::matching(&names, patterns);
    let is_own = |name: Option<String>| name.is_none_or(|name| own.contains(&name));
    let mut others: BTreeMap<String, Option<Vec<u8>>> = BTreeMap::new();
    for name in names
        .into_iter()
        .flatten()
        .filter(|name| !own.contains(name))
    {
        others.insert(name, None);
    }
    for part in &parts {
        if let Some(beginning) = part.target().and_then(|name| others.get_mut(&name)) {
            *beginning = Some(part.beginning.clone());
        }
    }
    parts.retain(|part| is_own(part.target()));
    readings.retain(|it| is_own(Some(it.target().shown())));
    outcomes.extend(beside.retain(&own, ingest));
    for (name, beginning) in others {
        outcomes.push(ingest.reject(Some(&name), reason::NOT_YOURS, beginning.as_deref()));
    }
    Ok((parts, readings))
}

/// Leaves out what stands beside job_stats of targets for which a text has no room: it never costs the job_stats. Returns the outcome of
/// that, if there is any.
fn reject_beyond_limit(
    ingest: &mut Ingest<'_>,
    parts: &[PackedSnapshot<'_, '_>],
    readings: &mut Vec<Reading>,
    beside: &mut Beside,
) -> Option<Outcome> {
    let limit = ingest.settings.max_targets;
    // Most texts have too few values for that, whatever their targets are.
    if parts.len() + readings.len() + beside.targets().count() <= limit {
        return None;
    }
    let mut kept: HashSet<String> = parts.iter().filter_map(PackedSnapshot::target).collect();
    let mut first = None;
    for target in readings.iter().map(Reading::target).chain(beside.targets()) {
        let name = target.shown();
        if kept.len() < limit {
            kept.insert(name);
        } else if first.is_none() && !kept.contains(&name) {
            first = Some(name);
        }
    }
    let first = first?;
    readings.retain(|it| kept.contains(&it.target().shown()));
    beside.keep(&kept);
    Some(ingest.reject(Some(&first), TOO_MANY_TARGETS, None))
}

/// Returns things of targets with the targets, in the order of `target_id`. A damaged text may name a target both as MDT and as
/// OST; then the target occurs twice.
fn with_targets<T>(
    targets: &HashMap<String, Target>,
    things: Vec<T>,
    name: impl Fn(&T) -> Option<String>,
) -> Result<Vec<(Target, T)>, Error> {
    let mut found = Vec::new();
    reserve(&mut found, things.len())?;
    for thing in things {
        let target = name(&thing).and_then(|name| targets.get(&name).cloned());
        let target = target.ok_or_else(|| Error::Damaged("a target vanished".to_owned()))?;
        found.push((target, thing));
    }
    found.sort_by_key(|(target, _)| target.id);
    Ok(found)
}

/// Registers thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    cache::register_memory();
    rows::register_memory();
}
