//! The source `lctl`: stores the observations of `job_stats`, and the increments of their entries.
//!
//! The steps: scan the text, find and lock its targets, place the snapshot of each target between its neighbours and write
//! increments ([`place`]), store new identifiers ([`entries`]).

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
use crate::feed::server_parameters::ServerParameters;
use crate::feed::sources::Source;
use crate::feed::target_counters::{self, TargetSnapshot};
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
        let counters = TargetSnapshot::all(&contents, ingest)?;
        let mut parameters = ServerParameters::read(&contents, ingest)?;
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
        let (parts, mut counters) =
            reject_others(ingest, parts, counters, &mut parameters, &mut outcomes)?;
        let beyond = reject_beyond_limit(ingest, &parts, &mut counters, &mut parameters);
        outcomes.extend(beyond);
        let mut entries = Entries::of_cluster(&ingest.delivery.cluster);
        let names = parts.iter().filter_map(|part| part.snapshot.target);
        let names = names
            .chain(counters.iter().map(TargetSnapshot::target))
            .chain(parameters.targets());
        let names = distinct(names, ingest.settings.max_targets)?;
        let targets =
            targets::find_and_lock(client, &ingest.delivery.cluster, names.values().copied())?;
        for (mut target, part) in with_targets(&targets, parts, |part| part.target())? {
            pause();
            // The end of the connection frees the rows that were read.
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
        let counters = with_targets(&targets, counters, |it| Some(it.target().shown()))?;
        outcomes.extend(target_counters::place(ingest, &counters)?);
        outcomes.extend(timed(Phase::Parameters, || {
            parameters.store(ingest, &targets)
        })?);
        let time = ingest.delivery.time;
        timed(Phase::Entries, || entries.insert_new(client, time))?;
        if ingest.limits().is_old(time) {
            entries.note_earlier(client, time)?;
        }
        Ok(outcomes)
    }
}

/// Checks the number of targets and the size of each.
fn require_limits(contents: &Contents<'_>, ingest: &Ingest<'_>) -> Result<(), Error> {
    let (found, limit) = (contents.snapshots.len(), ingest.settings.max_targets);
    if found > limit {
        return Err(Error::TooManyTargets { found, limit });
    }
    let mut sizes = contents.snapshots.iter().map(Snapshot::bytes);
    sizes.try_for_each(|size| require_size(size, ingest.settings.max_text))
}

/// Rejects output of `lctl get_param -n`, which lacks the target, and returns the other snapshots.
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

/// Rejects targets that the sender may not feed, and parameters of the server. Returns the rest. Each target is rejected once.
fn reject_others<'a, 'w>(
    ingest: &mut Ingest<'_>,
    mut parts: Vec<PackedSnapshot<'a, 'w>>,
    mut counters: Vec<TargetSnapshot>,
    parameters: &mut ServerParameters,
    outcomes: &mut Vec<Outcome>,
) -> Result<(Vec<PackedSnapshot<'a, 'w>>, Vec<TargetSnapshot>), Error> {
    let Some(patterns) = &ingest.delivery.own_targets else {
        return Ok((parts, counters));
    };
    let others = counters
        .iter()
        .map(TargetSnapshot::target)
        .chain(parameters.targets());
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
    counters.retain(|it| is_own(Some(it.target().shown())));
    outcomes.extend(parameters.retain(&own, ingest));
    for (name, beginning) in others {
        outcomes.push(ingest.reject(Some(&name), reason::NOT_YOURS, beginning.as_deref()));
    }
    Ok((parts, counters))
}

/// Drops target counters and parameters of targets beyond the limit, which must not cost the job_stats. Returns the outcome.
fn reject_beyond_limit(
    ingest: &mut Ingest<'_>,
    parts: &[PackedSnapshot<'_, '_>],
    counters: &mut Vec<TargetSnapshot>,
    parameters: &mut ServerParameters,
) -> Option<Outcome> {
    let limit = ingest.settings.max_targets;
    // Most texts have few values.
    if parts.len() + counters.len() + parameters.targets().count() <= limit {
        return None;
    }
    let mut retained: HashSet<String> = parts.iter().filter_map(PackedSnapshot::target).collect();
    let mut first = None;
    for target in counters
        .iter()
        .map(TargetSnapshot::target)
        .chain(parameters.targets())
    {
        let name = target.shown();
        if retained.len() < limit {
            retained.insert(name);
        } else if first.is_none() && !retained.contains(&name) {
            first = Some(name);
        }
    }
    let first = first?;
    counters.retain(|it| retained.contains(&it.target().shown()));
    parameters.retain_targets(&retained);
    Some(ingest.reject(Some(&first), TOO_MANY_TARGETS, None))
}

/// Pairs things with their targets, in the order of `target_id`. A damaged text may name a target as MDT and as OST: then it
/// occurs twice.
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

/// Registers thread-local memory with the C library, which aborts the process if that fails on first use.
pub fn register_memory() {
    cache::register_memory();
    rows::register_memory();
}
