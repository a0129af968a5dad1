//! The delivery that `doctor` tries.

use std::fs;

use super::{path, postgrest, secret};
use crate::common::machine::{COUNTING, Machine};
use crate::common::{Database, Shipper};

#[test]
fn doctor_asks_postgrest_to_store_nothing() {
    let mut database = needs!(Database::with_store());
    let writer = database.role("NOLOGIN");
    let server = postgrest(&database);
    let machine = Machine::new(COUNTING);
    let token = secret(&machine, "token", &writer);
    let doctor = |expected: i32, words: &[&str]| {
        let ended = Shipper::new(&["doctor", "--server", "mds1", "--to", &server.url()])
            .args(&[
                "--lctl",
                path(&machine.lctl.path()),
                "--token-file",
                path(&token),
            ])
            .output();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(expected), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    doctor(
        2,
        &[
            "FAILED   delivery    http://localhost",
            "permission denied",
            "42501",
        ],
    );
    database.execute(&format!("SELECT jobstats_grant_writer('{writer}')"));
    doctor(
        0,
        &[
            "ok       delivery    http://localhost",
            "may insert into jobstats.feed",
        ],
    );
    assert_eq!(
        database.column("SELECT name FROM jobstats.targets"),
        [""; 0]
    );
    fs::write(&token, "nobody").unwrap();
    doctor(
        2,
        &[
            "FAILED   delivery    http://localhost",
            "HTTP 401",
            "role \"nobody\" does not exist",
        ],
    );
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.body == b"[]")
    );
}
