//! Tokens and passwords reach the server of `--to` alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::server::{Reply, Server};
use super::{arrived, path, secret};
use crate::common::Shipper;
use crate::common::machine::{COUNTING, Machine, texts};

#[test]
fn a_redirect_carries_the_token_nowhere() {
    let other = Server::new(|_| Reply::created());
    for status in [301, 302, 303, 307, 308] {
        let place = format!("{}/feed?ticket=s3cret", other.url());
        let server = Server::saying(vec![Reply::of(status, "").with("Location", &place)]);
        let machine = Machine::new(COUNTING);
        let token = secret(&machine, "token", "t0ken");
        let ended = machine
            .once(&server.url())
            .args(&["--token-file", path(&token)])
            .run();
        let ended = ended.is(
            78,
            &[
                "redirects are not followed",
                &other.url(),
                "1 scrape queued",
            ],
        );
        assert!(
            !ended.said.contains("s3cret") && !ended.said.contains("t0ken"),
            "{}",
            ended.said
        );
    }
    assert!(other.requests().is_empty());
}

#[test]
fn a_token_that_others_can_read_is_not_used() {
    let server = Server::new(|_| Reply::created());
    let machine = Machine::new(COUNTING);
    let token = secret(&machine, "token", "t0ken");
    let once = || {
        machine
            .once(&server.url())
            .args(&["--token-file", path(&token)])
            .run()
    };
    fs::set_permissions(&token, Permissions::from_mode(0o644)).unwrap();
    once().is(78, &["chmod 600"]);
    for text in ["", "\n", "t0ken\ntwo", "t0ken \u{1}", "t0ken\r\nX-Evil: 1"] {
        fs::write(&token, text).unwrap();
        fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
        let ended = once().is(78, &["has no token"]);
        assert!(!ended.said.contains("t0ken"), "{}", ended.said);
    }
    assert!(server.requests().is_empty());
    fs::remove_file(&token).unwrap();
    once().is(78, &["No such file"]);
    // No reading was lost.
    secret(&machine, "token", "t0ken");
    once().succeeds_silently();
    assert_eq!(arrived(&server, 0), texts(1..=8));
}

#[test]
fn a_url_with_a_password_or_without_tls_is_refused() {
    for url in [
        "https://user:s3cret@db1",
        "http://db1",
        "https://db1/?token=s3cret",
    ] {
        let refused = Shipper::new(&["once", "--to", url]).run();
        refused.is(64, &["--to"]);
    }
    Shipper::new(&[
        "once",
        "--to",
        "https://db1",
        "--database-url",
        "postgresql://db1",
    ])
    .run()
    .is(64, &["--to"]);
}
