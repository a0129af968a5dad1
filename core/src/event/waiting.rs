//! Services of servers whose requests wait for a thread far longer than usual.

use super::episode::{Episode, Hold, Level, stretches};
use super::readings::{Reading, at, is_within};
use crate::instant::{MINUTE, Micros};

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
    let all = services.iter().enumerate();
    all.flat_map(|(subject, service)| of_service(subject, service, services))
        .collect()
}

fn of_service(subject: usize, service: &Service, services: &[Service]) -> Vec<Episode> {
    let Some(usual) = service.usual else {
        return Vec::new();
    };
    let threshold = threshold(usual);
    let level = |reading: &Reading<Waits>| {
        let level = Level::of(reading.value.mean().unwrap_or(0.0), threshold);
        match level == Level::High && !is_common(service, reading, services) {
            true => Level::Between,
            false => level,
        }
    };
    let readings: Vec<_> = service
        .readings
        .iter()
        .map(|it| (it.span, level(it)))
        .collect();
    let found = stretches(&readings, &HOLD).into_iter();
    found
        .map(|it| {
            let rate = service.least(it.began, it.found, threshold) / threshold;
            let value = service.mean(it.began, it.measured_until());
            it.episode(subject, rate, value.unwrap_or(0.0), usual)
        })
        .collect()
}

impl Service {
    fn within(&self, since: Micros, until: Micros) -> impl Iterator<Item = &Reading<Waits>> {
        let readings = self.readings.iter();
        readings.filter(move |it| is_within(it.span, since, until))
    }

    /// Returns the shortest of the mean waits between two times that reach a threshold: a single burst makes none of the others longer.
    fn least(&self, since: Micros, until: Micros, threshold: f64) -> f64 {
        let waits = self.within(since, until).filter_map(|it| it.value.mean());
        waits
            .filter(|it| *it >= threshold)
            .fold(f64::INFINITY, f64::min)
    }

    /// Returns the mean wait in readings between two times.
    fn mean(&self, since: Micros, until: Micros) -> Option<f64> {
        let within = self.within(since, until);
        let sum = within.fold(Waits::default(), |sum, it| Waits {
            requests: sum.requests.saturating_add(it.value.requests),
            usecs: sum.usecs.saturating_add(it.value.usecs),
        });
        sum.mean()
    }
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
