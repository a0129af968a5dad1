//! Places a text among the observations of its target, and computes the results.

use std::mem;

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::{Action, Outcome, reason, why_not, why_not_before};
use jobstats_core::rules::increment::Observation;
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::job_stats::cache;
use crate::feed::job_stats::compute::{Former, compute, compute_on};
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::part::Part;
use crate::feed::job_stats::stored::{self, Computed, NewText, Read, Stored, Unpacked};
use crate::feed::targets::Target;
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::store::formats::notice_unmatched;
use crate::store::spans;
use crate::text::zstd::unpack;

/// The placing of the text of one target.
pub struct Placing<'p, 'c, 'i> {
    pub client: &'p mut SpiClient<'c>,
    pub ingest: &'p mut Ingest<'i>,
    pub entries: &'p mut Entries,
    pub target: &'p mut Target,
}

impl<'i> Placing<'_, '_, 'i> {
    /// Stores the text with its increments, if it can be placed.
    pub fn place(mut self, mut part: Part<'_, '_>) -> Result<Outcome, Error> {
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
            false => stored::after(self.client, id, time)?,
        };
        let before = previous.as_ref().map(Stored::read).transpose()?;
        let (known, is_newest) = (before.as_ref().map(Read::known), next.is_none());
        let limits = self.ingest.limits();
        if let Some(reason) = limits.why_not_old(time, known.as_ref(), is_newest) {
            return Ok(self.reject(reason, &part));
        }
        if let Some(next) = &next
            && let Some(reason) = self.why_not_before(&part, known.as_ref(), next)?
        {
            return Ok(self.reject(reason, &part));
        }
        let (text, computed) = self.store(&part, before.as_ref())?;
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
                let former = previous.map(|previous| Former {
                    time: previous.time,
                    carried: previous.carried,
                });
                if next.since.is_none() {
                    let end = computed.since.unwrap_or(time);
                    spans::join(self.client, id, (end, next.time))?;
                }
                self.compute_following(part, &text, computed, former, next)?;
            }
            None => self.become_newest(part, &text, action)?,
        }
        Ok(outcome)
    }

    /// Returns the reason why a late text cannot have been read before the observation that follows.
    fn why_not_before(
        &mut self,
        part: &Part<'_, '_>,
        known: Option<&Observation<'_>>,
        next: &Stored,
    ) -> Result<Option<&'static str>, Error> {
        let mut records = part.snapshot.records.iter();
        // Only entries without `start_time` are looked for there.
        let after = match records.all(|it| it.start_time.is_some()) {
            true => None,
            false => stored::after(self.client, self.target.id, next.time)?,
        };
        let after = after.as_ref().map(Stored::read).transpose()?;
        let after = after.as_ref().map(Read::observation);
        let interval = self.target.cleanup_interval(&part.snapshot);
        let (this, read) = (self.observation(part), next.read()?);
        let next = (&read.observation(), next.since);
        let reason = why_not_before(&this, known, next, after.as_ref(), interval, PAUSE)?;
        Ok(reason)
    }

    /// Returns the outcome of a text whose target has an observation of exactly this time; `None` if it has none.
    fn known(&mut self, part: &Part<'_, '_>) -> Result<Option<Outcome>, Error> {
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

    /// Compares a text with the one before and stores it with its increments.
    fn store<'a>(
        &mut self,
        part: &Part<'a, '_>,
        before: Option<&Read<'_>>,
    ) -> Result<(NewText<'a>, Computed), Error> {
        let text = NewText {
            packed: part.packed,
            bytes: part.bytes,
            digest: part.digest,
            cleanup_interval: self.target.cleanup_interval(&part.snapshot),
        };
        let this = self.observation(part);
        let (computed, problems) = compute(
            self.client,
            self.entries,
            self.target.id,
            before.map(Read::known).as_ref(),
            &this,
            text.cleanup_interval,
            self.ingest.settings,
        )?;
        timed(Phase::Text, || {
            let Ingest { delivery, now, .. } = *self.ingest;
            stored::insert(self.client, self.target.id, delivery, now, &text, &computed)
        })?;
        self.ingest.rejects.add_dropped(computed.dropped);
        for problem in problems {
            let (target, reason) = (Some(self.target.name.as_str()), problem.reason.code());
            let (line, text) = (Some(problem.line), problem.to_string());
            let rejects = &mut self.ingest.rejects;
            rejects.add(target, line, reason, Some(text.as_bytes()));
        }
        Ok((text, computed))
    }

    /// Computes the observations after a placed text again.
    fn compute_following(
        &mut self,
        part: Part<'_, '_>,
        text: &NewText<'_>,
        computed: Computed,
        former: Option<Former>,
        next: Stored,
    ) -> Result<(), Error> {
        let lines = match part.snapshot.keep() {
            Some(snapshot) => stored::Text::Scanned(snapshot),
            None => stored::Text::Lines(unpack(&text.packed)?),
        };
        let placed = Stored {
            time: self.time(),
            since: computed.since,
            server: self.ingest.delivery.server.clone(),
            text: Unpacked::Value(lines),
            carried: computed.carried.into(),
            cleanup_interval: Some(text.cleanup_interval),
            kept: computed.kept,
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

    /// Notes what only the newest text of a target says, and keeps its snapshot for the next one.
    fn become_newest(
        &mut self,
        part: Part<'_, '_>,
        text: &NewText<'_>,
        action: Action,
    ) -> Result<(), Error> {
        self.target
            .note_cleanup_interval(self.client, &part.snapshot)?;
        self.target.take_back(self.client)?;
        if action == Action::Baseline {
            let cluster = self.ingest.delivery.cluster.as_str();
            let target = (cluster, self.target.name.as_str());
            notice_unmatched(self.client, target, &part.snapshot)?;
        }
        cache::put(text.key(), part.snapshot);
        Ok(())
    }

    fn reject(&mut self, reason: &'static str, part: &Part<'_, '_>) -> Outcome {
        let target = Some(self.target.name.as_str());
        self.ingest.reject(target, reason, Some(&part.beginning))
    }

    fn outcome(&self, action: Action) -> Outcome {
        Outcome::new(Some(&self.target.name), action)
    }

    /// Returns whether the text is newer than all that its target has, as nearly all are: then nothing can be at or after it.
    fn is_newest(&self) -> bool {
        self.target.last_observation < Some(self.time())
    }

    fn time(&self) -> Micros {
        self.ingest.delivery.time
    }

    /// Returns the text as an observation, before it is known what is carried with it.
    fn observation<'o>(&self, part: &'o Part<'_, '_>) -> Observation<'o>
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
