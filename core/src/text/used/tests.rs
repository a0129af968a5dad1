use proptest::collection::btree_map;
use proptest::prelude::*;

use super::*;
use crate::base::target::{TargetKind, TargetName};

const OST: TargetName<'static> = TargetName {
    kind: TargetKind::Ost,
    name: b"fs-OST0000",
};

/// The owners as `id kbytes inodes`, or the problem as `line code`.
fn list(owner: Owner, value: &str) -> Result<Vec<String>, String> {
    let other = Other {
        parameter: Parameter::Used(OST, owner),
        line: 1,
        value: value.as_bytes().into(),
    };
    let mut problems = Problems::default();
    let used = read(&other, &mut problems, Pause::NEVER).unwrap();
    let problems: Vec<_> = problems.kept.iter().collect();
    let Some(rows) = used else {
        let [problem] = problems[..] else {
            panic!("{problems:?}")
        };
        return Err(format!("{} {}", problem.line, problem.reason.code()));
    };
    assert!(problems.is_empty());
    let row = |usage: &Usage| format!("{} {} {}", usage.id, usage.kbytes, usage.inodes);
    Ok(rows.iter().map(row).collect())
}

fn owner(id: &str, inodes: &str, kbytes: &str) -> String {
    format!("- id:      {id}\n  usage:   {{ inodes: {inodes:>12}, kbytes: {kbytes:>12} }}\n")
}

const HEADING: &str = "usr_accounting:\n";

#[test]
fn owners_are_listed_in_order() {
    let value = HEADING.to_owned()
        + &owner("0", "331", "2000")
        + &owner("4294967295", "1", "9223372036854775807")
        + &owner("23", "241123355", "102141328");
    let rows = [
        "0 2000 331",
        "23 102141328 241123355",
        "4294967295 9223372036854775807 1",
    ];
    assert_eq!(list(Owner::User, &value).unwrap(), rows);
    assert_eq!(list(Owner::User, HEADING).unwrap(), [""; 0]);
    let later = value.replace(" }", ", pools: 7 }");
    assert_eq!(list(Owner::User, &later).unwrap(), rows);
}

#[test]
fn each_kind_has_a_heading() {
    for (owner, heading) in [
        (Owner::User, "usr_accounting:\n"),
        (Owner::Group, "grp_accounting:\n"),
        (Owner::Project, "\nprj_accounting:\n"),
    ] {
        assert!(list(owner, heading).unwrap().is_empty());
        for other in [Owner::User, Owner::Group, Owner::Project] {
            assert_eq!(list(other, heading).is_ok(), other == owner);
        }
    }
    assert_eq!(
        list(Owner::User, &owner("0", "1", "2")).unwrap_err(),
        "1 unreadable line"
    );
}

#[test]
fn an_owner_that_stands_there_twice_has_the_larger_space() {
    let value = HEADING.to_owned()
        + &owner("7", "1", "20")
        + &owner("5", "2", "2")
        + &owner("7", "3", "30");
    assert_eq!(list(Owner::User, &value).unwrap(), ["5 2 2", "7 30 3"]);
}

#[test]
fn a_damaged_list_is_rejected_as_a_whole() {
    let good = HEADING.to_owned() + &owner("0", "331", "2000");
    #[rustfmt::skip]
    let cases = [
        (owner("4294967296", "1", "2"), "4 bad id"),
        (owner("-1", "1", "2"), "4 bad id"),
        (owner("ada", "1", "2"), "4 bad id"),
        (owner("", "1", "2"), "4 bad id"),
        (owner("1", "-1", "2"), "5 bad number"),
        (owner("1", "1", "9223372036854775808"), "5 bad number"),
        ("- id: 1\n- id: 2\n".to_owned(), "5 unreadable line"),
        ("  usage: { inodes: 1, kbytes: 2 }\n".to_owned(), "4 unreadable line"),
        ("- id: 1\n  usage: { inodes: 1 }\n".to_owned(), "5 unreadable line"),
        ("- id: 1\n  usage: { inodes: 1, kbytes: 2\n".to_owned(), "5 unreadable line"),
        (HEADING.to_owned(), "4 unreadable line"),
        ("no quota\n".to_owned(), "4 unreadable line"),
    ];
    for (bad, problem) in cases {
        let value = format!("{good}{bad}{}", owner("9", "1", "2"));
        assert_eq!(list(Owner::User, &value).unwrap_err(), problem, "{bad}");
    }
}

#[test]
fn a_cut_list_is_rejected() {
    let value = HEADING.to_owned() + &owner("0", "331", "2000") + &owner("1", "331", "2000");
    for lines in 0..4 {
        let end: usize = value
            .split_inclusive('\n')
            .take(lines + 1)
            .map(str::len)
            .sum();
        let is_pair = lines % 2 == 0;
        assert_eq!(list(Owner::User, &value[..end]).is_ok(), is_pair, "{lines}");
        let cut = list(Owner::User, &value[..end - 1]).unwrap_err();
        assert_eq!(cut, format!("{} cut line", lines + 1));
    }
}

#[test]
fn a_list_has_a_million_owners_at_most() {
    let ids = (0..1_000_000).map(|id| format!("- id: {id}\nusage: {{ inodes: 1, kbytes: 1 }}\n"));
    let value = HEADING.to_owned() + &ids.collect::<String>();
    assert_eq!(list(Owner::User, &value).unwrap().len(), OWNERS_MAX);
    let value = value + &owner("1000000", "1", "1");
    assert_eq!(
        list(Owner::User, &value).unwrap_err(),
        "2000003 too many lines"
    );
}

#[test]
fn another_parameter_is_no_list() {
    let other = Other {
        parameter: Parameter::Health,
        line: 1,
        value: HEADING.as_bytes().into(),
    };
    assert_eq!(
        read(&other, &mut Problems::default(), Pause::NEVER),
        Ok(None)
    );
}

proptest! {
    /// A list reads as it was printed. Cut anywhere, it has no owners or owners of the whole one.
    #[test]
    fn a_list_is_read_as_printed(
        owners in btree_map(any::<u32>(), (0..i64::MAX, 0..i64::MAX), 0..20),
        at in any::<prop::sample::Index>(),
    ) {
        let printed = owners.iter().map(|(id, (inodes, kbytes))| owner(&id.to_string(), &inodes.to_string(), &kbytes.to_string()));
        let value = HEADING.to_owned() + &printed.collect::<String>();
        let expected: Vec<_> = owners.iter().map(|(id, (inodes, kbytes))| format!("{id} {kbytes} {inodes}")).collect();
        prop_assert_eq!(&list(Owner::User, &value).unwrap(), &expected);
        let cut = &value[..at.index(value.len())];
        if let Some(Ok(part)) = (!cut.is_empty()).then(|| list(Owner::User, cut)) {
            prop_assert!(expected.starts_with(&part) && cut.ends_with('\n'));
        }
    }
}
