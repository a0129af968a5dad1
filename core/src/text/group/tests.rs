use proptest::prelude::*;

use super::*;
use crate::text::getent::NAME_MAX;
use crate::text::passwd;

fn read_all(text: &[u8]) -> Contents<'_> {
    read(text, Pause::NEVER).unwrap()
}

fn groups(text: &[u8]) -> Vec<(u32, &str)> {
    let groups = read_all(text).entries;
    groups
        .iter()
        .map(|group| (group.number, group.name))
        .collect()
}

fn reasons(text: &[u8]) -> Vec<(u32, Reason)> {
    let problems = read_all(text).problems;
    problems.iter().map(|it| (it.line, it.reason)).collect()
}

#[test]
fn name_and_number_are_read() {
    let text = b"root:x:0:\nusers:*:100:ada,bob\r\nempty::7:";
    assert_eq!(groups(text), [(0, "root"), (7, "empty"), (100, "users")]);
    assert!(reasons(text).is_empty());
}

#[test]
fn the_first_name_of_a_number_counts() {
    assert_eq!(
        groups(b"wheel:x:0:\nroot:x:0:\nusers:x:5:\nusers:x:6:\n"),
        [(0, "wheel"), (5, "users"), (6, "users")]
    );
}

#[test]
fn a_group_may_have_any_number_of_members() {
    let text = format!("all:x:9:{}eve\nnext:x:10:\n", "member,".repeat(100_000));
    assert_eq!(groups(text.as_bytes()), [(9, "all"), (10, "next")]);
}

#[test]
fn names_of_domains_are_names() {
    let text = "domain users@example.org:*:1:a\nDOM\\staff:*:2:\nhpc-ö:*:3:\n";
    assert_eq!(
        groups(text.as_bytes()),
        [
            (1, "domain users@example.org"),
            (2, "DOM\\staff"),
            (3, "hpc-ö")
        ]
    );
}

#[test]
fn what_is_no_group_is_skipped() {
    assert_eq!(
        read_all(b"\n \t\n# local\n+:::\n-eve:::\n+staff:x:1:\n"),
        Contents::default()
    );
}

#[test]
fn a_line_that_cannot_be_used_is_a_problem() {
    let text =
        b"a:x:1\nb:x:x:\nc:x:4294967295:\n:x:1:\nd:x:-1:\ne\x1b:x:1:\nx\nf:x:1:a:b\ng:x: 1:\n";
    use Reason::{BadName, BadNumber, UnreadableLine};
    let expected = [
        (1, UnreadableLine),
        (2, BadNumber),
        (3, BadNumber),
        (4, BadName),
        (5, BadNumber),
        (6, BadName),
        (7, UnreadableLine),
        (8, UnreadableLine),
        (9, BadNumber),
    ];
    assert_eq!(reasons(text), expected);
}

#[test]
fn other_texts_are_not_taken_for_group() {
    let others: [&[u8]; 8] = [
        b"mdt.fs-MDT0000.job_stats=\njob_stats:\n- job_id:          4711:1000:n1\n  snapshot_time:   1700000000\n",
        b"root:x:0:0:root:/root:/bin/bash\nada:x:1000:100::/home/ada:/bin/sh\n",
        b"root:$6$salt$hash:19000:0:99999:7:::\n",
        b"JobID|User|UID|State\n1|ada|1000|COMPLETED\n",
        b"all.q:node1:users:ada:test:42:sge:0:1437000000:1437000001:1437000002:0:0\n",
        b"01/26/2016 00:00:37;E;2994.pbs;user=ada group=users\n",
        b"{\"jobs\":[{\"job_id\":1}]}\n",
        b"+:::\n",
    ];
    for text in others {
        assert!(!recognizes(text), "{}", String::from_utf8_lossy(text));
    }
    let group = b"\n# local\n+:::\ndamaged\nusers:x:100:ada\n";
    assert!(recognizes(group) && !passwd::recognizes(group));
}

/// Parts of texts, from which hostile ones are made.
const PIECES: &[&[u8]] = &[
    b":",
    b":x:1:a\n",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xFF",
    b"a:x:1:\n",
    b"42",
    b"4294967295",
    b"+",
    b"ada",
];

proptest! {
    /// Groups of any names and numbers are read as they were printed.
    #[test]
    fn what_getent_prints_is_read(
        printed in prop::collection::vec(("[a-zA-Z_@.\\\\][a-z0-9 $@.ö-]{0,12}", 0..u32::MAX, "[a-z,]{0,12}"), 0..12),
        end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let lines = printed.iter().map(|(name, gid, members)| format!("{name}:x:{gid}:{members}{end}"));
        let text = lines.collect::<String>();
        let mut expected = std::collections::BTreeMap::new();
        for (name, gid, _) in &printed {
            expected.entry(*gid).or_insert(name.as_str());
        }
        prop_assert_eq!(groups(text.as_bytes()), expected.into_iter().collect::<Vec<_>>());
        prop_assert_eq!(read_all(text.as_bytes()).problems_found, 0);
    }

    /// Any bytes have an answer in which no number occurs twice and every name can be stored.
    #[test]
    fn any_bytes_are_read(
        pieces in prop::collection::vec(
            prop::sample::select(PIECES),
            0..40),
    ) {
        let text = pieces.concat();
        let contents = read_all(&text);
        prop_assert!(contents.entries.windows(2).all(|pair| pair[0].number < pair[1].number));
        prop_assert!(contents.entries.iter().all(|it| (1..=NAME_MAX).contains(&it.name.len()) && !it.name.contains(char::is_control)));
        prop_assert!(!recognizes(&text) || !contents.entries.is_empty());
    }
}

#[test]
fn text_of_the_groups_has_nothing_else_of_their_lines() {
    let contents = read(b"staff:secret:100:ada,bob\nnone\nroot:x:0:\n", Pause::NEVER).unwrap();
    let stripped = contents.text(Pause::NEVER).unwrap();
    assert_eq!(stripped, b"root:x:0:\nstaff:x:100:\n");
    assert!(recognizes(&stripped));
    assert_eq!(
        read(&stripped, Pause::NEVER).unwrap().entries,
        contents.entries
    );
}
