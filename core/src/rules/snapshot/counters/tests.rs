use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::btree_map;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// The values of a counter, before and after packing.
#[derive(Debug, Clone, PartialEq)]
struct Plain {
    unit: Unit,
    numbers: [u64; NUMBERS],
    sizes: Option<[u64; HISTOGRAM_LEN]>,
}

impl Plain {
    fn of(counter: &Counter<'_>) -> (Slot, Self) {
        let plain = Self {
            unit: counter.unit,
            numbers: counter.numbers(),
            sizes: counter.histogram.map(|histogram| histogram.sizes()),
        };
        (counter.slot, plain)
    }
}

fn number() -> impl Strategy<Value = u64> {
    let edges = vec![0, 1, u64::from(u32::MAX), 1 << 32, u64::MAX];
    prop_oneof![select(edges), 0..1_000_u64, any::<u64>()]
}

fn sizes() -> impl Strategy<Value = Option<[u64; HISTOGRAM_LEN]>> {
    btree_map(0..HISTOGRAM_LEN, number(), 0..4).prop_map(|counts| {
        let sizes = std::array::from_fn(|element| counts.get(&element).copied().unwrap_or(0));
        (sizes != [0; HISTOGRAM_LEN]).then_some(sizes)
    })
}

fn counter() -> impl Strategy<Value = Plain> {
    let numbers = [number(), number(), number(), number(), number()];
    (select(&Unit::ALL[..]), numbers, sizes()).prop_map(|(unit, numbers, sizes)| Plain {
        unit,
        numbers,
        sizes,
    })
}

/// The counters of a record in any order.
fn record() -> impl Strategy<Value = Vec<(Slot, Plain)>> {
    let slot = prop_oneof![0..40_u16, 0..SLOTS_MAX as Slot];
    let counters = btree_map(slot, counter(), 0..12);
    counters.prop_flat_map(|counters| Just(Vec::from_iter(counters)).prop_shuffle())
}

fn pack(records: &[Vec<(Slot, Plain)>]) -> (Counters, Vec<Range<u32>>) {
    let mut packed = Counters::default();
    let mut ranges = Vec::new();
    for record in records {
        let begin = packed.end();
        for (slot, plain) in record {
            let sizes = plain.sizes.as_ref();
            let inserted = packed.insert(begin, (*slot, plain.unit), &plain.numbers, sizes);
            assert_eq!(inserted, Ok(()));
        }
        ranges.push(begin..packed.end());
    }
    (packed, ranges)
}

proptest! {
    #[test]
    fn counters_come_back_in_order_of_slot(records in prop::collection::vec(record(), 1..4)) {
        let (packed, ranges) = pack(&records);
        for (record, range) in records.iter().zip(ranges) {
            let expected: BTreeMap<Slot, Plain> = record.iter().cloned().collect();
            let found: Vec<_> = packed.iter(range.clone()).map(|counter| Plain::of(&counter)).collect();
            prop_assert_eq!(found, Vec::from_iter(expected.clone()));
            for slot in expected.keys().flat_map(|slot| [slot.wrapping_sub(1), *slot, slot.wrapping_add(1)]) {
                let found = packed.iter(range.clone()).find(slot);
                prop_assert_eq!(found.map(|counter| Plain::of(&counter).1), expected.get(&slot).cloned());
            }
        }
    }

    #[test]
    fn the_same_counters_are_the_same_words(record in record(), other in record(), shared in any::<[bool; 12]>()) {
        let shared = record.iter().zip(shared).filter(|(_, shared)| *shared).map(|(counter, _)| counter);
        let other: BTreeMap<Slot, Plain> = other.iter().chain(shared).cloned().collect();
        let other = Vec::from_iter(other);
        let (packed, ranges) = pack(&[record.clone(), other.clone()]);
        let iter = |index: usize| packed.iter(ranges[index].clone());
        let only = |these: &[(Slot, Plain)], those: &[(Slot, Plain)]| -> Vec<Slot> {
            these.iter().filter(|counter| !those.contains(counter)).map(|(slot, _)| *slot).collect()
        };
        let expected = [only(&record, &other), only(&other, &record)].concat();
        let expected = Vec::from_iter(BTreeSet::from_iter(expected));
        prop_assert_eq!(iter(0).other_than(iter(1)).collect::<Vec<_>>(), expected);
        let (again, _) = pack(&[Vec::from_iter(BTreeMap::from_iter(record.clone()))]);
        prop_assert_eq!(packed.words(ranges[0].clone()), &again.words[..]);
    }
}
