//! Walks from observation to observation of a target, and computes each one from its raw text and that of the one
//! before.

use std::collections::HashSet;

use jobstats_core::increment::{Increment, Observation};
use jobstats_core::instant::{DAY, Micros};
use jobstats_core::snapshot::{self, Snapshot};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::spi::SpiClient;

use crate::audit::finding::Finding;
use crate::audit::judge;
use crate::audit::load::{Carried, Loaded, Loader};
use crate::audit::reach::Reach;
use crate::audit::rows::{Run, Tell, differences};
use crate::audit::{Target, Window};
use crate::feed::job_stats::compute::{Computation, computation, rows};
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::rows::EntryIncrement;
use crate::feed::job_stats::stored::{Stale, earliest};
use crate::feed::targets::cleanup_interval;
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Statements, connect};
use crate::pg::time::{EARLIEST, micros, timestamptz};
use crate::store::Settings;

/// The number of computed rows that are collected before they are compared.
const ROWS: usize = 16_384;

/// The parameters of a walk.
pub struct Walk {
    window: Window,
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

/// Returns the targets whose name is LIKE the pattern, in the order in which they are locked.
pub fn targets(client: &SpiClient<'_>, pattern: Option<&str>) -> Result<Vec<Target>, Error> {
    let rows = client.query(
        "SELECT target_id, cluster, name FROM jobstats.targets WHERE $1 IS NULL OR name LIKE $1 ORDER BY target_id",
        &[pattern.into()],
    )?;
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
        window: Window,
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
        let last = connect(|client| loader.last(client, self.window.since))?;
        let mut known = last.map(Known::of);
        // Each batch has its own connection, because the rows that are read stay in memory as long as the connection.
        while let Some(next) = connect(|client| -> Result<_, Error> {
            pause();
            let after = known.as_ref().map_or(EARLIEST, |known| known.loaded.time);
            let goes_beyond = self.purpose == Purpose::Repair
                && known.as_ref().is_some_and(|known| known.carry.differs);
            let until = (!goes_beyond).then_some(self.window.until);
            let batch = loader.next(client, after.max(self.window.since), until)?;
            walking.batch(client, known.take(), batch)
        })? {
            known = Some(next);
        }
        Ok(walking.walked)
    }

    /// Returns the kind of observation with which an observation is to be compared, given the one before it in the
    /// store.
    fn neighbour(&self, before: Option<&Loaded>, this: &Loaded) -> Neighbour {
        match (before, this.since) {
            (None, None) => Neighbour::None,
            (None, Some(_)) => Neighbour::Gone,
            (Some(before), None)
                if before.time < this.time.saturating_sub(self.settings.raw_retention) =>
            {
                Neighbour::None
            }
            (Some(_), _) => Neighbour::Before,
        }
    }
}

/// Returns the time since which no raw text may be missing: that of the oldest raw text that is younger than the
/// retention period. Retention deletes the oldest text first, and its period may have been shorter in the past.
fn oldest_raw(client: &SpiClient<'_>, settings: Settings) -> Result<Option<Micros>, Error> {
    let now = micros(pgrx::datum::datetime_support::now())?;
    let kept = now.saturating_sub(settings.raw_retention).max(EARLIEST);
    let oldest: Option<TimestampWithTimeZone> = client.query_value(
        "SELECT min(r.\"time\") FROM jobstats.targets t CROSS JOIN LATERAL ( \
             SELECT min(r.\"time\") AS \"time\" FROM jobstats.raw r \
             WHERE r.target_id = t.target_id AND r.\"time\" >= $1) r",
        &[timestamptz(kept)?.into()],
    )?;
    oldest.map(micros).transpose()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    /// No observation: the observation is a baseline.
    None,
    /// The observation before.
    Before,
    /// An observation that has been deleted.
    Gone,
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
        let (records, readable) = match &loaded.carried {
            Carried::Readable(records) => (records.clone(), true),
            Carried::Damaged => (None, false),
        };
        Self {
            records,
            readable,
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
            is_done |= this.time > self.walk.window.until && !differs && position >= first;
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
        let loaded = this.loaded;
        let neighbour = self
            .walk
            .neighbour(before.map(|before| before.loaded), loaded);
        if !can_be_computed(neighbour, before, this, carry.as_ref()) {
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
            .filter(|_| neighbour == Neighbour::Before)
            .map(|before| before.observation(records.as_ref()));
        let text = this.snapshot.as_ref();
        let computed = computation(
            previous.as_ref(),
            &this.observation(None),
            cleanup_interval(text, loaded.cleanup_interval),
            self.walk.settings,
        )?;
        let wrong = Wrong {
            time: loaded.time,
            previous: computed.since,
            stale: Stale {
                after: before.map_or(EARLIEST, |before| before.loaded.time),
                observed: loaded.time,
                earliest: self.earliest_row(before, previous.as_ref(), loaded, &computed)?,
            },
            server: loaded.server.clone(),
            bytes: loaded.bytes(),
        };
        let findings = judge::findings(loaded, &computed)?;
        self.report_all(&findings)?;
        let carry = Carry {
            differs: !loaded.carried.is(computed.carried.as_deref()),
            records: computed.carried,
            readable: true,
        };
        let is_wrong = !findings.is_empty();
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
        let stored = self.walk.reach.of(self.target_id, this.time);
        let computed = match self.walk.purpose {
            Purpose::Audit => {
                let starts = computed.increments.iter().map(|increment| increment.since);
                let since = previous.map_or(this.time.saturating_sub(DAY), |it| it.time);
                starts.chain(this.since).fold(since, Micros::min)
            }
            // The stored observations before may themselves be wrong.
            Purpose::Repair => earliest_possible(before, previous, this)?,
        };
        Ok(stored.into_iter().fold(computed, Micros::min))
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
        let names = increments.iter().map(|increment| increment.id);
        self.entries.resolve(client, names.clone())?;
        for name in names {
            if self.entries.is_new(name) && self.reported.insert(name.to_owned()) {
                is_wrong = true;
                (self.report)(Finding {
                    entry: Some(name.to_owned()),
                    ..Finding::new(wrong.time, "entry", None, name.to_owned())
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
        open.run.until = wrong.time;
        open.run.earliest = open.run.earliest.min(wrong.stale.earliest);
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
        let tell = match self.walk.purpose {
            Purpose::Audit => Tell::All,
            Purpose::Repair => Tell::Times,
        };
        for finding in differences(client, open.run, open.rows, tell)? {
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
    snapshot: Option<Snapshot<'a>>,
}

impl<'a> Seen<'a> {
    fn of(loaded: &'a Loaded) -> Result<Self, Error> {
        let reading = loaded.text.as_deref();
        let reading = reading
            .map(|text| snapshot::read(text, PAUSE))
            .transpose()?;
        Ok(Self {
            loaded,
            snapshot: reading.and_then(|reading| reading.snapshots.into_iter().next()),
        })
    }

    fn observation<'o>(&'o self, carried: Option<&'o Snapshot<'o>>) -> Observation<'o> {
        Observation {
            time: self.loaded.time,
            server: &self.loaded.server,
            snapshot: self.snapshot.as_ref(),
            carried,
        }
    }
}

/// Returns whether the texts and records from which an observation is computed are all there.
fn can_be_computed(
    neighbour: Neighbour,
    before: Option<&Seen<'_>>,
    this: &Seen<'_>,
    carry: Option<&Carry>,
) -> bool {
    let has_text = |seen: &Seen<'_>| seen.loaded.text.is_some();
    has_text(this)
        && match neighbour {
            Neighbour::None => true,
            Neighbour::Before => {
                before.is_some_and(has_text) && carry.is_some_and(|carry| carry.readable)
            }
            Neighbour::Gone => false,
        }
}

/// Returns the earliest time at which a stored or computed row of an observation may begin, judging by the carried
/// records.
fn earliest_possible(
    before: Option<&Seen<'_>>,
    previous: Option<&Observation<'_>>,
    this: &Loaded,
) -> Result<Micros, Error> {
    let computed = previous.map_or(this.time.saturating_sub(DAY), earliest);
    let stored = match before.map(|before| &before.loaded.carried) {
        Some(Carried::Readable(Some(records))) => {
            let records = snapshot::read_carried(records, PAUSE)?;
            let seen = records.records.iter().filter_map(|record| record.last_seen);
            seen.min()
        }
        Some(Carried::Damaged) => Some(computed.saturating_sub(DAY)),
        _ => None,
    };
    let since = stored.into_iter().chain(this.since);
    Ok(since.fold(computed, Micros::min).max(EARLIEST))
}
