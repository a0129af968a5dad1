//! Rules of a site, about the largest subject of a file system: the user, account or job that does most of something.

use super::episode::{self, Episode, Hold, Level};
use super::readings::{Reading, least, within};
use crate::base::instant::Micros;

/// A rule, and what the largest subject did.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The amount per second from which on the rule is broken; `None` if it is not known yet.
    pub limit: Option<f64>,
    /// The time for which it must hold.
    pub lasting: Micros,
    /// The amount per second of the largest subject, whoever that was, in order of time.
    pub readings: Vec<Reading<f64>>,
}

/// Finds the times in which rules were broken. The value of an episode is the mean amount per second, and usual is the limit.
pub fn episodes(rules: &[Rule]) -> Vec<Episode> {
    let mut all = Vec::new();
    for (subject, rule) in rules.iter().enumerate() {
        let Some(limit) = rule.limit else {
            continue;
        };
        let hold = Hold {
            readings: 1,
            lasting: rule.lasting,
            quiet: Hold::QUIET,
            confirms: rule.lasting,
        };
        let readings = rule.readings.iter();
        let levels = readings.map(|it| (it.span, Level::of(it.value, limit, limit / 2.0)));
        for it in episode::episodes(subject, levels, &hold) {
            let until_found = within(&rule.readings, it.until_found()).map(|it| it.value);
            let measured = || within(&rule.readings, it.measured());
            let seconds: f64 = measured().map(Reading::seconds).sum();
            let amount: f64 = measured().map(|it| it.value * it.seconds()).sum();
            all.push(Episode {
                rate: least(until_found, limit) / limit,
                value: amount / seconds,
                usual: limit,
                ..it
            });
        }
    }
    all
}
