//! Rule 5 loses requests in a case that no simulated day has: the entry restarts, while the text is printed, with more than the ended epoch
//! had.

use super::*;
use crate::lustre::operation::plain;
use crate::printing::snapshot::Header;
use crate::time::parse;
use crate::world::Preset;

/// Returns an epoch of an entry that has opened files so many times.
fn epoch(number: u64, opens: u64) -> Rc<Epoch> {
    let mut counters = Counters::default();
    counters.add_means(plain(Op::Open), opens, [0, 10 * opens]);
    Rc::new(Epoch {
        number,
        entry: 0,
        born: 0,
        last: 0,
        stamps: (0, 0),
        counters,
    })
}

/// Returns the amount that is lost to rule 5 where texts show so many opens of the older and of the newer epoch of an entry, or of the
/// older one alone.
fn lost(layout: Layout, texts: &[(u64, Option<u64>)]) -> u64 {
    let cluster = Cluster::new(Preset::Small, "small", 1, layout, 1.0);
    let from = parse("2026-03-01T00:00:00Z").unwrap();
    let state = TargetState::new(&Workload::new(&cluster), 0, Span::new(from, DAY));
    let mut auditor = Auditor::new(&state);
    let mut older = None;
    for (turn, &(opens, newer)) in texts.iter().enumerate() {
        let epoch_shown = older.insert(epoch(1, opens));
        let newer = newer.map(|opens| epoch(2 + turn as u64, opens));
        let snapshot = Snapshot {
            time: from,
            server: 0,
            doubled: newer.is_some(),
            records: [Some(epoch_shown.clone()), newer]
                .into_iter()
                .flatten()
                .collect(),
            skipped: Vec::new(),
            header: Header::First,
            cut: None,
        };
        auditor.read(&snapshot, from + turn as Nanos);
    }
    auditor.settle(&older.unwrap());
    let cells = auditor.cells(&state);
    cells
        .values()
        .map(|cell| cell.excluded[Cause::Rule5 as usize])
        .sum()
}

#[test]
fn the_older_record_is_lost_where_nothing_shows_that_it_is_of_another_epoch() {
    for layout in [Layout::V2_5, Layout::V2_12] {
        assert_eq!(lost(layout, &[(10, None), (30, Some(35))]), 20);
        assert_eq!(lost(layout, &[(10, None), (60, Some(4))]), 0);
        // Two epochs in text after text may be an entry that is printed twice.
        assert_eq!(lost(layout, &[(10, Some(4)), (60, Some(5))]), 50);
        assert_eq!(lost(layout, &[(10, Some(4)), (30, None), (60, Some(5))]), 0);
    }
    assert_eq!(lost(Layout::V2_16, &[(10, None), (30, Some(35))]), 0);
}
