use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::spool::{Data, SpoolFile};

const DAY: Duration = Duration::from_secs(86400);
const NO_LIMITS: Limits = Limits {
    bytes: u64::MAX,
    age: Duration::MAX,
};

fn spool() -> (TempDir, Directory) {
    let directory = TempDir::new().unwrap();
    let spool = Directory::open(&directory.path().join("spool")).unwrap();
    (directory, spool)
}

fn put(spool: &Directory, source: &str, data: &[u8]) -> u64 {
    let index = Index {
        sequence: 0,
        source: source.to_owned(),
        covers: None,
        cluster: String::new(),
        server: "mds1".to_owned(),
        texts: Vec::new(),
        data: Data {
            bytes: data.len() as u64,
            checksum: xxh3_64(data),
        },
    };
    spool.put(index, &mut &data[..]).unwrap()
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.sequence).collect()
}

#[test]
fn readings_are_listed_in_the_order_in_which_they_were_put() {
    let (_directory, spool) = spool();
    assert!(spool.waiting().unwrap().is_empty());
    for number in 1..=12 {
        assert_eq!(
            put(&spool, ["lctl", "passwd"][number as usize % 2], b"text"),
            number
        );
    }
    let waiting = spool.waiting().unwrap();
    assert_eq!(numbers(&waiting), (1..=12).collect::<Vec<_>>());
    assert_eq!(waiting[0].source, "passwd");
    assert!(waiting[0].path.ends_with("0000000000000001.passwd.zst"));
    assert_eq!(
        SpoolFile::open(&waiting[11].path).unwrap().index.sequence,
        12
    );
}

#[test]
fn clocks_do_not_order_readings() {
    let (_directory, spool) = spool();
    put(&spool, "lctl", b"first");
    let first = File::open(&spool.waiting().unwrap()[0].path).unwrap();
    first.set_modified(SystemTime::now() + DAY).unwrap();
    put(&spool, "lctl", b"second");
    assert_eq!(numbers(&spool.waiting().unwrap()), [1, 2]);
}

#[test]
fn a_number_is_never_given_twice() {
    let (_directory, spool) = spool();
    put(&spool, "lctl", b"1");
    spool.remove(&spool.waiting().unwrap()[0]).unwrap();
    assert_eq!(put(&spool, "lctl", b"2"), 2);
    // A crash may leave an old counter, or half of one.
    fs::write(spool.path().join(COUNTER), "").unwrap();
    assert_eq!(put(&spool, "lctl", b"3"), 3);
    for entry in spool.waiting().unwrap() {
        spool.set_aside(&entry).unwrap();
    }
    fs::write(spool.path().join(COUNTER), "1").unwrap();
    assert_eq!(put(&spool, "lctl", b"4"), 4);
}

#[test]
fn a_link_in_the_place_of_the_counter_is_not_followed() {
    let (directory, spool) = spool();
    let target = directory.path().join("target");
    fs::write(&target, "text").unwrap();
    std::os::unix::fs::symlink(&target, spool.path().join(COUNTER)).unwrap();
    assert!(spool.next_sequence().is_err());
    assert_eq!(fs::read_to_string(&target).unwrap(), "text");
}

#[test]
fn two_writers_give_two_numbers() {
    let (_directory, spool) = spool();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10).for_each(|_| assert!(put(&spool, "lctl", b"text") > 0)));
        }
    });
    assert_eq!(
        numbers(&spool.waiting().unwrap()),
        (1..=40).collect::<Vec<_>>()
    );
}

#[test]
fn only_the_owner_may_read_it() {
    let (_directory, spool) = spool();
    put(&spool, "lctl", b"text");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(spool.path()), 0o700);
    assert_eq!(mode(&spool.waiting().unwrap()[0].path), 0o600);
}

#[test]
fn a_directory_that_others_can_write_is_not_opened() {
    let (_directory, spool) = spool();
    let open_with = |mode| {
        fs::set_permissions(spool.path(), fs::Permissions::from_mode(mode)).unwrap();
        Directory::open(spool.path()).is_ok()
    };
    assert_eq!(
        [0o700, 0o755, 0o770, 0o1777].map(open_with),
        [true, true, false, false]
    );
}

#[test]
fn leftovers_of_a_crash_go_and_files_of_others_stay() {
    let (_directory, spool) = spool();
    let (old, new, other) = (
        spool.path().join(".new-old"),
        spool.path().join(".new-new"),
        spool.path().join("README"),
    );
    for path in [&old, &new, &other] {
        fs::write(path, "").unwrap();
        let written = SystemTime::now() - if path == &new { Duration::ZERO } else { DAY };
        File::open(path).unwrap().set_modified(written).unwrap();
    }
    Directory::open(spool.path()).unwrap();
    assert_eq!(
        [&old, &new, &other].map(|path| path.exists()),
        [false, true, true]
    );
    assert!(spool.waiting().unwrap().is_empty());
}

#[test]
fn a_reading_that_cannot_be_written_leaves_nothing() {
    let (_directory, spool) = spool();
    let index = |source: &str| Index {
        sequence: 0,
        source: source.to_owned(),
        covers: None,
        cluster: String::new(),
        server: String::new(),
        texts: Vec::new(),
        data: Data {
            bytes: 9,
            checksum: 0,
        },
    };
    assert!(spool.put(index("lctl"), &mut &b"short"[..]).is_err());
    assert!(matches!(
        spool.put(index("../x"), &mut &b"123456789"[..]),
        Err(SpoolError::Source(_))
    ));
    let left: Vec<_> = fs::read_dir(spool.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(
        left.iter().all(|name| [REJECTED, COUNTER, "losses"]
            .iter()
            .any(|kept| name == kept)),
        "{left:?}"
    );
}

#[test]
fn files_are_set_aside_and_removed_once() {
    let (_directory, spool) = spool();
    (0..3).for_each(|_| assert!(put(&spool, "lctl", b"text") > 0));
    let waiting = spool.waiting().unwrap();
    spool.set_aside(&waiting[0]).unwrap();
    spool.set_aside_damaged(&waiting[1]).unwrap();
    spool.remove(&waiting[2]).unwrap();
    spool.remove(&waiting[2]).unwrap();
    spool.set_aside(&waiting[2]).unwrap();
    assert!(spool.waiting().unwrap().is_empty());
    let rejected = spool.rejected().unwrap();
    assert_eq!(numbers(&rejected), [1, 2]);
    assert!(
        rejected[1]
            .path
            .ends_with("rejected/0000000000000002.lctl.zst.damaged")
    );
    // A reading that was set aside by mistake comes back with its number, and a damaged one does not.
    let requeued: Vec<_> = rejected
        .iter()
        .map(|entry| spool.requeue(entry).unwrap())
        .collect();
    assert_eq!(requeued, [true, false]);
    assert!(!spool.requeue(&rejected[0]).unwrap());
    assert_eq!(numbers(&spool.waiting().unwrap()), [1]);
    assert_eq!(numbers(&spool.rejected().unwrap()), [2]);
}

#[test]
fn the_size_limit_drops_what_was_set_aside_and_then_the_oldest() {
    let (_directory, spool) = spool();
    (0..6).for_each(|_| assert!(put(&spool, "lctl", &[0; 1000]) > 0));
    spool.set_aside(&spool.waiting().unwrap()[5]).unwrap();
    let bytes = spool.waiting().unwrap()[0].bytes;
    assert_eq!(
        spool.enforce(NO_LIMITS, SystemTime::now()).unwrap(),
        DroppedCounts::default()
    );
    let limits = Limits {
        bytes: bytes * 3,
        ..NO_LIMITS
    };
    let dropped = spool.enforce(limits, SystemTime::now()).unwrap();
    assert_eq!(
        dropped,
        DroppedCounts {
            waiting: 2,
            rejected: 1
        }
    );
    assert_eq!(numbers(&spool.waiting().unwrap()), [3, 4, 5]);
    assert!(spool.rejected().unwrap().is_empty());
}

#[test]
fn the_age_limit_drops_old_files_and_none_of_the_future() {
    let (_directory, spool) = spool();
    (0..4).for_each(|_| assert!(put(&spool, "lctl", b"text") > 0));
    let now = SystemTime::now();
    write_at(
        &spool,
        &[now - 3 * DAY, now - 2 * DAY, now + DAY, now - DAY],
    );
    let limits = Limits {
        age: 2 * DAY,
        ..NO_LIMITS
    };
    let dropped = spool.enforce(limits, now).unwrap();
    assert_eq!(
        dropped,
        DroppedCounts {
            waiting: 1,
            rejected: 0
        }
    );
    assert_eq!(numbers(&spool.waiting().unwrap()), [2, 3, 4]);
}

/// Sets the times of the files that wait.
fn write_at(spool: &Directory, times: &[SystemTime]) {
    for (entry, time) in spool.waiting().unwrap().iter().zip(times) {
        let file = File::open(&entry.path).unwrap();
        file.set_modified(*time).unwrap();
    }
}

#[test]
fn a_clock_that_is_stepped_ahead_drops_nothing() {
    let (_directory, spool) = spool();
    (0..3).for_each(|_| assert!(put(&spool, "lctl", b"text") > 0));
    let (now, step) = (SystemTime::now(), 3000 * DAY);
    write_at(&spool, &[now, now + step, now + step]);
    let limits = Limits {
        age: 30 * DAY,
        ..NO_LIMITS
    };
    for later in [step, step + DAY / 2] {
        let dropped = spool.enforce(limits, now + later).unwrap();
        assert_eq!(dropped, DroppedCounts::default());
    }
}
