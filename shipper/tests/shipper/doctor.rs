//! The findings of `doctor`, from lctl to the store.

use crate::common::{AWAY, Database, Fake, Shipper};

/// Two targets with an entry each.
const TWO_TARGETS: &str = "
    for target in 0 1; do
        echo mdt.fs-MDT000$target.job_cleanup_interval=600
    done
    for target in 0 1; do
        printf 'mdt.fs-MDT000%s.job_stats=\\njob_stats:\\n- job_id:          bash.1000\\n' $target
        printf '  snapshot_time:   %s\\n' \"$(date +%s)\"
        printf '  open:            { samples:           3, unit:  reqs }\\n'
    done";

/// Runs `doctor`, and returns its exit code and its lines.
fn doctor(url: &str, lctl: &Fake, arguments: &[&str]) -> (Option<i32>, String) {
    let (path, lock) = (lctl.path(), lctl.file("lock"));
    let (path, lock) = (path.to_str().unwrap(), lock.to_str().unwrap());
    let ended = Shipper::new(&["doctor", "--server", "mds1", "--database-url", url])
        .args(&["--lctl", path, "--lock", lock])
        .args(arguments)
        .output();
    let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    (ended.status.code(), said.into_owned())
}

#[track_caller]
fn has(said: &str, lines: &[&str]) {
    for line in lines {
        assert!(said.contains(line), "{line:?} is not in:\n{said}");
    }
}

#[test]
fn each_step_is_well_and_nothing_is_stored() {
    let mut database = needs!(Database::with_store());
    database.execute("SELECT jobstats_setup(raw_retention => '2 days')");
    let writer = database.writer();
    let lctl = Fake::new(TWO_TARGETS);
    let (code, said) = doctor(&writer, &lctl, &["--cluster", "puhti"]);
    let lines = [
        "ok       lctl        2 targets\n",
        "ok       job_stats   2 entries; 0 of 2 targets are empty\n",
        "ok       intervals   job_cleanup_interval is at least 600 s, the scrape interval 120 s\n",
        "ok       connection  ",
        "ok       tls         not needed: the database is on this machine\n",
        "ok       clock       ",
        "ok       store       jobstats ",
        " may insert into jobstats.feed\n",
        "ok       delivery    the database accepts 2 targets from mds1 of puhti (dry run)\n",
    ];
    has(&said, &lines);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        database.column("SELECT name FROM jobstats.targets"),
        [""; 0]
    );

    let (code, said) = doctor(&writer, &lctl, &["--cluster", "mahti"]);
    assert_eq!(code, Some(2));
    has(
        &said,
        &[
            "FAILED   delivery    mdt.fs-MDT0000: ",
            "42501",
            "jobstats_grant_writer()",
        ],
    );

    let input = lctl.file("text");
    let text = "mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id:          @1000@mds4\n  snapshot_time:   1700000000\n  \
                open:            { samples:           3, unit:  reqs }\n";
    std::fs::write(&input, text).unwrap();
    let input = ["--cluster", "puhti", "--input", input.to_str().unwrap()];
    let unmatched = Shipper::new(&["doctor", "--server", "mds1", "--database-url", &writer]);
    let said = String::from_utf8(unmatched.args(&input).output().stdout).unwrap();
    has(
        &said,
        &[
            "warning  delivery    mdt.fs-MDT0000: 1 of 1 identifiers of fs-MDT0000 match no known format",
        ],
    );
    let late =
        Shipper::new(&["doctor", "--server", "mds1", "--database-url", &writer]).args(&input);
    let late = late.args(&["--time", "2026-01-01T00:00:00Z"]).output();
    assert_eq!(late.status.code(), Some(2));
    let said = String::from_utf8(late.stdout).unwrap();
    has(
        &said,
        &["FAILED   delivery    mdt.fs-MDT0000: jobstats rejected 1 of 1 texts (1 too late)"],
    );

    let stranger = writer.replace("user=shipper", "user=stranger");
    let role = stranger.rsplit_once("user=").unwrap().1.to_owned();
    database.execute(&format!("CREATE ROLE {role} LOGIN"));
    let (code, said) = doctor(&stranger, &lctl, &[]);
    database.execute(&format!("DROP ROLE {role}"));
    assert_eq!(code, Some(2));
    has(
        &said,
        &[
            &format!("FAILED   role        {role} may not insert"),
            "42501",
        ],
    );
}

#[test]
fn empty_texts_and_short_intervals_are_warnings() {
    let mut database = needs!(Database::new());
    let lctl = Fake::new(
        "echo mdt.fs-MDT0000.job_cleanup_interval=100; echo mdt.fs-MDT0000.job_stats=job_stats:",
    );
    let (code, said) = doctor(&database.url(), &lctl, &[]);
    has(
        &said,
        &[
            "warning  job_stats   empty on all targets",
            "jobid_var",
            "warning  intervals   job_cleanup_interval is less than twice the scrape interval of 120 s on 1 of 1 targets",
            "FAILED   store       the extension jobstats does not exist",
            "ok       delivery    ",
        ],
    );
    assert_eq!(code, Some(2));
    assert_eq!(database.count(), 0);
}

#[test]
fn what_cannot_be_reached_is_named() {
    let lctl = Fake::new("exit 9");
    let (code, said) = doctor(AWAY, &lctl, &[]);
    assert_eq!(code, Some(2));
    has(
        &said,
        &[
            "FAILED   lctl        lctl ended with exit code 9",
            "ok       name        127.0.0.1 is 127.0.0.1\n",
            "FAILED   connection  cannot connect to 127.0.0.1:1/jobstats as writer: Connection refused",
            "that no firewall blocks it",
        ],
    );
    let (code, said) = doctor("postgresql://writer@db.invalid/jobstats", &lctl, &[]);
    assert_eq!(code, Some(2));
    has(&said, &["FAILED   name        db.invalid: ", "/etc/hosts"]);
    assert!(!said.contains("connection"), "{said}");
}

#[test]
fn a_server_that_takes_no_writes_is_named_as_a_standby() {
    let mut database = needs!(Database::with_store());
    let writer = database.writer();
    let separator = if writer.contains('?') { '&' } else { '?' };
    let standby = format!("{writer}{separator}options=-c%20default_transaction_read_only=on");
    let lctl = Fake::new(TWO_TARGETS);
    let of_several = format!("{standby}&target_session_attrs=read-write");
    for (url, step) in [(standby, "delivery"), (of_several, "connection")] {
        let (code, said) = doctor(&url, &lctl, &[]);
        assert_eq!(code, Some(2));
        has(
            &said,
            &[
                &format!("FAILED   {step}"),
                "as a standby is; give the primary",
            ],
        );
        assert!(!said.contains("firewall"), "{said}");
    }
}

#[test]
fn a_running_shipper_does_not_keep_doctor_from_reading() {
    let lctl = Fake::new(TWO_TARGETS);
    let lock = std::fs::File::create(lctl.file("lock")).unwrap();
    lock.lock().unwrap();
    let (_, said) = doctor(AWAY, &lctl, &[]);
    has(
        &said,
        &["ok       lctl        2 targets, while a shipper is running\n"],
    );
}
