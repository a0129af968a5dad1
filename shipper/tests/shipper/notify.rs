//! The messages to systemd while `run` runs.

use std::collections::BTreeSet;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;

use crate::common::{Database, Fake, PATIENCE, Running, Shipper, wait_for};

#[test]
fn run_is_ready_says_what_it_did_and_calls_the_watchdog() {
    let database = needs!(Database::new());
    let lctl = Fake::new("echo mdt.fs-MDT0000.job_stats=job_stats:");
    let path = lctl.file("notify.sock");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut shipper = Shipper::new(&[
        "run",
        "--interval",
        "300ms",
        "--database-url",
        &database.url(),
    ])
    .args(&["--lctl", lctl.path().to_str().unwrap()])
    .args(&["--spool", lctl.file("spool").to_str().unwrap()])
    .env("NOTIFY_SOCKET", path.to_str().unwrap())
    .env("WATCHDOG_USEC", "300000");
    let _running = Running(shipper.command().stderr(Stdio::null()).spawn().unwrap());
    let mut heard = BTreeSet::new();
    let mut calls = 0;
    wait_for("three calls after a delivery", || {
        let mut message = [0; 1000];
        let length = socket.recv(&mut message).unwrap();
        let message = String::from_utf8_lossy(&message[..length]).into_owned();
        calls += usize::from(message == "WATCHDOG=1");
        // The times differ.
        heard.extend(
            message
                .split("; ")
                .map(|part| part.split(" at 2").next().unwrap().to_owned()),
        );
        calls >= 3 && heard.contains("database: 1 targets stored")
    });
    assert!(heard.contains("READY=1"), "{heard:?}");
    assert!(heard.contains("STATUS=lctl: 1 targets read"), "{heard:?}");
}
