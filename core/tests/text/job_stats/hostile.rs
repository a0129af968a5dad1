//! Artificial texts: they take time and memory in proportion to their size. With time that grows with the square of the
//! size, these tests would run for many minutes.

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::{Contents, read};
use jobstats_core::text::job_stats::Problem;

const SIZE: usize = 1 << 19;

fn text(begin: &str, number: impl Fn(usize) -> String) -> String {
    let mut text = begin.to_owned();
    for n in 0.. {
        text += &number(n);
        if text.len() >= SIZE {
            break;
        }
    }
    text
}

fn problems(reading: &Contents<'_>) -> usize {
    reading.problems.len()
        + reading
            .snapshots
            .iter()
            .map(|snapshot| snapshot.problems.len())
            .sum::<usize>()
}

fn check(text: &str) {
    let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
    let most = text.len() / size_of::<Problem<'_>>() + 1_000;
    assert!(problems(&reading) <= most);
}

#[test]
fn one_piece_again_and_again() {
    for piece in [
        "=",
        "{",
        "}",
        ":",
        "\n",
        "x\n",
        "a=",
        "a=\n",
        "mdt.",
        "mdt.a-MDT0000.",
        "xmdt.a-MDT0000.job_stats=",
        "mdt.a-MDT0000.job_stats=\n",
        "mdt.a-MDT0000.job_stats=- job_id: a\n",
        "mdt.a-MDT0000.job_cleanup_interval=\n",
        "error: ",
        "error: get_param: mdt.a-MDT0000.job_stats\n",
        "x error: get_param: mdt/a-MDT0000/job_stats\n",
        "job_stats",
        "/job_stats",
        "job_stats:\n",
        "- job_id: a\n",
        "- job_id: a\n  sync: { samples: 1, unit: reqs }\n",
        "  sync: { samples: 1, unit: reqs }\n",
        "  sync: {\n",
        "\u{1b}[1m",
        "\\x41",
    ] {
        check(&text("", |_| piece.to_owned()));
        check(&text(
            "job_stats:\n- job_id: a\n  sync: { samples: 1, ",
            |_| piece.to_owned(),
        ));
    }
}

#[test]
fn always_another() {
    check(&text("", |n| format!("mdt.a{n}-MDT0000.job_stats=\n")));
    check(&text("", |n| {
        format!("error: get_param: mdt.a{n}-MDT0000.job_stats\n")
    }));
    check(&text("", |n| {
        format!("- job_id: {n}\n  sync: {{ samples: {n}, unit: reqs }}\n")
    }));
    check(&text("", |n| {
        format!("- job_id: a\n  sync: {{ samples: {n}, unit: reqs }}\n")
    }));
    check(&text("", |n| {
        format!("- job_id: a\n  start_time: {n}\n  sync: {{ samples: {n}, unit: reqs }}\n")
    }));
    check(&text("- job_id: a\n", |n| {
        format!("  op_{n}: {{ samples: {n}, unit: reqs }}\n")
    }));
    check(&text("", |n| {
        format!("- job_id: a\n  op_{n}: {{ samples: {n}, unit: reqs }}\n")
    }));
}

#[test]
fn problems_that_are_not_kept_are_counted() {
    let text = text("", |_| "x\n".to_owned());
    let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
    assert_eq!(
        problems(&reading) as u64 + reading.problems_dropped,
        text.lines().count() as u64
    );
    assert!(reading.problems_dropped > 0);
}

#[test]
fn what_is_found_of_a_target_does_not_depend_on_the_others_of_its_text() {
    let target = |name: &str| {
        let junk = "  punch: { samples: x }\n".repeat(2_000);
        let twice = "- job_id: b\n  punch: { samples: 1, unit: reqs }\n\
                     - job_id: b\n  punch: { samples: 2, unit: reqs }\n";
        format!("obdfilter.{name}.job_stats=\njob_stats:\n- job_id: a\n{junk}{twice}")
    };
    let text = target("fs-OST0000") + &target("fs-OST0001");
    let reading = read(text.as_bytes(), Pause::NEVER).unwrap();
    assert!(reading.problems_dropped > 0);
    for snapshot in &reading.snapshots {
        let lines: Vec<u8> = snapshot.lines(text.as_bytes()).flatten().copied().collect();
        let alone = read(&lines, Pause::NEVER).unwrap();
        assert_eq!(snapshot.problems_found, alone.snapshots[0].problems_found);
        assert_eq!(snapshot.problems_found, 2_001);
        assert!(snapshot.has_duplicates);
    }
}
