use tempfile::TempDir;

use super::*;

/// The lead of the wall clock over the steady one, in seconds, if no step happens.
const WALL: i64 = 1_769_860_800;

/// Reads every two minutes from a day after boot on, with a clock that is ahead by these numbers of seconds. Returns by how
/// much the time of each reading is ahead.
fn ahead(errors: impl IntoIterator<Item = i64>) -> Vec<i64> {
    ahead_from(24 * 3600, errors)
}

fn ahead_from(start: i64, errors: impl IntoIterator<Item = i64>) -> Vec<i64> {
    times(start, errors, i64::MAX)
}

/// Returns the same where the database rejects readings that are ahead by more than `limit`.
fn times(start: i64, errors: impl IntoIterator<Item = i64>, limit: i64) -> Vec<i64> {
    let mut before = None;
    let mut rejected = false;
    let mut all = Vec::new();
    for (reading, error) in errors.into_iter().enumerate() {
        let up = start + 120 * reading as i64;
        let now = clocks("boot", up, WALL + up + error);
        let forget = || std::mem::take(&mut rejected);
        let (correction, clocks) = judge(before.as_ref(), now, forget);
        let ahead = error + correction.as_secs();
        rejected |= ahead > limit;
        all.push(ahead);
        before = Some(clocks);
    }
    all
}

fn clocks(boot: &str, up: i64, time: i64) -> Clocks {
    Clocks {
        boot: boot.to_owned(),
        up: SignedDuration::from_secs(up),
        time: Timestamp::from_second(time).unwrap(),
        stepped: None,
    }
}

#[test]
fn a_clock_that_is_wrong_for_three_readings_changes_no_time() {
    for error in [3600, -3600, 200, 5 * 365 * 86400] {
        assert_eq!(ahead([0, 0, error, error, error, 0, 0]), [0; 7]);
    }
}

#[test]
fn a_step_counts_after_an_hour() {
    let errors = std::iter::once(0).chain(std::iter::repeat_n(500, 40));
    let times = ahead(errors);
    // The first of these readings is the one before the step.
    assert_eq!(times[..31], [0; 31]);
    assert_eq!(times[31..], [500; 10]);
}

#[test]
fn the_right_time_counts_at_once_where_the_wrong_one_was_rejected() {
    let wrong_for_long = || [[0; 1].as_slice(), &[500; 40], &[0; 10]].concat();
    let set_right = |limit| times(24 * 3600, wrong_for_long(), limit)[41..].to_vec();
    assert_eq!(set_right(300), [0; 10]);
    // A database that takes them gets no two readings of one time.
    assert_eq!(set_right(1000), [500; 10]);
}

#[test]
fn the_first_reading_that_is_rejected_is_noted_where_the_clock_is_followed() {
    let directory = TempDir::new().unwrap();
    let path = directory.path();
    note_rejected(path, 7);
    assert_eq!(rejected_since(path), None);
    correction(path);
    note_rejected(path, 8);
    note_rejected(path, 9);
    assert_eq!(rejected_since(path), Some(8));
    assert!(forget_rejected(path));
    assert!(!forget_rejected(path));
}

#[test]
fn a_step_after_boot_counts_at_once() {
    assert_eq!(ahead_from(60, [-900, -900, 0, 0]), [-900, -900, 0, 0]);
}

#[test]
fn a_clock_that_is_slewed_is_followed() {
    assert_eq!(ahead([0, 9, 18, 27, 20]), [0, 9, 18, 27, 20]);
}

#[test]
fn another_boot_says_nothing_about_this_one() {
    let before = clocks("one", 100_000, WALL);
    let now = clocks("two", 100_120, WALL + 86400);
    assert_eq!(
        judge(Some(&before), now.clone(), || true),
        (SignedDuration::ZERO, now)
    );
}

#[test]
fn clocks_are_kept_from_reading_to_reading() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(FILE);
    assert_eq!(correction(directory.path()), SignedDuration::ZERO);
    let size = fs::metadata(&path).unwrap().len();
    let parse = || Clocks::parse(&fs::read_to_string(&path).unwrap()).unwrap();
    let mut kept = parse();
    // As if the clock had been an hour behind until now.
    kept.time -= SignedDuration::from_hours(1);
    kept.write(&path).unwrap();
    let minutes = correction(directory.path()).as_secs_f64() / 60.0;
    let expected = if parse().up < SETTLING { 0 } else { -60 };
    assert_eq!(minutes.round() as i64, expected);
    assert_eq!(fs::metadata(&path).unwrap().len(), size);
}

#[test]
fn a_link_in_the_place_of_the_file_is_not_followed() {
    let directory = TempDir::new().unwrap();
    let target = directory.path().join("target");
    fs::write(&target, "text").unwrap();
    std::os::unix::fs::symlink(&target, directory.path().join(FILE)).unwrap();
    assert_eq!(correction(directory.path()), SignedDuration::ZERO);
    assert_eq!(fs::read_to_string(&target).unwrap(), "text");
}

#[test]
fn a_directory_that_is_gone_leaves_the_wall_clock() {
    assert_eq!(correction(Path::new("/nowhere")), SignedDuration::ZERO);
}
