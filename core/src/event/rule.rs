//! Rules of a site, about the largest subject of a file system: the user, account or job that does most of something.

use super::episode::{Episode, Hold, Level, stretches};
use super::readings::{Reading, is_within};
use crate::instant::Micros;

/// A rule, and what the largest subject did.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The amount per second from which on the rule is broken; `None` if it is not known yet.
    pub limit: Option<f64>,
    /// The time for which it must be.
    pub lasting: Micros,
    /// The amount per second of the largest subject, whoever that was, in order of time.
    pub readings: Vec<Reading<f64>>,
}

/// Finds the times in which rules were broken. The value of an episode is the mean amount per second, and usual is the limit.
pub fn episodes(rules: &[Rule]) -> Vec<Episode> {
    let all = rules.iter().enumerate();
    all.filter_map(|(subject, rule)| Some(of_rule(subject, rule, rule.limit?)))
        .flatten()
        .collect()
}

fn of_rule(subject: usize, rule: &Rule, limit: f64) -> Vec<Episode> {
    let hold = Hold {
        readings: 1,
        lasting: rule.lasting,
        quiet: Hold::QUIET,
        confirms: rule.lasting,
    };
    let readings = rule.readings.iter();
    let levels: Vec<_> = readings
        .map(|it| (it.span, Level::of(it.value, limit)))
        .collect();
    let found = stretches(&levels, &hold).into_iter();
    found
        .map(|it| {
            let within = |until| {
                let readings = rule.readings.iter();
                readings.filter(move |reading| is_within(reading.span, it.began, until))
            };
            let broken = within(it.found).map(|it| it.value);
            let least = broken
                .filter(|it| *it >= limit)
                .fold(f64::INFINITY, f64::min);
            let seconds: f64 = within(it.measured_until()).map(Reading::seconds).sum();
            let amount: f64 = within(it.measured_until())
                .map(|it| it.value * it.seconds())
                .sum();
            it.episode(subject, least / limit, amount / seconds, limit)
        })
        .collect()
}
