//! The paragraph about the servers of a job while it ran.

use jobstats_core::judgement::meanwhile::{Cause, Compared, HARDLY};

use super::{Meanwhile, Wait};
use crate::subject::events::{culprit, place};
use crate::values::number::{per_call, percent, ratio};
use crate::values::text::{joined, shown};
use crate::values::when::{Clock, Span};

/// The largest number of events that are listed.
const EVENTS: usize = 3;

/// The verdict on servers that did not slow the job.
const FINE: &str = "The file system did not slow it: no server was overloaded or slow for long.";

impl Meanwhile {
    /// Returns the sentences, the verdict first.
    pub fn sentences(&self, clock: &Clock, window: Span) -> Vec<String> {
        let sentences = [
            Some(self.verdict()),
            self.waits(clock, window),
            self.slowest(clock, window),
            self.loads(),
            self.people(),
            self.incidents(clock, window),
        ];
        sentences.into_iter().flatten().collect()
    }

    fn verdict(&self) -> String {
        let verdict = match self.cause {
            Cause::Own => "The job itself slowed its servers.",
            Cause::Others => match self.name() {
                None => "Other users slowed its servers.",
                Some(name) => return format!("Others slowed its servers, mainly {name}."),
            },
            Cause::Servers => "The servers themselves were slow: no user's load explains it.",
            Cause::Failover => {
                let moved = self.events.iter().find(|row| row.event == "failover");
                let target = moved.and_then(|row| row.targets.first());
                let target = target.map_or("a target".to_owned(), |name| shown(name));
                return format!("A server failover delayed it: {target} moved to another server.");
            }
            Cause::Unknown => match self.load.usual {
                Some(_) => FINE,
                None => return format!("{FINE} No earlier load to compare with."),
            },
        };
        verdict.to_owned()
    }

    /// Returns the culprit of an event, or the largest of the others.
    fn name(&self) -> Option<String> {
        let named = self.events.iter().find_map(culprit);
        let largest = || self.others.first().map(|(name, _)| name.clone());
        named.map(|name| shown(&name)).or_else(largest)
    }

    fn waits(&self, clock: &Clock, window: Span) -> Option<String> {
        let Wait { worst, mean } = self.wait.as_ref()?;
        let longest = worst.wait.unwrap_or(0.0);
        if longest < HARDLY {
            return Some("Its requests were hardly queued.".to_owned());
        }
        Some(format!(
            "Each request was queued {} on {} ({}), at worst {} at {}.",
            compared(*mean, "", seconds),
            shown(&worst.server),
            shown(&worst.service),
            seconds(longest),
            clock.within(worst.time, window)
        ))
    }

    fn slowest(&self, clock: &Clock, window: Span) -> Option<String> {
        let target = self.target.as_ref()?;
        let name = shown(&target.name);
        let (worst, at) = (target.at_worst(), clock.within(target.worst.0, window));
        Some(if target.time.times().is_none() || target.time.is_risen() {
            let (median, worst) = (compared(target.time, "", seconds), seconds(worst.value));
            format!(
                "Slowest target: {name}, with a median of {median} per request, at worst {worst} at {at}."
            )
        } else if worst.is_slow_for_a_while() {
            let worst = compared(worst, " per request", seconds);
            format!("For a while {name} was slow: at worst {worst}, at {at}.")
        } else {
            "Its targets responded at typical speed.".to_owned()
        })
    }

    fn loads(&self) -> Option<String> {
        let place = match self.servers.as_slice() {
            [one] => format!(" of {}", shown(one)),
            _ => String::new(),
        };
        let (load, share) = (
            compared(self.load, " requests in service", ratio),
            percent(self.share?),
        );
        Some(format!("Load{place}: {load}, {share} its own."))
    }

    fn people(&self) -> Option<String> {
        let named: f64 = self.others.iter().map(|(_, share)| share).sum();
        let others = self.others.iter();
        let others = others.map(|(name, share)| format!("{name} {}", percent(*share)));
        let rest = 1.0 - self.share? - named;
        let rest = (rest >= 0.01).then(|| format!("other users {}", percent(rest)));
        joined(others.chain(rest)).map(|others| format!("Other load: {others}."))
    }

    fn incidents(&self, clock: &Clock, window: Span) -> Option<String> {
        let days = [window.0, window.1].map(|edge| clock.at(edge).date());
        let at = |time| match days.contains(&clock.at(time).date()) {
            true => clock.within(time, window),
            false => clock.minute(time),
        };
        let events = self.events.iter().take(EVENTS).map(|row| {
            let began = at(row.began);
            let time = match row.ended {
                Some(ended) => format!("from {began} to {}", at(ended)),
                None => format!("since {began}"),
            };
            let (kind, place) = (row.event.replace('_', " "), shown(&place(row)));
            format!("{kind} on {place} {time} (event {})", row.event_id)
        });
        let more = self.events.len().saturating_sub(EVENTS);
        let more = (more > 0).then(|| format!("{more} more"));
        joined(events.chain(more)).map(|events| format!("Events: {events}."))
    }
}

fn seconds(seconds: f64) -> String {
    per_call(seconds, "service_time")
}

/// Returns a value and the typical one unless that is 0, and how many times that it is where a number of times is easy to grasp.
fn compared(it: Compared, unit: &str, print: impl Fn(f64) -> String) -> String {
    let value = format!("{}{unit}", print(it.value));
    match (it.usual.map(print), it.times()) {
        (Some(usual), Some(times)) if it.is_risen() && times < 100.0 => {
            format!("{value} ({} times the typical {usual})", ratio(times))
        }
        (Some(usual), Some(_)) => format!("{value} (typically {usual})"),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use jobstats_client::answers::{EventRow, QueueRow};

    use super::*;
    use crate::subject::meanwhile::SlowestTarget;
    use crate::testing::{event, time};

    fn said(meanwhile: &Meanwhile) -> String {
        let window = (time(300), time(3900));
        let sentences = meanwhile.sentences(&Clock::new(TimeZone::UTC), window);
        sentences.join(" ")
    }

    #[test]
    fn what_is_known_is_one_paragraph() {
        let time_of = |value, usual| Compared { value, usual };
        let mut meanwhile = Meanwhile {
            cause: Cause::Others,
            wait: Some(Wait {
                worst: QueueRow {
                    server: "mds1".to_owned(),
                    service: "mdt".to_owned(),
                    time: time(600),
                    wait: Some(0.4),
                    ..QueueRow::default()
                },
                mean: time_of(0.02, Some(0.000_02)),
            }),
            target: Some(SlowestTarget {
                name: "a-MDT0000".to_owned(),
                server: "mds1".to_owned(),
                time: time_of(0.004, None),
                worst: (time(1200), 0.5),
            }),
            servers: vec!["mds1".to_owned()],
            load: time_of(12.0, Some(3.0)),
            share: Some(0.25),
            others: vec![("job 7 of ada".to_owned(), 0.5)],
            events: vec![
                event("waiting", "warning"),
                EventRow {
                    ended: None,
                    ..event("full", "critical")
                },
                EventRow {
                    began: time(-600),
                    ..event("failover", "info")
                },
                event("stalled", "critical"),
            ],
        };
        let numbers = "Each request was queued 20 ms (typically 20 µs) on mds1 (mdt), at worst 400 ms at 00:10. Slowest target: \
            a-MDT0000, with a median of 4 ms per request, at worst 500 ms at 00:20. Load of mds1: 12 requests in service \
            (4 times the typical 3), 25 % its own. Other load: job 7 of ada 50 %, \
            other users 25 %. Events: waiting on mds1 from 00:00 to 00:10 (event 7), full on scratch-OST0000 and 1 more since 00:00 (event 7), \
            failover on scratch-OST0000 and 1 more from 1969-12-31 23:50 to 00:10 (event 7), 1 more.";
        let others = format!("Others slowed its servers, mainly job 7 of ada. {numbers}");
        assert_eq!(said(&meanwhile), others);
        meanwhile.cause = Cause::Own;
        let own = format!("The job itself slowed its servers. {numbers}");
        assert_eq!(said(&meanwhile), own);
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let of = |cause| Meanwhile {
            cause,
            ..Meanwhile::default()
        };
        for (cause, sentence) in [
            (
                Cause::Servers,
                "The servers themselves were slow: no user's load explains it.",
            ),
            (
                Cause::Failover,
                "A server failover delayed it: a target moved to another server.",
            ),
            (Cause::Others, "Other users slowed its servers."),
        ] {
            assert_eq!(said(&of(cause)), sentence);
        }
        let fine = "The file system did not slow it: no server was overloaded or slow for long.";
        let new = format!("{fine} No earlier load to compare with.");
        assert_eq!(said(&of(Cause::Unknown)), new);
        let mut usual = of(Cause::Unknown);
        usual.load.usual = Some(1.0);
        assert_eq!(said(&usual), fine);
        for (worst, sentence) in [
            (0.009, "Its targets responded at typical speed."),
            (
                0.01,
                "For a while a-OST0000 was slow: at worst 10 ms per request (10 times the typical 1 ms), at 00:20.",
            ),
        ] {
            let mut known = of(Cause::Servers);
            known.target = Some(SlowestTarget {
                name: "a-OST0000".to_owned(),
                server: "oss1".to_owned(),
                time: Compared {
                    value: 0.001,
                    usual: Some(0.001),
                },
                worst: (time(1200), worst),
            });
            assert!(said(&known).ends_with(sentence), "{}", said(&known));
        }
    }
}
