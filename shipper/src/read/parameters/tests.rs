use clap::Parser;
use tempfile::TempDir;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    parameters: Parameters,
}

fn parse(arguments: &[&str]) -> Result<Parameters, clap::Error> {
    let line = Line::try_parse_from([&[""], arguments].concat());
    line.map(|line| line.parameters)
}

fn usual() -> Vec<&'static str> {
    USUAL.split(',').collect()
}

fn used() -> Vec<String> {
    USED.map(|file| format!("osd-*.*.quota_slave.{file}"))
        .to_vec()
}

/// Returns the patterns of a reading without a lock.
fn patterns(arguments: &[&str]) -> Vec<String> {
    parse(arguments).unwrap().patterns(None)
}

#[test]
fn the_used_space_comes_last_and_can_be_left_out() {
    let all: Vec<_> = usual()
        .into_iter()
        .map(str::to_owned)
        .chain(used())
        .collect();
    assert_eq!(patterns(&[]), all);
    assert_eq!(all.len(), 19);
    for never in ["never", "0"] {
        assert_eq!(patterns(&["--used-every", never]), usual());
    }
    let without = ["--parameters", "none"];
    assert_eq!(patterns(&without), used());
    assert!(patterns(&[&without[..], &["--used-every", "0"]].concat()).is_empty());
}

#[test]
fn own_patterns_replace_the_usual_ones_and_servers_of_metadata_are_added() {
    let own = "--parameters=health_check,mdt.*.md_stats --parameters ost.OSS.*.stats --mds-nids 10.0.0.1@tcp,fd00::1@tcp \
               --used-every never";
    assert_eq!(
        patterns(&own.split_whitespace().collect::<Vec<_>>()),
        [
            "health_check",
            "mdt.*.md_stats",
            "ost.OSS.*.stats",
            "obdfilter.*.exports.10.0.0.1@tcp.stats",
            "obdfilter.*.exports.10.0.0.1@tcp.uuid",
            "obdfilter.*.exports.fd00::1@tcp.stats",
            "obdfilter.*.exports.fd00::1@tcp.uuid",
        ]
    );
}

#[test]
fn job_stats_are_read_once_whatever_is_asked_for_beside_them() {
    let own = "--parameters=*.*.job_stats,health_check,mdt.*.job_cleanup_interval";
    assert_eq!(patterns(&[own, "--used-every=0"]), ["health_check"]);
    assert!(parse(&["--used-every", "often"]).is_err());
}

#[test]
fn used_space_is_read_once_in_each_interval_since_1970() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("lock");
    let hourly = parse(&[]).unwrap();
    let at = |time: &str| {
        // Another process may have the lock each time.
        let lock = Lock::take(&path).unwrap();
        hourly.has_used(Some(&lock), time.parse().unwrap())
    };
    for (time, is_read) in [
        ("2026-01-01T10:58:00Z", true),
        ("2026-01-01T10:59:59Z", false),
        ("2026-01-01T11:00:00Z", true),
        ("2026-01-01T11:02:00Z", false),
        ("2026-01-01T14:30:00Z", true),
        // The clock was set back.
        ("2026-01-01T12:30:00Z", true),
        ("2026-01-01T12:59:00Z", false),
    ] {
        assert_eq!(at(time), is_read, "{time}");
    }
}
