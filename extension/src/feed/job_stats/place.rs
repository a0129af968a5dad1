//! Places a snapshot among the observations of its target, and computes the increments.

use std::mem;

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::{Action, Outcome, reason, why_not, why_not_before};
use jobstats_core::rules::increment::Observation;
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::job_stats::cache;
use crate::feed::job_stats::compute::{OldPredecessor, compute, compute_on};
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::packed_snapshot::PackedSnapshot;
use crate::feed::job_stats::stored::{self, ScannedSnapshot, StoredSnapshot, Unpacked};
use crate::feed::job_stats::write::{self, Computed};
use crate::feed::targets::Target;
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::store::formats::notice_unmatched;
use crate::store::spans;

/// Places the snapshot of one target.
pub struct Placing<'p, 'c, 'i> {
    pub client: &'p mut SpiClient<'c>,
    pub ingest: &'p mut Ingest<'i>,
    pub entries: &'p mut Entries,
    pub target: &'p mut Target,
}

impl<'i> Placing<'_, '_, 'i> {
    /// Stores the snapshot with its increments, or rejects it.
    pub fn place(mut self, mut part: PackedSnapshot<'_>) -> Result<Outcome, Error> {
        if let Some(outcome) = self.known(&part)? {
            return Ok(outcome);
        }
        self.ingest.rejects.append(mem::take(&mut part.rejects));
        if !part.snapshot.observed {
            self.target
                .note_cleanup_interval(self.client, &part.snapshot)?;
            return Ok(self.outcome(Action::Interval));
        }
        let (id, time) = (self.target.id, self.time());
        if let Some(reason) = why_not(&part.snapshot, time, self.ingest.limits()) {
            return Ok(self.reject(reason, &part));
        }
        let previous = stored::before(self.client, id, time, self.ingest.settings.raw_retention)?;
        let next = match self.is_newest() {
            true => None,
            false => stored::next_to(self.client, id, time, stored::AFTER)?,
        };
        let before = previous.as_ref().map(StoredSnapshot::read).transpose()?;
        let (known, is_newest) = (before.as_ref().map(ScannedSnapshot::known), next.is_none());
        let limits = self.ingest.limits();
        if let Some(reason) = limits.why_not_old(time, known.as_ref(), is_newest) {
            return Ok(self.reject(reason, &part));
        }
        if let Some(next) = &next
            && let Some(reason) = self.why_not_before(&part, known.as_ref(), next)?
        {
            return Ok(self.reject(reason, &part));
        }
        let computed = self.store(&part, before.as_ref())?;
        let action = match (&next, &previous) {
            (Some(_), _) => Action::Placed,
            (None, None) => Action::Baseline,
            (None, Some(_)) => Action::Stored,
        };
        let outcome = Outcome {
            counts: computed.counts,
            increments: computed.increments,
            ends_early: computed.ends_early,
            ..self.outcome(action)
        };
        match next {
            Some(next) => {
                drop(before);
                let former = previous.map(|previous| OldPredecessor {
                    time: previous.time,
                    carried: previous.carried,
                });
                if next.since.is_none() {
                    let end = computed.since.unwrap_or(time);
                    spans::join(self.client, id, (end, next.time))?;
                }
                self.compute_following(part, computed, former, next)?;
            }
            None => self.become_newest(part, action)?,
        }
        Ok(outcome)
    }

    /// Returns the reason why a late snapshot cannot precede the next observation.
    fn why_not_before(
        &mut self,
        part: &PackedSnapshot<'_>,
        known: Option<&Observation<'_>>,
        next: &StoredSnapshot,
    ) -> Result<Option<&'static str>, Error> {
        let mut records = part.snapshot.records.iter();
        // Only entries without `start_time` need the observation after the next.
        let after = match records.all(|it| it.start_time.is_some()) {
            true => None,
            false => stored::next_to(self.client, self.target.id, next.time, stored::AFTER)?,
        };
        let after = after.as_ref().map(StoredSnapshot::read).transpose()?;
        let after = after.as_ref().map(ScannedSnapshot::observation);
        let interval = self.target.cleanup_interval(&part.snapshot);
        let (this, read) = (self.observation(part), next.read()?);
        let next = (&read.observation(), next.since);
        let reason = why_not_before(&this, known, next, after.as_ref(), interval, PAUSE)?;
        Ok(reason)
    }

    /// Returns the outcome if the target already has an observation of this time.
    fn known(&mut self, part: &PackedSnapshot<'_>) -> Result<Option<Outcome>, Error> {
        if !part.snapshot.observed || self.is_newest() {
            return Ok(None);
        }
        let time = self.time();
        let known = stored::digest(self.client, self.target.id, time)?;
        Ok(known.map(|known| {
            if known == part.digest {
                self.outcome(Action::Repeated)
            } else {
                self.reject(reason::DIFFERENT, part)
            }
        }))
    }

    /// Compares a snapshot with its predecessor and stores it with its increments.
    fn store(
        &mut self,
        part: &PackedSnapshot<'_>,
        before: Option<&ScannedSnapshot<'_>>,
    ) -> Result<Computed, Error> {
        let cleanup_interval = self.target.cleanup_interval(&part.snapshot);
        let this = self.observation(part);
        let (computed, problems) = compute(
            self.client,
            self.entries,
            self.target.id,
            before.map(ScannedSnapshot::known).as_ref(),
            &this,
            cleanup_interval,
            self.ingest.settings,
        )?;
        timed(Phase::Text, || {
            let Ingest { delivery, now, .. } = *self.ingest;
            let text = (part, cleanup_interval);
            write::insert(self.client, self.target.id, delivery, now, text, &computed)
        })?;
        self.ingest.rejects.add_dropped(computed.dropped);
        for problem in problems {
            let (target, reason) = (Some(self.target.name.as_str()), problem.reason.code());
            let (line, text) = (Some(problem.line), problem.to_string());
            let rejects = &mut self.ingest.rejects;
            rejects.add(target, line, reason, Some(text.as_bytes()));
        }
        Ok(computed)
    }

    /// Recomputes the observations after a late snapshot.
    fn compute_following(
        &mut self,
        part: PackedSnapshot<'_>,
        computed: Computed,
        former: Option<OldPredecessor>,
        next: StoredSnapshot,
    ) -> Result<(), Error> {
        let cleanup_interval = self.target.cleanup_interval(&part.snapshot);
        let placed = StoredSnapshot {
            time: self.time(),
            since: computed.since,
            server: self.ingest.delivery.server.clone(),
            text: Unpacked::Value(stored::Text::Scanned(part.snapshot.keep()?)),
            carried: computed.carried.into(),
            cleanup_interval: Some(cleanup_interval),
            reduced: computed.reduced,
        };
        compute_on(
            self.entries,
            self.target.id,
            former,
            placed,
            next,
            self.ingest.settings,
        )
    }

    /// Takes over the cleanup interval of the newest snapshot, and caches the snapshot for the next feed.
    fn become_newest(&mut self, part: PackedSnapshot<'_>, action: Action) -> Result<(), Error> {
        self.target
            .note_cleanup_interval(self.client, &part.snapshot)?;
        self.target.take_back(self.client)?;
        if action == Action::Baseline {
            let cluster = self.ingest.delivery.cluster.as_str();
            let target = (cluster, self.target.name.as_str());
            notice_unmatched(self.client, target, &part.snapshot)?;
        }
        cache::put(part.key(), part.snapshot.keep()?);
        Ok(())
    }

    fn reject(&mut self, reason: &'static str, part: &PackedSnapshot<'_>) -> Outcome {
        let target = Some(self.target.name.as_str());
        self.ingest.reject(target, reason, Some(&part.beginning))
    }

    fn outcome(&self, action: Action) -> Outcome {
        Outcome::new(Some(&self.target.name), action)
    }

    /// Returns whether the snapshot is newer than all observations of its target, as nearly always.
    fn is_newest(&self) -> bool {
        self.target.last_observation < Some(self.time())
    }

    fn time(&self) -> Micros {
        self.ingest.delivery.time
    }

    /// Returns the snapshot as an observation without carried records, which are not computed yet.
    fn observation<'o>(&self, part: &'o PackedSnapshot<'_>) -> Observation<'o>
    where
        'i: 'o,
    {
        let delivery = self.ingest.delivery;
        Observation {
            time: delivery.time,
            server: &delivery.server,
            snapshot: Some(&part.snapshot),
            carried: None,
        }
    }
}
