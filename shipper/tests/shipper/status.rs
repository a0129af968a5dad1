//! The answers of `status`, and its exit codes.

use std::fs;
use std::process::{Output, Stdio};

use crate::common::machine::Machine;
use crate::common::{AWAY, Database, Running, Shipper, wait_for};
use serde_json::Value;

const TWO_TARGETS: &str = "echo mdt.fs-MDT0000.job_stats=; echo mdt.fs-MDT0001.job_stats=";

fn output(machine: &Machine, arguments: &[&str]) -> Output {
    let spool = machine.spool();
    let shipper = Shipper::new(&["status", "--spool", spool.to_str().unwrap()]);
    shipper.args(arguments).output()
}

fn json(machine: &Machine) -> Value {
    serde_json::from_slice(&output(machine, &["--json"]).stdout).unwrap_or_default()
}

/// Returns the exit code of `status`, its table and its JSON.
fn status(machine: &Machine, arguments: &[&str]) -> (Option<i32>, String, Value) {
    let table = output(machine, arguments);
    let said = String::from_utf8_lossy(&table.stdout) + String::from_utf8_lossy(&table.stderr);
    (table.status.code(), said.into_owned(), json(machine))
}

#[test]
fn what_was_read_and_stored_is_said() {
    let database = needs!(Database::new());
    let machine = Machine::new(TWO_TARGETS);
    let (code, said, _) = status(&machine, &[]);
    assert_eq!(code, Some(3));
    assert!(
        said.contains("the shipper has not run with this spool"),
        "{said}"
    );
    machine.run_once(&database.url()).succeeds_silently();
    let (code, said, json) = status(&machine, &[]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with("ok: last scrape "), "{said}");
    assert_eq!(json["status"], "ok");
    assert_eq!(json["sources"]["lctl"]["last"]["targets"], 2);
    assert_eq!(json["deliveries"]["stored_targets"], 2);
    assert_eq!(json["spool"]["waiting"], 0);
    assert_eq!(status(&machine, &["--max-age", "1ms"]).0, Some(2));
}

#[test]
fn an_outage_is_a_warning_and_then_critical() {
    let machine = Machine::new(TWO_TARGETS);
    for _ in 1..=2 {
        machine.run_once(AWAY).is(69, &[]);
    }
    let (code, said, json) = status(&machine, &[]);
    assert_eq!(code, Some(1));
    assert!(said.contains("2 scrapes queued"), "{said}");
    assert!(
        said.contains("cannot connect to 127.0.0.1:1/jobstats as writer"),
        "{said}"
    );
    assert_eq!(json["deliveries"]["failure"]["times"], 2);
    assert_eq!(json["spool"]["waiting"], 2);
    assert_eq!(status(&machine, &["--max-age", "1ms"]).0, Some(2));
}

#[test]
fn what_limits_dropped_and_what_was_set_aside_is_counted() {
    let mut database = needs!(Database::new());
    database.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '54000'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON jobstats.feed FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    let machine = Machine::new(TWO_TARGETS);
    machine.run_once(AWAY).is(69, &[]);
    let file = machine.spool().join(&machine.files("")[0]);
    let size = fs::metadata(file).unwrap().len() * 3 / 2;
    let limited = |url: &str| {
        let size = size.to_string();
        machine.once(url).args(&["--spool-size", &size]).run()
    };
    limited(AWAY).is(69, &["dropped 1 queued"]);
    limited(&database.url()).is(65, &["dropped 1 queued", "set aside"]);
    let (code, said, json) = status(&machine, &[]);
    assert_eq!(code, Some(1));
    assert_eq!(json["spool"]["losses"]["dropped_by_limits"], 2);
    assert_eq!(json["spool"]["losses"]["refused"], 1);
    assert_eq!(json["spool"]["set_aside"], 1);
    assert!(said.contains("a scrape was lost or set aside"), "{said}");
}

#[test]
fn a_standby_without_targets_is_well() {
    let script = r#"
        echo "error: get_param: param_path 'mdt/*/job_stats': No such file or directory" >&2
        exit 2"#;
    let machine = Machine::new(script);
    machine.run_once(AWAY).is(66, &[]);
    let (code, said, json) = status(&machine, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(json["sources"]["lctl"]["last"]["targets"], 0);
}

#[test]
fn status_works_while_run_works_and_knows_its_interval() {
    let database = needs!(Database::new());
    let machine = Machine::new(TWO_TARGETS);
    let mut run = machine
        .shipper("run", &database.url())
        .args(&["--interval", "300ms"]);
    let _running = Running(run.command().stderr(Stdio::null()).spawn().unwrap());
    wait_for("delivery", || {
        json(&machine)["deliveries"]["stored_targets"].as_u64() >= Some(4)
    });
    assert_eq!(json(&machine)["sources"]["lctl"]["interval_seconds"], 0.3);
}
