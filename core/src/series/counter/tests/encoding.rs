//! Tests the text and the bytes that are stored, which later versions must read too.

use super::*;

const TEXT: &str = "v1 increase=55 resets=1 first=1762156800.000000:100@1762150000.500000 \
     last=1762158600.000001:45 known=45 peak=110 turn=1762158000.000000:10";

fn example() -> Summary {
    let second = 1_000_000;
    let time = 1_762_156_800 * second;
    let start = 1_762_150_000 * second + second / 2;
    summary(&[
        of_epoch(start, time, 100),
        of_epoch(start, time + 600 * second, 110),
        of_epoch(start, time + 900 * second, 105),
        at(time + 1200 * second, 10),
        at(time + 1800 * second + 1, 45),
    ])
    .unwrap()
}

const TEXT_2: &str = "v2 increase=403 resets=1 first=1762156800.000000:4294967000@1762150000.500000 \
     last=1762158000.000000:7@1762157900.000000 wraps_at=4294967296";

/// Returns the summary of a counter of 32 bits that grows by 396 over the wrap, and then by 7 in a new epoch.
fn example_that_wraps() -> Summary {
    let second = 1_000_000;
    let time = 1_762_156_800 * second;
    let start = 1_762_150_000 * second + second / 2;
    let readings = [
        of_epoch(start, time, 4_294_967_000),
        of_epoch(start, time + 600 * second, 100),
        of_epoch(time + 1100 * second, time + 1200 * second, 7),
    ];
    wrapping(Modulus::new(1 << 32).ok(), &readings).unwrap()
}

#[test]
fn text_is_golden() {
    // The increase is 10, 0, 10 after a reset, and 35.
    assert_eq!(example().to_string(), TEXT);
}

#[test]
fn text_of_times_before_1970_is_golden() {
    let text =
        "v1 increase=3 resets=0 first=-1.500000:0 last=-0.000001:3 known=3 peak=0 turn=-0.000001:3";
    let summary = summary(&[at(-1_500_000, 0), at(-1, 3)]).unwrap();
    assert_eq!(summary.to_string(), text);
    assert_eq!(Summary::from_text(text).unwrap(), summary);
}

#[test]
fn bytes_are_golden() {
    let word = |number: i64| number.to_le_bytes();
    let bytes = [
        &[1][..],
        &word(1_762_156_800_000_000),
        &word(1_762_150_000_500_000),
        &word(100),
        &word(110),
        &word(1_762_158_000_000_000),
        &[0, 0, 0, 0, 0, 0, 0, 0x80],
        &word(10),
        &word(1_762_158_600_000_001),
        &[0, 0, 0, 0, 0, 0, 0, 0x80],
        &word(45),
        &word(45),
        &word(55),
        &word(0),
        &word(1),
    ]
    .concat();
    assert_eq!(example().to_bytes()[..], bytes);
    assert_eq!(Summary::from_bytes(&bytes).unwrap(), example());
}

#[test]
fn bytes_without_a_turn_are_golden() {
    let bytes = Summary::new(at(5, 7)).to_bytes();
    let none = i64::MIN.to_le_bytes();
    assert_eq!(bytes[33..57], [none, none, none].concat());
    assert_eq!(Summary::from_bytes(&bytes).unwrap(), Summary::new(at(5, 7)));
}

#[test]
fn the_example_that_errors_show_is_text() {
    assert_eq!(Summary::from_text(TEXT_EXAMPLE).unwrap().increase(), 110);
}

#[test]
fn sums_beyond_64_bits_round_trip() {
    let summary = summary(&[
        at(0, 0),
        at(1, MAX),
        at(2, 0),
        at(3, MAX),
        at(4, 0),
        at(5, MAX),
    ]);
    let summary = summary.unwrap();
    assert!(
        summary
            .to_string()
            .starts_with("v1 increase=27670116110564327421 ")
    );
    assert_eq!(Summary::from_text(&summary.to_string()).unwrap(), summary);
    assert_eq!(Summary::from_bytes(&summary.to_bytes()).unwrap(), summary);
}

#[test]
fn other_text_is_an_error() {
    let text = example().to_string();
    assert_eq!(Summary::from_text(&text).unwrap(), example());
    for (what, other) in [
        ("v1", "v2"),
        ("v1", "v3"),
        ("v1 ", ""),
        ("v1 ", "v1  "),
        ("increase=55", "increase=+55"),
        ("increase=55", "increase=055"),
        ("increase=55", "increase=-55"),
        ("increase=55", "increase="),
        ("increase=55 resets=1", "resets=1 increase=55"),
        ("resets=1", "resets=9223372036854775808"),
        (":100@", ":-100@"),
        (":100@", "@"),
        (":100@", ":9223372036854775808@"),
        (".000000:100", ".0:100"),
        (".000000:100", ".0000000:100"),
        (".000000:100", ":100"),
        (".500000 ", ".500000@1.000000 "),
        ("turn=1762158000.000000:10", "turn="),
        ("turn=1762158000.000000:10", ""),
        ("peak=110", "peak=110 "),
        // The following summaries cannot come from any readings.
        ("increase=55", "increase=19"),
        ("resets=1", "resets=0"),
        ("known=45", "known=44"),
        ("known=45", "known=46"),
        ("peak=110", "peak=99"),
        ("turn=1762158000", "turn=1762156800"),
        ("turn=1762158000", "turn=1762158601"),
        (
            "turn=1762158000.000000:10",
            "turn=1762158000.000000:10@1762150000.500000",
        ),
    ] {
        let changed = text.replacen(what, other, 1);
        assert_ne!(changed, text, "{what}");
        let error = Summary::from_text(&changed).unwrap_err();
        assert!(matches!(error, CounterError::Text), "{changed}");
    }
    for text in ["", " ", "v1", "v1 increase=0 resets=0 first=1.000000:1"] {
        assert!(Summary::from_text(text).is_err(), "{text:?}");
    }
}

#[test]
fn other_bytes_are_an_error() {
    for summary in [example(), example_that_wraps()] {
        let bytes = summary.to_bytes();
        for wrong in [
            &[][..],
            &bytes[..1],
            &bytes[..bytes.len() - 1],
            &[&bytes[..], &[0]].concat(),
            &[&bytes[..], &[0; 8]].concat(),
            &[&[3 - bytes[0]], &bytes[1..]].concat(),
            &[&[3], &bytes[1..]].concat(),
        ] {
            let error = Summary::from_bytes(wrong).unwrap_err();
            assert!(matches!(error, CounterError::Bytes));
        }
    }
}

mod version_2 {
    use super::*;

    #[test]
    fn text_is_golden() {
        assert_eq!(example_that_wraps().to_string(), TEXT_2);
        assert_eq!(Summary::from_text(TEXT_2).unwrap(), example_that_wraps());
    }

    #[test]
    fn bytes_are_golden() {
        let word = |number: i64| number.to_le_bytes();
        let bytes = [
            &[2][..],
            &word(1_762_156_800_000_000),
            &word(1_762_150_000_500_000),
            &word(4_294_967_000),
            &word(1_762_158_000_000_000),
            &word(1_762_157_900_000_000),
            &word(7),
            &word(403),
            &word(0),
            &word(1),
            &word(4_294_967_296),
        ]
        .concat();
        assert_eq!(example_that_wraps().to_bytes(), bytes);
        assert_eq!(Summary::from_bytes(&bytes).unwrap(), example_that_wraps());
    }

    #[test]
    fn other_text_is_an_error() {
        for (what, other) in [
            ("v2", "v1"),
            ("v2", "v3"),
            ("v2 ", "v2"),
            (" wraps_at=4294967296", ""),
            ("wraps_at=4294967296", "wraps_at="),
            ("wraps_at=4294967296", "wraps_at=04294967296"),
            ("wraps_at=4294967296", "wraps_at=0"),
            ("wraps_at=4294967296", "wraps_at=-4294967296"),
            ("wraps_at=4294967296", "wraps_at=4294967000"),
            ("wraps_at=4294967296", "wraps_at=9223372036854775808"),
            ("wraps_at=4294967296", "wraps_at=4294967296 peak=1"),
            ("resets=1", "resets=9223372036854775808"),
            ("last=1762158000", "last=1762156800"),
            ("last=1762158000", "last=1762156799"),
        ] {
            let changed = TEXT_2.replacen(what, other, 1);
            assert_ne!(changed, TEXT_2, "{what}");
            let error = Summary::from_text(&changed).unwrap_err();
            assert!(matches!(error, CounterError::Text), "{changed}");
        }
        // A single reading neither grows nor is reset.
        let single = "v2 increase=0 resets=0 first=1.000000:5 last=1.000000:5 wraps_at=6";
        assert_eq!(Summary::from_text(single).unwrap().to_string(), single);
        for (what, other) in [("increase=0", "increase=6"), ("resets=0", "resets=1")] {
            assert!(Summary::from_text(&single.replacen(what, other, 1)).is_err());
        }
    }
}

#[test]
fn what_no_memory_of_increases_holds_is_an_error() {
    let of = |increase: u128, from: i64| {
        let text = format!(
            "v1 increase={increase} resets=1 first={from}.000000:0 last={}.000000:1 known=1 peak=0 turn={}.000000:0",
            from + 9,
            from + 1
        );
        Summary::from_text(&text).unwrap()
    };
    let mut most = of(u128::MAX, 0);
    assert!(matches!(most.append(&of(1, 10)), Err(CounterError::Range)));
}
