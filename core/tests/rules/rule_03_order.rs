//! The order of entries in a text does not matter for finding missing and new ones.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;

use crate::support::{Target, born};

const ENTRIES: i64 = 40;

/// Some entries: in order, as Lustre has them, in any order, or with the latter ones first.
fn entries() -> impl Strategy<Value = Vec<i64>> {
    let all: Vec<i64> = (0..ENTRIES).collect();
    let some = subsequence(all, 1..=ENTRIES as usize);
    prop_oneof![
        4 => some.clone(),
        1 => some.clone().prop_shuffle(),
        1 => (some, 0..ENTRIES as usize).prop_map(|(mut entries, by)| {
            let by = by % entries.len();
            entries.rotate_left(by);
            entries
        }),
    ]
}

proptest! {
    /// All entries began long ago, and count ten calls from text to text: the known values of an entry are in the last
    /// text that had it.
    #[test]
    fn rule_3_entries_are_found_in_any_order(texts in vec(entries(), 2..5)) {
        let mut target = Target::default();
        let mut known = [None; ENTRIES as usize];
        for (number, entries) in (1..).zip(&texts) {
            let record = |entry: &i64| born(&format!("job{entry}"), -1000 - entry, &format!("open {}", 10 * number));
            let records: Vec<_> = entries.iter().map(record).collect();
            let seen = target.observe(120 * number, &records);
            let mut expected = Vec::new();
            let mut unknown = 0;
            for entry in entries {
                match known[*entry as usize].replace(number) {
                    Some(before) => expected.push((format!("job{entry}"), "open".to_owned(), 10 * (number - before))),
                    None => unknown += 1,
                }
            }
            prop_assert_eq!(seen.totals, expected);
            prop_assert_eq!(seen.unknown, if number == 1 { 0 } else { unknown });
            let in_text_before = number > 1 && known.contains(&Some(number - 1));
            prop_assert_eq!(seen.removed > 0, in_text_before);
            let carried = known.iter().flatten().filter(|last| **last < number).count() as u64;
            prop_assert_eq!(seen.carried_count, carried);
        }
    }
}

#[test]
fn rule_3_two_epochs_are_found_in_any_order() {
    let epochs = |first, second| {
        [
            born("a", -9, &format!("open {first}")),
            born("a", -5, &format!("open {second}")),
        ]
    };
    let other = |calls| born("b", -9, &format!("open {calls}"));
    let [old, new] = epochs(1, 2);
    let mut target = Target::first(&[old, other(1), new]);
    let [old, new] = epochs(4, 7);
    let seen = target.observe(120, &[other(3), old, born("c", 60, "open 1"), new]);
    let growth = |id: &str, growth| (id.to_owned(), "open".to_owned(), growth);
    assert_eq!(
        seen.totals,
        [
            growth("b", 2),
            growth("a", 3),
            growth("c", 1),
            growth("a", 5)
        ]
    );
    assert_eq!(seen.removed, 0);
}
