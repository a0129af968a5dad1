use proptest::prelude::*;

use super::*;
use crate::text::field::lines;
use crate::text::getent::{NAME_MAX, PROBLEMS_MAX};

fn read_all(text: &[u8]) -> Contents<'_> {
    read(text, Pause::NEVER).unwrap()
}

fn users(text: &[u8]) -> Vec<(u32, &str)> {
    let users = read_all(text).entries;
    users.iter().map(|user| (user.number, user.name)).collect()
}

fn reasons(text: &[u8]) -> Vec<(u32, Reason)> {
    let problems = read_all(text).problems;
    problems.iter().map(|it| (it.line, it.reason)).collect()
}

#[test]
fn name_and_number_are_read() {
    let text = b"root:x:0:0:root:/root:/bin/bash\nada:$6$secret:1000:100:Ada Lovelace,,,:/home/ada:/bin/sh\n";
    assert_eq!(users(text), [(0, "root"), (1000, "ada")]);
    assert!(reasons(text).is_empty());
}

#[test]
fn the_primary_group_is_read() {
    let contents = read_all(b"ada:x:1000:100:Room 13:43:9:/home/ada:/bin/sh\n");
    assert_eq!(contents.entries[0].gid, Some(100));
    assert_eq!(
        reasons(b"ada:x:1:4294967295::/a:/b"),
        [(1, Reason::BadNumber)]
    );
}

#[test]
fn gecos_may_have_colons() {
    let text = b"ada:*:1000:100:Room 13:43:29:10:/home/ada:/bin/sh\nbob:*:1001:100::::/home/bob:\n";
    assert_eq!(users(text), [(1000, "ada"), (1001, "bob")]);
}

#[test]
fn the_first_name_of_a_number_counts() {
    let text = b"toor:x:0:0::/root:/bin/sh\nada:x:7:7::/a:/b\nroot:x:0:0::/root:/bin/sh\nada:x:8:8::/a:/b\n";
    assert_eq!(users(text), [(0, "toor"), (7, "ada"), (8, "ada")]);
}

#[test]
fn names_of_domains_are_names() {
    let text = "ada@example.org:*:1:1::/a:/b\nDOM\\bob:*:2:2::/a:/b\nhost$:*:3:3::/a:/b\nj ö:*:4:4::/a:/b\n";
    assert_eq!(
        users(text.as_bytes()),
        [
            (1, "ada@example.org"),
            (2, "DOM\\bob"),
            (3, "host$"),
            (4, "j ö")
        ]
    );
}

#[test]
fn what_is_no_user_is_skipped() {
    let text = b"\n  \t\n# local\n+::::::\n+@staff::::::\n-eve::::::\n+ada:x:1:1::/a:/b\r\n";
    assert_eq!(read_all(text), Contents::default());
}

#[test]
fn a_line_may_end_as_those_of_windows_or_not_at_all() {
    assert_eq!(
        users(b"ada:x:1:1::/a:/b\r\nbob:x:2:2::/a:/b"),
        [(1, "ada"), (2, "bob")]
    );
    assert!(users(b"").is_empty());
}

#[test]
fn numbers_are_those_of_users() {
    let line = |uid: &str| format!("ada:x:{uid}:1::/a:/b\n").into_bytes();
    assert_eq!(users(&line("4294967294")), [(4_294_967_294, "ada")]);
    assert_eq!(users(&line("007")), [(7, "ada")]);
    for uid in [
        "4294967295",
        "4294967296",
        "-1",
        "+1",
        "",
        " 1",
        "1e3",
        "99999999999999999999999",
        "0x10",
    ] {
        assert_eq!(reasons(&line(uid)), [(1, Reason::BadNumber)], "{uid}");
    }
    assert_eq!(reasons(b"ada:x:1:users::/a:/b"), [(1, Reason::BadNumber)]);
}

#[test]
fn names_are_text_of_a_line() {
    let line = |name: &[u8]| [name, b":x:1:1::/a:/b\n"].concat();
    assert_eq!(users(&line(&[b'a'; NAME_MAX])).len(), 1);
    for name in [
        &b""[..],
        &[b'a'; NAME_MAX + 1],
        b"a\0b",
        b"a\x1b[31m",
        b"m\xFCller",
        b"a\tb",
        "a\u{85}".as_bytes(),
    ] {
        assert_eq!(reasons(&line(name)), [(1, Reason::BadName)], "{name:?}");
    }
}

#[test]
fn other_texts_are_not_taken_for_passwd() {
    let others: [&[u8]; 7] = [
        b"mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n  snapshot_time:   1700000000\n",
        b"root:$6$salt$hash:19000:0:99999:7:::\nada:!:19000:0:99999:7:::\n",
        b"users:x:100:ada,bob\nroot:x:0:\n",
        b"10.0.0.1 host1\n10.0.0.2 host2\n",
        b"JobID|User|UID|State\n1|ada|1000|COMPLETED\n",
        b"+::::::\n",
        b"",
    ];
    for text in others {
        assert!(!recognizes(text), "{}", String::from_utf8_lossy(text));
        assert!(users(text).is_empty(), "{}", String::from_utf8_lossy(text));
    }
    assert!(recognizes(
        b"\n# local\n+::::::\ndamaged\nada:x:1:1::/a:/b\n"
    ));
}

#[test]
fn comments_do_not_hide_that_a_text_is_passwd() {
    let text = format!("{}ada:x:1:1::/a:/b\n", "# local\n\n+::::::\n".repeat(20));
    assert!(recognizes(text.as_bytes()));
}

#[test]
fn problems_are_counted_beyond_those_that_are_listed() {
    let contents = b"x\n".repeat(PROBLEMS_MAX + 5);
    let contents = read_all(&contents);
    assert_eq!(contents.problems.len(), PROBLEMS_MAX);
    assert_eq!(contents.problems_found, PROBLEMS_MAX as u64 + 5);
}

#[test]
fn long_work_can_be_cancelled() {
    let calls = std::cell::Cell::new(0);
    let pause = || calls.set(calls.get() + 1);
    read(&b"x\n".repeat(4 << 19), Pause::new(&pause)).unwrap();
    assert_eq!(calls.get(), 3, "once per megabyte of four");
}

/// Parts of texts, from which hostile ones are made.
const PIECES: &[&[u8]] = &[
    b":",
    b":x:1:1:g:/h:/s\n",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xFF",
    b"a:x:1:1:g:/h:/s\n",
    b"42",
    b"4294967295",
    b"/",
    b"+",
    b"ada",
];

proptest! {
    /// Users of any names and numbers are read as they were printed, whatever GECOS and the ends of lines are.
    #[test]
    fn what_getent_prints_is_read(
        printed in prop::collection::vec(
            ("[a-zA-Z_@.\\\\][a-z0-9 $@.ö-]{0,12}", 0..u32::MAX, "[^\n\r\0]{0,12}", "/[a-z]{0,5}", "(/[a-z]{1,5})?"), 0..12),
        end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let lines = printed.iter().map(|(name, uid, gecos, home, shell)| {
            format!("{name}:x:{uid}:100:{gecos}:{home}:{shell}{end}")
        });
        let text = lines.collect::<String>();
        let mut expected = std::collections::BTreeMap::new();
        for (name, uid, ..) in &printed {
            expected.entry(*uid).or_insert(name.as_str());
        }
        let contents = read_all(text.as_bytes());
        prop_assert_eq!(users(text.as_bytes()), expected.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(contents.problems_found, 0);
    }

    /// Any bytes have an answer in which no number occurs twice and every name can be stored.
    #[test]
    fn any_bytes_are_read(
        pieces in prop::collection::vec(
            prop::sample::select(PIECES),
            0..40),
    ) {
        check(&pieces.concat());
    }
}

/// Checks what holds for every text.
fn check(text: &[u8]) {
    let contents = read_all(text);
    let lines = lines(text, Pause::NEVER).count() as u64;
    assert!(contents.entries.len() as u64 + contents.problems_found <= lines);
    assert!(
        contents
            .entries
            .windows(2)
            .all(|pair| pair[0].number < pair[1].number)
    );
    for user in &contents.entries {
        assert!(user.number != u32::MAX && (1..=NAME_MAX).contains(&user.name.len()));
        assert!(!user.name.contains(char::is_control));
    }
    assert!(
        contents
            .problems
            .windows(2)
            .all(|pair| pair[0].line < pair[1].line)
    );
    assert!(!recognizes(text) || !contents.entries.is_empty());
}

#[test]
fn text_of_the_users_has_nothing_else_of_their_lines() {
    let text = b"ada:secret:1000:100:Ada, room 5:/home/ada:/bin/sh\nnone\nbob:x:7:8:a:b:/h:/s\n";
    let contents = read(text, Pause::NEVER).unwrap();
    let stripped = contents.text(Pause::NEVER).unwrap();
    assert_eq!(stripped, b"bob:x:7:8::/:\nada:x:1000:100::/:\n");
    assert!(recognizes(&stripped));
    assert_eq!(
        read(&stripped, Pause::NEVER).unwrap().entries,
        contents.entries
    );
}
