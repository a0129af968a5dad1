//! Laws of comparing any two texts. The fuzz target checks them too.

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::increment::{Comparison, Observation, compare};
use jobstats_core::rules::snapshot::{Snapshot, print, read, read_carried};

const MINUTE: i64 = 60_000_000;
/// 2023-11-14.
const EPOCH: i64 = 1_700_000_000_000_000;

/// A text, its successor, and the first again.
pub fn check(first: &[u8], second: &[u8]) {
    let [before, after] = [first, second].map(|text| read(text, Pause::NEVER).unwrap().snapshots);
    for (before, after) in before.iter().zip(&after) {
        let none = Snapshot::default();
        let once = follow((before, &none, EPOCH), after);
        is_consistent(&once, before, after);
        it_does_not_need_the_text(before, after, &once);
        let printed = print(&once.carried);
        let carried = read_carried(&printed, Pause::NEVER).unwrap();
        is_consistent(
            &follow((after, &carried, EPOCH + MINUTE), before),
            after,
            before,
        );
        nothing_happens_in_the_same_text(before);
    }
}

fn follow<'a>(
    (before, carried, time): (&'a Snapshot<'a>, &'a Snapshot<'a>, i64),
    after: &'a Snapshot<'a>,
) -> Comparison<'a> {
    let of = |time, snapshot, carried| Observation {
        time,
        server: "oss1",
        snapshot: Some(snapshot),
        carried,
    };
    let previous = of(time, before, Some(carried));
    compare(
        Some(&previous),
        &of(time + MINUTE, after, None),
        600,
        Pause::NEVER,
    )
    .unwrap()
}

fn is_consistent(comparison: &Comparison<'_>, before: &Snapshot<'_>, after: &Snapshot<'_>) {
    for increment in &comparison.increments {
        assert!(increment.since < increment.time);
        assert!(
            after
                .records
                .iter()
                .any(|record| after.id(record) == increment.id)
        );
        let histograms = increment.histograms.iter();
        let sizes = histograms.flat_map(|sizes| sizes.iter());
        assert!(sizes.clone().all(|count| (0..1 << 53).contains(count)));
        let totals = increment.totals.iter().map(|(_, growth)| growth);
        assert!(totals.clone().all(|growth| (1..1 << 53).contains(growth)));
        assert!(totals.count() + sizes.count() > 0 || increment.detail.is_some());
    }
    assert_eq!(comparison.entries, after.records.len() as u64);
    assert!(comparison.active <= comparison.increments.len() as u64);
    assert!(comparison.resets + comparison.added <= comparison.entries);
    let has = |id: &str| after.records.iter().any(|record| after.id(record) == id);
    let mut gone: Vec<_> = before
        .records
        .iter()
        .map(|record| before.id(record))
        .filter(|id| !has(id))
        .collect();
    gone.sort_unstable();
    gone.dedup();
    assert!(comparison.removed == 0 || comparison.removed == gone.len() as u64);
}

/// Comparing a cached snapshot gives the result of comparing its text.
fn it_does_not_need_the_text(
    before: &Snapshot<'_>,
    after: &Snapshot<'_>,
    expected: &Comparison<'_>,
) {
    let none = Snapshot::default();
    let kept = before.clone().keep().unwrap();
    let of_kept = follow((&kept, &none, EPOCH), after);
    assert_eq!(format!("{of_kept:?}"), format!("{expected:?}"));
}

fn nothing_happens_in_the_same_text(text: &Snapshot<'_>) {
    let nothing = Snapshot::default();
    let comparison = follow((text, &nothing, EPOCH), text);
    assert_eq!(comparison.increments, []);
    assert_eq!(comparison.carried.records, []);
    let Comparison {
        active,
        added,
        resets,
        removed,
        ..
    } = comparison;
    assert_eq!([active, added, resets, removed], [0; 4]);
}
