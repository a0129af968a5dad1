//! Bursts on single targets, which the load of the whole file system hides.

use jobstats_client::answers::RateRow;
use jobstats_core::base::pattern::exactly;

use super::heatmap::Heatmap;
use super::leader::Leader;
use super::standout::{Peak, Spans, floor, high};
use super::vocabulary::*;

/// The largest number of bursts in a report.
const BURSTS: usize = 2;

/// The ratio to the median of the target from which on it has a burst.
const RATIO: f64 = 3.0;

/// The part of the mean load of the file system under which a load of a target is no burst.
const FLOOR: f64 = 0.05;

/// Finds the largest bursts on single targets that no peak of the file system covers, with their users.
pub fn ask(
    store: &mut Store,
    heatmaps: &[Heatmap],
    spans: &Spans,
) -> Result<Vec<(Span, String)>, Error> {
    let mut reported = Vec::new();
    for heatmap in heatmaps {
        let least = floor(&heatmap.scope);
        let bursts = bursts(&heatmap.rates.rows, least).into_iter();
        let bursts = bursts.filter(|burst| !spans.overlap(burst.span));
        for burst in bursts.take(BURSTS - reported.len()) {
            let scope = &heatmap.scope;
            let target = burst.target.as_deref().map(|name| vec![exactly(name)]);
            let work = scope.during(burst.span);
            let work = work.part(|filters| filters.target = target);
            let leader = Leader::ask(store, scope, &work)?;
            reported.push((burst.span, burst.said(scope, leader.as_ref())));
        }
    }
    Ok(reported)
}

/// Returns the bursts of all targets, those with most work above the median of their target first.
fn bursts(rows: &[RateRow], least: f64) -> Vec<Peak> {
    let targets = by_target(rows);
    let mean: f64 = targets.values().map(|points| mean(points)).sum();
    let mut bursts = Vec::new();
    for ((_, name), points) in targets {
        let (_, high) = high(&points, RATIO, least.max(FLOOR * mean));
        for mut burst in high {
            burst.target = Some(name.to_owned());
            bursts.push(burst);
        }
    }
    bursts.sort_by(|one, other| other.excess().total_cmp(&one.excess()));
    bursts
}

/// Returns the mean rate of the observed time, or 0.
fn mean(points: &[Point]) -> f64 {
    let known = points.iter().filter(|point| point.value.is_some());
    let seconds: f64 = known.map(|point| point.seconds).sum();
    let work = points.iter();
    let work = work.filter_map(|point| Some(point.value? * point.seconds));
    match seconds > 0.0 {
        true => work.sum::<f64>() / seconds,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jobstats_client::answers::Group;

    use super::*;

    fn rows(target: &str, rates: &[f64]) -> Vec<RateRow> {
        let row = |(number, rate): (usize, &f64)| RateRow {
            time: Timestamp::from_second(600 * number as i64).unwrap(),
            seconds: 600.0,
            labels: Group {
                target: Some(target.to_owned()),
                ..Group::default()
            },
            rate: Some(*rate),
            ..RateRow::default()
        };
        rates.iter().enumerate().map(row).collect()
    }

    #[test]
    fn a_burst_is_three_times_the_median_of_its_target_and_matters_to_the_file_system() {
        let mut all = rows("scratch-MDT0000", &[30.0, 30.0, 111.0, 30.0, 30.0, 60.0]);
        // A large ratio of tiny rates.
        all.extend(rows("scratch-OST0000", &[0.1, 0.1, 0.1, 0.1, 2.0, 0.1]));
        all.extend(rows(
            "scratch-OST0001",
            &[70.0, 70.0, 70.0, 200.0, 70.0, 70.0],
        ));
        let bursts = bursts(&all, 1.0);
        assert_eq!(bursts.len(), 1, "{bursts:?}");
        let scope = crate::testing::scope(3600);
        assert_eq!(
            bursts[0].said(&scope, None),
            "00:20 to 00:30: 111 requests in service on scratch-MDT0000, 3.7 times its median."
        );
        assert_eq!(bursts[0].span.0, Timestamp::from_second(1200).unwrap());
    }

    #[test]
    fn a_target_that_is_mostly_idle_has_no_ratio() {
        let mut all = rows("scratch-MDT0000", &[0.0, 0.0, 9.0, 0.0, 0.0]);
        all.extend(rows("scratch-OST0000", &[5.0; 5]));
        let bursts = bursts(&all, 1.0);
        assert_eq!((bursts.len(), bursts[0].median), (1, 0.0));
        // The first of equal bursts, by the work above the median.
        let mut two = rows("a", &[1.0, 1.0, 9.0, 1.0, 1.0]);
        two.extend(rows("b", &[1.0, 1.0, 1.0, 19.0, 1.0]));
        let names: Vec<_> = super::bursts(&two, 1.0)
            .into_iter()
            .filter_map(|burst| burst.target)
            .collect();
        assert_eq!(names, ["b", "a"]);
    }
}
