//! Simpler ways to alarm, at many thresholds each, so that they can be compared with events at equal numbers of alarms.

use std::collections::VecDeque;

use jobstats_core::base::instant::{MINUTE, Micros};
use jobstats_core::judgement::event::{Episode, join};
use jobstats_simulator::watch::{Cluster, Series, ServerIndex, main_service};

use crate::judge::{Judge, is_large};
use crate::weeks::{Detection, EventKind, WeekEvents};

/// The ways, with the bounds of their thresholds.
pub const RIVALS: [(&str, f64, f64); 4] = [
    ("a fixed wait", 0.02, 200.0),
    (
        "standard deviations above the mean of six hours",
        1.0,
        200.0,
    ),
    (
        "times the mean of a day, wait and load (LASSi's form)",
        1.2,
        2_000.0,
    ),
    ("at random", 0.000_01, 0.05),
];
/// The number of thresholds.
pub const STEPS: usize = 40;

/// Returns a threshold of a way; later ones give more alarms.
fn threshold(rival: usize, step: usize) -> f64 {
    let (_, low, high) = RIVALS[rival];
    let part = step as f64 / (STEPS - 1) as f64;
    let part = if rival == 3 { part } else { 1.0 - part };
    low * (high / low).powf(part)
}

/// Alarms, and incidents that were found, at each threshold.
pub type Counts = [[(usize, usize); STEPS]; RIVALS.len()];

/// Adds the results of all methods for a week.
pub fn count(
    cluster: &Cluster,
    judge: &Judge,
    series: &Series,
    judged: &WeekEvents,
    counts: &mut Counts,
) {
    let large: Vec<_> = judged
        .incidents
        .iter()
        .filter(|(it, real)| is_large(it, real))
        .collect();
    let scores = scores(cluster, series);
    for (rival, of_rival) in counts.iter_mut().enumerate() {
        for (step, (alarms, found)) in of_rival.iter_mut().enumerate() {
            let least = threshold(rival, step);
            let is_alarm = |score: f64| {
                if rival == 3 {
                    score < least
                } else {
                    score >= least
                }
            };
            let events = alarmed(&scores, |score| is_alarm(score[rival]));
            *alarms += events.len();
            let finds = |incident| {
                events
                    .iter()
                    .any(|it| judge.explains(incident, EventKind::Waiting, it))
            };
            *found += large.iter().filter(|(it, _)| finds(it)).count();
        }
    }
}

/// A reading of a server: its start and end, and its score in each way.
type Scores = (Micros, Micros, [f64; RIVALS.len()]);

fn scores(cluster: &Cluster, series: &Series) -> Vec<(ServerIndex, Vec<Scores>)> {
    let services = series.services.iter();
    let main = services.filter(|((_, service), _)| main_service(service.kind()) == *service);
    let of = |(server, readings): (ServerIndex, &Vec<_>)| {
        let mut before: VecDeque<(f64, f64)> = VecDeque::new();
        let mut all = Vec::new();
        for (span, waits) in readings {
            let span: &jobstats_simulator::watch::Span = span;
            let waits: &jobstats_simulator::watch::Waits = waits;
            let requests = waits.requests as f64;
            let wait = if requests > 0.0 {
                waits.usecs as f64 / requests / 1e6
            } else {
                0.0
            };
            let day = before.len().max(1) as f64;
            let mean = |of: fn(&(f64, f64)) -> f64| before.iter().map(of).sum::<f64>() / day;
            let six: Vec<f64> = before.iter().rev().take(180).map(|it| it.1).collect();
            let count = six.len().max(1) as f64;
            let middle = six.iter().sum::<f64>() / count;
            let deviation =
                (six.iter().map(|it| (it - middle).powi(2)).sum::<f64>() / count).sqrt();
            let times = (requests / mean(|it| it.0)).min(wait / mean(|it| it.1));
            let drawn = cluster
                .seed
                .of("random alarm", &[span.from, server as i64])
                .unit();
            let known = before.len() >= 180;
            let of_known = |score: f64| {
                if known && score.is_finite() {
                    score
                } else {
                    0.0
                }
            };
            all.push((
                span.from / 1_000,
                span.until / 1_000,
                [
                    wait,
                    of_known((wait - middle) / deviation),
                    of_known(times),
                    drawn,
                ],
            ));
            before.push_back((requests, wait));
            if before.len() > 720 {
                before.pop_front();
            }
        }
        (server, all)
    };
    main.map(|((server, _), readings)| of((*server, readings)))
        .collect()
}

/// Joins readings to alarms: an alarm ends after a quarter of an hour without one, and alarms that begin together count once.
fn alarmed(
    scores: &[(ServerIndex, Vec<Scores>)],
    is_alarm: impl Fn(&[f64; RIVALS.len()]) -> bool,
) -> Vec<Detection> {
    let mut episodes: Vec<Episode> = Vec::new();
    for (position, (_, readings)) in scores.iter().enumerate() {
        let first = episodes.len();
        for (from, until, _) in readings.iter().filter(|it| is_alarm(&it.2)) {
            match episodes[first..].last_mut() {
                Some(last) if *from <= last.until + 15 * MINUTE => last.until = *until,
                _ => episodes.push(Episode {
                    subject: position,
                    began: *from,
                    until: *until,
                    found: *until,
                    confirmed: Some(*until),
                    over: true,
                    rate: 1.0,
                    value: 0.0,
                    usual: 0.0,
                }),
            }
        }
    }
    let events = join(episodes).into_iter();
    events
        .map(|event| {
            let servers = event
                .episodes
                .iter()
                .map(|it| scores[it.subject].0)
                .collect();
            Detection {
                event,
                servers,
                subjects: Vec::new(),
                blame: None,
            }
        })
        .collect()
}

/// Returns the number of incidents that a way finds with at most so many alarms.
pub fn found_with(counts: &[(usize, usize); STEPS], alarms: usize) -> usize {
    let few = counts.iter().filter(|it| it.0 <= alarms);
    few.map(|it| it.1).max().unwrap_or(0)
}

/// Returns the smallest number of alarms with which a method finds this many incidents; `None` if it never does.
pub fn alarms_for(counts: &[(usize, usize); STEPS], found: usize) -> Option<usize> {
    let enough = counts.iter().filter(|it| it.1 >= found);
    enough.map(|it| it.0).min()
}
