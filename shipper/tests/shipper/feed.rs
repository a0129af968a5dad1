//! The whole way: the simulator as lctl, the shipper, the feed of the extension.

use std::path::Path;
use std::process::Command;

use crate::common::{Database, Shipper, simulator};
use tempfile::TempDir;

const SERVER: &str = "small-oss1";
const TARGETS: [&str; 2] = ["small-OST0000", "small-OST0001"];
const TIMES: [&str; 2] = ["2026-01-01T08:00:00Z", "2026-01-01T08:02:00Z"];

fn print(simulator: &Path, time: &str) -> String {
    let printed = Command::new(simulator)
        .args(["print", "--server", SERVER, "--time", time])
        .output()
        .unwrap();
    String::from_utf8(printed.stdout).unwrap()
}

/// The lines of a target in the text of its server: its interval and its job_stats.
fn text_of(target: &str, text: &str) -> String {
    let interval = format!("obdfilter.{target}.job_cleanup_interval=600\n");
    assert!(text.contains(&interval));
    let stats = &text[text
        .find(&format!("obdfilter.{target}.job_stats="))
        .unwrap()..];
    let end = stats
        .find("\nobdfilter.")
        .map_or(stats.len(), |newline| newline + 1);
    interval + &stats[..end]
}

#[test]
fn what_lctl_printed_is_stored_word_for_word_and_compared() {
    let mut database = needs!(Database::with_store());
    let simulator = simulator::build();
    let ship = |time, text: &str| {
        let arguments = ["once", "--input", "-", "--server", SERVER, "--time", time];
        Shipper::new(&arguments)
            .args(&["--database-url", &database.url()])
            .run_with_input(text)
            .succeeds_silently();
    };
    let texts = TIMES.map(|time| (time, print(&simulator, time)));
    for (time, text) in &texts {
        ship(time, text);
    }
    // Sending it again changes nothing.
    ship(texts[0].0, &texts[0].1);

    let stored = r#"SELECT body FROM jobstats.raw_text JOIN jobstats.targets USING (target_id)
        ORDER BY "time", name"#;
    let printed: Vec<_> = texts
        .iter()
        .flat_map(|(_, text)| TARGETS.map(|target| text_of(target, text)))
        .collect();
    assert_eq!(database.column(stored), printed);
    let observed = r#"SELECT concat_ws(' ', name, "time" AT TIME ZONE 'UTC', o.server, problems, active > 0)
        FROM jobstats.observations o JOIN jobstats.targets USING (target_id) ORDER BY "time", name"#;
    assert_eq!(
        database.column(observed),
        [
            "small-OST0000 2026-01-01 08:00:00 small-oss1 0 f",
            "small-OST0001 2026-01-01 08:00:00 small-oss1 0 f",
            "small-OST0000 2026-01-01 08:02:00 small-oss1 0 t",
            "small-OST0001 2026-01-01 08:02:00 small-oss1 0 t",
        ]
    );
    assert_eq!(
        database.column("SELECT text FROM jobstats.rejects"),
        [""; 0]
    );
}

#[test]
fn a_writer_needs_no_right_but_to_insert() {
    let mut database = needs!(Database::with_store());
    let writer = database.writer();
    let lctl = TempDir::new().unwrap();
    let made = Command::new(simulator::build())
        .args(["lctl-script", "--server", SERVER, "--time", TIMES[0]])
        .arg(lctl.path())
        .status()
        .unwrap();
    assert!(made.success());
    let ship = |cluster| {
        let arguments = [
            "once",
            "--server",
            SERVER,
            "--cluster",
            cluster,
            "--database-url",
            &writer,
        ];
        Shipper::new(&arguments)
            .args(&["--lctl", lctl.path().join("lctl").to_str().unwrap()])
            .run()
    };
    ship("puhti").succeeds_silently();
    let observed = r#"SELECT concat_ws(' ', cluster, name, targets.cleanup_interval = '600', "time" > now() - interval '10 min',
            duration < interval '10 min')
        FROM jobstats.observations JOIN jobstats.targets USING (target_id) ORDER BY name"#;
    assert_eq!(
        database.column(observed),
        TARGETS.map(|target| format!("puhti {target} t t t"))
    );
    ship("mahti").is(77, &["42501", "mahti", "2 of 2 targets"]);
}

#[test]
fn what_the_database_rejects_is_reported() {
    let mut database = needs!(Database::with_store());
    database.execute("SELECT jobstats_setup(raw_retention => '2 days')");
    let text = "obdfilter.fs-OST0000.job_stats=\njob_stats:\n";
    let ship = |time| {
        let arguments = ["once", "--input", "-", "--server", SERVER, "--time", time];
        Shipper::new(&arguments)
            .args(&["--database-url", &database.url()])
            .run_with_input(text)
    };
    let ended = ship(TIMES[0]);
    let reported = "jobstats-shipper: obdfilter.fs-OST0000: jobstats rejected 1 of 1 texts (1 too late) (SQLSTATE 01000) (hint: ";
    ended.is(
        65,
        &[reported, "raw_retention", "1 of 1 targets were not stored"],
    );
}
