//! Walks from observation to observation of a target, and computes each one from its raw text and that of the one
//! before.

use std::borrow::Cow;
use std::collections::HashSet;

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::rules::audit::{Finding, Predecessor, Run, earliest_possible, earliest_start};
use jobstats_core::rules::increment::{Increment, Observation};
use jobstats_core::rules::snapshot::{self, Snapshot, cleanup_interval};
use pgrx::spi::SpiClient;

use crate::audit::Target;
use crate::audit::load::{Loaded, Loader};
use crate::audit::reach::Reach;
use crate::audit::rows::differences;
use crate::feed::job_stats::compute::{Computation, computation, names, rows};
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::rows::EntryIncrement;
use crate::feed::job_stats::stored::Unpacked;
use crate::feed::job_stats::write::{Computed, Stale};
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Statements, connect};
use crate::pg::time::{EARLIEST, now, timestamptz};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::params::Params;
use crate::store::Settings;

/// The number of computed rows that are collected before they are compared.
const ROWS: usize = 16_384;

/// The parameters of a walk.
pub struct Walk {
    window: Span,
    settings: Settings,
    /// The time since which no raw text may be missing.
    raw_since: Option<Micros>,
    /// The start of stored increments that reach far back.
    reach: Reach,
    purpose: Purpose,
}

/// The purpose of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Reports every disagreement.
    Audit,
    /// Finds the observations that are wrong. The walk goes on after the window as long as the carried records differ
    /// from the stored ones.
    Repair,
}

/// The results of a walk over one target, apart from the findings that it reported.
#[derive(Default)]
pub struct Walked {
    /// The number of observations in the window that were computed.
    pub computed: u64,
    /// The number of observations that could not be computed.
    pub left: u64,
    pub runs: Vec<Run>,
    /// The observations with a difference that computing them again repairs.
    pub wrong: Vec<Wrong>,
}

/// An observation that differs from the computed one.
pub struct Wrong {
    pub time: Micros,
    /// The time of the observation with which it is to be compared.
    pub previous: Option<Micros>,
    /// The stored increments of the observation. No computed increment begins earlier.
    pub stale: Stale,
    pub server: String,
    pub bytes: i64,
}

/// A function that takes a disagreement.
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
    /// Prepares a walk over one target; `None` stands for all targets.
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
                reach: Reach::find(client, window, target_id)?,
            })
        })
    }

    /// Walks over the observations of one target.
    pub fn target(
        &self,
        target_id: i32,
        entries: &mut Entries,
        report: Report<'_>,
    ) -> Result<Walked, Error> {
        let loader = Loader {
            target_id,
            raw_since: self.raw_since,
        };
        let mut walking = Walking {
            walk: self,
            target_id,
            entries,
            report,
            walked: Walked::default(),
            run: None,
            reported: HashSet::new(),
        };
        let last = connect(|client| loader.last(client, self.window.0))?;
        let mut known = last.map(Known::of);
        // Each batch has its own connection, because the rows that are read stay in memory as long as the connection.
        while let Some(next) = connect(|client| -> Result<_, Error> {
            pause();
            let after = known
                .as_ref()
                .map_or(EARLIEST, |known| known.loaded.stored.time);
            let goes_beyond = self.purpose == Purpose::Repair
                && known.as_ref().is_some_and(|known| known.carry.differs);
            let until = (!goes_beyond).then_some(self.window.1);
            let batch = loader.next(client, after.max(self.window.0), until)?;
            walking.batch(client, known.take(), batch)
        })? {
            known = Some(next);
        }
        Ok(walking.walked)
    }
}

/// Returns the time since which no raw text may be missing: that of the oldest raw text that is younger than the
/// retention period. Retention deletes the oldest text first, and its period may have been shorter in the past.
fn oldest_raw(client: &SpiClient<'_>, settings: Settings) -> Result<Option<Micros>, Error> {
    let kept = now()?.saturating_sub(settings.raw_retention);
    client.query_time(
        "SELECT min(r.\"time\") FROM jobstats.targets t CROSS JOIN LATERAL ( \
             SELECT min(r.\"time\") AS \"time\" FROM jobstats.raw r \
             WHERE r.target_id = t.target_id AND r.\"time\" >= $1) r",
        &[timestamptz(kept.max(EARLIEST))?.into()],
    )
}

/// The observation that was computed last.
struct Known {
    loaded: Loaded,
    carry: Carry,
}

impl Known {
    fn of(loaded: Loaded) -> Self {
        let carry = Carry::stored(&loaded);
        Self { loaded, carry }
    }
}

/// The records carried with an observation.
struct Carry {
    /// The records as they were computed, or else as they are stored.
    records: Option<Vec<u8>>,
    /// Set if the records can be read.
    readable: bool,
    /// Set if the stored records are different.
    differs: bool,
}

impl Carry {
    fn stored(loaded: &Loaded) -> Self {
        let carried = &loaded.stored.carried;
        Self {
            records: carried.value().cloned(),
            readable: carried.damage().is_none(),
            differs: false,
        }
    }
}

/// Observations that were computed one after the other and whose rows are not yet compared.
struct Open {
    run: Run,
    rows: Vec<EntryIncrement>,
    /// The observations, each with a flag that is set if the observation is known to be wrong.
    observations: Vec<(Wrong, bool)>,
}

/// The state of a walk.
struct Walking<'w, 'r> {
    walk: &'w Walk,
    target_id: i32,
    entries: &'w mut Entries,
    report: Report<'r>,
    walked: Walked,
    run: Option<Open>,
    /// The names of entries that were reported as missing.
    reported: HashSet<String>,
}

impl Walking<'_, '_> {
    /// Computes the observations that follow `known`. Returns the last one, or `None` if the walk is over.
    fn batch(
        &mut self,
        client: &SpiClient<'_>,
        known: Option<Known>,
        batch: Vec<Loaded>,
    ) -> Result<Option<Known>, Error> {
        let first = usize::from(known.is_some());
        let (loaded, mut carry) = match known {
            Some(known) => (Some(known.loaded), Some(known.carry)),
            None => (None, None),
        };
        let mut chain: Vec<Loaded> = loaded.into_iter().chain(batch).collect();
        let mut is_done = chain.len() == first;
        let mut before: Option<Seen<'_>> = None;
        for (position, this) in chain.iter().enumerate() {
            pause();
            let differs = carry.as_ref().is_some_and(|carry| carry.differs);
            is_done |= this.stored.time > self.walk.window.1 && !differs && position >= first;
            if is_done {
                break;
            }
            let this = Seen::of(this)?;
            if position >= first {
                carry = Some(self.observation(client, before.as_ref(), &this, carry)?);
            }
            before = Some(this);
        }
        drop(before);
        self.compare_rows(client)?;
        Ok(match (chain.pop(), carry) {
            (Some(loaded), Some(carry)) if !is_done => Some(Known { loaded, carry }),
            _ => None,
        })
    }

    /// Computes one observation, given the one before and its carried records. Returns the records that it carries in
    /// turn.
    fn observation(
        &mut self,
        client: &SpiClient<'_>,
        before: Option<&Seen<'_>>,
        this: &Seen<'_>,
        carry: Option<Carry>,
    ) -> Result<Carry, Error> {
        let (loaded, stored) = (this.loaded, &this.loaded.stored);
        let predecessor = Predecessor::of(
            before.map(|before| before.loaded.stored.time),
            stored.time,
            stored.since,
            self.walk.settings.raw_retention,
        );
        let before_is_known = before.is_some_and(Seen::has_text)
            && carry.as_ref().is_some_and(|carry| carry.readable);
        if !this.has_text() || !predecessor.suffices(before_is_known) {
            self.compare_rows(client)?;
            self.walked.left += 1;
            self.report_all(&loaded.findings)?;
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
        let wrong = Wrong {
            time: stored.time,
            previous: computed.computed.since,
            stale: Stale {
                after: before.map_or(EARLIEST, |before| before.loaded.stored.time),
                observed: stored.time,
                earliest: self.earliest_row(before, previous.as_ref(), loaded, &computed)?,
            },
            server: stored.server.clone(),
            bytes: i64::try_from(loaded.bytes()).unwrap_or(i64::MAX),
        };
        let findings = findings(loaded, &computed.computed)?;
        self.report_all(&findings)?;
        let carry = Carry {
            differs: !stored.carried.is(computed.computed.carried.as_deref()),
            records: computed.computed.carried,
            readable: true,
        };
        let lacks_values = self.walk.purpose == Purpose::Repair
            && stored.reduced.keep < self.walk.settings.reduced.keep;
        let is_wrong = !findings.is_empty() || lacks_values;
        self.add_to_run(client, (wrong, is_wrong), computed.increments)?;
        Ok(carry)
    }

    /// Returns the earliest start of the rows of an observation, both stored and computed.
    fn earliest_row(
        &self,
        before: Option<&Seen<'_>>,
        previous: Option<&Observation<'_>>,
        this: &Loaded,
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
        let stored = self.walk.reach.of(self.target_id, time);
        Ok(stored.map_or(earliest, |stored| stored.min(earliest)))
    }

    fn report_all(&mut self, findings: &[Finding]) -> Result<(), Error> {
        let mut findings = findings.iter().cloned();
        findings.try_for_each(|finding| (self.report)(finding))
    }

    /// Adds the rows of an observation to those that are to be compared.
    fn add_to_run(
        &mut self,
        client: &SpiClient<'_>,
        (wrong, mut is_wrong): (Wrong, bool),
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
        let open = self.run.get_or_insert_with(|| Open {
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

    /// Compares the collected rows with the stored ones.
    fn compare_rows(&mut self, client: &SpiClient<'_>) -> Result<(), Error> {
        let Some(mut open) = self.run.take() else {
            return Ok(());
        };
        for finding in differences(client, open.run, open.rows, self.walk.purpose)? {
            // A row that belongs to no observation stands in the way of the next observation, and marks that one as
            // wrong.
            let place = open
                .observations
                .partition_point(|(wrong, _)| wrong.time < finding.time);
            if let Some((_, is_wrong)) = open.observations.get_mut(place) {
                *is_wrong = true;
            }
            (self.report)(finding)?;
        }
        let wrong = open
            .observations
            .into_iter()
            .filter(|(_, is_wrong)| *is_wrong);
        self.walked.wrong.extend(wrong.map(|(wrong, _)| wrong));
        self.walked.runs.push(open.run);
        Ok(())
    }
}

/// An observation with its text, scanned.
struct Seen<'a> {
    loaded: &'a Loaded,
    snapshot: Option<Cow<'a, Snapshot<'a>>>,
}

impl<'a> Seen<'a> {
    fn of(loaded: &'a Loaded) -> Result<Self, Error> {
        Ok(Self {
            loaded,
            snapshot: loaded.stored.snapshot()?,
        })
    }

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

/// Returns all findings about an observation except its increments, including those from when it was read.
fn findings(loaded: &Loaded, computed: &Computed) -> Result<Vec<Finding>, Error> {
    let stored = &loaded.stored;
    let mut findings = loaded.findings.clone();
    if stored.since != computed.since {
        let [stored_since, since] = [stored.since, computed.since].map(shown);
        findings.push(Finding::new(stored.time, "since", stored_since?, since?));
    }
    let counts = Finding::of_counts(stored.time, &loaded.counts, &computed.counts);
    findings.extend(counts);
    // Carried records that cannot be read were reported when the observation was read.
    if stored.carried.damage().is_none() {
        let carried = stored.carried.value().map(Vec::as_slice);
        let computed = computed.carried.as_deref();
        findings.extend(Finding::of_carried(stored.time, carried, computed));
    }
    Ok(findings)
}

/// Returns a time as text in the format of the session's settings, which the type's own text ignores.
fn shown(time: Option<Micros>) -> Result<Option<String>, Error> {
    let Some(time) = time.map(timestamptz).transpose()? else {
        return Ok(None);
    };
    connect(|client| client.query_value("SELECT $1::text", &[time.into()]))
}
