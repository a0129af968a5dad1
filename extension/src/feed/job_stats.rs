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
use jobstats_core::rules::snapshot::{self, Contents, Snapshot};
use jobstats_core::text::job_stats::is_job_stats;
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::server_parameters::{OwnedTargetName, ServerParameters};
use crate::feed::sources::Source;
use crate::feed::target_counters::{self, CounterSnapshot};
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
        let counters = CounterSnapshot::all(&contents, ingest)?;
        let parameters = ServerParameters::read(&contents, ingest)?;
        let parts = pack(&text, contents.snapshots)?;
        text.leave();
        let mut values = Values {
            parts,
            counters,
            parameters,
        };
        let mut outcomes = Vec::new();
        values.reject_nameless(ingest, &mut outcomes);
        values.reject_others(ingest, &mut outcomes);
        outcomes.extend(values.reject_beyond_limit(ingest));
        let mut entries = Entries::of_cluster(&ingest.delivery.cluster);
        let names = values.parts.iter().filter_map(|it| it.target.as_ref());
        let names = names
            .map(OwnedTargetName::target)
            .chain(values.further_targets());
        let names = distinct(names, ingest.settings.max_targets)?;
        let names = names.values().copied();
        let targets = targets::find_and_lock(client, &ingest.delivery.cluster, names)?;
        for (mut target, part) in with_targets(&targets, values.parts, |part| part.target())? {
            pause();
            // The end of the connection frees the rows that were read.
            let outcome = connect_mut(|client| {
                let placing = Placing {
                    client,
                    ingest,
                    entries: &mut entries,
                    target: &mut target,
                };
                let name = part.target.clone();
                placing.place(part.named(name.as_ref()))
            });
            outcomes.push(outcome?);
        }
        let counters = with_targets(&targets, values.counters, |it| Some(it.target().shown()))?;
        outcomes.extend(target_counters::place(ingest, &counters)?);
        outcomes.extend(timed(Phase::Parameters, || {
            values.parameters.store(ingest, &targets)
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

/// Packs the lines of each target.
fn pack<'a>(
    text: &Text<'a>,
    snapshots: Vec<Snapshot<'_>>,
) -> Result<Vec<PackedSnapshot<'a>>, Error> {
    let mut parts = Vec::new();
    reserve(&mut parts, snapshots.len())?;
    for snapshot in snapshots {
        parts.push(PackedSnapshot::new(text, snapshot)?);
    }
    Ok(parts)
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

/// The values of a text.
struct Values<'a> {
    parts: Vec<PackedSnapshot<'a>>,
    counters: Vec<CounterSnapshot>,
    parameters: ServerParameters,
}

impl Values<'_> {
    /// Returns the targets of target counters and parameters, each as often as it occurs.
    fn further_targets(&self) -> impl Iterator<Item = TargetName<'_>> + Clone {
        let counters = self.counters.iter().map(CounterSnapshot::target);
        counters.chain(self.parameters.targets())
    }

    /// Rejects output of `lctl get_param -n`, which lacks the target.
    fn reject_nameless(&mut self, ingest: &mut Ingest<'_>, outcomes: &mut Vec<Outcome>) {
        self.parts.retain(|part| {
            let is_named = part.target.is_some();
            if !is_named {
                outcomes.push(ingest.reject(None, reason::NO_TARGET, Some(&part.beginning)));
            }
            is_named
        });
    }

    /// Rejects targets that the sender may not feed, each once, and parameters of the server.
    fn reject_others(&mut self, ingest: &mut Ingest<'_>, outcomes: &mut Vec<Outcome>) {
        let Some(patterns) = &ingest.delivery.bounds.targets else {
            return;
        };
        let further: BTreeSet<_> = self.further_targets().map(TargetName::shown).collect();
        let names = self.parts.iter().map(PackedSnapshot::target);
        let names: Vec<_> = names.chain(further.into_iter().map(Some)).collect();
        let own = targets::matching(&names, patterns);
        let is_own = |name: Option<String>| name.is_none_or(|name| own.contains(&name));
        let others = names.into_iter().flatten().filter(|it| !own.contains(it));
        let mut others: BTreeMap<String, Option<Vec<u8>>> = others.map(|it| (it, None)).collect();
        for part in &self.parts {
            if let Some(beginning) = part.target().and_then(|name| others.get_mut(&name)) {
                *beginning = Some(part.beginning.clone());
            }
        }
        self.parts.retain(|part| is_own(part.target()));
        self.counters.retain(|it| is_own(Some(it.target().shown())));
        outcomes.extend(self.parameters.retain(&own, ingest));
        for (name, beginning) in others {
            outcomes.push(ingest.reject(Some(&name), reason::NOT_YOURS, beginning.as_deref()));
        }
    }

    /// Drops target counters and parameters of targets beyond the limit, which must not cost the job_stats. Returns the outcome.
    fn reject_beyond_limit(&mut self, ingest: &mut Ingest<'_>) -> Option<Outcome> {
        let limit = ingest.settings.max_targets;
        // Most texts have few values.
        if self.parts.len() + self.further_targets().count() <= limit {
            return None;
        }
        let parts = self.parts.iter();
        let mut retained: HashSet<String> = parts.filter_map(PackedSnapshot::target).collect();
        let mut first = None;
        for name in self.further_targets().map(TargetName::shown) {
            if retained.len() < limit {
                retained.insert(name);
            } else if first.is_none() && !retained.contains(&name) {
                first = Some(name);
            }
        }
        let first = first?;
        self.counters
            .retain(|it| retained.contains(&it.target().shown()));
        self.parameters.retain_targets(&retained);
        Some(ingest.reject(Some(&first), TOO_MANY_TARGETS, None))
    }
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

/// Registers thread-local memory.
pub fn register_memory() {
    cache::register_memory();
    rows::register_memory();
}
