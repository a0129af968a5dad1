//! The state of a feed while its text is stored, whatever the source is.

use jobstats_core::accounting::coverage::RecordTimes;
use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::{Action, Limits, Outcome, Rejects};

use crate::feed::delivery::Delivery;
use crate::store::Settings;

/// The state of a feed.
pub struct Ingest<'a> {
    /// The row of the feed without its text.
    pub delivery: &'a Delivery,
    pub settings: Settings,
    /// The time at which the text came to the database.
    pub now: Micros,
    /// The text that could not be used.
    pub rejects: Rejects,
    /// The times that the records of jobs are about.
    pub told: RecordTimes,
}

impl<'a> Ingest<'a> {
    pub fn new(delivery: &'a Delivery, settings: Settings, now: Micros) -> Self {
        Self {
            delivery,
            settings,
            now,
            rejects: Rejects::default(),
            told: RecordTimes::default(),
        }
    }

    /// Returns the limits of the time of its text.
    pub fn limits(&self) -> Limits {
        Limits {
            now: self.now,
            max_ahead: self.settings.max_ahead,
            raw_retention: self.settings.raw_retention,
            kept_since: self.settings.kept_since,
        }
    }

    /// Returns whether the time of the text can be true, for sources of which what a text of the future says would count for
    /// ever.
    pub fn is_timely(&self) -> bool {
        let limits = self.limits();
        (0..=limits.now.saturating_add(limits.max_ahead)).contains(&self.delivery.time)
    }

    /// Returns the latest time of which the text can tell: its own, and the allowed difference of clocks.
    pub fn latest(&self) -> Micros {
        let time = self.delivery.time.min(self.now);
        time.saturating_add(self.limits().max_ahead)
    }

    /// Rejects a part of a text, of which `shown` is stored: its beginning, or `None` if it may have secrets.
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
