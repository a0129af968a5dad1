use proptest::prelude::*;

use super::*;

/// Returns the names of a list, the last group of ranges changing fastest.
fn names(list: &str) -> Vec<String> {
    items(list).flat_map(names_of).collect()
}

fn names_of(item: &str) -> Vec<String> {
    let (before, ranges, after) = split_group(item).unwrap();
    let Some(ranges) = ranges else {
        return vec![before.to_owned()];
    };
    let ranges = ranges.split(',').map(|range| Range::read(range).unwrap());
    let numbers = ranges.flat_map(|Range { first, last, width }| {
        (first..=last).map(move |number| format!("{before}{number:0width$}"))
    });
    let ends = names_of(after);
    numbers
        .flat_map(|name| ends.iter().map(move |end| format!("{name}{end}")))
        .collect()
}

#[test]
fn lists_are_expanded() {
    let cases: [(&str, &[&str]); 12] = [
        ("n1", &["n1"]),
        ("n1,n2.example.org", &["n1", "n2.example.org"]),
        ("c[01-03,07]", &["c01", "c02", "c03", "c07"]),
        (
            "d09n04s[01-02],d13n[03,05]",
            &["d09n04s01", "d09n04s02", "d13n03", "d13n05"],
        ),
        (
            "nid0[0099,0156-0157]",
            &["nid00099", "nid00156", "nid00157"],
        ),
        ("nid00[192,246]", &["nid00192", "nid00246"]),
        ("r[0-1]_b[0-1]", &["r0_b0", "r0_b1", "r1_b0", "r1_b1"]),
        ("n[1-2]-ib", &["n1-ib", "n2-ib"]),
        ("n[9-11]", &["n9", "n10", "n11"]),
        ("n[098-101]", &["n098", "n099", "n100", "n101"]),
        ("[1-2]", &["1", "2"]),
        ("n[1,1]", &["n1", "n1"]),
    ];
    for (list, expected) in cases {
        assert_eq!(names(list), expected, "{list}");
    }
}

#[test]
fn a_list_has_as_many_nodes_as_it_expands_to() {
    for list in ["n1", "c[01-03,07]", "r[0-1]_b[0-1],n9", "n[1,1]"] {
        assert_eq!(count(list), Some(names(list).len() as u64), "{list}");
    }
    assert_eq!(count("n[1-99999999]"), Some(99_999_999));
    assert_eq!(count("n[1-"), None);
}

#[test]
fn a_node_is_in_a_list_that_expands_to_it() {
    for list in [
        "n1,n2.example.org",
        "c[01-03,07]",
        "d09n04s[01-02],d13n[03,05]",
        "nid0[0099,0156-0157]",
        "r[0-1]_b[0-1]",
        "r[0-1]b[0-1][0-1]",
        "n[1-2]-ib",
        "n[9-11]",
        "n[098-101].cluster",
    ] {
        let all = names(list);
        for node in &all {
            assert_eq!(contains(list, short(node)), Some(true), "{list} {node}");
        }
        for node in [
            "n", "n3", "n09", "c1", "c04", "c007", "r2_b0", "n97", "n102", "n1-i", "", "é",
        ] {
            let is_in = all.iter().any(|it| short(it) == node);
            assert_eq!(contains(list, node), Some(is_in), "{list} {node}");
        }
    }
    assert_eq!(contains("n[1-2", "n1"), None);
    assert_eq!(contains("q[1-18446744073709551614]", "q77"), Some(true));
}

#[test]
fn a_list_that_is_damaged_is_an_error() {
    for list in [
        "",
        "n1,",
        "None assigned",
        "n\u{1}",
        "n[1-2",
        "n1-2]",
        "n[]",
        "n[1,]",
        "n[2-1]",
        "n[a-b]",
        "n[+1]",
        "n[1-2-3]",
        "n[[1-2]]",
        "n[18446744073709551615]",
        "n[99999999999999999999999]",
    ] {
        assert_eq!(count(list), None, "{list}");
    }
    assert_eq!(count(&"n".repeat(NAME_MAX + 1)), None);
    assert_eq!(count(&"[1]".repeat(NAME_MAX + 1)), None);
    assert_eq!(names(&"[1]".repeat(NAME_MAX)).len(), 1);
}

#[test]
fn a_list_without_measure_costs_nothing() {
    for (list, nodes) in [
        ("n[1-99999999]", 99_999_999),
        ("n[0-18446744073709551614]", u64::MAX),
        ("[0-9][0-9][0-9][0-9][0-9][0-9][0-9]", 10_000_000),
        ("n[1-999999],m[1-2]", 1_000_001),
    ] {
        assert_eq!(count(list), Some(nodes), "{list}");
        assert_eq!(contains(list, "x"), Some(false), "{list}");
    }
    let many = format!("n[{}1]", "1,".repeat(999_999));
    assert_eq!(count(&many), Some(1_000_000));
    assert_eq!(contains(&many, "n2"), Some(false));
    let many = format!("{}n", "n,".repeat(999_999));
    assert_eq!(count(&many), Some(1_000_000));
}

#[test]
fn a_short_name_has_no_domain() {
    assert_eq!(short("n1.example.org"), "n1");
    assert_eq!(short("n1"), "n1");
    assert_eq!(short(""), "");
}

/// A text and the ranges behind it: first, last, and the width of the first.
type Part = (String, Vec<(u64, u64, usize)>);

/// Returns the list of a name of parts, and its names.
fn naive(parts: &[Part]) -> (String, Vec<String>) {
    let (mut list, mut names) = (String::new(), vec![String::new()]);
    for (text, ranges) in parts {
        list += text;
        let ends: Vec<String> = ranges
            .iter()
            .flat_map(|(first, last, width)| {
                (*first..=*last).map(move |number| format!("{number:0width$}"))
            })
            .collect();
        names = names
            .iter()
            .flat_map(|name| ends.iter().map(move |end| format!("{name}{text}{end}")))
            .collect();
        let ranges = ranges
            .iter()
            .map(|(first, last, width)| match first == last {
                true => format!("{first:0width$}"),
                false => format!("{first:0width$}-{last}"),
            });
        list += &format!("[{}]", ranges.collect::<Vec<_>>().join(","));
    }
    (list, names)
}

proptest! {
    #[test]
    fn a_list_is_expanded_as_by_loops(
        items in prop::collection::vec(
            prop::collection::vec(("[a-z_.-]{0,3}", prop::collection::vec((0_u64..120, 0_u64..12, 1_usize..4), 1..3)), 1..3), 1..4),
    ) {
        let (mut lists, mut expected) = (Vec::new(), Vec::new());
        for item in items {
            let ranges = |ranges: Vec<(u64, u64, usize)>| ranges.into_iter().map(|(first, more, width)| {
                // The width is the width of the first number.
                (first, first + more, width.max(first.to_string().len()))
            }).collect();
            let parts: Vec<_> = item.into_iter().map(|(text, it)| (text, ranges(it))).collect();
            let (list, names) = naive(&parts);
            lists.push(list);
            expected.extend(names);
        }
        prop_assert_eq!(names(&lists.join(",")), expected);
    }

    #[test]
    fn any_text_is_expanded_or_refused(pieces in prop::collection::vec(prop::sample::select(&["[", "]", "-", ",", "1", "09", "n", " ", "é"][..]), 0..20)) {
        let text = pieces.concat();
        let Some(count) = count(&text) else {
            prop_assert_eq!(contains(&text, "n"), None);
            prop_assert_eq!(contains_any(&text, &BTreeSet::from(["n"])), None);
            return Ok(());
        };
        let nodes = BTreeSet::from(["n1", "1", "n09"]);
        let is_any = nodes.iter().any(|node| contains(&text, node) == Some(true));
        prop_assert_eq!(contains_any(&text, &nodes), Some(is_any));
        if count < 1_000 {
            let names = names(&text);
            prop_assert_eq!(names.len() as u64, count);
            for name in names {
                prop_assert!((1..=NAME_MAX).contains(&name.len()) && !name.contains(['[', ']', ',']));
            }
        }
    }
}
