//! Judges by the limits of events whether a job was slow because of its servers.

use super::event::culprit::{Load, RISEN, find_culprit};
use super::event::{overlap, slow, waiting};
use crate::base::instant::{DAY, HOUR, Micros, Span};
use crate::series::typical::median;

/// The seconds under which a wait is not worth a word, however short serving is.
pub const HARDLY: f64 = 0.001;

/// The number of days before, at whose same time of day the load is compared.
pub const DAYS: Micros = 7;

/// The largest number of a job's servers and of its targets that are compared with their typical values.
pub const PLACES: usize = 8;

/// The least share of a job's server time on a target that may have slowed it.
pub const LEAST_SHARE: f64 = 0.05;

/// The multiple of the typical time per request from which on a target is slow for a short job, or was for a while.
const TIMES_USUAL_SHORT: f64 = 10.0;

crate::named! {
    /// The cause of slow servers of a job.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Cause {
        /// The job itself.
        Own = "own",
        /// Other jobs and users.
        Others = "others",
        /// The servers, at a load that is not above typical.
        Servers = "servers",
        /// The servers, since a target moved from one to another.
        Failover = "failover",
        /// Nothing did.
        #[default]
        Unknown = "none",
    }
    /// Returns the word for the cause.
    pub fn name;
}

/// A measured value, and the typical one if that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Compared {
    /// The value.
    pub value: f64,
    /// The typical value.
    pub usual: Option<f64>,
}

impl Compared {
    /// Returns the value ÷ the typical one.
    pub fn times(self) -> Option<f64> {
        let usual = self.usual.filter(|usual| *usual > 0.0);
        usual.map(|usual| self.value / usual)
    }

    /// Returns whether the value is above the typical one.
    pub fn is_risen(self) -> bool {
        self.times() >= Some(RISEN)
    }

    /// Returns whether a time per request is so long that a short while of it is notable.
    pub fn is_slow_for_a_while(self) -> bool {
        self.times() >= Some(TIMES_USUAL_SHORT)
    }

    /// Returns whether a mean wait in seconds is long. Like in an event, it is three times the typical one, and 50 ms or as long as serving a
    /// request takes.
    pub fn is_long_wait(self, served: Option<f64>) -> bool {
        let least = served.map_or(waiting::LEAST_WAIT, |served| {
            served.clamp(HARDLY, waiting::LEAST_WAIT)
        });
        let times_usual = self.usual.unwrap_or(0.0) * waiting::TIMES_USUAL;
        self.value >= least.max(times_usual)
    }

    /// Returns whether a time per request during a span is as long as that of a slow target.
    pub fn is_slow(self, span: Span) -> bool {
        match span.1 - span.0 >= slow::LASTING {
            true => self.times() >= Some(slow::TIMES_USUAL),
            false => self.is_slow_for_a_while(),
        }
    }
}

/// The facts about the servers and targets of a job while it ran.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Meanwhile {
    /// True if requests waited long, or took long.
    pub is_disturbed: bool,
    /// True if a target was slow by itself, or stalled.
    pub is_faulty: bool,
    /// True if a target moved to another server.
    pub is_moved: bool,
    /// The verdict on an event in which requests waited: whether its culprit is the job, and the load ÷ the typical one.
    pub waiting: Option<(Option<bool>, Option<f64>)>,
    /// The load of the job and that of all others.
    pub loads: [Load; 2],
}

impl Meanwhile {
    /// Returns the cause. A target that is slow by itself is the reason, whoever works there. Then the culprit of an event counts, and
    /// without an event the one who made the load rise.
    pub fn cause(&self) -> Cause {
        let of = |is_own| if is_own { Cause::Own } else { Cause::Others };
        match self.waiting {
            _ if self.is_faulty => Cause::Servers,
            Some((Some(is_own), _)) => of(is_own),
            Some((None, Some(times))) => match times >= RISEN {
                true => Cause::Others,
                false => Cause::Servers,
            },
            waits if self.is_disturbed || waits.is_some() => {
                let named = find_culprit(&self.loads).named;
                named.map_or(Cause::Servers, |subject| of(subject == 0))
            }
            _ if self.is_moved => Cause::Failover,
            _ => Cause::Unknown,
        }
    }
}

/// Returns the median of the hours of a span on the days before it or, without any, the value of the hour before. An hour is its start and
/// its value.
pub fn usual(hours: &[(Micros, f64)], span: Span) -> Option<f64> {
    let before = || hours.iter().filter(|(hour, _)| hour + HOUR <= span.0);
    let is_of_span = |hour: Micros, day: Micros| {
        let (since, until) = (hour + day * DAY, hour + day * DAY + HOUR - 1);
        overlap((since, until), span)
    };
    let same = before().filter(|(hour, _)| (1..=DAYS).any(|day| is_of_span(*hour, day)));
    let mut values: Vec<_> = same.map(|(_, value)| *value).collect();
    median(&mut values).or_else(|| {
        let last = before().max_by_key(|(hour, _)| *hour);
        let last = last.filter(|(hour, _)| *hour > span.0 - 2 * HOUR);
        last.map(|(_, value)| *value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The load before and now, in requests in service; the calls of a request are 100 and each has a megabyte.
    fn load(before: f64, now: f64) -> Load {
        let [calls, bytes] = [100.0, 1e8].map(|each| [before * each, before * each, now * each]);
        Load {
            time: [before, before, now],
            calls,
            bytes,
        }
    }

    #[test]
    fn a_wait_is_long_against_the_typical_one_and_against_serving() {
        let wait = |value, usual| Compared { value, usual };
        let is_long = |value, usual, served| wait(value, usual).is_long_wait(served);
        assert!(is_long(0.05, None, None) && !is_long(0.049, None, None));
        assert!(is_long(0.02, Some(0.000_02), Some(0.003)));
        assert!(!is_long(0.002, Some(0.000_02), Some(0.003)));
        assert!(!is_long(0.02, Some(0.01), Some(0.003)));
        assert!(is_long(0.06, Some(0.01), Some(4.0)));
        assert!(!is_long(0.000_9, Some(0.000_02), Some(0.000_1)));
    }

    #[test]
    fn a_target_is_slow_for_a_short_job_from_ten_times_its_typical_time() {
        let is_slow = |value, usual, minutes| {
            let time = Compared { value, usual };
            time.is_slow((HOUR, HOUR + minutes * HOUR / 60))
        };
        assert!(is_slow(0.02, Some(0.01), 30) && !is_slow(0.019, Some(0.01), 30));
        assert!(is_slow(0.1, Some(0.01), 29) && !is_slow(0.099, Some(0.01), 29));
        assert!(!is_slow(9.0, None, 60));
    }

    #[test]
    fn undisturbed_servers_are_no_cause() {
        let idle = Meanwhile {
            loads: [load(0.0, 9.0), load(1.0, 1.0)],
            ..Meanwhile::default()
        };
        assert_eq!(idle.cause(), Cause::Unknown);
        let moved = Meanwhile {
            is_moved: true,
            ..idle
        };
        assert_eq!(moved.cause(), Cause::Failover);
    }

    #[test]
    fn who_made_the_load_rise_disturbed_the_servers() {
        let cause = |own: Load, others: Load| {
            let disturbed = Meanwhile {
                is_disturbed: true,
                loads: [own, others],
                ..Meanwhile::default()
            };
            disturbed.cause()
        };
        assert_eq!(cause(load(0.0, 5.0), load(4.0, 5.0)), Cause::Own);
        assert_eq!(cause(load(0.0, 1.0), load(4.0, 9.0)), Cause::Others);
        assert_eq!(cause(load(0.0, 0.2), load(4.0, 4.2)), Cause::Servers);
        // Requests take longer, and there are not more of them.
        let mut slow = load(4.0, 4.0);
        slow.time[2] = 12.0;
        assert_eq!(cause(load(0.0, 0.2), slow), Cause::Servers);
    }

    #[test]
    fn an_event_is_judged_already() {
        let cause = |is_own, times, is_faulty| {
            let event = Meanwhile {
                is_faulty,
                is_disturbed: true,
                waiting: Some((is_own, times)),
                loads: [load(0.0, 5.0), load(1.0, 1.0)],
                ..Meanwhile::default()
            };
            event.cause()
        };
        assert_eq!(cause(Some(true), Some(3.0), false), Cause::Own);
        assert_eq!(cause(Some(false), Some(3.0), false), Cause::Others);
        assert_eq!(cause(Some(true), Some(3.0), true), Cause::Servers);
        // No single user made it rise.
        assert_eq!(cause(None, Some(3.0), false), Cause::Others);
        assert_eq!(cause(None, Some(1.1), false), Cause::Servers);
        // Culprits have not been searched for.
        assert_eq!(cause(None, None, false), Cause::Own);
    }

    #[test]
    fn typical_are_the_same_hours_of_days_before_or_the_hour_before() {
        let at = |day: Micros, hour: Micros| day * DAY + hour * HOUR;
        let span = (at(9, 14) + HOUR / 12, at(9, 14) + HOUR / 2);
        let hours = [
            (at(1, 14), 100.0),
            (at(2, 14), 1.0),
            (at(5, 14), 2.0),
            (at(8, 14), 9.0),
            (at(8, 15), 50.0),
            (at(9, 13), 7.0),
            (at(9, 14), 70.0),
        ];
        assert_eq!(usual(&hours, span), Some(2.0));
        assert_eq!(usual(&hours[4..], span), Some(7.0));
        assert_eq!(usual(&hours[4..5], span), None);
        // All hours are of a span of days.
        assert_eq!(usual(&hours, (at(9, 0), at(12, 0))), Some(5.5));
    }
}
