use super::*;

/// A generous time limit for commands that end at once. `sleep` takes longer here.
const LIMIT: Duration = Duration::from_secs(600);

fn failure(command: &str) -> String {
    run(command, LIMIT, 1 << 20).unwrap_err().to_string()
}

#[test]
fn a_command_prints_text_that_has_its_time() {
    let before = Timestamp::now().as_microsecond();
    // A pipe does not hold the zeros, so the first of them are read before the command goes on.
    let command = "head -c 200000 /dev/zero; sleep 0.05; printf 'c\\n'";
    let printed = run(command, LIMIT, 1 << 20).unwrap();
    assert_eq!(printed.text, [vec![0; 200_000], b"c\n".to_vec()].concat());
    let [first, last] = [printed.arrivals.first(), printed.arrivals.last()].map(Option::unwrap);
    assert!(first.from == 0 && first.at >= before && last.at >= first.at + 40_000);
    assert!(last.from > 0 && printed.arrivals.is_sorted_by_key(|arrival| arrival.from));
}

#[test]
fn a_command_that_hangs_is_killed_with_its_children() {
    let error = run("sleep 86400 | cat", Duration::from_millis(200), 1 << 20).unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)));
    assert_eq!(error.to_string(), "no answer within 200ms");
}

#[test]
fn what_a_command_leaves_behind_is_not_waited_for() {
    let printed = run("sleep 1200 >/dev/null & echo x", LIMIT, 1 << 20).unwrap();
    assert_eq!(printed.text, b"x\n");
}

#[test]
fn a_command_that_fails_says_why() {
    assert_eq!(
        failure("echo 'ssh: no\u{1b}[31m route' >&2; exit 255"),
        "ssh: no\\x1B[31m route (exit code 255)"
    );
    assert_eq!(failure("exit 3"), "exit code 3");
    assert_eq!(failure("kill -9 $$"), "signal 9");
    assert_eq!(
        failure("yes"),
        "the command printed more than 1048576 bytes"
    );
}

#[test]
fn a_pattern_that_matches_nothing_is_no_failure() {
    let no_match = "echo \"error: get_param: param_path 'mdt/*/job_stats': No such file or directory\" >&2; exit 2";
    assert!(run(&format!("echo x; {no_match}"), LIMIT, 99).is_ok());
    assert!(run(no_match, LIMIT, 99).is_err());
    assert!(run(&format!("echo x; echo other >&2; {no_match}"), LIMIT, 99).is_err());
}

#[test]
fn a_text_that_begins_with_the_time_has_the_clock_of_the_server() {
    let printed = run("echo 1700000000.25; echo x", LIMIT, 99).unwrap();
    assert_eq!(printed.text, b"x\n");
    assert_eq!(
        printed.arrivals[0],
        Arrival {
            from: 0,
            at: 1_700_000_000_250_000
        }
    );
    assert_eq!(time(b"1700000000"), Some(1_700_000_000_000_000));
    for other in ["17", "1700000000.", "1700000000.x", "-1700000000", "", "x"] {
        assert_eq!(time(other.as_bytes()), None, "{other}");
    }
}
