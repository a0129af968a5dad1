//! Readings are kept in a directory, and sent later with their times.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::common::machine::{COUNTING, readings, texts};
use crate::common::{AWAY, Database, Ended, Fake, Running, Shipper, unpack, wait_for};

/// A stand-in for lctl, with a recording.
struct Recording(Fake);

impl Recording {
    fn new() -> Self {
        Self(Fake::new(COUNTING))
    }

    fn directory(&self) -> PathBuf {
        self.0.file("recording")
    }

    fn shipper(&self, command: &str) -> Shipper {
        Shipper::new(&[command, self.directory().to_str().unwrap()])
    }

    fn record(&self) -> Shipper {
        let lctl = self.0.path();
        self.shipper("record")
            .args(&["--server", "mds1", "--lctl", lctl.to_str().unwrap()])
    }

    /// Keeps a text of a target that was read at this time.
    fn keep(&self, time: &str) {
        let text = "mdt.fs-MDT0000.job_stats=job_stats:\n";
        self.shipper("record")
            .args(&["--server", "mds1", "--input", "-", "--time", time])
            .run_with_input(text)
            .succeeds_silently();
    }

    fn replay(&self, url: &str, arguments: &[&str]) -> Ended {
        let shipper = self.shipper("replay").args(&["--database-url", url]);
        Ended::new(shipper.args(arguments).output())
    }

    fn files(&self) -> Vec<String> {
        readings(&self.directory())
    }
}

#[test]
fn readings_are_kept_and_sent_with_their_times() {
    let mut database = needs!(Database::new());
    let recording = Recording::new();
    for _ in 1..=2 {
        recording.record().run().succeeds_silently();
    }
    let files = recording.files();
    assert_eq!(
        files,
        ["0000000000000001.lctl.zst", "0000000000000002.lctl.zst"]
    );
    let file = fs::read(recording.directory().join(&files[1])).unwrap();
    assert_eq!(unpack(&file), texts([2]).concat());

    let before = database
        .column("SELECT pg_sleep(0.01)::text || clock_timestamp()")
        .remove(0);
    recording.replay(&database.url(), &[]).succeeds_silently();
    assert_eq!(database.bodies(), texts([1, 2]));
    let times = format!(
        r#"SELECT DISTINCT concat_ws(' ', server, cluster = '', "time" < '{before}') FROM jobstats.feed"#
    );
    assert_eq!(database.column(&times), ["mds1 t t"]);

    // Texts are not sent again, except on request or to another destination.
    let all = "all 2 scrapes were already sent; --again sends them again";
    recording.replay(&database.url(), &[]).is(0, &[all]);
    assert_eq!(database.count(), 4);
    recording
        .replay(&database.url(), &["--cluster", "copy"])
        .succeeds_silently();
    recording
        .replay(&database.url(), &["--cluster", "copy", "--again"])
        .succeeds_silently();
    let clusters =
        "SELECT cluster || ' ' || count(*) FROM jobstats.feed GROUP BY cluster ORDER BY 1";
    assert_eq!(database.column(clusters), [" 4", "copy 8"]);
    recording.record().run().succeeds_silently();
    recording
        .replay(&database.url(), &["--cluster", "copy"])
        .succeeds_silently();
    assert_eq!(database.column(clusters), [" 4", "copy 10"]);
}

#[test]
fn an_interrupted_replay_goes_on_where_it_was() {
    let mut database = needs!(Database::new());
    database.execute(
        "CREATE TABLE stop ();
         CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF (SELECT count(*) FROM jobstats.feed) >= 4 AND to_regclass('stop') IS NOT NULL THEN
                 RAISE SQLSTATE '42501';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER stop BEFORE INSERT ON jobstats.feed FOR EACH ROW EXECUTE FUNCTION stop()",
    );
    let recording = Recording::new();
    for _ in 1..=4 {
        recording.record().run().succeeds_silently();
    }
    let stopped = "2 of 4 scrapes were sent; run the same command again to continue";
    recording
        .replay(&database.url(), &[])
        .is(77, &["42501", stopped]);
    database.execute("DROP TABLE stop");
    recording.replay(&database.url(), &[]).succeeds_silently();
    assert_eq!(database.bodies(), texts(1..=4));
    recording
        .replay(AWAY, &[])
        .is(69, &["cannot connect to 127.0.0.1:1/jobstats as writer"]);
}

#[test]
fn damaged_files_are_reported_and_the_others_sent() {
    let mut database = needs!(Database::new());
    let recording = Recording::new();
    recording
        .replay(&database.url(), &[])
        .is(71, &["recording: No such file"]);
    for _ in 1..=3 {
        recording.record().run().succeeds_silently();
    }
    let file = recording.directory().join("0000000000000002.lctl.zst");
    let mut content = fs::read(&file).unwrap();
    content.pop();
    fs::write(&file, content).unwrap();
    let damaged = [
        "0002.lctl.zst: the file is damaged",
        "1 scrapes are damaged",
    ];
    recording.replay(&database.url(), &[]).is(71, &damaged);
    assert_eq!(database.bodies(), texts([1, 3]));
}

#[test]
fn record_reads_at_an_interval() {
    let recording = Recording::new();
    let mut record = recording.record().args(&["--interval", "200ms"]);
    let _running = Running(record.command().stderr(Stdio::null()).spawn().unwrap());
    wait_for("readings", || {
        recording.directory().exists() && recording.files().len() >= 3
    });
}

#[test]
fn texts_that_are_too_old_or_older_than_the_store_are_refused() {
    let mut database = needs!(Database::with_store());
    let observed = r#"SELECT concat_ws(' ', cluster, "time" AT TIME ZONE 'UTC')
        FROM jobstats.observations JOIN jobstats.targets USING (target_id) ORDER BY 1"#;
    database.execute("SELECT jobstats_setup(raw_retention => '2 days')");
    let recording = Recording::new();
    recording.keep("2026-01-01T08:00:00Z");
    recording.keep("2026-01-01T08:02:00Z");
    let refused = recording.replay(&database.url(), &[]).is(
        65,
        &[
            "the recording begins at 2026-01-01 08:00:00Z",
            "raw_retention => '",
            "--cluster",
        ],
    );
    assert_eq!(refused.said.lines().count(), 2, "{}", refused.said);
    assert_eq!(
        database.column("SELECT text FROM jobstats.rejects"),
        [""; 0]
    );

    // It names the missing setting.
    let setup = refused.said.split_once("run ").unwrap().1;
    let setup = setup.split_once(')').unwrap().0.to_owned();
    database.execute(&format!("{setup}, retention => '100 years')"));
    recording.replay(&database.url(), &[]).succeeds_silently();
    let times = [" 2026-01-01 08:00:00", " 2026-01-01 08:02:00"];
    assert_eq!(database.column(observed), times);
    // Sending it again changes nothing.
    recording
        .replay(&database.url(), &["--again"])
        .succeeds_silently();
    assert_eq!(database.column(observed), times);

    let older = Recording::new();
    older.keep("2026-01-01T07:00:00Z");
    let refused = older.replay(&database.url(), &[]).is(
        65,
        &[
            "the store has newer snapshots of 1 targets, such as mdt.fs-MDT0000",
            "--cluster NAME",
        ],
    );
    assert_eq!(refused.said.lines().count(), 2, "{}", refused.said);
    assert_eq!(database.column(observed), times);
    older
        .replay(&database.url(), &["--cluster", "copy"])
        .succeeds_silently();
    assert_eq!(
        database.column(observed),
        [times[0], times[1], "copy 2026-01-01 07:00:00"]
    );
}
