use super::*;

const MINUTE: Duration = Duration::from_secs(60);

const TENTH: Pace = Pace { percent: 10 };

fn after(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + seconds).unwrap()
}

#[test]
fn a_reading_takes_at_most_a_tenth_of_its_interval() {
    for (seconds, intervals) in [
        (0.0, 1),
        (1.0, 1),
        (6.0, 1),
        (6.01, 2),
        (12.0, 2),
        (12.01, 3),
        (60.0, 10),
    ] {
        let took = Duration::from_secs_f64(seconds);
        assert_eq!(TENTH.stretch(took, MINUTE), intervals, "{seconds}");
    }
    assert_eq!(
        TENTH.stretch(Duration::from_secs(1), Duration::from_secs(1)),
        1
    );
    assert_eq!(TENTH.stretch(Duration::MAX, Duration::ZERO), u32::MAX);
    let all = Pace { percent: 100 };
    assert_eq!(all.stretch(MINUTE, MINUTE), 1);
    assert_eq!(all.stretch(MINUTE * 2, MINUTE), 2);
}

#[test]
fn once_pauses_after_a_long_reading_only() {
    let last = |seconds| Last {
        began: after(0),
        took: Duration::from_secs(seconds),
    };
    assert_eq!(TENTH.pauses_until(last(6), after(7)), None);
    assert_eq!(TENTH.pauses_until(last(15), after(120)), Some(after(150)));
    assert_eq!(TENTH.pauses_until(last(15), after(150)), None);
    let all = Pace { percent: 100 };
    assert_eq!(all.pauses_until(last(15), after(15)), None);
    // The clock was set back.
    assert_eq!(TENTH.pauses_until(last(15), after(-1)), None);
    assert_eq!(TENTH.pauses_until(last(u64::MAX), after(1)), None);
}

#[test]
fn the_lock_file_keeps_the_last_reading() {
    let directory = tempfile::TempDir::new().unwrap();
    let lock = Lock::take(&directory.path().join("lock")).unwrap();
    assert_eq!(Last::load(&lock).unwrap(), None);
    for seconds in [123_456, 7] {
        let last = Last {
            began: after(seconds),
            took: Duration::from_secs(seconds.unsigned_abs()),
        };
        last.save(&lock).unwrap();
        assert_eq!(Last::load(&lock).unwrap(), Some(last));
    }
    for text in ["", "x y", "1", "1 -1"] {
        lock.set_line(LINE, text).unwrap();
        assert_eq!(Last::load(&lock).unwrap(), None, "{text}");
    }
}
