//! Messages: whose they are, how urgent they are, and how often they come.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;

use crate::common::{Database, Ended, Fake, Shipper};

const ONE_TARGET: &str = "echo mdt.fs-MDT0000.job_stats=job_stats:";

/// Lets the feed raise this for each row.
fn raising(database: &mut Database, raise: &str) {
    database.execute(&format!(
        "CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {raise}; RETURN NEW; END $$;
         CREATE TRIGGER say BEFORE INSERT ON jobstats.feed FOR EACH ROW EXECUTE FUNCTION say()"
    ));
}

fn once(database: &Database, lctl: &Fake, arguments: &[&str]) -> Ended {
    let lock = lctl.file("lock");
    let shipper = Shipper::once(database, &lctl.path()).lock(&lock);
    shipper.args(arguments).run()
}

#[test]
fn a_notice_of_the_database_is_shown_once_and_a_warning_each_time() {
    let mut database = needs!(Database::new());
    database.execute("CREATE SEQUENCE calls");
    raising(
        &mut database,
        "RAISE NOTICE '% of 9 identifiers match no known format', nextval('calls') USING HINT = 'add it';
         RAISE WARNING 'odd'",
    );
    let lctl = Fake::new(ONE_TARGET);
    let notice = "MDT0000: 1 of 9 identifiers match no known format (hint: add it)\n";
    let warning = "MDT0000: odd (SQLSTATE 01000)\n";
    let first = once(&database, &lctl, &[]).is(0, &[notice, warning]);
    assert_eq!(first.said.lines().count(), 2, "{}", first.said);
    let second = once(&database, &lctl, &[]).is(0, &[warning]);
    assert_eq!(second.said.lines().count(), 1, "{}", second.said);
}

#[test]
fn the_levels_are_chosen_on_the_command_line() {
    let mut database = needs!(Database::new());
    raising(&mut database, "RAISE WARNING 'odd'");
    let lctl = Fake::new(ONE_TARGET);
    let bytes = "MDT0000: 36 bytes sent as ";
    let usual = once(&database, &lctl, &[]).is(0, &["odd"]);
    assert!(!usual.said.contains(bytes), "{}", usual.said);
    once(&database, &lctl, &["--verbose"]).is(0, &["odd", bytes]);
    once(&database, &lctl, &["--quiet"]).succeeds_silently();
    let lctl = Fake::new("exit 9");
    once(&database, &lctl, &["--quiet"]).is(74, &["exit code 9"]);
    once(&database, &lctl, &["--quiet", "--verbose"]).is(64, &[]);
}

#[test]
fn a_failed_connection_names_the_database_and_no_target() {
    let lctl = Fake::new(ONE_TARGET);
    let once = |url: &str| {
        let lctl = lctl.path();
        let arguments = ["once", "--lctl", lctl.to_str().unwrap()];
        Shipper::new(&arguments)
            .args(&["--database-url", url])
            .run()
    };
    let refused = once("postgresql://writer@127.0.0.1:1/lustre").is(
        69,
        &["cannot connect to 127.0.0.1:1/lustre as writer: Connection refused"],
    );
    assert!(!refused.said.contains("MDT0000"), "{}", refused.said);
    let database = needs!(Database::new());
    let url = database.url_with("user=nobody_of_that_name");
    once(&url).is(
        77,
        &["as nobody_of_that_name: role \"nobody_of_that_name\" does not exist (SQLSTATE 28000)"],
    );
}

#[test]
fn in_the_journal_each_line_has_its_level() {
    let lctl = Fake::new("echo 'error: get_param: param_path X: broken' >&2; exit 9");
    let log = File::create(lctl.file("log")).unwrap();
    let stream = log.metadata().unwrap();
    let stream = format!("{}:{}", stream.dev(), stream.ino());
    let path = lctl.path();
    let arguments = ["once", "--lctl", path.to_str().unwrap()];
    let mut shipper = Shipper::new(&arguments)
        .args(&["--database-url", "postgresql://writer@127.0.0.1:1/lustre"])
        .env("JOURNAL_STREAM", &stream);
    shipper.command().stderr(log).status().unwrap();
    assert_eq!(
        fs::read_to_string(lctl.file("log")).unwrap(),
        "<3>lctl ended with exit code 9; its output is dropped\n\
         <3>  error: get_param: param_path X: broken\n"
    );
}
