//! Probes, which do on a client what a user does: the means of their times by the hour.

use super::episode::{self, Episode, Hold, Level};
use super::grouping::Event;
use super::waiting;
use crate::base::instant::{HOUR, Micros, Span};

const HOLD: Hold = Hold {
    readings: 1,
    lasting: 0,
    quiet: HOUR,
    confirms: 0,
};

/// The name of the processes that probe.
const PROCESS: &str = "jobstats-probe";

/// Returns whether a program, a job or an identifier belongs to probes: their name, with a user or alone.
pub fn is_work(name: &str) -> bool {
    name.strip_prefix(PROCESS)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A target that is probed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Probe {
    /// The usual seconds of a probe; `None` if they are not known yet.
    pub usual: Option<f64>,
    /// The mean seconds of hours that are over, by the start of the hour, in order of time.
    pub hours: Vec<(Micros, f64)>,
}

impl Probe {
    /// Returns the mean seconds in the hour of a time; `None` if that is not over.
    pub fn seconds_at(&self, time: Micros) -> Option<f64> {
        let start = time.div_euclid(HOUR) * HOUR;
        let hour = self.hours.iter().find(|(hour, _)| *hour == start);
        hour.map(|(_, seconds)| *seconds)
    }

    /// Confirms an event that began in an hour in which the probe was slow: at the end of that hour, unless it was confirmed before.
    pub fn confirm(&self, event: &mut Event) {
        let threshold = self.usual.map(waiting::threshold);
        if let Some((seconds, least)) = self.seconds_at(event.began).zip(threshold)
            && seconds >= least
        {
            let end = (event.began.div_euclid(HOUR) + 1) * HOUR;
            let confirmed = event.confirmed.unwrap_or(Micros::MAX);
            event.confirmed = Some(confirmed.min(end.max(event.found)));
        }
    }

    fn mean(&self, (since, until): Span) -> f64 {
        let during = self.hours.iter();
        let during = during.filter(|(hour, _)| *hour >= since && *hour < until);
        let (sum, count) = during.fold((0.0, 0.0), |(sum, count), (_, seconds)| {
            (sum + seconds, count + 1.0)
        });
        sum / f64::max(count, 1.0)
    }
}

/// Finds the hours in which probes took as much longer than usual as requests do that wait. The value of an episode is the mean seconds.
pub fn episodes(probes: &[Probe]) -> Vec<Episode> {
    let mut all = Vec::new();
    for (subject, probe) in probes.iter().enumerate() {
        let Some(usual) = probe.usual else {
            continue;
        };
        let threshold = waiting::threshold(usual);
        let hours = probe.hours.iter();
        let levels = hours.map(|&(hour, seconds)| {
            let level = Level::of(seconds, threshold, threshold / 2.0);
            ((hour, hour + HOUR), level)
        });
        for it in episode::episodes(subject, levels, &HOLD) {
            all.push(Episode {
                rate: probe.mean(it.until_found()) / threshold,
                value: probe.mean(it.span()),
                usual,
                ..it
            });
        }
    }
    all
}
