use super::*;

const TEXT: &str = "# passwords\ndb1:5432:jobstats:writer:first\n*:*:jobstats:reader:a\\:b\\\\c:d\nlocalhost:*:*:writer:local\n/run/own:*:*:writer:own\ndb2:5432:jobstats:writer:first\ndb3:5432:jobstats:writer:other\nbroken:line\n";

fn found(settings: &str) -> Option<String> {
    password(TEXT, &settings.parse().unwrap())
}

#[test]
fn the_first_line_that_matches_counts() {
    let found = |settings| found(settings).unwrap_or_default();
    assert_eq!(found("host=db1 dbname=jobstats user=writer"), "first");
    assert_eq!(found("host=db1 port=5433 dbname=jobstats user=writer"), "");
    assert_eq!(found("host=db1 dbname=other user=writer"), "");
    assert_eq!(
        found("host=anywhere dbname=jobstats user=reader"),
        "a:b\\c:d"
    );
}

#[test]
fn a_user_that_is_not_given_matches_no_name() {
    assert_eq!(found("host=db1 dbname=jobstats"), None);
}

#[test]
fn the_default_socket_is_localhost_and_others_are_their_directories() {
    let local = found("host=/var/run/postgresql user=writer dbname=x");
    assert_eq!(local.as_deref(), Some("local"));
    let own = found("host=/run/own user=writer dbname=x");
    assert_eq!(own.as_deref(), Some("own"));
}

#[test]
fn several_hosts_need_one_password() {
    let same = found("host=db1,db2 dbname=jobstats user=writer");
    assert_eq!(same.as_deref(), Some("first"));
    assert_eq!(found("host=db1,db3 dbname=jobstats user=writer"), None);
    assert_eq!(found("host=db1,db4 dbname=jobstats user=writer"), None);
}
