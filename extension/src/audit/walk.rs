//! Recomputes the observations of a target in order, each from its raw text and the previous one.

use std::borrow::Cow;
use std::collections::HashSet;

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::rules::audit::{Finding, Predecessor, Run, earliest_possible, earliest_start};
use jobstats_core::rules::increment::{Increment, Observation};
use jobstats_core::rules::snapshot::{self, Snapshot, cleanup_interval};
use pgrx::spi::SpiClient;

use crate::audit::Target;
use crate::audit::load::{LoadedObservation, Loader};
use crate::audit::reach::{self, Reach};
use crate::audit::rows::differences;
use crate::feed::job_stats::compute::{Computation, computation, names, rows};
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::rows::EntryIncrement;
use crate::feed::job_stats::stored::Unpacked;
use crate::feed::job_stats::write::{Computed, Stale};
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Statements, connect, values};
use crate::pg::time::{EARLIEST, now, timestamptz};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::params::Params;
use crate::store::Settings;

/// The number of computed rows that are collected before they are compared.
const ROWS: usize = 16_384;

/// The parameters of a walk.
pub struct Walk {
    pub window: Span,
    pub settings: Settings,
    /// The time since which no raw text may be missing.
    raw_since: Option<Micros>,
    reach: Reach,
    pub purpose: Purpose,
}

/// The purpose of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Reports every disagreement.
    Audit,
    /// Finds wrong observations, after the window as long as the carried records differ from the stored ones.
    Repair,
}

/// The results of a walk over one target, without its findings.
#[derive(Default)]
pub struct WalkResult {
    /// The number of observations in the window that were computed.
    pub computed: u64,
    /// The number of observations that could not be computed.
    pub left: u64,
    pub runs: Vec<Run>,
    /// The observations that recomputing would repair.
    pub wrong: Vec<WrongObservation>,
}

/// An observation that differs from the computed one.
pub struct WrongObservation {
    pub time: Micros,
    /// The time of its predecessor.
    pub previous: Option<Micros>,
    /// The range of its stored increments, which holds the computed ones.
    pub stale: Stale,
    pub server: String,
    pub bytes: i64,
}

impl WrongObservation {
    fn of(
        before: Option<&ScannedObservation<'_>>,
        loaded: &LoadedObservation,
        previous: Option<Micros>,
        earliest: Micros,
    ) -> Self {
        let stored = &loaded.stored;
        Self {
            time: stored.time,
            previous,
            stale: Stale {
                after: before.map_or(EARLIEST, |before| before.loaded.stored.time),
                observed: stored.time,
                earliest,
            },
            server: stored.server.clone(),
            bytes: i64::try_from(loaded.bytes()).unwrap_or(i64::MAX),
        }
    }
}

/// Reports a finding.
pub type Report<'r> = &'r mut dyn FnMut(Finding) -> Result<(), Error>;

/// Returns the targets that fit filters, in the order in which they are locked.
pub fn targets(client: &SpiClient<'_>, filters: &Filters) -> Result<Vec<Target>, Error> {
    let params = Params::default();
    let statement = format!(
        "SELECT target.target_id, target.cluster, target.name FROM jobstats.targets target WHERE true{} ORDER BY target.target_id",
        filters.conditions(Level::Target, "target", &params),
    );
    let rows = client.query(&statement, &params.take())?;
    rows.map(|row| {
        Ok(Target {
            id: row.get("target_id")?,
            cluster: row.get("cluster")?,
            name: row.get("name")?,
        })
    })
    .collect()
}

impl Walk {
    /// Prepares a walk over one target, or over all.
    pub fn new(
        purpose: Purpose,
        window: Span,
        settings: Settings,
        target_id: Option<i32>,
    ) -> Result<Self, Error> {
        connect(|client| {
            Ok(Self {
                purpose,
                window,
                settings,
                raw_since: oldest_raw(client, settings)?,
                reach: reach::find(client, window, target_id)?,
            })
        })
    }

    /// Walks over the observations of one target.
    pub fn target(
        &self,
        target_id: i32,
        entries: &mut Entries,
        report: Report<'_>,
    ) -> Result<WalkResult, Error> {
        let loader = Loader {
            target_id,
            raw_since: self.raw_since,
        };
        let mut walking = WalkState {
            walk: self,
            target_id,
            entries,
            report,
            walked: WalkResult::default(),
            run: None,
            reported: HashSet::new(),
        };
        let last = connect(|client| loader.last(client, self.window.0))?;
        let mut known = last.map(|loaded| {
            let carry = Carry::stored(&loaded);
            (loaded, carry)
        });
        // Each batch has its own connection, whose end frees the rows that were read.
        while let Some(next) = connect(|client| -> Result<_, Error> {
            pause();
            let after = known
                .as_ref()
                .map_or(EARLIEST, |(loaded, _)| loaded.stored.time);
            let goes_beyond = self.purpose == Purpose::Repair
                && known.as_ref().is_some_and(|(_, carry)| carry.differs);
            let until = (!goes_beyond).then_some(self.window.1);
            let batch = loader.next(client, after.max(self.window.0), until)?;
            walking.batch(client, known.take(), batch)
        })? {
            known = Some(next);
        }
        Ok(walking.walked)
    }
}

/// Returns the time of the oldest raw text within the retention period, which may have been shorter in the past. Newer raw text
/// must not be missing.
fn oldest_raw(client: &SpiClient<'_>, settings: Settings) -> Result<Option<Micros>, Error> {
    let kept = now()?.saturating_sub(settings.raw_retention);
    client.query_time(
        "SELECT min(r.\"time\") FROM jobstats.targets t CROSS JOIN LATERAL ( \
             SELECT min(r.\"time\") AS \"time\" FROM jobstats.raw r \
             WHERE r.target_id = t.target_id AND r.\"time\" >= $1) r",
        &values![timestamptz(kept.max(EARLIEST))?],
    )
}

/// The last computed observation, with the records carried there.
type LastObservation = (LoadedObservation, Carry);

/// The records carried with an observation.
struct Carry {
    /// The computed records, or else the stored ones.
    records: Option<Vec<u8>>,
    readable: bool,
    /// Set if the stored records differ.
    differs: bool,
}

impl Carry {
    fn stored(loaded: &LoadedObservation) -> Self {
        let carried = &loaded.stored.carried;
        Self {
            records: carried.value().cloned(),
            readable: carried.damage().is_none(),
            differs: false,
        }
    }
}

/// A run of computed observations whose rows are not compared yet.
struct OpenRun {
    run: Run,
    rows: Vec<EntryIncrement>,
    /// The observations, each with a flag that is set if it is wrong.
    observations: Vec<(WrongObservation, bool)>,
}

/// The state of a walk.
struct WalkState<'w, 'r> {
    walk: &'w Walk,
    target_id: i32,
    entries: &'w mut Entries,
    report: Report<'r>,
    walked: WalkResult,
    run: Option<OpenRun>,
    /// The missing entries that were reported.
    reported: HashSet<String>,
}

impl WalkState<'_, '_> {
    /// Computes the observations after `known`. Returns the last one, or `None` at the end of the walk.
    fn batch(
        &mut self,
        client: &SpiClient<'_>,
        known: Option<LastObservation>,
        batch: Vec<LoadedObservation>,
    ) -> Result<Option<LastObservation>, Error> {
        let first = usize::from(known.is_some());
        let (loaded, mut carry) = known.unzip();
        let mut chain: Vec<LoadedObservation> = loaded.into_iter().chain(batch).collect();
        let mut is_done = chain.len() == first;
        let mut before: Option<ScannedObservation<'_>> = None;
        for (position, this) in chain.iter().enumerate() {
            pause();
            let differs = carry.as_ref().is_some_and(|carry| carry.differs);
            is_done |= this.stored.time > self.walk.window.1 && !differs && position >= first;
            if is_done {
                break;
            }
            let this = ScannedObservation {
                loaded: this,
                snapshot: this.stored.snapshot()?,
            };
            if position >= first {
                carry = Some(self.observation(client, before.as_ref(), &this, carry)?);
            }
            before = Some(this);
        }
        drop(before);
        self.compare_rows(client)?;
        Ok(chain.pop().zip(carry).filter(|_| !is_done))
    }

    /// Computes an observation from its predecessor and the records carried there. Returns its own carried records.
    fn observation(
        &mut self,
        client: &SpiClient<'_>,
        before: Option<&ScannedObservation<'_>>,
        this: &ScannedObservation<'_>,
        carry: Option<Carry>,
    ) -> Result<Carry, Error> {
        let (loaded, stored) = (this.loaded, &this.loaded.stored);
        let predecessor = Predecessor::of(
            before.map(|before| before.loaded.stored.time),
            stored.time,
            stored.since,
            self.walk.settings.raw_retention,
        );
        let before_is_known = before.is_some_and(ScannedObservation::has_text)
            && carry.as_ref().is_some_and(|carry| carry.readable);
        if !this.has_text() || !predecessor.suffices(before_is_known) {
            self.compare_rows(client)?;
            self.walked.left += 1;
            let mut findings = loaded.findings.iter().cloned();
            findings.try_for_each(&mut *self.report)?;
            return Ok(Carry::stored(loaded));
        }
        self.walked.computed += 1;
        let records = carry.as_ref().and_then(|carry| carry.records.as_deref());
        let records = records
            .map(|records| snapshot::read_carried(records, PAUSE))
            .transpose()?;
        let previous = before
            .filter(|_| predecessor == Predecessor::Before)
            .map(|before| before.observation(records.as_ref()));
        let text = this.snapshot.as_deref();
        let folding = self
            .entries
            .folding(client, stored.reduced.fold_uids_below)?;
        let computed = computation(
            previous.as_ref(),
            &this.observation(None),
            cleanup_interval(text, stored.cleanup_interval),
            Settings {
                reduced: stored.reduced,
                ..self.walk.settings
            },
            &folding,
        )?;
        let earliest = self.earliest_row(before, previous.as_ref(), loaded, &computed)?;
        let wrong = WrongObservation::of(before, loaded, computed.computed.since, earliest);
        let findings = findings(loaded, &computed.computed)?;
        let carry = Carry {
            differs: !stored.carried.is(computed.computed.carried.as_deref()),
            records: computed.computed.carried,
            readable: true,
        };
        let lacks_values = self.walk.purpose == Purpose::Repair
            && stored.reduced.keep < self.walk.settings.reduced.keep;
        let is_wrong = !findings.is_empty() || lacks_values;
        findings.into_iter().try_for_each(&mut *self.report)?;
        self.add_to_run(client, (wrong, is_wrong), computed.increments)?;
        Ok(carry)
    }

    /// Returns the earliest start of the stored and computed rows of an observation.
    fn earliest_row(
        &self,
        before: Option<&ScannedObservation<'_>>,
        previous: Option<&Observation<'_>>,
        this: &LoadedObservation,
        computed: &Computation<'_>,
    ) -> Result<Micros, Error> {
        let (time, since) = (this.stored.time, this.stored.since);
        let earliest = match self.walk.purpose {
            Purpose::Audit => {
                let previous = previous.map(|previous| previous.time);
                earliest_start(previous, time, since, &computed.increments)
            }
            Purpose::Repair => {
                let carried = before.map(|before| &before.loaded.stored.carried);
                let records = carried.map(Unpacked::records).transpose()?.flatten();
                let first_seen = records.as_ref().and_then(Snapshot::first_seen);
                let are_damaged = carried.is_some_and(|carried| carried.damage().is_some());
                earliest_possible(previous, time, since, first_seen, are_damaged).max(EARLIEST)
            }
        };
        let stored = self.walk.reach.get(&(self.target_id, time));
        Ok(stored.map_or(earliest, |stored| earliest.min(*stored)))
    }

    /// Adds the rows of an observation to the current run.
    fn add_to_run(
        &mut self,
        client: &SpiClient<'_>,
        (wrong, mut is_wrong): (WrongObservation, bool),
        increments: Vec<Increment<'_>>,
    ) -> Result<(), Error> {
        let names = names(&increments)?;
        self.entries
            .resolve(client, names.iter().map(AsRef::as_ref))?;
        for name in names {
            if self.entries.is_new(&name) && self.reported.insert(name.clone().into_owned()) {
                is_wrong = true;
                let name = name.into_owned();
                (self.report)(Finding {
                    entry: Some(name.clone()),
                    ..Finding::new(wrong.time, "entry", None, name)
                })?;
            }
        }
        let rows = rows(client, self.entries, increments)?;
        let open = self.run.get_or_insert_with(|| OpenRun {
            run: Run {
                target_id: self.target_id,
                after: wrong.stale.after,
                until: wrong.time,
                earliest: wrong.stale.earliest,
            },
            rows: Vec::new(),
            observations: Vec::new(),
        });
        open.run.extend(wrong.time, wrong.stale.earliest);
        reserve(&mut open.rows, rows.len())?;
        open.rows.extend(rows);
        open.observations.push((wrong, is_wrong));
        if open.rows.len() >= ROWS {
            self.compare_rows(client)?;
        }
        Ok(())
    }

    /// Compares the rows of the current run with the stored ones.
    fn compare_rows(&mut self, client: &SpiClient<'_>) -> Result<(), Error> {
        let Some(mut open) = self.run.take() else {
            return Ok(());
        };
        for finding in differences(client, open.run, open.rows, self.walk.purpose)? {
            // A row without an observation blocks the next observation, which is marked as wrong.
            let observations = &mut open.observations;
            let place = observations.partition_point(|(wrong, _)| wrong.time < finding.time);
            if let Some((_, is_wrong)) = observations.get_mut(place) {
                *is_wrong = true;
            }
            (self.report)(finding)?;
        }
        let wrong = open.observations.into_iter().filter(|it| it.1);
        self.walked.wrong.extend(wrong.map(|(wrong, _)| wrong));
        self.walked.runs.push(open.run);
        Ok(())
    }
}

/// An observation with its scanned text.
struct ScannedObservation<'a> {
    loaded: &'a LoadedObservation,
    snapshot: Option<Cow<'a, Snapshot<'a>>>,
}

impl ScannedObservation<'_> {
    fn has_text(&self) -> bool {
        self.loaded.stored.text.value().is_some()
    }

    fn observation<'o>(&'o self, carried: Option<&'o Snapshot<'o>>) -> Observation<'o> {
        Observation {
            time: self.loaded.stored.time,
            server: &self.loaded.stored.server,
            snapshot: self.snapshot.as_deref(),
            carried,
        }
    }
}

/// Returns all findings about an observation except its increments.
fn findings(loaded: &LoadedObservation, computed: &Computed) -> Result<Vec<Finding>, Error> {
    let stored = &loaded.stored;
    let mut findings = loaded.findings.clone();
    if stored.since != computed.since {
        let [stored_since, since] = [stored.since, computed.since].map(shown);
        findings.push(Finding::new(stored.time, "since", stored_since?, since?));
    }
    let counts = Finding::of_counts(stored.time, &loaded.counts, &computed.counts);
    findings.extend(counts);
    // Damaged carried records were reported when they were loaded.
    if stored.carried.damage().is_none() {
        let carried = stored.carried.value().map(Vec::as_slice);
        let computed = computed.carried.as_deref();
        findings.extend(Finding::of_carried(stored.time, carried, computed));
    }
    Ok(findings)
}

/// Formats a time by the session's settings.
fn shown(time: Option<Micros>) -> Result<Option<String>, Error> {
    let time = time.map(timestamptz).transpose()?;
    connect(|client| client.query_value("SELECT $1::text", &values![time]))
}
