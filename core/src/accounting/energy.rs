//! Reads the energy of nodes out of counters of joules: what a counter grew by between two readings, and what a node took in a span of time.
//!
//! | counter | of | maximum |
//! |---|---|---|
//! | `jobstats_node_joules_total` | the whole node | `jobstats_node_joules_max`, if it goes round |
//! | `node_rapl_package_joules_total` | a processor | `node_rapl_package_joules_max` |
//! | `node_rapl_dram_joules_total` | its memory | `node_rapl_dram_joules_max` |
//!
//! A counter of RAPL begins again at zero after its maximum, several times an hour. How much that was follows from its maximum.
//!
//! ```
//! use jobstats_core::accounting::energy::Meter;
//!
//! let meter = Meter::of("node_rapl_package_joules_total").expect("a meter of energy");
//! let range = Some(262_143.32885);
//! assert_eq!(meter.growth(range, 262_000.0, 12_000.0, 60.0), Some(12_143.328849999991));
//! // More than 1,000 W: the node began anew.
//! assert_eq!(meter.growth(range, 100_000.0, 12_000.0, 60.0), None);
//! ```

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use crate::accounting::node_list::short;
use crate::base::instant::{Micros, Span};

/// A kind of counters of joules.
#[derive(Debug, PartialEq)]
pub struct Meter {
    name: &'static str,
    /// The name of the metric that has the maximum.
    pub maximum: &'static str,
    /// Growth above this power (watts) is discarded as impossible.
    most: f64,
    /// Set if it meters all of the node, and not a part.
    is_whole: bool,
}

const METERS: [Meter; 3] = [
    Meter {
        name: "jobstats_node_joules_total",
        maximum: "jobstats_node_joules_max",
        most: 20_000.0,
        is_whole: true,
    },
    Meter {
        name: "node_rapl_package_joules_total",
        maximum: "node_rapl_package_joules_max",
        most: 1_000.0,
        is_whole: false,
    },
    Meter {
        name: "node_rapl_dram_joules_total",
        maximum: "node_rapl_dram_joules_max",
        most: 250.0,
        is_whole: false,
    },
];

impl Meter {
    /// Returns the meter whose counters have this name.
    pub fn of(name: &str) -> Option<&'static Self> {
        METERS.iter().find(|meter| meter.name == name)
    }

    /// Returns the joules by which a counter grew between two readings; `None` if that is unknown.
    ///
    /// A reading that is less than the one before means that the counter has gone round once, if the power that this implies is
    /// possible, or else that it began anew. It may have gone round unseen if the time is long enough for that.
    pub fn growth(
        &self,
        maximum: Option<f64>,
        before: f64,
        after: f64,
        seconds: f64,
    ) -> Option<f64> {
        let most = self.most * seconds;
        match maximum {
            Some(maximum) if maximum > most && maximum >= before.max(after) => {}
            None if self.is_whole => {}
            _ => return None,
        }
        let growth = match after - before {
            less if less < 0.0 => maximum? + less,
            growth => growth,
        };
        (growth <= most).then_some(growth)
    }
}

/// Returns the node of a series: its label `instance`, such as `n01.site:9100`, or else the server that reported it; `None` if that is only
/// an address.
pub fn node<'a>(instance: Option<&'a str>, server: &'a str) -> Option<&'a str> {
    let host = instance.map_or(server, |it| {
        it.rsplit_once(':').map_or(it, |(host, _)| host)
    });
    let is_address = host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    Some(short(host)).filter(|node| !is_address && !node.is_empty())
}

/// A reading of a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The time of the reading.
    pub at: Micros,
    /// The joules since the reading before; `None` if unknown.
    pub joules: Option<f64>,
}

/// The number of times that the time between two readings must fit into a span that begins or ends between them. An end halfway between them
/// is off by a quarter of that time, times the difference of the power inside and outside the span: both ends by a twentieth of the span.
pub const PARTS: Micros = 10;

/// Returns whether a time fits often enough into a span.
const fn is_short(time: Micros, whole: Micros) -> bool {
    time.saturating_mul(PARTS) <= whole
}

/// Returns whether a counter did not grow for more than a short part of a span. A node that works always takes power: the sensor is
/// broken, or too coarse for the span.
pub fn stands_still(readings: &[Reading], (since, until): Span) -> bool {
    let mut still: Micros = 0;
    readings.windows(2).any(|pair| {
        let inside = pair[1].at.min(until) - pair[0].at.max(since);
        let grew = pair[1].joules != Some(0.0);
        still = if grew { 0 } else { still + inside.max(0) };
        !is_short(still, until.saturating_sub(since))
    })
}

/// Returns the joules of a counter in a span; `None` if the readings, which are in order of time, are not sufficient. What follows the last
/// reading of a span that still goes on has the mean power before.
pub fn during(readings: &[Reading], (since, until): Span, goes_on: bool) -> Option<f64> {
    let last = readings.last()?.at.min(until);
    let is_near = is_short(until.saturating_sub(last), last.saturating_sub(since));
    let whole = until.saturating_sub(since);
    let until = if goes_on && is_near { last } else { until };
    let length = until.saturating_sub(since);
    if stands_still(readings, (since, until)) {
        return None;
    }
    let (mut covered, mut sum) = (0, 0.0);
    for pair in readings.windows(2) {
        let &[Reading { at: from, .. }, Reading { at: to, joules }] = pair else {
            continue;
        };
        let (time, inside) = (to - from, to.min(until) - from.max(since));
        if inside <= 0 {
            continue;
        }
        if inside < time && !is_short(time, length) {
            return None;
        }
        sum += joules? * inside as f64 / time as f64;
        covered += inside;
    }
    (length > 0 && covered == length).then(|| sum * whole as f64 / length as f64)
}

/// Returns the joules of a node from its counters: the counter of the whole node, or else the sum of its components.
pub fn of_node(counters: &[(&Meter, Option<f64>)]) -> Option<f64> {
    let has_whole = counters.iter().any(|(meter, _)| meter.is_whole);
    let counted = counters
        .iter()
        .filter(|(meter, _)| meter.is_whole == has_whole);
    let sum: Option<f64> = counted.map(|(_, joules)| *joules).sum();
    sum.filter(|_| !counters.is_empty())
}
