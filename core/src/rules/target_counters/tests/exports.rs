use super::*;

/// The increments and the number of connections.
fn with_exports(before: &[String], after: &[String]) -> (Vec<String>, u32) {
    let [before, after] = [before, after].map(|texts| body(&texts.concat()));
    let compared = compared((0, &before), (1, &after));
    (shown(&compared.increments), compared.exports)
}

#[test]
fn the_work_of_metadata_servers_is_left_out() {
    let own = |created: u32, statfs: u32| {
        ost(
            Some(-100),
            &format!(
                "create {created} samples [usecs] 1 2 {created} 9\nstatfs {statfs} samples [usecs] 1 1 {statfs} 9\n"
            ),
        )
    };
    let of = |nid: &str, created: u32, uuid: &str| {
        export(
            nid,
            Some(-90),
            &format!("create {created} samples [usecs] 1 2 {created} 9\n"),
            uuid,
        )
    };
    let before = [
        own(100, 50),
        of("10.0.0.1@tcp", 70, SERVER),
        of("2001:db8::1@tcp", 10, SERVER),
        of("10.0.0.9@tcp", 9, "client"),
    ];
    let after = [
        own(130, 55),
        of("10.0.0.1@tcp", 85, SERVER),
        of("2001:db8::1@tcp", 15, SERVER),
        of("10.0.0.9@tcp", 19, "client"),
    ];
    assert_eq!(
        with_exports(&before, &after),
        (
            vec!["0-1 create 10 create_usecs 10 statfs 5 statfs_usecs 5".to_owned()],
            2
        )
    );
    // Without its name, the owner of a connection is unknown.
    let nameless = [own(130, 55), of("10.0.0.1@tcp", 85, "client")];
    assert_eq!(with_exports(&before, &nameless).1, 0);
}

#[test]
fn a_connection_that_begins_again_counts_from_zero() {
    let own = |created: u32| ost(Some(-100), &format!("create {created} samples [reqs]\n"));
    let of = |start: i64, created: u32| {
        export(
            "10.0.0.1@tcp",
            Some(start),
            &format!("create {created} samples [reqs]\n"),
            SERVER,
        )
    };
    let found = with_exports(&[own(100), of(-90, 70)], &[own(130), of(30, 8)]);
    assert_eq!(found, (vec!["0-1 create 22".to_owned()], 1));
    assert_eq!(
        with_exports(&[own(100)], &[own(130), of(30, 8)]),
        found,
        "its first one"
    );
    // Its counters before the first request are unknown.
    let found = with_exports(&[own(100)], &[own(130), of(-90, 70)]);
    assert_eq!(found, (vec!["0-1 create 30".to_owned()], 0));
    let undated = export("10.0.0.1@tcp", None, "create 70 samples [reqs]\n", SERVER);
    let found = with_exports(&[own(100)], &[own(130), undated]);
    assert_eq!(found, (vec!["0-1 create 30".to_owned()], 0));
}

#[test]
fn a_connection_cannot_have_done_more_than_its_target() {
    let own = |created: u32| {
        ost(
            Some(-100),
            &format!("create {created} samples [reqs]\nsync {created} samples [reqs]\n"),
        )
    };
    let of = |created: u32| {
        export(
            "10.0.0.1@tcp",
            Some(-90),
            &format!("create {created} samples [reqs]\n"),
            SERVER,
        )
    };
    let found = with_exports(&[own(100), of(70)], &[own(101), of(73)]);
    assert_eq!(found, (vec!["0-1 sync 1".to_owned()], 1));
}
