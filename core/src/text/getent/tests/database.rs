//! The lines of both databases. [`line`] makes the line of an entry, so that most cases hold for both.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::*;
use Database::{Group, Passwd};

fn read(database: Database, text: &[u8]) -> Contents<'_> {
    database.read(text, Pause::NEVER).unwrap()
}

fn entries(database: Database, text: &[u8]) -> Vec<(u32, &str)> {
    let entries = read(database, text).entries;
    entries.iter().map(|it| (it.number, it.name)).collect()
}

fn reasons(database: Database, text: &[u8]) -> Vec<(u32, Reason)> {
    let problems = read(database, text).problems;
    problems.iter().map(|it| (it.line, it.reason)).collect()
}

/// Returns a line of an entry with this name and number.
fn line(database: Database, name: &[u8], number: &str) -> Vec<u8> {
    let rest = match database {
        Passwd => format!(":x:{number}:1:Ada, room 5:/home/a:/bin/sh\n"),
        Group => format!(":x:{number}:ada,bob\n"),
    };
    [name, rest.as_bytes()].concat()
}

#[test]
fn names_and_numbers_are_read() {
    let text = b"root:x:0:0:root:/root:/bin/bash\nada:$6$secret:1000:100:Ada Lovelace,,,:/home/ada:/bin/sh\n";
    assert_eq!(entries(Passwd, text), [(0, "root"), (1000, "ada")]);
    assert!(reasons(Passwd, text).is_empty());
    let text = b"root:x:0:\nusers:*:100:ada,bob\r\nempty::7:";
    assert_eq!(
        entries(Group, text),
        [(0, "root"), (7, "empty"), (100, "users")]
    );
    assert!(reasons(Group, text).is_empty());
}

#[test]
fn the_primary_group_of_a_user_is_read() {
    let text = b"ada:x:1000:100:Room 13:43:9:/home/ada:/bin/sh\n";
    assert_eq!(read(Passwd, text).entries[0].gid, Some(100));
    for gid in ["4294967295", "users"] {
        let text = format!("ada:x:1:{gid}::/a:/b");
        assert_eq!(
            reasons(Passwd, text.as_bytes()),
            [(1, Reason::BadNumber)],
            "{gid}"
        );
    }
}

#[test]
fn gecos_may_have_colons() {
    let text = b"ada:*:1000:100:Room 13:43:29:10:/home/ada:/bin/sh\nbob:*:1001:100::::/home/bob:\n";
    assert_eq!(entries(Passwd, text), [(1000, "ada"), (1001, "bob")]);
}

#[test]
fn a_group_may_have_any_number_of_members() {
    let text = format!("all:x:9:{}eve\nnext:x:10:\n", "member,".repeat(100_000));
    assert_eq!(entries(Group, text.as_bytes()), [(9, "all"), (10, "next")]);
}

#[test]
fn the_first_name_of_a_number_counts() {
    for database in [Passwd, Group] {
        let lines = [("toor", "0"), ("ada", "7"), ("root", "0"), ("ada", "8")];
        let text = lines.map(|(name, number)| line(database, name.as_bytes(), number));
        assert_eq!(
            entries(database, &text.concat()),
            [(0, "toor"), (7, "ada"), (8, "ada")]
        );
    }
}

#[test]
fn names_are_text_of_a_line_also_those_of_domains() {
    for database in [Passwd, Group] {
        let longest = "a".repeat(NAME_MAX);
        for name in ["ada@example.org", "DOM\\bob", "host$", "j ö", &longest] {
            let text = line(database, name.as_bytes(), "1");
            assert_eq!(entries(database, &text), [(1, name)]);
        }
        for name in [
            &b""[..],
            &[b'a'; NAME_MAX + 1],
            b"a\0b",
            b"a\x1b[31m",
            b"m\xFCller",
            b"a\tb",
            "a\u{85}".as_bytes(),
        ] {
            let text = line(database, name, "1");
            assert_eq!(reasons(database, &text), [(1, Reason::BadName)], "{name:?}");
        }
    }
}

#[test]
fn numbers_are_those_of_users_and_groups() {
    for database in [Passwd, Group] {
        for (number, expected) in [("4294967294", 4_294_967_294), ("007", 7)] {
            let text = line(database, b"ada", number);
            assert_eq!(entries(database, &text), [(expected, "ada")]);
        }
        for number in [
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
            let text = line(database, b"ada", number);
            assert_eq!(
                reasons(database, &text),
                [(1, Reason::BadNumber)],
                "{number}"
            );
        }
    }
}

#[test]
fn blank_lines_comments_and_nis_are_skipped() {
    let texts: [(_, &[u8]); 2] = [
        (
            Passwd,
            b"\n  \t\n# local\n+::::::\n+@staff::::::\n-eve::::::\n+ada:x:1:1::/a:/b\r\n",
        ),
        (Group, b"\n \t\n# local\n+:::\n-eve:::\n+staff:x:1:\n"),
    ];
    for (database, text) in texts {
        assert_eq!(read(database, text), Contents::default());
    }
}

#[test]
fn a_line_may_end_as_those_of_windows_or_not_at_all() {
    assert_eq!(
        entries(Passwd, b"ada:x:1:1::/a:/b\r\nbob:x:2:2::/a:/b"),
        [(1, "ada"), (2, "bob")]
    );
    assert!(entries(Passwd, b"").is_empty());
}

#[test]
fn lines_with_other_fields_are_no_groups() {
    for text in ["a:x:1", "x", "f:x:1:a:b"] {
        assert_eq!(
            reasons(Group, text.as_bytes()),
            [(1, Reason::UnreadableLine)]
        );
    }
}

#[test]
fn other_texts_are_not_recognized() {
    let others: [&[u8]; 10] = [
        b"mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n  snapshot_time:   1700000000\n",
        b"root:$6$salt$hash:19000:0:99999:7:::\nada:!:19000:0:99999:7:::\n",
        b"10.0.0.1 host1\n10.0.0.2 host2\n",
        b"JobID|User|UID|State\n1|ada|1000|COMPLETED\n",
        b"all.q:node1:users:ada:test:42:sge:0:1437000000:1437000001:1437000002:0:0\n",
        b"01/26/2016 00:00:37;E;2994.pbs;user=ada group=users\n",
        b"{\"jobs\":[{\"job_id\":1}]}\n",
        b"+::::::\n",
        b"+:::\n",
        b"",
    ];
    let users: &[u8] = b"\n# local\n+::::::\ndamaged\nada:x:1:1::/a:/b\n";
    let groups: &[u8] = b"\n# local\n+:::\ndamaged\nusers:x:100:ada\n";
    for (database, own, other) in [(Passwd, users, groups), (Group, groups, users)] {
        for text in others.into_iter().chain([other]) {
            let shown = String::from_utf8_lossy(text);
            assert!(!database.recognizes(text), "{shown}");
            assert!(entries(database, text).is_empty(), "{shown}");
        }
        assert!(database.recognizes(own));
    }
}

#[test]
fn comments_do_not_hide_a_database() {
    let text = format!("{}ada:x:1:1::/a:/b\n", "# local\n\n+::::::\n".repeat(20));
    assert!(Passwd.recognizes(text.as_bytes()));
}

#[test]
fn problems_are_counted_beyond_those_that_are_listed() {
    let contents = b"x\n".repeat(PROBLEMS_MAX + 5);
    let contents = read(Passwd, &contents);
    assert_eq!(contents.problems.len(), PROBLEMS_MAX);
    assert_eq!(contents.problems_found, PROBLEMS_MAX as u64 + 5);
}

#[test]
fn long_work_can_be_cancelled() {
    let calls = std::cell::Cell::new(0);
    let pause = || calls.set(calls.get() + 1);
    Passwd
        .read(&b"x\n".repeat(4 << 19), Pause::new(&pause))
        .unwrap();
    assert_eq!(calls.get(), 3, "once per megabyte of four");
}

#[test]
fn text_of_the_entries_has_nothing_else_of_their_lines() {
    let texts: [(_, &[u8], &[u8]); 2] = [
        (
            Passwd,
            b"ada:secret:1000:100:Ada, room 5:/home/ada:/bin/sh\nnone\nbob:x:7:8:a:b:/h:/s\n",
            b"bob:x:7:8::/:\nada:x:1000:100::/:\n",
        ),
        (
            Group,
            b"staff:secret:100:ada,bob\nnone\nroot:x:0:\n",
            b"root:x:0:\nstaff:x:100:\n",
        ),
    ];
    for (database, text, expected) in texts {
        let contents = read(database, text);
        let stripped = contents.text(Pause::NEVER).unwrap();
        assert_eq!(stripped, expected);
        assert!(database.recognizes(&stripped));
        assert_eq!(read(database, &stripped).entries, contents.entries);
    }
}

/// Fragments of hostile texts.
const PIECES: &[&[u8]] = &[
    b":",
    b":x:1:1:g:/h:/s\n",
    b":x:1:a\n",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xFF",
    b"a:x:1:1:g:/h:/s\n",
    b"a:x:1:\n",
    b"42",
    b"4294967295",
    b"/",
    b"+",
    b"ada",
];

/// Returns the first name of each number.
fn expected<'p>(printed: impl Iterator<Item = (u32, &'p str)>) -> Vec<(u32, &'p str)> {
    let mut expected = BTreeMap::new();
    for (number, name) in printed {
        expected.entry(number).or_insert(name);
    }
    expected.into_iter().collect()
}

proptest! {
    /// Users of any names and numbers are read as they were printed, whatever GECOS and the ends of lines are.
    #[test]
    fn printed_users_are_read(
        printed in prop::collection::vec(
            ("[a-zA-Z_@.\\\\][a-z0-9 $@.ö-]{0,12}", 0..u32::MAX, "[^\n\r\0]{0,12}", "/[a-z]{0,5}", "(/[a-z]{1,5})?"), 0..12),
        end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let lines = printed.iter().map(|(name, uid, gecos, home, shell)| {
            format!("{name}:x:{uid}:100:{gecos}:{home}:{shell}{end}")
        });
        let text = lines.collect::<String>();
        let expected = expected(printed.iter().map(|it| (it.1, it.0.as_str())));
        prop_assert_eq!(entries(Passwd, text.as_bytes()), expected);
        prop_assert_eq!(read(Passwd, text.as_bytes()).problems_found, 0);
    }

    /// Groups of any names and numbers are read as they were printed.
    #[test]
    fn printed_groups_are_read(
        printed in prop::collection::vec(("[a-zA-Z_@.\\\\][a-z0-9 $@.ö-]{0,12}", 0..u32::MAX, "[a-z,]{0,12}"), 0..12),
        end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let lines = printed.iter().map(|(name, gid, members)| format!("{name}:x:{gid}:{members}{end}"));
        let text = lines.collect::<String>();
        let expected = expected(printed.iter().map(|it| (it.1, it.0.as_str())));
        prop_assert_eq!(entries(Group, text.as_bytes()), expected);
        prop_assert_eq!(read(Group, text.as_bytes()).problems_found, 0);
    }

    /// In any bytes no number occurs twice, every name can be stored, and every problem is on a line.
    #[test]
    fn any_bytes_are_read(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
        database in prop::sample::select(vec![Passwd, Group]),
    ) {
        let text = pieces.concat();
        let contents = read(database, &text);
        let lines = lines(&text, Pause::NEVER).count() as u64;
        prop_assert!(contents.entries.len() as u64 + contents.problems_found <= lines);
        prop_assert!(contents.entries.is_sorted_by(|one, next| one.number < next.number));
        prop_assert!(contents.entries.iter().all(|it| it.number != u32::MAX && is_name(it.name)));
        prop_assert!(contents.problems.is_sorted_by(|one, next| one.line < next.line));
        prop_assert!(!database.recognizes(&text) || !contents.entries.is_empty());
    }
}
