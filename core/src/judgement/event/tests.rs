use proptest::prelude::*;

use super::waiting::{Service, Waits};
use super::{
    Episode, Reading, budget, culprit, full, join, moved, probe, rule, slow, stalled, waiting,
};
use crate::base::instant::{DAY, HOUR, MINUTE, Micros};

/// Readings of two minutes, with these values.
fn readings<T: Copy>(values: &[T]) -> Vec<Reading<T>> {
    let times = (0..).map(|number: Micros| (2 * number * MINUTE, 2 * (number + 1) * MINUTE));
    let all = times.zip(values);
    all.map(|(span, value)| Reading {
        span,
        value: *value,
    })
    .collect()
}

/// A service whose usual wait is 20 ms, with these mean waits in milliseconds of a thousand requests.
fn service(waits: &[u64]) -> Service {
    let values: Vec<_> = waits
        .iter()
        .map(|wait| Waits {
            requests: 1_000,
            usecs: wait * 1_000_000,
        })
        .collect();
    Service {
        name: 0,
        usual: Some(0.02),
        readings: readings(&values),
    }
}

/// The starts and ends of episodes in minutes, and whether they are over.
fn minutes(episodes: &[Episode]) -> Vec<(Micros, Micros, bool)> {
    let episodes = episodes.iter();
    episodes
        .map(|it| (it.began / MINUTE, it.until / MINUTE, it.over))
        .collect()
}

#[test]
fn three_high_readings_of_four_begin_and_a_quarter_of_an_hour_of_low_ones_ends() {
    let mut waits = vec![20, 20, 59, 60, 20, 61, 200, 40];
    waits.extend([29; 8]);
    let found = waiting::episodes(&[service(&waits)]);
    assert_eq!(minutes(&found), [(6, 16, true)]);
    assert_eq!((found[0].found, found[0].confirmed), (14 * MINUTE, None));
    let lasts = waiting::episodes(&[service(&[20, 60, 60, 60, 20, 60, 60, 60])]);
    assert_eq!(lasts[0].confirmed, Some(12 * MINUTE));
    // Two of four are not enough, and half of the threshold does not end it.
    assert_eq!(
        waiting::episodes(&[service(&[20, 60, 60, 20, 20, 60, 60, 20])]),
        []
    );
    let lasts = waiting::episodes(&[service(&[vec![20, 60, 60, 60], vec![30; 60]].concat())]);
    assert_eq!(minutes(&lasts), [(2, 128, false)]);
}

#[test]
fn short_waits_and_new_stores_and_idle_servers_are_no_events() {
    let mut quick = service(&[49; 20]);
    quick.usual = Some(0.000_1);
    assert_eq!(waiting::episodes(&[quick]), []);
    let mut new = service(&[500; 20]);
    new.usual = None;
    assert_eq!(waiting::episodes(&[new]), []);
    // A server with less than a fifth of all requests.
    let (mut one, mut other) = (service(&[500; 20]), service(&[20; 20]));
    for reading in &mut other.readings {
        reading.value = Waits {
            requests: 4_001,
            usecs: 0,
        };
    }
    assert_eq!(waiting::episodes(&[one.clone(), other.clone()]), []);
    one.readings
        .iter_mut()
        .for_each(|it| it.value.requests += 1);
    assert_eq!(waiting::episodes(&[one, other]).len(), 1);
}

#[test]
fn time_without_readings_ends_what_was_and_begins_nothing() {
    let mut one = service(&[&[20, 100, 100, 100, 100][..], &[100; 3], &[20; 3]].concat());
    for reading in &mut one.readings[5..] {
        reading.span = (reading.span.0 + 20 * MINUTE, reading.span.1 + 20 * MINUTE);
    }
    let found = waiting::episodes(&[one.clone()]);
    assert_eq!(minutes(&found), [(2, 10, true)]);
    one.readings[8].value = one.readings[7].value;
    assert_eq!(waiting::episodes(&[one]).len(), 2);
}

#[test]
fn what_begins_together_is_one_event() {
    let waits = [vec![20, 20, 100, 100, 100, 100], vec![20; 20]].concat();
    let mut late = service(&waits);
    for reading in &mut late.readings {
        reading.span = (reading.span.0 + 2 * MINUTE, reading.span.1 + 2 * MINUTE);
    }
    let all: Vec<_> = (0..24).map(|_| service(&waits)).chain([late]).collect();
    let events = join(waiting::episodes(&all));
    assert_eq!(events.len(), 1);
    let times = (
        events[0].began / MINUTE,
        events[0].until / MINUTE,
        events[0].episodes.len(),
    );
    assert_eq!((times, events[0].over), ((4, 14, 25), true));
}

/// A target among six that reads a megabyte in so many milliseconds, where ten are usual.
fn disk(millis: &[u64]) -> slow::Target {
    let class = slow::class(false, 1, 1 << 20);
    let value = |millis: &u64| {
        let mut all = slow::ByClass::default();
        all[class] = slow::ServedCalls {
            calls: 100,
            usecs: 100_000 * millis,
        };
        all
    };
    let mut usual = [None; slow::CLASSES];
    usual[class] = Some(0.01);
    slow::Target {
        peers: 0,
        usual,
        readings: readings(&millis.iter().map(value).collect::<Vec<_>>()),
    }
}

/// A target whose probes usually take 20 ms, with these means of hours in milliseconds.
fn probed(hours: &[u64]) -> probe::Probe {
    let times = (0..).map(|hour: Micros| hour * HOUR);
    let seconds = hours.iter().map(|millis| *millis as f64 / 1e3);
    probe::Probe {
        usual: Some(0.02),
        hours: times.zip(seconds).collect(),
    }
}

#[test]
fn an_hour_of_slow_probes_is_an_episode_and_confirms_what_began_in_it() {
    let mut probe = probed(&[20, 59, 60, 30, 100, 29, 20]);
    let found = probe::episodes(std::slice::from_ref(&probe));
    assert_eq!(minutes(&found), [(120, 300, true)]);
    assert_eq!(
        (found[0].found, found[0].confirmed),
        (3 * HOUR, Some(3 * HOUR))
    );
    assert!((found[0].value - 0.19 / 3.0).abs() < 1e-12 && (found[0].rate - 1.0).abs() < 1e-12);
    // An hour without probes ends it, and an unfinished one does not count.
    probe.hours.remove(3);
    let found = probe::episodes(std::slice::from_ref(&probe));
    assert_eq!(minutes(&found), [(120, 180, true), (240, 300, true)]);
    let waits = service(&[vec![20; 64], vec![100; 4], vec![20; 20]].concat());
    let mut event = join(waiting::episodes(&[waits])).remove(0);
    let unconfirmed = event.clone();
    assert_eq!((event.began / MINUTE, event.confirmed), (128, None));
    probed(&[20, 60, 59]).confirm(&mut event);
    assert_eq!(event, unconfirmed);
    probed(&[20, 60]).confirm(&mut event);
    assert_eq!(event, unconfirmed);
    probed(&[20, 20, 60, 20]).confirm(&mut event);
    assert_eq!(event.confirmed, Some(3 * HOUR));
    probe.usual = None;
    assert_eq!(probe::episodes(&[probe]), []);
}

/// A rule that allows 100 a second for less than half an hour, and what the largest subject did in each ten minutes.
fn rule(amounts: &[u64]) -> rule::Rule {
    let times = (0..).map(|number: Micros| (10 * number * MINUTE, 10 * (number + 1) * MINUTE));
    let readings = times.zip(amounts).map(|(span, amount)| Reading {
        span,
        value: *amount as f64,
    });
    rule::Rule {
        limit: Some(100.0),
        lasting: 30 * MINUTE,
        readings: readings.collect(),
    }
}

#[test]
fn a_rule_is_broken_for_long_enough() {
    let found = rule::episodes(&[rule(&[300, 300, 40, 150, 110, 400, 60, 40, 40, 200])]);
    assert_eq!(minutes(&found), [(30, 70, true)]);
    let found = found[0];
    assert_eq!(
        (found.found, found.confirmed),
        (60 * MINUTE, Some(60 * MINUTE))
    );
    assert_eq!((found.value, found.usual, found.rate), (180.0, 100.0, 1.1));
    let mut unknown = rule(&[300; 10]);
    unknown.limit = None;
    assert_eq!(rule::episodes(&[unknown]), []);
}

#[test]
fn a_target_is_slow_beside_its_peers_and_beside_itself() {
    let mut all = vec![disk(&[10; 40]); 6];
    all[3] = disk(&[vec![10; 10], vec![20; 20], vec![12; 10]].concat());
    let found = slow::episodes(&all);
    assert_eq!(minutes(&found), [(20, 60, true)]);
    assert_eq!(
        (found[0].subject, found[0].value, found[0].usual),
        (3, 0.02, 0.01)
    );
    let slow = (found[0].began, found[0].until);
    for (span, servers, belongs) in [
        ((0, 20 * MINUTE), ["a", "b"], true),
        ((0, 20 * MINUTE - 1), ["a", "b"], false),
        ((60 * MINUTE, 90 * MINUTE), ["c", "d"], false),
    ] {
        let waiting = (span, &servers[..]);
        assert_eq!(slow::belongs((slow, &["b", "e"]), waiting), belongs);
    }
    // Half an hour, five peers, and twice its own.
    let mut short = all.clone();
    short[3] = disk(&[vec![10; 10], vec![20; 11], vec![12; 19]].concat());
    assert_eq!(slow::episodes(&short), []);
    assert_eq!(slow::episodes(&all[1..]), []);
    all[3].usual = [Some(0.011); slow::CLASSES];
    assert_eq!(slow::episodes(&all), []);
}

#[test]
fn requests_are_told_apart_by_size() {
    let classes = [
        (1, 0),
        (1, 16 << 10),
        (1, (16 << 10) + 1),
        (4, 4 << 20),
        (1, 4 << 20),
        (0, 0),
    ];
    let of = |write| classes.map(|(calls, bytes)| slow::class(write, calls, bytes));
    assert_eq!(of(false), [0, 0, 1, 3, 4, 0]);
    assert_eq!(of(true), [5, 5, 6, 8, 9, 5]);
}

#[test]
fn a_target_that_does_nothing_while_peers_work_is_stalled() {
    let work = |calls: &[u64]| stalled::Target {
        peers: 0,
        readings: readings(calls),
    };
    let stops = work(&[vec![9; 31], vec![0; 5], vec![9; 4]].concat());
    let all = [&[stops][..], &vec![work(&[5; 40]); 3]].concat();
    let found = stalled::episodes(&all);
    assert_eq!(minutes(&found), [(62, 72, true)]);
    assert_eq!((found[0].found, found[0].usual), (66 * MINUTE, 0.075));
    assert_eq!(stalled::episodes(&all[..3]), []);
    let rests = work(&[vec![9, 0], vec![9; 20], vec![0; 4], vec![9; 8], vec![0; 7]].concat());
    assert_eq!(stalled::episodes(&[&[rests][..], &all[1..]].concat()), []);
}

#[test]
fn a_target_is_full_or_will_be_within_a_day() {
    let hours = |parts: &[f64]| {
        let times = (0..).map(|hour: Micros| hour * HOUR);
        times.zip(parts.iter().copied()).collect::<Vec<_>>()
    };
    let of = |parts: &[f64]| {
        let found = full::episodes(&[hours(parts)]).into_iter();
        found
            .map(|it| (it.began / HOUR, it.until / HOUR, it.over))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of(&[0.9, 0.949, 0.95, 0.94, 0.93, 0.92, 0.96]),
        [(2, 5, true), (6, 6, false)]
    );
    let grows: Vec<_> = (0..30).map(|hour| 0.705 + 0.01 * f64::from(hour)).collect();
    assert_eq!(of(&grows), [(10, 29, false)]);
    assert_eq!(of(&grows[..10]), []);
}

#[test]
fn a_target_that_moves_is_a_fact() {
    let found = moved::episodes(&[readings(&[1, 1, 2, 2, 1])]);
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.began / MINUTE, it.value, it.usual))
        .collect();
    assert_eq!(found, [(4, 2.0, 1.0), (8, 1.0, 2.0)]);
}

#[test]
fn a_recovery_of_some_hours_is_one_and_that_of_a_move_is_none() {
    let moves = moved::episodes(&[readings(&[1, 2]), readings(&[3, 3])]);
    let hours = [vec![-HOUR, 0, 5 * HOUR, 6 * HOUR, 8 * HOUR], vec![0]];
    let found = moved::recoveries(&hours, &moves);
    let found: Vec<_> = found
        .iter()
        .map(|it| (it.subject, it.began / HOUR, it.until / HOUR))
        .collect();
    assert_eq!(found, [(0, 5, 6), (0, 8, 8), (1, 0, 0)]);
}

/// A load of so many calls on other days, before, and now, with the seconds that each takes.
fn load(calls: culprit::Amounts, each: culprit::Amounts) -> culprit::Load {
    culprit::Load {
        time: [0, 1, 2].map(|at| calls[at] * each[at]),
        calls,
        bytes: [0.0; 3],
    }
}

#[test]
fn who_made_the_load_rise_is_named_and_who_suffers_is_not() {
    let usual = [
        load([100.0, 100.0, 110.0], [1.0; 3]),
        load([300.0, 310.0, 290.0], [1.0; 3]),
    ];
    let with = |other| culprit::find_culprit(&[&usual[..], &[other]].concat());
    let storm = with(load([0.0, 0.0, 500.0], [1.0; 3]));
    assert_eq!((storm.named, storm.shares[0].0), (Some(2), 2));
    assert_eq!(storm.times, Some(2.25));
    // Who has worked for hours did not begin it.
    assert_eq!(with(load([0.0, 500.0, 510.0], [1.0; 3])).named, None);
    assert_eq!(with(load([500.0, 0.0, 510.0], [1.0; 3])).named, None);
    // Disks three times as slow: who works most waits most.
    let slow = [1.0, 1.0, 3.0];
    let slow = culprit::find_culprit(&[
        load([100.0, 100.0, 110.0], slow),
        load([300.0, 300.0, 290.0], slow),
    ]);
    assert_eq!((slow.named, slow.shares[0].0), (None, 1));
    let many: Vec<_> = (0..10)
        .map(|_| load([10.0, 10.0, 50.0], [1.0; 3]))
        .collect();
    assert_eq!(culprit::find_culprit(&many).named, None);
    assert_eq!(culprit::find_culprit(&[]).named, None);
}

#[test]
fn the_first_dimension_that_names_somebody_counts_or_else_the_first_one() {
    let one = [load([100.0, 100.0, 500.0], [1.0; 3])];
    let many: Vec<_> = (0..10)
        .map(|_| load([10.0, 10.0, 50.0], [1.0; 3]))
        .collect();
    let search = |by: &[(&'static str, &[culprit::Load])]| {
        let ask = |(name, loads): &(&'static str, &[culprit::Load])| {
            Ok::<_, ()>((*name, culprit::find_culprit(loads)))
        };
        let found = culprit::search(by, ask).unwrap_or_default();
        found.map(|(name, culprit)| (name, culprit.named))
    };
    assert_eq!(
        search(&[("user", &many), ("job", &one)]),
        Some(("job", Some(0)))
    );
    assert_eq!(
        search(&[("user", &one), ("job", &one)]),
        Some(("user", Some(0)))
    );
    assert_eq!(
        search(&[("user", &many), ("job", &many)]),
        Some(("user", None))
    );
    assert_eq!(search(&[]), None);
}

#[test]
fn alarms_keep_within_their_budget() {
    let before: Vec<_> = (1..=8).map(|day| (day * DAY, 2.0)).collect();
    assert!(budget::allows(&before[..7], (9 * DAY, 1.5), 2.0));
    assert!(!budget::allows(&before, (9 * DAY, 2.0), 2.0));
    assert!(budget::allows(&before, (9 * DAY, 2.1), 2.0));
    assert!(budget::allows(&before, (29 * DAY, 2.0), 2.0));
}

proptest! {
    /// Episodes that are over stay as they are, whatever comes after.
    #[test]
    fn later_readings_change_no_episode_that_is_over(waits in prop::collection::vec(0u64..150, 10..200), cut in 1usize..200) {
        let whole = waiting::episodes(&[service(&waits)]);
        let part = waiting::episodes(&[service(&waits[..cut.min(waits.len())])]);
        let over = part.iter().filter(|it| it.over).count();
        prop_assert_eq!(&whole[..over], &part[..over]);
        prop_assert!(part.len() <= over + 1);
        if let Some(open) = part.get(over) {
            prop_assert_eq!((open.began, open.found), (whole[over].began, whole[over].found));
        }
    }

    /// Nor do hours of probes, and each slow hour is in one.
    #[test]
    fn later_hours_of_probes_change_no_episode_that_is_over(hours in prop::collection::vec(0u64..150, 1..50), cut in 1usize..50) {
        let whole = probe::episodes(&[probed(&hours)]);
        let part = probe::episodes(&[probed(&hours[..cut.min(hours.len())])]);
        let over = part.iter().filter(|it| it.over).count();
        prop_assert_eq!(&whole[..over], &part[..over]);
        for (hour, millis) in (0..).zip(&hours) {
            let is_in = whole.iter().any(|it| it.began <= hour * HOUR && hour * HOUR < it.until);
            prop_assert!(is_in || *millis < 60);
            prop_assert!(!is_in || *millis >= 30);
        }
    }

    /// Nor do later readings change when a rule was broken, and each time it was broken for long enough is found.
    #[test]
    fn later_readings_change_no_broken_rule(amounts in prop::collection::vec(0u64..250, 1..60), cut in 1usize..60) {
        let whole = rule::episodes(&[rule(&amounts)]);
        let part = rule::episodes(&[rule(&amounts[..cut.min(amounts.len())])]);
        let over = part.iter().filter(|it| it.over).count();
        prop_assert_eq!(&whole[..over], &part[..over]);
        for (index, three) in amounts.windows(3).enumerate() {
            let last = 10 * (index as Micros + 3) * MINUTE;
            let is_in = whole.iter().any(|it| it.began < last && last <= it.until);
            prop_assert!(is_in || three.iter().any(|it| *it < 100));
        }
        for it in whole {
            prop_assert!(it.rate >= 1.0 && it.found - it.began >= 30 * MINUTE);
        }
    }

    /// A probe makes an event known sooner or not at all, and never before it is found.
    #[test]
    fn a_probe_only_confirms_sooner(waits in prop::collection::vec(0u64..150, 10..200), hours in prop::collection::vec(0u64..150, 0..8)) {
        for mut event in join(waiting::episodes(&[service(&waits)])) {
            let before = event.confirmed;
            probed(&hours).confirm(&mut event);
            prop_assert!(event.confirmed >= Some(event.found) || event.confirmed.is_none());
            prop_assert!(event.confirmed.unwrap_or(Micros::MAX) <= before.unwrap_or(Micros::MAX));
        }
    }
}
