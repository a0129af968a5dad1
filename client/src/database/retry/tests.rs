use super::*;

/// Runs an action that fails with these errors, one after the other, before it succeeds. Returns the result and the
/// number of attempts. Errors that end with `!` are lasting.
fn run(errors: &[&'static str]) -> (Result<(), &'static str>, usize) {
    run_with(|_| (), errors)
}

/// Does that with this in place of pauses.
fn run_with(
    sleep: impl FnMut(Duration),
    errors: &[&'static str],
) -> (Result<(), &'static str>, usize) {
    let mut attempts = 0;
    let result = retry_with(
        sleep,
        |error: &&str| !error.ends_with('!'),
        || {
            attempts += 1;
            errors.get(attempts - 1).map_or(Ok(()), |error| Err(*error))
        },
    );
    (result, attempts)
}

#[test]
fn a_passing_error_is_retried_until_the_action_succeeds() {
    assert_eq!(run(&[]), (Ok(()), 1));
    assert_eq!(run(&["a", "b", "c", "d"]), (Ok(()), 5));
}

#[test]
fn the_last_error_is_returned_when_the_attempts_are_used_up() {
    assert_eq!(run(&["a", "b", "c", "d", "e", "f"]), (Err("e"), 5));
}

#[test]
fn a_lasting_error_ends_the_attempts() {
    assert_eq!(run(&["a", "b!", "c"]), (Err("b!"), 2));
}

#[test]
fn pauses_double() {
    let mut pauses = Vec::new();
    let pause = |pause: Duration| pauses.push(pause.as_millis());
    assert_eq!(run_with(pause, &["a", "b", "c", "d", "e"]), (Err("e"), 5));
    assert_eq!(pauses, [100, 200, 400, 800]);
}

#[test]
fn limits_of_pauses_double_up_to_the_cap() {
    let longest = |failures| pause(failures, 1.0, Duration::ZERO);
    let limits: Vec<_> = (1..=8)
        .map(|failures| longest(failures).as_secs())
        .collect();
    assert_eq!(limits, [1, 2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(longest(u32::MAX), CAP);
}

#[test]
fn a_pause_is_any_part_of_its_limit() {
    let pauses = [0.0, 0.25, 1.0, 7.0].map(|part| pause(3, part, Duration::ZERO).as_millis());
    assert_eq!(pauses, [0, 1000, 4000, 4000]);
}

#[test]
fn a_pause_that_was_asked_for_is_kept_up_to_the_cap() {
    let seconds = Duration::from_secs;
    assert_eq!(pause(1, 1.0, Duration::ZERO), seconds(1));
    assert_eq!(pause(1, 1.0, seconds(30)), seconds(30));
    assert_eq!(pause(6, 1.0, seconds(30)), seconds(32));
    assert_eq!(pause(1, 0.0, seconds(86_400)), seconds(60));
}
