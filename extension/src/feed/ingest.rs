//! The state of a feed, for all sources.

use jobstats_core::accounting::coverage::RecordTimes;
use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::{Action, Limits, Outcome, Rejects};

use crate::feed::delivery::Delivery;
use crate::store::Settings;

pub struct Ingest<'a> {
    /// The row of the feed without its text.
    pub delivery: &'a Delivery,
    pub settings: Settings,
    /// The time at which the text arrived.
    pub now: Micros,
    /// The unusable parts of the text.
    pub rejects: Rejects,
    /// The times in records of jobs.
    pub times: RecordTimes,
}

impl<'a> Ingest<'a> {
    pub fn new(delivery: &'a Delivery, settings: Settings, now: Micros) -> Self {
        Self {
            delivery,
            settings,
            now,
            rejects: Rejects::default(),
            times: RecordTimes::default(),
        }
    }

    /// Returns the limits of the time of a text.
    pub fn limits(&self) -> Limits {
        Limits {
            now: self.now,
            max_ahead: self.settings.max_ahead,
            raw_retention: self.settings.raw_retention,
            kept_since: self.settings.kept_since,
        }
    }

    /// Returns whether the time of the text is possible, for sources where a text of the future would never be replaced.
    pub fn is_timely(&self) -> bool {
        let limits = self.limits();
        (0..=limits.now.saturating_add(limits.max_ahead)).contains(&self.delivery.time)
    }

    /// Returns the latest time that records may have: the time of the text and the allowed clock difference.
    pub fn latest(&self) -> Micros {
        let time = self.delivery.time.min(self.now);
        time.saturating_add(self.limits().max_ahead)
    }

    /// Rejects a part of a text. `shown` is its stored beginning, or `None` for a text that may hold secrets.
    pub fn reject(
        &mut self,
        target: Option<&str>,
        reason: &'static str,
        shown: Option<&[u8]>,
    ) -> Outcome {
        self.rejects.add(target, None, reason, shown);
        Outcome::new(target, Action::Rejected(reason))
    }
}
