//! Places a text among the observations of its target, and computes the results.

use jobstats_core::increment::{CompareError, LateReason, Observation, can_be_older};
use jobstats_core::snapshot::Snapshot;
use pgrx::spi::SpiClient;

use crate::feed::Ingest;
use crate::feed::job_stats::cache;
use crate::feed::job_stats::compute::{Counts, compute, compute_on};
use crate::feed::job_stats::stored::{self, NewText, Read, Stored};
use crate::feed::targets::{self, Target, shown};
use crate::feed::text::Part;
use crate::feed::timing::{Step, timed};
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::PAUSE;
use crate::store::formats::notice_unmatched;
use crate::text::zstd::unpack;

/// The outcome of ingesting a target's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The first observation of its target.
    Baseline,
    /// The newest observation of its target.
    Stored,
    /// An observation older than the newest one, placed in order of time.
    Placed,
    /// A text that is stored already.
    Repeated,
    /// A text without an observation, which has only the cleanup interval.
    Interval,
    /// A text that is in `jobstats.rejects`, with this reason.
    Rejected(&'static str),
}

impl Action {
    /// Returns the reason why a text was rejected.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Rejected(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns the name of the action, as `jobstats_ingest` shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Stored => "stored",
            Self::Placed => "placed",
            Self::Repeated => "repeated",
            Self::Interval => "interval",
            Self::Rejected(_) => "rejected",
        }
    }
}

/// The result of a feed for one target.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub target: Option<String>,
    pub action: Action,
    pub counts: Counts,
    pub increments: i32,
}

impl Outcome {
    /// Returns the number of entries in the text.
    pub fn entries(&self) -> i64 {
        self.counts.entries.into()
    }

    fn of(target: &str, action: Action) -> Self {
        Self {
            target: Some(target.to_owned()),
            action,
            counts: Counts::default(),
            increments: 0,
        }
    }
}

/// The reasons of `jobstats.rejects` that concern a whole text.
pub mod reason {
    pub const CLOCK: &str = "clock";
    pub const TOO_LATE: &str = "too late";
    pub const DIFFERENT: &str = "another text of the same time";
    pub const NO_TARGET: &str = "no target";
    pub const NOT_YOURS: &str = "not yours";
    pub const TOO_MANY_PROBLEMS: &str = "too many problems";
}

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

impl Ingest<'_> {
    /// Rejects a text of `lctl get_param -n`: its target cannot be known.
    pub fn reject_nameless(&mut self, part: &Part<'_, '_>) -> Outcome {
        self.rejects
            .add(None, None, reason::NO_TARGET, &part.beginning);
        Outcome {
            target: None,
            action: Action::Rejected(reason::NO_TARGET),
            counts: Counts::default(),
            increments: 0,
        }
    }

    /// Returns the parts of the targets that the sender may feed, and rejects the others.
    pub fn own<'a, 'w>(
        &mut self,
        client: &SpiClient<'_>,
        parts: Vec<Part<'a, 'w>>,
        outcomes: &mut Vec<Outcome>,
    ) -> Result<Vec<Part<'a, 'w>>, Error> {
        let Some(patterns) = &self.feed.own_targets else {
            return Ok(parts);
        };
        let names: Vec<_> = parts
            .iter()
            .map(|part| part.snapshot.target.map(shown))
            .collect();
        let own = targets::matching(client, &names, patterns)?;
        let mut kept = Vec::new();
        reserve(&mut kept, parts.len())?;
        for (part, name) in parts.into_iter().zip(names) {
            match name {
                Some(name) if !own.contains(&name) => {
                    let reason = reason::NOT_YOURS;
                    self.rejects.add(Some(&name), None, reason, &part.beginning);
                    outcomes.push(Outcome::of(&name, Action::Rejected(reason)));
                }
                _ => kept.push(part),
            }
        }
        Ok(kept)
    }

    /// Stores the text of one target with its increments, if it can be placed.
    pub fn place(
        &mut self,
        client: &mut SpiClient<'_>,
        target: &mut Target,
        part: Part<'_, '_>,
    ) -> Result<Outcome, Error> {
        let time = self.feed.time;
        let snapshot = &part.snapshot;
        if snapshot.observed
            && let Some(known) = stored::digest(client, target.id, time)?
        {
            if known == part.digest {
                return Ok(Outcome::of(&target.name, Action::Repeated));
            }
            return Ok(self.reject(target, reason::DIFFERENT, &part.beginning));
        }
        self.rejects.append(part.rejects);
        if !snapshot.observed {
            target.note_cleanup_interval(client, snapshot)?;
            return Ok(Outcome::of(&target.name, Action::Interval));
        }
        if is_mostly_unusable(snapshot) {
            return Ok(self.reject(target, reason::TOO_MANY_PROBLEMS, &part.beginning));
        }
        let latest = self.now.saturating_add(self.settings.max_ahead);
        if !(0..=latest).contains(&time) {
            return Ok(self.reject(target, reason::CLOCK, &part.beginning));
        }
        let oldest = self.now.saturating_sub(self.settings.raw_retention);
        if time <= self.settings.kept_since || time < oldest {
            return Ok(self.reject(target, reason::TOO_LATE, &part.beginning));
        }
        let previous = stored::before(client, target.id, time, self.settings.raw_retention)?;
        let next = stored::after(client, target.id, time)?;
        let this = Observation {
            time,
            server: &self.feed.server,
            snapshot: Some(snapshot),
            carried: None,
        };
        let before = previous.as_ref().map(Stored::read).transpose()?;
        if let Some(next) = &next
            && let Some(reason) = self.why_not_late(&this, before.as_ref(), next)?
        {
            return Ok(self.reject(target, reason, &part.beginning));
        }
        let cleanup_interval = target.cleanup_interval(snapshot);
        let (computed, found) = compute(
            client,
            &mut self.entries,
            target.id,
            before.as_ref().map(Read::known).as_ref(),
            &this,
            cleanup_interval,
            self.settings,
        )?;
        let text = NewText {
            packed: part.packed,
            bytes: part.bytes,
            digest: part.digest,
            cleanup_interval,
        };
        timed(Step::Text, || {
            stored::insert(client, target.id, self.feed, self.now, &text, &computed)
        })?;
        self.rejects.add_dropped(computed.dropped);
        for problem in found {
            let line = i32::try_from(problem.line).ok();
            self.rejects.add(
                Some(&target.name),
                line,
                problem.reason,
                problem.text.as_bytes(),
            );
        }
        let action = match (&next, &previous) {
            (Some(_), _) => Action::Placed,
            (None, None) => Action::Baseline,
            (None, Some(_)) => Action::Stored,
        };
        let outcome = Outcome {
            counts: computed.counts,
            increments: computed.increments,
            ..Outcome::of(&target.name, action)
        };
        if let Some(next) = next {
            let earliest = before.as_ref().map(Read::earliest);
            let text = match part.snapshot.keep() {
                Some(snapshot) => stored::Text::Kept(snapshot),
                None => stored::Text::Lines(unpack(&part.packed)?),
            };
            let placed = Stored {
                time,
                since: computed.since,
                server: self.feed.server.clone(),
                text: Some(text),
                carried: computed.carried,
                forgotten: false,
                cleanup_interval: Some(cleanup_interval),
            };
            compute_on(
                client,
                &mut self.entries,
                target.id,
                earliest,
                placed,
                next,
                self.settings,
            )?;
        } else {
            target.note_cleanup_interval(client, snapshot)?;
            if previous.is_none() {
                notice_unmatched(client, &target.name, snapshot)?;
            }
            cache::keep(text.key(), part.snapshot);
        }
        Ok(outcome)
    }

    fn reject(&mut self, target: &Target, reason: &'static str, lines: &[u8]) -> Outcome {
        self.rejects.add(Some(&target.name), None, reason, lines);
        Outcome::of(&target.name, Action::Rejected(reason))
    }

    /// Returns the reason why a text older than the newest one cannot be placed; `None` if it can.
    fn why_not_late(
        &self,
        this: &Observation<'_>,
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
        match can_be_older(this, previous.as_ref(), &next_observation, PAUSE) {
            Ok(()) => Ok(None),
            Err(LateReason::OutOfMemory(error)) => Err(CompareError::OutOfMemory(error).into()),
            Err(_) => Ok(Some(reason::CLOCK)),
        }
    }
}
