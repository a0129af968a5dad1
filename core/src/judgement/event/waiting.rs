//! Services of servers whose requests wait for a thread far longer than usual.

use super::episode::{self, Episode, Hold, Level};
use super::readings::{Reading, at, least, within};
use crate::base::instant::MINUTE;

/// The least mean wait in seconds that is worth a word.
pub const LEAST_WAIT: f64 = 0.05;
/// The times of the usual wait that are worth a word.
pub const TIMES_USUAL: f64 = 3.0;
/// The least part of the requests to services of the same name that meet servers which let them wait.
pub const LEAST_SHARE: f64 = 0.2;

const HOLD: Hold = Hold {
    readings: 4,
    lasting: 0,
    quiet: Hold::QUIET,
    confirms: 10 * MINUTE,
};

/// The requests that a service took between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Their number.
    pub requests: u64,
    /// The microseconds that they waited, in all.
    pub usecs: u64,
}

/// A service of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    /// A number that services of the same name have in common.
    pub name: usize,
    /// The usual mean wait in seconds; `None` if it is not known yet.
    pub usual: Option<f64>,
    /// Its readings in order of time.
    pub readings: Vec<Reading<Waits>>,
}

impl Service {
    fn waits(&self, reading: &Reading<Waits>) -> bool {
        let threshold = self.usual.map(threshold);
        threshold.is_some_and(|least| reading.value.mean().is_some_and(|wait| wait >= least))
    }
}

impl Waits {
    /// Returns the sum of both.
    pub fn plus(self, more: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(more.requests),
            usecs: self.usecs.saturating_add(more.usecs),
        }
    }

    /// Returns the mean wait in seconds; `None` if no request came.
    pub fn mean(self) -> Option<f64> {
        (self.requests > 0).then(|| self.usecs as f64 / self.requests as f64 / 1e6)
    }
}

/// Returns the seconds from which on a wait is unusual.
pub fn threshold(usual: f64) -> f64 {
    (TIMES_USUAL * usual).max(LEAST_WAIT)
}

/// Finds the services of a file system whose requests wait. The value of an episode is the mean wait in seconds.
pub fn episodes(services: &[Service]) -> Vec<Episode> {
    let mut all = Vec::new();
    for (subject, service) in services.iter().enumerate() {
        let Some(usual) = service.usual else {
            continue;
        };
        let threshold = threshold(usual);
        let level = |reading: &Reading<Waits>| {
            let mean = reading.value.mean().unwrap_or(0.0);
            let level = Level::of(mean, threshold, threshold / 2.0);
            match level == Level::High && !is_common(service, reading, services) {
                true => Level::Between,
                false => level,
            }
        };
        let levels = service.readings.iter().map(|it| (it.span, level(it)));
        for it in episode::episodes(subject, levels, &HOLD) {
            let until_found = within(&service.readings, it.until_found());
            let waits = until_found.filter_map(|it| it.value.mean());
            let measured = within(&service.readings, it.measured());
            let sum = measured.fold(Waits::default(), |sum, it| sum.plus(it.value));
            all.push(Episode {
                rate: least(waits, threshold) / threshold,
                value: sum.mean().unwrap_or(0.0),
                usual,
                ..it
            });
        }
    }
    all
}

/// Returns whether enough of the requests to services of this name wait at the time of a reading.
fn is_common(service: &Service, reading: &Reading<Waits>, services: &[Service]) -> bool {
    let (mut all, mut waiting) = (0.0, 0.0);
    for other in services.iter().filter(|it| it.name == service.name) {
        if let Some(then) = at(&other.readings, reading.middle()) {
            let rate = then.value.requests as f64 / then.seconds();
            all += rate;
            if other.waits(then) {
                waiting += rate;
            }
        }
    }
    waiting >= LEAST_SHARE * all
}
