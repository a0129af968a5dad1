use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use jobstats_client::program::exit;

use super::*;
use crate::live::interval::TargetSnapshot;
use crate::live::state::Tracker;
use crate::source::recording::Recorder;

fn text(target: &str, opens: u64) -> String {
    format!(
        "mdt.{target}.job_stats=\njob_stats:\n- job_id: make.1000\n  open: {{ samples: {opens}, unit: usecs, min: 1, max: 1, sum: {opens}, sumsq: 1 }}\n"
    )
}

fn tracker() -> Tracker {
    Tracker::new(&[], UserNames::default()).unwrap()
}

/// Commands that print files of a directory.
fn commands(directory: &Path, recorder: Option<Recorder>) -> Commands {
    let input = |server: &str| {
        let command = format!("cat {}/{server}", directory.display());
        (server.to_owned(), command)
    };
    Commands {
        inputs: ["mds1", "mds2"].map(input).into(),
        limit: Duration::from_secs(600),
        recorder,
        tracker: tracker(),
    }
}

fn opens(snapshot: &TargetSnapshot) -> Option<i64> {
    let interval = snapshot.interval.as_ref()?;
    Some(
        interval
            .work
            .iter()
            .flat_map(|work| &work.totals)
            .map(|it| it.1)
            .max()
            .unwrap_or(0),
    )
}

fn summary(round: &Round) -> Vec<(String, Option<i64>)> {
    round
        .snapshots
        .iter()
        .map(|seen| (seen.target.to_string(), opens(seen)))
        .collect()
}

/// Reads two servers three times, the second time without one of them, and records that.
fn read_and_record(directory: &Path) -> Vec<Round> {
    let put = |server: &str, opens: u64| {
        let target = if server == "mds1" {
            "fs-MDT0000"
        } else {
            "fs-MDT0001"
        };
        fs::write(directory.join(server), text(target, opens)).unwrap();
    };
    let recorder = Recorder::open(&directory.join("recording"), "puhti").unwrap();
    let mut commands = commands(directory, Some(recorder));
    assert!(commands.is_live());
    put("mds1", 100);
    put("mds2", 100);
    let mut live = vec![commands.step(Step::Next).unwrap().rounds.remove(0)];
    put("mds1", 110);
    fs::remove_file(directory.join("mds2")).unwrap();
    thread::sleep(Duration::from_millis(100));
    live.push(commands.step(Step::Next).unwrap().rounds.remove(0));
    put("mds1", 130);
    put("mds2", 107);
    thread::sleep(Duration::from_millis(100));
    live.push(commands.step(Step::Next).unwrap().rounds.remove(0));
    live
}

/// Returns whether the servers of a round were closer together than two rounds. Only then can a recording separate the rounds.
fn are_apart(live: &[Round]) -> bool {
    let spread = live.iter().map(|round| {
        let times = round.snapshots.iter().map(|seen| seen.time);
        times.clone().max().unwrap() - times.min().unwrap()
    });
    let gap = live.windows(2).map(|pair| pair[1].time - pair[0].time);
    3 * spread.max().unwrap() < gap.min().unwrap()
}

#[test]
fn servers_are_read_at_once_and_one_that_fails_does_not_stop_the_others() {
    let (directory, live) = loop {
        let directory = tempfile::tempdir().unwrap();
        let live = read_and_record(directory.path());
        if are_apart(&live) {
            break (directory, live);
        }
    };
    let recording = directory.path().join("recording");
    assert_eq!(summary(&live[1]), [("fs-MDT0000".to_owned(), Some(10))]);
    assert_eq!(&*live[1].failures[0].server, "mds2");
    assert!(
        live[1].failures[0].reason.contains("No such file"),
        "{}",
        live[1].failures[0].reason
    );
    assert_eq!(
        summary(&live[2]),
        [
            ("fs-MDT0000".to_owned(), Some(20)),
            ("fs-MDT0001".to_owned(), Some(7))
        ]
    );

    // The recording has the same data, except for a failed server.
    let mut replay = Replay::open(&recording, tracker()).unwrap();
    let mut played = Vec::new();
    loop {
        let update = replay.step(Step::Next).unwrap();
        let Some(round) = update.rounds.into_iter().next() else {
            break;
        };
        assert_eq!(update.position.unwrap().of, 3);
        played.push(round);
    }
    let seen = |rounds: &[Round]| {
        rounds
            .iter()
            .map(|it| it.snapshots.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(seen(&played), seen(&live));

    let back = replay.step(Step::By(-1)).unwrap();
    assert!(back.begins_anew);
    assert_eq!(seen(&back.rounds), seen(&live[..2]));
    assert_eq!(
        replay.step(Step::End).unwrap().position,
        Some(Position { at: 3, of: 3 })
    );
    let begin = replay.step(Step::Begin).unwrap();
    assert_eq!(
        (begin.position, begin.until_next.is_some()),
        (Some(Position { at: 2, of: 3 }), true)
    );
}

#[test]
fn a_recording_is_what_the_shipper_replays() {
    let directory = tempfile::tempdir().unwrap();
    let text = format!(
        "mdt.fs-MDT0000.job_cleanup_interval=600\n{}",
        text("fs-MDT0000", 1)
    );
    fs::write(directory.path().join("mds1"), &text).unwrap();
    let recording = directory.path().join("recording");
    let mut commands = commands(
        directory.path(),
        Some(Recorder::open(&recording, "puhti").unwrap()),
    );
    commands.step(Step::Next).unwrap();
    let entries = jobstats_client::spool::Directory::at(&recording)
        .waiting()
        .unwrap();
    let file = jobstats_client::spool::SpoolFile::open(&entries[0].path).unwrap();
    let index = &file.index;
    assert_eq!(
        (
            index.source.as_str(),
            index.cluster.as_str(),
            index.server.as_str()
        ),
        ("lctl", "puhti", "mds1")
    );
    assert_eq!(index.texts[0].name.as_deref(), Some("mdt.fs-MDT0000"));
    assert_eq!(index.texts[0].bytes, text.len() as u64);
    let packed = file.packed(&index.texts[0]).unwrap();
    assert_eq!(
        zstd::stream::decode_all(packed.as_slice()).unwrap(),
        text.as_bytes()
    );
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&recording).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_recording_that_is_damaged_or_none_is_told() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(
        Replay::open(directory.path(), tracker()),
        Err(Error::Other {
            code: exit::NOTHING,
            ..
        })
    ));
    assert!(matches!(
        Replay::open(&directory.path().join("x"), tracker()),
        Err(Error::File(_))
    ));
    fs::write(directory.path().join("mds1"), text("fs-MDT0000", 1)).unwrap();
    let recording = directory.path().join("recording");
    let mut commands = commands(
        directory.path(),
        Some(Recorder::open(&recording, "").unwrap()),
    );
    commands.step(Step::Next).unwrap();
    let entries = jobstats_client::spool::Directory::at(&recording)
        .waiting()
        .unwrap();
    let mut bytes = fs::read(&entries[0].path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&entries[0].path, bytes).unwrap();
    let mut replay = Replay::open(&recording, tracker()).unwrap();
    let round = replay.step(Step::Next).unwrap().rounds.remove(0);
    assert!(round.snapshots.is_empty() && round.failures[0].reason.contains("damaged"));
}

#[test]
fn the_server_of_a_command_is_the_host_of_ssh() {
    assert_eq!(server_of("ssh oss1 lctl get_param x"), "oss1");
    assert_eq!(
        server_of("/usr/bin/ssh -o BatchMode=yes -p22 -i key root@oss2.site 'lctl'"),
        "oss2.site"
    );
    assert_eq!(server_of("ssh -Tq oss3"), "oss3");
    assert!(!server_of("lctl get_param x").is_empty());
    assert!(!server_of("").is_empty());
}
