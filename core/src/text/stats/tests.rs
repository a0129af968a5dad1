use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::text::additional_parameters::Parameter;

fn other(value: &str) -> Other<'_> {
    Other {
        parameter: Parameter::Service("mdt"),
        line: 1,
        value: value.as_bytes().into(),
    }
}

/// The counters as `name count [unit] min max sum sumsq`, and the problems as `line code`.
fn lines(value: &str) -> (Vec<String>, Vec<String>, bool) {
    let other = other(value);
    let mut problems = Problems::default();
    let stats = read(&other, &mut problems, Pause::NEVER).unwrap();
    let counters = stats.counters.iter().map(|counter| {
        let Counter {
            name, unit, count, ..
        } = counter;
        let values = counter.values.iter().flatten().map(i64::to_string);
        let numbers: Vec<_> = values
            .chain(counter.sumsq.map(|it| it.to_string()))
            .collect();
        format!("{name} {count} [{unit}] {}", numbers.join(" "))
    });
    let problems = problems.kept.iter();
    let problems = problems.map(|it| format!("{} {}", it.line, it.reason.code()));
    (counters.collect(), problems.collect(), stats.is_complete)
}

const TIME: &str = "snapshot_time             1510781853.009826353 secs.nsecs\n";

/// The one counter of a value.
fn counter(line: &str) -> String {
    let (counters, problems, is_complete) = lines(&format!("{TIME}{line}\n"));
    assert_eq!((problems, is_complete), (vec![], true), "{line}");
    counters.concat()
}

/// The reason why a counter is not used. The lines around it are.
fn reason(line: &str) -> String {
    let around = "sync 1 samples [reqs]\n";
    let (counters, problems, is_complete) =
        lines(&format!("{TIME}{line}\nopen 2 samples [reqs]\n{around}"));
    assert_eq!(counters, ["open 2 [reqs] ", "sync 1 [reqs] "], "{line}");
    assert!(!is_complete);
    problems.concat().split_off(2)
}

fn times(lines: &str) -> (Option<Micros>, Option<Micros>) {
    let other = other(lines);
    let mut problems = Problems::default();
    let stats = read(&other, &mut problems, Pause::NEVER).unwrap();
    assert_eq!(problems.kept, [], "{lines}");
    (stats.snapshot_time, stats.start_time)
}

#[test]
fn a_counter_has_one_number_or_four_or_five() {
    assert_eq!(
        counter("open                      1024577037 samples [reqs]"),
        "open 1024577037 [reqs] "
    );
    assert_eq!(
        counter("read_bytes                203238095 samples [bytes] 4096 1048576 78026117632000"),
        "read_bytes 203238095 [bytes] 4096 1048576 78026117632000"
    );
    assert_eq!(
        counter("getattr  7 samples [usecs] 11 65 338 18090 "),
        "getattr 7 [usecs] 11 65 338 18090"
    );
    for line in [
        "open 7",
        "open 7 samples",
        "open 7 samples reqs",
        "open 7 samples [reqs",
        "open 7 sample [reqs]",
        "open samples [reqs] 7",
        "open 7 samples [usecs] 1",
        "open 7 samples [usecs] 1 2",
        "open 7 samples [usecs] 1 2 3 4 5",
        "open 7 samples [usecs] 1 2 3 4 5 6",
        "open",
        "job_stats:",
    ] {
        assert_eq!(reason(line), "unreadable line", "{line}");
    }
}

#[test]
fn a_name_may_be_wider_than_its_column() {
    assert_eq!(
        counter("llog_origin_handle_next_block 40 samples [usecs] 1 9 80 200"),
        "llog_origin_handle_next_block 40 [usecs] 1 9 80 200"
    );
    let (widest, wider) = ("x".repeat(NAME_MAX), "x".repeat(NAME_MAX + 1));
    assert_eq!(
        counter(&format!("{widest} 1 samples [reqs]")),
        format!("{widest} 1 [reqs] ")
    );
    assert_eq!(
        reason(&format!("{wider} 1 samples [reqs]")),
        "unreadable line"
    );
}

#[test]
fn units_are_an_open_set() {
    for unit in [
        "usec",
        "usecs",
        "sec",
        "secs",
        "pages",
        "bufs",
        "locks",
        "locks/s",
        "lock.secs",
        "fake",
    ] {
        let line = format!("granted 3 samples [{unit}] 1 2 3");
        assert_eq!(counter(&line), format!("granted 3 [{unit}] 1 2 3"));
    }
}

#[test]
fn the_sum_of_squares_wraps() {
    let line = |squares| format!("read_bytes 2 samples [bytes] 1 2 3 {squares}");
    for (squares, read) in [
        ("-3193831078871982772", "15252912994837568844"),
        ("18446744073709551615", "18446744073709551615"),
        ("-1", "18446744073709551615"),
    ] {
        assert_eq!(
            counter(&line(squares)),
            format!("read_bytes 2 [bytes] 1 2 3 {read}")
        );
    }
    for squares in ["18446744073709551616", "--1", "-", "1.5"] {
        assert_eq!(reason(&line(squares)), "bad number");
    }
}

#[test]
fn a_number_that_is_negative_or_beyond_a_column_costs_its_line_alone() {
    for line in [
        "close -1 samples [reqs]",
        "close 9223372036854775808 samples [reqs]",
        "close 1 samples [usecs] -1 2 3 4",
        "close 1 samples [usecs] 1 9223372036854775808 3 4",
        "close 1 samples [usecs] 1 2 99999999999999999999 4",
        "close x samples [reqs]",
    ] {
        assert_eq!(reason(line), "bad number", "{line}");
    }
}

#[test]
fn the_first_line_of_a_name_counts() {
    let (counters, problems, is_complete) = lines(&format!(
        "{TIME}statfs 35359 samples [reqs]\nping 9 samples [reqs]\nstatfs 124430 samples [reqs]\n"
    ));
    assert_eq!(counters, ["statfs 35359 [reqs] ", "ping 9 [reqs] "]);
    assert_eq!((problems, is_complete), (vec![], true));
}

#[test]
fn microseconds_are_not_padded_up_to_2_9() {
    let time = |time: &str| times(&format!("snapshot_time {time}\n")).0;
    assert_eq!(
        time("1438693238.20113 secs.usecs"),
        Some(1_438_693_238_020_113)
    );
    assert_eq!(
        time("1438693064.430544 secs.usecs"),
        Some(1_438_693_064_430_544)
    );
    assert_eq!(time("1438693064.7 secs.usecs"), Some(1_438_693_064_000_007));
    assert_eq!(
        time("1510781853.009826353 secs.nsecs"),
        Some(1_510_781_853_009_826)
    );
}

#[test]
fn times_on_the_boot_clock_are_not_known() {
    let (read, start) = times(
        "snapshot_time 1896533.424837288 secs.nsecs\nstart_time 0.000000000 secs.nsecs\nelapsed_time 1896533.424837288 secs.nsecs\n",
    );
    assert_eq!((read, start), (None, None));
    let (read, start) = times(
        "snapshot_time 1716295737.286540466 secs.nsecs\nstart_time 9538.444882862 secs.nsecs\nelapsed_time 1716286198.841657604 secs.nsecs\n",
    );
    assert_eq!((read, start), (Some(1_716_295_737_286_540), None));
    let (_, start) = times(
        "snapshot_time 1716295737.1 secs.nsecs\nstart_time 1715712428.324534805 secs.nsecs\nlater_time 1.2 secs.nsecs\n",
    );
    assert_eq!(start, Some(1_715_712_428_324_534));
}

#[test]
fn a_time_that_cannot_be_read_is_reported() {
    for (line, code) in [
        ("start_time 1 secs", "unreadable line"),
        ("start_time 1.2 secs", "unreadable line"),
        ("start_time 1.2 secs.nsecs more", "unreadable line"),
        ("start_time x.2 secs.nsecs", "bad number"),
        ("start_time -1.2 secs.nsecs", "bad number"),
        ("start_time 1.1000000000 secs.nsecs", "bad number"),
        ("start_time 1.1000000 secs.usecs", "bad number"),
        ("start_time 9223372036854775807.1 secs.nsecs", "bad number"),
    ] {
        assert_eq!(reason(line), code, "{line}");
    }
}

#[test]
fn a_cut_line_is_rejected_and_what_stands_before_it_counts() {
    let (counters, problems, is_complete) = lines(&format!(
        "{TIME}open 7 samples [reqs]\nclose 7 samples [usecs] 1 2 3 4"
    ));
    assert_eq!(counters, ["open 7 [reqs] "]);
    assert_eq!(
        (problems, is_complete),
        (vec!["3 cut line".to_owned()], false)
    );
    let (counters, _, is_complete) = lines("open 7 samples [reqs]\n");
    assert!(
        !is_complete && counters.len() == 1,
        "the beginning is missing"
    );
}

#[test]
fn a_value_has_a_limited_number_of_counters() {
    let counters = (0..300).map(|index| format!("op{index} 1 samples [reqs]\n"));
    let (counters, problems, is_complete) =
        lines(&(TIME.to_owned() + &counters.collect::<String>()));
    assert_eq!((counters.len(), is_complete), (COUNTERS_MAX, false));
    assert_eq!(problems, ["258 too many lines"]);
}

#[test]
fn a_value_of_times_alone_is_whole() {
    assert_eq!(lines(TIME), (vec![], vec![], true));
    assert_eq!(
        lines(TIME.trim_end()),
        (vec![], vec!["1 cut line".to_owned()], false)
    );
}

#[test]
fn the_time_of_reading_is_that_of_the_observation_if_the_clocks_agree() {
    let text = 1_510_781_853 * SECOND;
    for (read, time) in [
        (None, text),
        (Some(text + MINUTE), text + MINUTE),
        (Some(text - MINUTE), text - MINUTE),
        (Some(text + MINUTE + 1), text),
        (Some(text - MINUTE - 1), text),
        (Some(Micros::MAX), text),
    ] {
        assert_eq!(time_in(read, text), time);
    }
}

#[test]
fn queues_are_the_counters_of_services() {
    let value = format!(
        "{TIME}start_time 1510700000.000000000 secs.nsecs\nreq_waittime 21 samples [usecs] 8 149 793 51965\n\
         req_qdepth 21 samples [reqs] 0 0 0 0\nreq_timeout 21 samples [secs] 1 15 21 21\nreq_active 21 samples [reqs] 1 3 40 99\n"
    );
    let other = other(&value);
    let service = read(&other, &mut Problems::default(), Pause::NEVER).unwrap();
    let time = service.snapshot_time;
    assert_eq!(time, Some(1_510_781_853_009_826));
    assert_eq!(time_in(time, 1_510_781_853 * SECOND), time.unwrap());
    let json = r#"{"start_time":1510700000000000,"counters":{"req_active":[21,40],"req_qdepth":[21,0],"req_waittime":[21,793]}}"#;
    let sums = Sums::of(&service, &QUEUE);
    assert_eq!(serde_json::to_string(&sums).unwrap(), json);
    assert_eq!(serde_json::from_str::<Sums>(json).unwrap(), sums);
}

/// Counters of these counts and sums, by one-letter names.
fn sums(start_time: Option<Micros>, counters: &[(&str, i64, i64)]) -> Sums {
    let counters = counters.iter();
    Sums {
        start_time,
        counters: counters
            .map(|(name, count, sum)| ((*name).to_owned(), [*count, *sum]))
            .collect(),
        incomplete: false,
    }
}

/// The growth from instant 100 to 200: its beginning, and the growth of each counter.
fn grown(before: &Sums, after: &Sums) -> (Micros, bool, Vec<(String, [i64; 2])>, Sums) {
    let Growth {
        since,
        reset,
        counters,
        sums,
    } = growth((100, before), (200, after));
    (since, reset, Vec::from_iter(counters), sums)
}

#[test]
fn counters_grow_by_their_difference() {
    let before = sums(Some(1), &[("a", 5, 50), ("b", 7, 70)]);
    let after = sums(Some(1), &[("a", 6, 80), ("b", 7, 70), ("c", 2, 9)]);
    let (since, reset, counters, kept) = grown(&before, &after);
    assert_eq!((since, reset, kept), (100, false, after));
    assert_eq!(
        counters,
        [("a".to_owned(), [1, 30]), ("c".to_owned(), [2, 9])]
    );
}

#[test]
fn another_start_time_is_a_reset() {
    let before = sums(Some(1), &[("a", 5, 50)]);
    for (start, since) in [(150, 150), (99, 100), (300, 100)] {
        let after = sums(Some(start), &[("a", 6, 80)]);
        let (from, reset, counters, kept) = grown(&before, &after);
        assert_eq!((from, reset, kept), (since, true, after));
        assert_eq!(counters, [("a".to_owned(), [6, 80])]);
    }
}

#[test]
fn without_start_time_any_counter_that_falls_or_vanishes_resets_all() {
    let before = sums(None, &[("a", 5, 50), ("b", 7, 70)]);
    for after in [
        sums(None, &[("a", 6, 80), ("b", 6, 90)]),
        sums(None, &[("a", 6, 80), ("b", 8, 69)]),
        sums(None, &[("a", 6, 80)]),
        sums(Some(1), &[("a", 6, 80)]),
    ] {
        let (since, reset, counters, kept) = grown(&before, &after);
        assert_eq!((since, reset, &kept), (100, true, &after));
        assert_eq!(counters[0], ("a".to_owned(), [6, 80]));
    }
    let after = sums(None, &[("a", 5, 50), ("b", 7, 70)]);
    assert_eq!(grown(&before, &after), (100, false, vec![], after));
}

#[test]
fn a_counter_that_vanishes_with_the_same_start_time_keeps_its_value() {
    let before = sums(Some(1), &[("a", 5, 50), ("b", 7, 70)]);
    let damaged = sums(Some(1), &[("a", 6, 80)]);
    let (_, reset, counters, kept) = grown(&before, &damaged);
    assert_eq!((reset, counters), (false, vec![("a".to_owned(), [1, 30])]));
    let after = sums(Some(1), &[("a", 6, 80), ("b", 9, 75)]);
    let (_, _, counters, kept) = grown(&kept, &after);
    assert_eq!(counters, [("b".to_owned(), [2, 5])]);
    let (_, _, counters, kept) = grown(&kept, &sums(Some(1), &[("a", 6, 80), ("b", 1, 75)]));
    assert_eq!((counters, kept), (vec![], after));
}

#[test]
fn a_counter_that_may_be_missing_by_damage_is_not_zero() {
    let before = sums(None, &[("a", 5, 50), ("b", 7, 70)]);
    let damaged = Sums {
        incomplete: true,
        ..sums(None, &[("a", 6, 80)])
    };
    let (_, reset, counters, kept) = grown(&before, &damaged);
    assert_eq!((reset, counters), (false, vec![("a".to_owned(), [1, 30])]));
    let after = sums(None, &[("a", 6, 80), ("b", 8, 80), ("c", 9, 9)]);
    let (_, reset, counters, _) = grown(&kept, &after);
    assert_eq!((reset, counters), (false, vec![("b".to_owned(), [1, 10])]));
}

#[test]
fn a_growth_that_cannot_be_true_is_not_believed() {
    let before = sums(Some(1), &[("a", 5, 50), ("b", 5, 50)]);
    let after = sums(Some(1), &[("a", 5 + TOO_LARGE, 60), ("b", 6, 60)]);
    let (_, _, counters, kept) = grown(&before, &after);
    assert_eq!((counters, kept), (vec![("b".to_owned(), [1, 10])], after));
    const TOO_LARGE: i64 = 1 << 53;
}

proptest! {
    /// The growth of a history adds up to the calls, however often the counters restart.
    #[test]
    fn a_history_adds_up(
        steps in vec((vec((0..3_usize, 1..100_i64, 0..1_000_i64), 0..4), any::<bool>()), 1..20),
        dated: bool,
    ) {
        let (mut now, mut truth) = (sums(dated.then_some(0), &[]), [[0; 2]; 3]);
        let (mut before, mut total) = (now.clone(), [[0; 2]; 3]);
        for (position, (events, restarts)) in steps.iter().enumerate() {
            let time = 100 * (position as Micros + 1);
            if *restarts && dated {
                now = sums(Some(time - 50), &[]);
            }
            for (counter, count, sum) in events {
                let of = now.counters.entry(counter.to_string()).or_default();
                *of = [of[0] + count, of[1] + sum];
                truth[*counter] = [truth[*counter][0] + count, truth[*counter][1] + sum];
            }
            let grown = growth((time - 100, &before), (time, &now));
            prop_assert!((time - 100..time).contains(&grown.since));
            for (name, [count, sum]) in grown.counters {
                let of = &mut total[name.parse::<usize>().unwrap()];
                *of = [of[0] + count, of[1] + sum];
            }
            before = grown.sums;
        }
        prop_assert_eq!(total, truth);
    }

    /// A value that is cut anywhere does not contradict the whole one.
    #[test]
    fn a_cut_value_says_a_part(counts in vec(1..1_000_000_i64, 1..8), at in any::<prop::sample::Index>()) {
        let counters = counts.iter().enumerate();
        let counters = counters.map(|(index, count)| format!("op{index} {count} samples [usecs] 1 2 {count} 4\n"));
        let value = TIME.to_owned() + &counters.collect::<String>();
        let (whole, ..) = lines(&value);
        let (part, problems, is_complete) = lines(&value[..at.index(value.len())]);
        prop_assert!(whole.starts_with(&part));
        prop_assert!(!is_complete || problems.is_empty());
        prop_assert!(problems.iter().all(|problem| problem.ends_with("cut line")));
    }
}
