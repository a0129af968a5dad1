use proptest::prelude::*;

use super::*;
use crate::base::instant::{HOUR, MINUTE, SECOND};

fn meter(name: &str) -> &'static Meter {
    Meter::of(name).unwrap()
}

#[test]
fn a_counter_goes_round_at_its_own_maximum() {
    let (package, dram) = (
        meter("node_rapl_package_joules_total"),
        meter("node_rapl_dram_joules_total"),
    );
    let minute = |meter: &Meter, maximum, before, after| meter.growth(maximum, before, after, 60.0);
    assert_eq!(
        minute(package, Some(262_144.0), 1_000.0, 7_000.0),
        Some(6_000.0)
    );
    assert_eq!(
        minute(package, Some(262_144.0), 262_000.0, 5_856.0),
        Some(6_000.0)
    );
    assert_eq!(minute(dram, Some(65_532.0), 65_532.0, 600.0), Some(600.0));
    // The maximum of another zone would make 3,000 W of it.
    assert_eq!(minute(dram, Some(262_144.0), 65_532.0, 600.0), None);
    // Where it wrapped is unknown.
    assert_eq!(minute(package, None, 262_000.0, 5_856.0), None);
    assert_eq!(minute(package, None, 1_000.0, 7_000.0), None);
}

#[test]
fn a_growth_that_cannot_be_is_none() {
    let package = meter("node_rapl_package_joules_total");
    let growth = |before, after, seconds| package.growth(Some(262_144.0), before, after, seconds);
    // It began anew, it may have gone round unseen, no time has passed.
    assert_eq!(growth(100_000.0, 50.0, 60.0), None);
    assert_eq!(growth(1_000.0, 7_000.0, 300.0), None);
    assert_eq!(growth(1_000.0, 1_000.0, 0.0), Some(0.0));
    assert_eq!(growth(1_000.0, 1_001.0, -5.0), None);
    // Above its maximum, and after an underflow in the exporter.
    assert_eq!(growth(262_200.0, 100.0, 60.0), None);
    assert_eq!(growth(100.0, 1.8e13, 60.0), None);
    // A counter of the whole node may have no maximum.
    let node = meter("jobstats_node_joules_total");
    assert_eq!(node.growth(None, 100.0, 5e6, 3_600.0), Some(4_999_900.0));
    assert_eq!(node.growth(None, 5e6, 100.0, 3_600.0), None);
    assert_eq!(
        node.growth(Some(5e6), 4_999_000.0, 100.0, 60.0),
        Some(1_100.0)
    );
    assert_eq!(Meter::of("node_rapl_core_joules_total"), None);
}

#[test]
fn a_series_is_of_its_instance_or_else_of_its_server() {
    assert_eq!(node(None, "n01.site"), Some("n01"));
    assert_eq!(node(Some("n02.site:9100"), "mon"), Some("n02"));
    assert_eq!(node(Some("n02"), "mon"), Some("n02"));
    for address in ["10.0.0.1:9100", "10.0.0.1", "[fe80::1]:9100", ""] {
        assert_eq!(node(Some(address), "mon"), None, "{address}");
    }
}

/// Returns readings every minute, of 100 W until minute 20, and of 400 W from then on.
fn readings() -> Vec<Reading> {
    let joules = |minute| if minute <= 20 { 6_000.0 } else { 24_000.0 };
    let reading = |minute| Reading {
        at: minute * MINUTE,
        joules: (minute > 0).then(|| joules(minute)),
    };
    (0..=60).map(reading).collect()
}

#[test]
fn a_span_has_what_was_read_in_it_and_its_share_at_the_ends() {
    let readings = readings();
    let within = |since, until| during(&readings, (since, until), false);
    assert_eq!(within(20 * MINUTE, 40 * MINUTE), Some(480_000.0));
    assert_eq!(
        within(20 * MINUTE + 30 * SECOND, 40 * MINUTE),
        Some(468_000.0)
    );
    // The time between readings is more than a tenth of such a span, unless it has the readings themselves.
    assert_eq!(within(20 * MINUTE + 30 * SECOND, 25 * MINUTE), None);
    assert_eq!(within(20 * MINUTE, 25 * MINUTE), Some(120_000.0));
    assert_eq!(within(20 * MINUTE, 20 * MINUTE), None);
    assert_eq!(within(-MINUTE, 40 * MINUTE), None);
    assert_eq!(within(30 * MINUTE, 61 * MINUTE), None);
    assert_eq!(during(&[], (0, HOUR), true), None);
}

#[test]
fn what_is_not_known_within_a_span_makes_all_of_it_unknown() {
    let mut readings = readings();
    readings[30].joules = None;
    assert_eq!(during(&readings, (20 * MINUTE, 40 * MINUTE), false), None);
    assert_eq!(
        during(&readings, (30 * MINUTE, 40 * MINUTE), false),
        Some(240_000.0)
    );
    // A pause alone loses nothing: the counter went on.
    let mut readings = self::readings();
    readings.drain(31..40);
    readings[31].joules = Some(240_000.0);
    assert_eq!(
        during(&readings, (20 * MINUTE, 50 * MINUTE), false),
        Some(720_000.0)
    );
}

#[test]
fn a_counter_that_stands_still_for_more_than_a_tenth_of_a_span_does_not_tell() {
    let mut readings = readings();
    let span = (20 * MINUTE, 40 * MINUTE);
    for reading in &mut readings[30..=31] {
        reading.joules = Some(0.0);
    }
    assert_eq!(during(&readings, span, false), Some(432_000.0));
    assert!(!stands_still(&readings, span));
    readings[32].joules = Some(0.0);
    assert_eq!(during(&readings, span, false), None);
    assert!(stands_still(&readings, span));
    // Its growth at other times does not matter.
    assert_eq!(
        during(&readings, (32 * MINUTE, 40 * MINUTE), false),
        Some(192_000.0)
    );
    for reading in &mut readings[1..] {
        reading.joules = Some(0.0);
    }
    assert_eq!(during(&readings, span, false), None);
    assert_eq!(during(&readings, (20 * MINUTE, 62 * MINUTE), true), None);
}

#[test]
fn a_span_that_goes_on_has_the_mean_power_behind_the_last_reading() {
    let readings = readings();
    assert_eq!(
        during(&readings, (20 * MINUTE, 62 * MINUTE), true),
        Some(1_008_000.0)
    );
    assert_eq!(during(&readings, (20 * MINUTE, 70 * MINUTE), true), None);
}

#[test]
fn parts_add_up_unless_the_whole_node_is_metered() {
    let (node, package, dram) = (
        meter("jobstats_node_joules_total"),
        meter("node_rapl_package_joules_total"),
        meter("node_rapl_dram_joules_total"),
    );
    let parts = [
        (package, Some(5.0)),
        (package, Some(6.0)),
        (dram, Some(1.0)),
    ];
    assert_eq!(of_node(&parts), Some(12.0));
    assert_eq!(of_node(&[parts[0], (package, None)]), None);
    assert_eq!(of_node(&[parts[0], (node, Some(40.0))]), Some(40.0));
    assert_eq!(of_node(&[parts[0], (node, None)]), None);
    assert_eq!(of_node(&[]), None);
}

proptest! {
    /// A counter that goes round is read at any times that are near enough: the growths add up to the energy, and so do spans.
    #[test]
    fn growths_add_up_to_the_energy(watts in prop::collection::vec((1_u32..1_000, 1_i64..60), 2..200), maximum in 65_536_u32..262_144, cut in 0_usize..200) {
        let meter = meter("node_rapl_package_joules_total");
        let (mut energy, mut at) = (0_u64, 0);
        let mut readings = vec![Reading { at, joules: None }];
        for (watts, seconds) in watts {
            let shown = |energy: u64| (energy % u64::from(maximum)) as f64;
            let before = shown(energy);
            energy += u64::from(watts) * seconds as u64;
            at += seconds * SECOND;
            let joules = meter.growth(Some(maximum.into()), before, shown(energy), seconds as f64);
            prop_assert!(joules.is_some());
            readings.push(Reading { at, joules });
        }
        prop_assert_eq!(during(&readings, (0, at), false), Some(energy as f64));
        let cut = readings[1 + cut % (readings.len() - 2)].at;
        let parts = [(0, cut), (cut, at)].map(|span| during(&readings, span, false));
        prop_assert_eq!(parts[0].zip(parts[1]).map(|(one, other)| one + other), Some(energy as f64));
    }
}
