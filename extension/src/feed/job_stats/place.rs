//! Places a text among the observations of its target, and computes the results.

use std::mem;

use jobstats_core::increment::{CompareError, LateReason, Observation, can_be_older};
use jobstats_core::instant::Micros;
use jobstats_core::snapshot::Snapshot;
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::job_stats::cache;
use crate::feed::job_stats::compute::{Computed, Found, compute, compute_on};
use crate::feed::job_stats::entries::Entries;
use crate::feed::job_stats::part::Part;
use crate::feed::job_stats::stored::{self, NewText, Read, Stored};
use crate::feed::outcome::{Action, Outcome, reason};
use crate::feed::targets::Target;
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::pause::PAUSE;
use crate::store::formats::notice_unmatched;
use crate::text::zstd::unpack;

/// The number of unusable lines that any text may have.
const USELESS_LINES: u64 = 100_000;

/// The largest number of lines of a record.
const LINES_OF_RECORD: u64 = 40;

/// Returns whether a text has more unusable lines than its records could have lines. Such a text is not worth the time
/// that the next feed and each audit would take to read it again.
fn is_mostly_unusable(snapshot: &Snapshot<'_>) -> bool {
    let records = snapshot.records.len() as u64;
    snapshot.problems_found > USELESS_LINES + records * LINES_OF_RECORD
}

/// The placing of the text of one target.
pub struct Placing<'p, 'c, 'i> {
    client: &'p mut SpiClient<'c>,
    ingest: &'p mut Ingest<'i>,
    entries: &'p mut Entries,
    target: &'p mut Target,
}

impl<'p, 'c, 'i> Placing<'p, 'c, 'i> {
    pub fn new(
        client: &'p mut SpiClient<'c>,
        ingest: &'p mut Ingest<'i>,
        entries: &'p mut Entries,
        target: &'p mut Target,
    ) -> Self {
        Self {
            client,
            ingest,
            entries,
            target,
        }
    }

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
        if let Some(reason) = self.why_not(&part.snapshot) {
            return Ok(self.reject(reason, &part));
        }
        let (id, time) = (self.target.id, self.time());
        let previous = stored::before(self.client, id, time, self.ingest.settings.raw_retention)?;
        let next = stored::after(self.client, id, time)?;
        let before = previous.as_ref().map(Stored::read).transpose()?;
        if let Some(next) = &next
            && let Some(reason) = self.why_not_before(&part, before.as_ref(), next)?
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
            ..self.outcome(action)
        };
        match next {
            Some(next) => {
                let earliest = before.as_ref().map(Read::earliest);
                self.compute_following(part, &text, computed, earliest, next)?;
            }
            None => self.become_newest(part, &text, action)?,
        }
        Ok(outcome)
    }

    /// Returns the outcome of a text whose target has an observation of exactly this time; `None` if it has none.
    fn known(&mut self, part: &Part<'_, '_>) -> Result<Option<Outcome>, Error> {
        if !part.snapshot.observed {
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

    /// Returns the reason why a text is not placed, whatever its neighbours are.
    fn why_not(&self, snapshot: &Snapshot<'_>) -> Option<&'static str> {
        let (time, now, settings) = (self.time(), self.ingest.now, self.ingest.settings);
        let latest = now.saturating_add(settings.max_ahead);
        let oldest = now.saturating_sub(settings.raw_retention);
        if is_mostly_unusable(snapshot) {
            Some(reason::TOO_MANY_PROBLEMS)
        } else if !(0..=latest).contains(&time) {
            Some(reason::CLOCK)
        } else if time <= settings.kept_since || time < oldest {
            Some(reason::TOO_LATE)
        } else {
            None
        }
    }

    /// Returns the reason why a text cannot be placed before `next`; `None` if it can.
    fn why_not_before(
        &self,
        part: &Part<'_, '_>,
        previous: Option<&Read<'_>>,
        next: &Stored,
    ) -> Result<Option<&'static str>, Error> {
        let previous = previous.map(Read::known);
        let next_read = next.read()?;
        let next_observation = next_read.observation();
        // Retention may have deleted the observation with which `next` was compared. A baseline was compared with none.
        let before = previous.map(|previous| previous.time);
        let is_gone = next.since.is_some_and(|since| before != Some(since))
            || next_observation.snapshot.is_none()
            || previous.is_some_and(|previous| previous.snapshot.is_none());
        if is_gone {
            return Ok(Some(reason::TOO_LATE));
        }
        let this = self.observation(part);
        match can_be_older(&this, previous.as_ref(), &next_observation, PAUSE) {
            Ok(()) => Ok(None),
            Err(LateReason::OutOfMemory(error)) => Err(CompareError::OutOfMemory(error).into()),
            Err(_) => Ok(Some(reason::CLOCK)),
        }
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
        let (computed, found) = compute(
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
        self.reject_found(&found);
        Ok((text, computed))
    }

    /// Computes the observations after a placed text again.
    fn compute_following(
        &mut self,
        part: Part<'_, '_>,
        text: &NewText<'_>,
        computed: Computed,
        earliest: Option<Micros>,
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
            text: Some(lines),
            carried: computed.carried,
            forgotten: false,
            cleanup_interval: Some(text.cleanup_interval),
        };
        compute_on(
            self.client,
            self.entries,
            self.target.id,
            earliest,
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
            notice_unmatched(self.client, &self.target.name, &part.snapshot)?;
        }
        cache::put(text.key(), part.snapshot);
        Ok(())
    }

    fn reject(&mut self, reason: &'static str, part: &Part<'_, '_>) -> Outcome {
        let target = Some(self.target.name.as_str());
        self.ingest.reject(target, reason, Some(&part.beginning))
    }

    /// Rejects what the comparison with the text before could not use.
    fn reject_found(&mut self, found: &[Found]) {
        for problem in found {
            let line = i32::try_from(problem.line).ok();
            let (target, text) = (Some(self.target.name.as_str()), problem.text.as_bytes());
            let rejects = &mut self.ingest.rejects;
            rejects.add(target, line, problem.reason, Some(text));
        }
    }

    fn outcome(&self, action: Action) -> Outcome {
        Outcome::new(Some(&self.target.name), action)
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
