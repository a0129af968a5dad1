use proptest::prelude::*;

use super::*;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Records texts, each with its time after the start in milliseconds.
fn record(pieces: &[(u64, &str)]) -> (Timestamp, Reading) {
    let mut recorder = Recorder::of(&ServerName::default(), LCTL, u64::MAX);
    for (at, text) in pieces {
        recorder.push(text.as_bytes(), ms(*at)).unwrap();
    }
    (recorder.texts.started, recorder.finish().unwrap())
}

fn body(reading: &Reading, target: &Text) -> String {
    let packed: Vec<u8> = reading
        .pieces(target, 7)
        .collect::<io::Result<Vec<_>>>()
        .unwrap()
        .concat();
    assert_eq!(packed.len() as u64, target.packed_bytes());
    String::from_utf8(zstd::stream::decode_all(packed.as_slice()).unwrap()).unwrap()
}

fn bodies(reading: &Reading) -> Vec<(Option<&str>, String)> {
    reading
        .index
        .texts
        .iter()
        .map(|target| (target.name.as_deref(), body(reading, target)))
        .collect()
}

#[test]
fn an_interval_goes_in_front_of_its_targets_text() {
    let (_, reading) = record(&[(
        0,
        "obdfilter.fs-OST0000.job_cleanup_interval=600\nobdfilter.fs-OST0001.job_cleanup_interval=300\n\
         obdfilter.fs-OST0000.job_stats=\njob_stats:\nobdfilter.fs-OST0001.job_stats=job_stats:\n",
    )]);
    assert_eq!(
        bodies(&reading),
        [
            (
                Some("obdfilter.fs-OST0000"),
                "obdfilter.fs-OST0000.job_cleanup_interval=600\nobdfilter.fs-OST0000.job_stats=\njob_stats:\n".to_owned()
            ),
            (
                Some("obdfilter.fs-OST0001"),
                "obdfilter.fs-OST0001.job_cleanup_interval=300\nobdfilter.fs-OST0001.job_stats=job_stats:\n".to_owned()
            ),
        ]
    );
}

#[test]
fn text_in_front_of_any_name_is_kept_apart_and_blank_lines_are_not_kept() {
    let (_, reading) = record(&[(0, "\n \nnoise\nmdt.a-MDT0000.job_stats=\n")]);
    assert_eq!(
        bodies(&reading),
        [
            (
                Some("mdt.a-MDT0000"),
                "mdt.a-MDT0000.job_stats=\n".to_owned()
            ),
            (None, "\n \nnoise\n".to_owned()),
        ]
    );
    let (_, reading) = record(&[(0, "\n \nmdt.a-MDT0000.job_stats=\n")]);
    assert_eq!(bodies(&reading).len(), 1);
    assert!(record(&[(0, "\n")]).1.index.texts.is_empty());
}

#[test]
fn the_time_is_that_of_the_first_byte_of_job_stats() {
    let (started, reading) = record(&[
        (100, "mdt.a-MDT0000.job_cleanup_interval=600\n"),
        (200, "mdt.a-MDT0000.job_stats=\n- job_id: x\n"),
        (300, "- job_id: y\nmdt.b-M"),
        (
            400,
            "DT0000.job_stats=\nmdt.c-MDT0000.job_cleanup_interval=9\n",
        ),
    ]);
    let times: Vec<_> = reading.index.texts.iter().map(|text| text.time).collect();
    assert_eq!(
        times,
        [started + ms(200), started + ms(300), started + ms(400)]
    );
}

#[test]
fn durations_add_up_to_the_time_of_the_last_byte() {
    let (_, reading) = record(&[
        (100, "mdt.a-MDT0000.job_stats=\n- job_id: x\n"),
        (250, "- job_id: y\n"),
        (1250, "mdt.b-MDT0000.job_stats=\n- job_id: x\n"),
        (1300, "- job_id: y\n"),
    ]);
    let durations: Vec<_> = reading
        .index
        .texts
        .iter()
        .map(|text| text.duration)
        .collect();
    assert_eq!(durations, [Some(ms(250)), Some(ms(1050))]);
}

#[test]
fn a_reading_made_elsewhere_has_its_time_and_no_duration() {
    let (_, mut reading) = record(&[(5, "mdt.a-MDT0000.job_stats=\nmdt.b-MDT0000.job_stats=\n")]);
    let then: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    reading.made_at(then);
    assert!(
        reading
            .index
            .texts
            .iter()
            .all(|text| text.time == then && text.duration.is_none())
    );
}

#[test]
fn long_text_of_other_parameters_is_divided_between_parameters() {
    let value = |name: &str| {
        let lines = "- id:      1000\n  usage:   { inodes:  1, kbytes:  2 }\n".repeat(350_000);
        format!("osd-zfs.fs-OST0000.quota_slave.{name}=\nusr_accounting:\n{lines}")
    };
    let names = ["acct_user", "acct_group", "acct_project"];
    let others: String = names.map(value).concat();
    let targets = "mdt.a-MDT0000.job_stats=\n- job_id: x\n";
    let mut recorder = Recorder::of(&ServerName::default(), LCTL, u64::MAX);
    for (at, piece) in (others + targets).as_bytes().chunks(50_000).enumerate() {
        recorder.push(piece, ms(at as u64)).unwrap();
    }
    let reading = recorder.finish().unwrap();
    let bodies = bodies(&reading);
    assert_eq!(bodies[0], (Some("mdt.a-MDT0000"), targets.to_owned()));
    let expected = names.map(|name| (None, value(name)));
    assert!(expected[0].1.len() as u64 > MOST_TOGETHER);
    assert!(bodies[1..] == expected);
    let times: Vec<_> = reading.index.texts[1..]
        .iter()
        .map(|text| text.time)
        .collect();
    assert!(times.is_sorted() && times[0] < times[2]);
    assert_eq!(reading.targets(), 1);
}

/// Returns lines as parameters other than `job_stats` have them.
fn other_parameters() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "(mdt|obdfilter|osd-zfs)\\.fs-[A-Z]{3}[0-9a-f]{4}\\.(md_stats|stats|filesfree)=[0-9]{0,3}\n",
        "[a-z_]{1,12} {1,20}[0-9]{1,9} samples \\[(reqs|usecs)\\]\n",
        "error: get_param: [a-z/]{1,20}\n",
    ];
    proptest::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn other_parameters_in_front_change_no_text_of_a_target(
        others in other_parameters(),
        entries in proptest::collection::vec(0_usize..3, 1..4),
        size in 1_usize..200,
    ) {
        let of_target = |(target, entries): (usize, &usize)| {
            let lines = "- job_id:          a.1000\n".repeat(*entries);
            format!("obdfilter.fs-OST{target:04x}.job_stats=\njob_stats:\n{lines}")
        };
        let targets: String = entries.iter().enumerate().map(of_target).collect();
        let read = |text: &str| {
            let mut recorder = Recorder::of(&ServerName::default(), LCTL, u64::MAX);
            for piece in text.as_bytes().chunks(size) {
                recorder.push(piece, Duration::ZERO).unwrap();
            }
            recorder.finish().unwrap()
        };
        let (alone, beside) = (read(&targets), read(&format!("{others}{targets}")));
        prop_assert!(alone.whole && beside.whole);
        let expected = bodies(&alone);
        let beside = bodies(&beside);
        prop_assert_eq!(&beside[..expected.len()], expected);
        let rest = beside[entries.len()..].iter().map(|(name, text)| (name.is_none(), text.as_str()));
        let expected = (!others.is_empty()).then_some((true, others.as_str()));
        prop_assert_eq!(rest.collect::<Vec<_>>(), Vec::from_iter(expected));
    }
}
