use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jobstats_client::spool::{Limits, SpoolFile};
use tempfile::TempDir;

use super::*;
use crate::frame::ServerName;
use crate::read::parameters::Parameters;
use crate::read::sources::Way;
use crate::state::StateFile;

/// A file that is followed, in a directory with a spool.
struct Log {
    directory: TempDir,
    path: PathBuf,
    source: Source,
    spool: Spool,
    /// The time of the file that was written last.
    time: Cell<SystemTime>,
}

fn spool(directory: &TempDir, limits: Limits) -> Spool {
    let [spool, state, spare] = ["spool", "state", "spare"].map(|name| directory.path().join(name));
    Spool::open(spool, limits, StateFile { path: state }, spare).unwrap()
}

impl Log {
    fn of(name: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let limits = Limits {
            bytes: u64::MAX,
            age: Duration::from_secs(3600),
        };
        Self {
            path: directory.path().join(name),
            source: Source {
                server_name: ServerName::default(),
                name: "lsf".to_owned(),
                source: "lsf".to_owned(),
                way: Way::Follow(directory.path().join(name)),
                interval: Duration::ZERO,
                timeout: Duration::ZERO,
                most: u64::MAX,
                parameters: Parameters::default(),
            },
            spool: spool(&directory, limits),
            directory,
            time: Cell::new(SystemTime::UNIX_EPOCH),
        }
    }

    fn new() -> Self {
        Self::of("acct")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn append(&self, name: &str, text: &str) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path(name))
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
        // Rotated files differ in their times.
        self.time.set(self.time.get() + Duration::from_secs(1));
        file.set_modified(self.time.get()).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Reads, and returns the texts that came into the spool.
    fn ship(&self) -> Vec<String> {
        ship(&self.source, &self.path, &self.spool).unwrap();
        let waiting = self.spool.waiting().unwrap();
        let texts = waiting.iter().map(|entry| {
            let file = SpoolFile::open(&entry.path).unwrap();
            assert_eq!(file.index.source, "lsf");
            let packed = file.packed(&file.index.texts[0]).unwrap();
            fs::remove_file(&entry.path).unwrap();
            String::from_utf8(zstd::stream::decode_all(packed.as_slice()).unwrap()).unwrap()
        });
        texts.collect()
    }
}

#[test]
fn whole_lines_that_were_appended_are_read_once() {
    let log = Log::new();
    log.append("acct", "a\nb\nhalf");
    assert_eq!(log.ship(), ["a\nb\n"]);
    assert!(log.ship().is_empty());
    log.append("acct", " a line\nc\n");
    assert_eq!(log.ship(), ["half a line\nc\n"]);
    assert!(log.ship().is_empty());
}

#[test]
fn a_file_that_was_renamed_is_read_to_its_end_first() {
    let log = Log::new();
    log.append("acct", "a\n");
    assert_eq!(log.ship(), ["a\n"]);
    log.append("acct", "b\n");
    log.rename("acct", "acct.1");
    assert_eq!(log.ship(), ["b\n"]);
    // Its writer may still have it open.
    log.append("acct.1", "c\nd");
    log.append("acct", "");
    assert_eq!(log.ship(), ["c\n"]);
    log.append("acct", "e\n");
    assert_eq!(log.ship(), ["d", "e\n"]);
    assert!(log.ship().is_empty());
}

#[test]
fn several_rotations_between_two_readings_lose_nothing() {
    let log = Log::new();
    log.append("acct", "a\n");
    assert_eq!(log.ship(), ["a\n"]);
    log.append("acct", "b\n");
    log.rename("acct", "acct-20260131");
    log.append("acct", "c\n");
    log.rename("acct", "acct-20260201");
    log.append("acct", "d\n");
    // Ignores other files in the directory.
    log.append("acct.old", "x\n");
    log.append("accounting", "x\n");
    assert_eq!(log.ship(), ["b\n", "c\n", "d\n"]);
    log.append("acct", "e\n");
    assert_eq!(log.ship(), ["e\n"]);
}

#[test]
fn a_file_that_was_copied_and_truncated_is_read_to_its_end_first() {
    let log = Log::new();
    log.append("acct", "a\nb\n");
    assert_eq!(log.ship(), ["a\nb\n"]);
    log.append("acct", "c\n");
    fs::copy(log.path("acct"), log.path("acct.1")).unwrap();
    fs::write(log.path("acct"), "").unwrap();
    // It is longer than before when it is read again.
    log.append("acct", "d\nand more than there was\n");
    assert_eq!(log.ship(), ["c\n", "d\nand more than there was\n"]);
}

#[test]
fn a_file_that_was_truncated_is_read_from_its_beginning() {
    let log = Log::new();
    log.append("acct", "a\nb\n");
    assert_eq!(log.ship(), ["a\nb\n"]);
    fs::write(log.path("acct"), "").unwrap();
    assert!(log.ship().is_empty());
    let position = fs::read_to_string(log.path("spool/lsf.position")).unwrap();
    assert!(position.contains("\"offset\":0"), "{position}");
    log.append("acct", "c\n");
    assert_eq!(log.ship(), ["c\n"]);
    log.append("acct", "d\n");
    assert_eq!(log.ship(), ["d\n"]);
}

#[test]
fn days_are_read_one_after_the_other() {
    let log = Log::of("accounting");
    fs::create_dir(log.path("accounting")).unwrap();
    log.append("accounting/20260129", "long ago\n");
    log.append("accounting/20260131", "a\n");
    log.append("accounting/notes", "x\n");
    assert_eq!(log.ship(), ["a\n"]);
    log.append("accounting/20260131", "b\n");
    log.append("accounting/20260201", "c\n");
    log.append("accounting/20260203", "d\n");
    assert_eq!(log.ship(), ["b\n", "c\n", "d\n"]);
    log.append("accounting/20260203", "e\n");
    assert_eq!(log.ship(), ["e\n"]);
}

#[test]
fn a_position_that_a_crash_left_behind_repeats_lines_and_loses_none() {
    let log = Log::new();
    log.append("acct", "a\n");
    assert_eq!(log.ship(), ["a\n"]);
    let place = log.path("spool/lsf.position");
    let position = fs::read(&place).unwrap();
    log.append("acct", "b\n");
    assert_eq!(log.ship(), ["b\n"]);
    fs::write(&place, position).unwrap();
    log.append("acct", "c\n");
    assert_eq!(log.ship(), ["b\nc\n"]);
}

#[test]
fn a_damaged_position_repeats_lines_and_stops_nothing() {
    let log = Log::new();
    log.append("acct", "a\n");
    assert_eq!(log.ship(), ["a\n"]);
    for damage in ["", "{\"file\":\"acct\",\"off", "\0\0\0\0"] {
        fs::write(log.path("spool/lsf.position"), damage).unwrap();
        assert_eq!(log.ship(), ["a\n"]);
        assert!(log.ship().is_empty());
    }
    log.append("acct", "b\n");
    assert_eq!(log.ship(), ["b\n"]);
}

#[test]
fn a_spool_without_room_moves_no_position() {
    let mut log = Log::new();
    log.append("acct", "a\n");
    let roomy = log.spool.clone();
    let none = Limits {
        bytes: 1,
        age: Duration::from_secs(3600),
    };
    log.spool = spool(&log.directory, none);
    assert!(matches!(
        ship(&log.source, &log.path, &log.spool),
        Err(ReadError::Spool(_))
    ));
    log.spool = roomy;
    assert_eq!(log.ship(), ["a\n"]);
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let log = Log::new();
    let error = ship(&log.source, &log.path, &log.spool).unwrap_err();
    assert!(error.to_string().contains("/acct: "), "{error}");
    fs::create_dir(log.path("acct")).unwrap();
    let error = ship(&log.source, &log.path, &log.spool).unwrap_err();
    assert!(error.to_string().contains("20260131"), "{error}");
}

#[test]
fn a_large_file_is_read_in_parts_at_ends_of_lines() {
    let log = Log::new();
    let file = File::create(log.path("acct")).unwrap();
    let mut at = 0;
    // Holes read as zeros, which compress well.
    for line in [MOST_TEXT - 10, 20, MOST_TEXT / 2, MOST_TEXT / 2 - 100, 300] {
        at += line;
        file.write_all_at(b"\n", at - 1).unwrap();
    }
    let lengths: Vec<_> = log.ship().iter().map(|text| text.len() as u64).collect();
    assert_eq!(lengths, [MOST_TEXT - 10, MOST_TEXT - 80, 300]);
}

#[test]
fn a_line_that_is_longer_than_a_reading_is_cut() {
    let log = Log::new();
    let file = File::create(log.path("acct")).unwrap();
    file.write_all_at(b"\n", MOST_TEXT + 9).unwrap();
    let lengths: Vec<_> = log.ship().iter().map(|text| text.len() as u64).collect();
    assert_eq!(lengths, [MOST_TEXT, 10]);
}
