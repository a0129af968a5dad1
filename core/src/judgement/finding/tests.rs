use proptest::prelude::*;

use super::*;

fn calls(count: f64, time: f64) -> Calls {
    Calls {
        count,
        time: Some(time),
    }
}

/// Returns a million calls of known sizes, this part of them small, and half of the others fair.
fn sized(small: f64) -> Option<SizeCounts> {
    Some(SizeCounts {
        all: 1e6,
        small: 1e6 * small,
        medium: 5e5 * (1.0 + small),
    })
}

/// Returns work that has this value by a rule, from 0 to 1 or in millions of files, and is ordinary by all others.
fn work(rule: Rule, value: f64) -> Work {
    let ordinary = Moved {
        bytes: 1e6 * MEBIBYTE,
        calls: calls(1e6, 20.0),
        sized: sized(0.0),
    };
    let mut work = Work {
        seconds: 3_600.0,
        all: calls(1e7, 100.0),
        on_mdts: Some(0.0),
        read: ordinary,
        write: ordinary,
        targets: 5.0,
        ..Work::default()
    };
    match rule {
        Rule::SmallReads => work.read.sized = sized(value),
        Rule::SmallWrites => work.write.sized = sized(value),
        Rule::SmallFiles => {
            work.write.sized = sized(value);
            work.creates = calls(1e6, 3.0);
        }
        Rule::Opens => work.opens = calls(2e6 * value, 1.0),
        Rule::Getattrs => {
            (work.opens, work.getattrs) = (calls(1e6, 1.0), calls(1e6 * value, 4.0));
        }
        Rule::Syncs => work.syncs = calls(1e6 * value, 5.0),
        Rule::ShortLived => {
            (work.creates, work.unlinks) = (calls(1e6, 3.0), calls(1e6 * value, 6.0));
        }
        Rule::MassDeletion => work.unlinks = calls(1e6 * value, 6.0),
        Rule::OneTarget => work.on_one_target = (2e6 * MEBIBYTE * value, Some(7.0)),
        Rule::Metadata => work.on_mdts = Some(100.0 * value),
    }
    work
}

fn rules() -> impl Strategy<Value = Rule> {
    prop::sample::select(Rule::ALL.to_vec())
}

proptest! {
    #[test]
    fn work_has_the_level_of_its_value(
        rule in rules(), value in 0.01..1.0_f64, floors in (0.0..1.0_f64, 0.0..1.0_f64), site in prop::option::of((0.0..1.0_f64, 0.0..1.0_f64)),
        absolute in prop::option::of(0.0..1.0_f64),
    ) {
        let work = work(rule, value);
        let unit = if rule == Rule::MassDeletion { 1e6 } else { 1.0 };
        let found = rule.value(&work).unwrap() / unit;
        prop_assert!((found - value).abs() < 1e-9, "{rule:?}: {found:?}");
        let thresholds = Thresholds {
            floors: [floors.0.min(floors.1), floors.0.max(floors.1)],
            site: site.map(|(one, other)| [one.min(other), one.max(other)]),
            absolute,
        };
        let level = thresholds.level(found);
        prop_assert_eq!(level == Level::Bad, found > thresholds.of(Level::Bad));
        prop_assert!(level == Level::Bad || absolute.is_none_or(|it| found <= it));
        prop_assert_eq!(level >= Level::Fair, found > thresholds.of(Level::Fair));
    }

    #[test]
    fn a_rule_says_nothing_of_what_others_are_about(rule in rules(), other in rules(), value in 0.5..1.0_f64) {
        prop_assume!(rule != other && ![rule, other].contains(&Rule::SmallFiles));
        let ordinary = other.value(&work(rule, value)).unwrap_or(0.0);
        let about_opens = [rule, other] == [Rule::Getattrs, Rule::Opens];
        prop_assert!(ordinary == 0.0 || about_opens, "{rule:?} {other:?} {ordinary}");
    }
}

#[test]
fn a_value_at_its_floor_is_good_and_above_it_is_not() {
    let thresholds = Thresholds {
        floors: [0.1, 0.5],
        site: Some([0.0, 0.0]),
        absolute: None,
    };
    let levels = [0.1, 0.100_001, 0.5, 0.500_001].map(|value| thresholds.level(value));
    assert_eq!(levels, [Level::Good, Level::Fair, Level::Fair, Level::Bad]);
    // Common values are usual at a site, and without a site to compare with no level is bad.
    let usual = Thresholds {
        site: Some([0.8, 0.9]),
        ..thresholds
    };
    let levels = [0.8, 0.81, 0.9, 0.91].map(|value| usual.level(value));
    assert_eq!(levels, [Level::Good, Level::Fair, Level::Fair, Level::Bad]);
    let unknown = Thresholds {
        site: None,
        ..thresholds
    };
    assert_eq!(unknown.level(1.0), Level::Fair);
    // An absolute level makes bad what everybody does, also before other jobs are known.
    for site in [None, Some([1.0, 1.0])] {
        let absolute = Thresholds {
            site,
            absolute: Some(0.9),
            ..thresholds
        };
        assert_eq!(absolute.level(0.91), Level::Bad);
        assert_eq!(absolute.of(Level::Bad), 0.9);
        assert!(absolute.level(0.9) < Level::Bad);
    }
}

#[test]
fn sizes_that_are_not_known_are_estimated_by_their_mean() {
    let work = |bytes: f64| Work {
        read: Moved {
            bytes,
            calls: calls(1.0, 0.0),
            sized: None,
        },
        ..Work::default()
    };
    let values = [1e6, 65_536.0, 49_152.0, 4_096.0].map(|it| Rule::SmallReads.value(&work(it)));
    assert_eq!(values, [0.0, 0.0, 0.25, 0.9375].map(Some));
    assert_eq!(small(&Moved::default()), None);
}

#[test]
fn files_that_are_written_in_one_call_are_small_files_and_no_small_writes() {
    let many = work(Rule::SmallFiles, 1.0);
    assert_eq!(Rule::SmallWrites.value(&many), None);
    let few = Work {
        creates: calls(4e5, 3.0),
        ..many
    };
    assert_eq!(Rule::SmallFiles.value(&few), None);
    assert!(Rule::SmallWrites.value(&few).is_some());
}

#[test]
fn little_work_is_not_judged() {
    let of = |seconds, count, time| {
        let all = Calls { count, time };
        is_enough(&Work {
            seconds,
            all,
            ..Work::default()
        })
    };
    assert!(of(600.0, 1_000.0, Some(60.0)));
    // Before Lustre 2.14, the time is unknown.
    assert!(of(600.0, 1_000.0, None));
    assert!(!of(599.0, 1_000.0, Some(60.0)));
    assert!(!of(600.0, 999.0, Some(60.0)));
    assert!(!of(600.0, 1_000.0, Some(59.9)));
}

#[test]
fn who_removes_what_others_made_has_no_short_lived_files() {
    let mut cleaned = work(Rule::ShortLived, 1.0);
    cleaned.creates = calls(20.0, 3.0);
    assert_eq!(Rule::ShortLived.value(&cleaned), None);
}

#[test]
fn where_files_lie_matters_for_large_ones_on_many_targets() {
    let large = work(Rule::OneTarget, 1.0);
    assert_eq!(Rule::OneTarget.value(&large), Some(1.0));
    let few = Work {
        targets: 4.0,
        ..large
    };
    assert_eq!(Rule::OneTarget.value(&few), None);
    let mut small = large;
    (small.read.bytes, small.write.bytes) = (99.9e9, 0.0);
    assert_eq!(Rule::OneTarget.value(&small), None);
}

#[test]
fn a_rule_knows_the_time_of_what_it_is_about() {
    let times = Rule::ALL.map(|rule| rule.time(&work(rule, 0.5)));
    let expected = [20.0, 20.0, 23.0, 1.0, 4.0, 5.0, 9.0, 6.0, 7.0, 50.0];
    assert_eq!(times, expected.map(Some));
    assert!(
        Rule::ALL
            .iter()
            .all(|rule| rule.time(&Work::default()).is_none())
    );
    assert!(
        Rule::ALL
            .iter()
            .all(|rule| Rule::find(rule.name()) == Some(*rule))
    );
}

#[test]
fn what_costs_servers_next_to_nothing_is_good() {
    let thresholds = Thresholds {
        floors: [0.1, 0.5],
        site: None,
        absolute: None,
    };
    let mut work = work(Rule::Syncs, 0.9);
    let found = judge(Rule::Syncs, &thresholds, &work).unwrap();
    assert_eq!((found.level, found.threshold), (Level::Fair, 0.1));
    work.syncs.time = Some(4.9);
    let found = judge(Rule::Syncs, &thresholds, &work).unwrap();
    assert_eq!((found.level, found.share()), (Level::Good, Some(0.049)));
    // Where times are not known, calls are as good.
    work.syncs.time = None;
    let found = judge(Rule::Syncs, &thresholds, &work).unwrap();
    assert_eq!((found.level, found.share()), (Level::Fair, Some(0.09)));
}

#[test]
fn of_some_targets_no_rule_says_anything_whose_parts_lie_on_different_kinds() {
    for rule in Rule::ALL {
        let of_some = Work {
            is_of_some_targets: true,
            ..work(rule, 0.9)
        };
        let says = [
            Rule::SmallReads,
            Rule::SmallWrites,
            Rule::Getattrs,
            Rule::ShortLived,
            Rule::MassDeletion,
        ]
        .contains(&rule);
        assert_eq!(rule.value(&of_some).is_some(), says, "{rule:?}");
    }
}

#[test]
fn who_removes_more_than_twice_what_it_made_deletes_many() {
    let mut removes = work(Rule::ShortLived, 1.0);
    removes.unlinks.count = 2e6;
    let values = |work: &Work| [Rule::ShortLived, Rule::MassDeletion].map(|rule| rule.value(work));
    assert_eq!(values(&removes), [Some(2.0), None]);
    removes.unlinks.count += 1.0;
    assert_eq!(values(&removes), [None, Some(2_000_001.0)]);
    removes.creates.count = 0.0;
    removes.unlinks.count = 1_000.0;
    assert_eq!(values(&removes), [None, None], "too few");
}

#[test]
fn no_other_rule_is_about_the_requests_of_a_mass_deletion() {
    let mut removes = work(Rule::MassDeletion, 1.0);
    removes.opens = calls(5e5, 1.0);
    removes.getattrs = calls(2e6, 1.0);
    removes.on_mdts = Some(12.0);
    (removes.read, removes.write) = Default::default();
    let others = [Rule::Opens, Rule::Getattrs, Rule::Metadata];
    let values = |work: &Work| others.map(|rule| rule.value(work).is_some());
    assert_eq!(values(&removes), [false; 3]);
    removes.opens.count += 1.0;
    removes.getattrs.count += 1.0;
    removes.on_mdts = Some(12.1);
    assert_eq!(values(&removes), [true; 3], "more than a deletion needs");
}

#[test]
fn a_finding_shows_the_numbers_that_prove_it() {
    let thresholds = Thresholds {
        floors: [0.0, 0.0],
        site: None,
        absolute: None,
    };
    let text = |rule, work: &Work| judge(rule, &thresholds, work).unwrap().to_string();
    let texts = Rule::ALL.map(|rule| text(rule, &work(rule, 0.75)));
    let expected = [
        "75 % of its reads were small: 750 k of 32 KiB or less, 125 k fair, 125 k good (over 512 KiB)",
        "75 % of its writes were small: 750 k of 32 KiB or less, 125 k fair, 125 k good (over 512 KiB)",
        "75 % of its writes were small: 750 k of 32 KiB or less, 125 k fair, 125 k good (over 512 KiB), one per file",
        "1.5 M files opened, 0.75 per MiB read or written",
        "750 k requests for attributes, 0.75 per file opened",
        "750 k syncs for 1 M writes",
        "1 M files created and 750 k removed",
        "750 k files removed and no file created",
        "75 % of its 2.1 TB went to or from one OST",
        "75 % of its server time was on MDTs",
    ];
    assert_eq!(texts, expected);
    let mut tiny = work(Rule::SmallWrites, 1.0);
    tiny.write = Moved {
        bytes: 3.7e6 * 324.0,
        calls: calls(3.7e6, 1.0),
        sized: None,
    };
    assert_eq!(
        text(Rule::SmallWrites, &tiny),
        "3.7 M writes of 324 B on average"
    );
    let mut removes = work(Rule::MassDeletion, 1.0);
    removes.creates.count = 3e5;
    assert_eq!(
        text(Rule::MassDeletion, &removes),
        "1 M files removed, 3.33 times as many as created"
    );
    removes.creates.count = 1e5;
    assert_eq!(
        text(Rule::MassDeletion, &removes),
        "1 M files removed, many times more than created"
    );
    let nothing = Moved::default();
    let unread = |rule| Work {
        read: nothing,
        write: nothing,
        ..work(rule, 0.75)
    };
    assert_eq!(
        text(Rule::Opens, &unread(Rule::Opens)),
        "1.5 M files opened, but less than a MiB read or written"
    );
    let mut unopened = work(Rule::Getattrs, 0.75);
    unopened.opens.count = 0.0;
    assert_eq!(
        text(Rule::Getattrs, &unopened),
        "750 k requests for attributes, but no file opened"
    );
}
