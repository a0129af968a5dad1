//! Random histories of a target, and an oracle that knows what truly happened.

use std::collections::{BTreeMap, BTreeSet};

use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::read;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::lustre::{Counter, Epoch, Event, Layout, Reading, SECOND, Shown, Totals, happen, print};
use crate::store::Store;
use crate::support::{Seen, Target};

const ENTRIES: usize = 5;

/// The expected sums where epochs are distinguishable: of every counter its last value, less the first one unless it
/// provably began at zero.
#[derive(Default)]
struct Oracle {
    epochs: BTreeMap<i64, Witnessed>,
    entries: BTreeSet<usize>,
    last_reading: Option<i64>,
}

struct Witnessed {
    entry: usize,
    began_at_zero: BTreeSet<usize>,
    counters: BTreeMap<usize, (Counter, Counter)>,
}

impl Oracle {
    fn read(&mut self, time: i64, shown: &[Shown], is_proven: impl Fn(&Epoch, i64) -> bool) {
        let in_text: BTreeSet<usize> = shown
            .iter()
            .flat_map(|(_, counters)| counters.clone())
            .collect();
        let known = self.entries.clone();
        for (epoch, counters) in shown {
            let last_reading = self.last_reading;
            let seen = self.epochs.entry(epoch.start).or_insert_with(|| {
                let another_epoch = known.contains(&epoch.entry);
                let is_proven =
                    last_reading.is_some_and(|last| another_epoch || is_proven(epoch, last));
                Witnessed {
                    entry: epoch.entry,
                    began_at_zero: if is_proven {
                        in_text.clone()
                    } else {
                        BTreeSet::new()
                    },
                    counters: BTreeMap::new(),
                }
            });
            for counter in counters {
                let value = &epoch.counters[*counter];
                let first = match seen.began_at_zero.contains(counter) {
                    true => Counter::default(),
                    false => value.clone(),
                };
                seen.counters
                    .entry(*counter)
                    .or_insert((first, Counter::default()))
                    .1 = value.clone();
            }
            self.entries.insert(epoch.entry);
        }
        self.last_reading = Some(time);
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::new();
        for seen in self.epochs.values() {
            for (counter, (first, last)) in &seen.counters {
                let first: BTreeMap<_, _> = first.columns(*counter).into_iter().collect();
                for (column, value) in last.columns(*counter) {
                    let growth = value - first.get(&column).unwrap_or(&0);
                    *totals.entry((seen.entry, column)).or_default() += growth;
                }
            }
        }
        totals.retain(|_, total| *total > 0);
        totals
    }
}

/// Observes texts; adds up all increments.
#[derive(Default)]
struct Observer {
    target: Target,
    stored: Totals,
}

impl Observer {
    fn observe(&mut self, time: i64, text: &str) -> Vec<String> {
        let seen = self.target.observe_text(time / SECOND, text);
        self.take(&seen);
        seen.rows
    }

    fn take(&mut self, seen: &Seen) {
        for (id, column, growth) in &seen.totals {
            assert!(*growth > 0, "{id} {column} {growth}");
            let entry = id.strip_prefix('e').unwrap().parse().unwrap();
            *self.stored.entry((entry, column.clone())).or_default() += growth.cast_unsigned();
        }
    }
}

fn work() -> impl Strategy<Value = Event> {
    let entry = 0..ENTRIES;
    prop_oneof![
        (entry.clone(), 1..5_u64).prop_map(|(entry, calls)| Event::Open { entry, calls }),
        (entry, 1..5_u64, 1..70_000_u64, 1..900_u64).prop_map(|(entry, calls, size, usecs)| {
            Event::Write {
                entry,
                calls,
                size,
                usecs,
            }
        }),
    ]
}

fn forget() -> impl Strategy<Value = Event> {
    (0..ENTRIES).prop_map(|entry| Event::Forget { entry })
}

/// A reading in which this many counters may be damaged.
fn reading(damaged: std::ops::Range<usize>) -> impl Strategy<Value = Event> {
    let rarely = |share| proptest::bool::weighted(share);
    let cut = (rarely(0.2), 0..1_000_usize).prop_map(|(is_cut, cut)| is_cut.then_some(cut));
    let skipped = (rarely(0.3), vec(0..ENTRIES, 1..3))
        .prop_map(|(any, entries)| if any { entries } else { Vec::new() });
    let damage = (rarely(0.2), 0..ENTRIES, damaged)
        .prop_map(|(any, entry, counter)| any.then_some((entry, counter)));
    let twice = (rarely(0.15), 0..ENTRIES).prop_map(|(any, entry)| any.then_some(entry));
    (skipped, damage, cut, twice, any::<bool>()).prop_map(
        |(skipped, damaged, cut, twice, headless)| {
            Event::Read(Reading {
                skipped,
                damaged,
                cut,
                headless,
                twice,
            })
        },
    )
}

fn plain_reading() -> impl Strategy<Value = Event> {
    Just(Event::Read(Reading::default()))
}

/// The texts that are read, with their times in seconds.
fn texts(layout: Layout, history: &[Event]) -> Vec<(i64, String)> {
    let mut texts = Vec::new();
    happen(layout, history, |time, _, text, _| {
        texts.push((time / SECOND, text.to_owned()));
    });
    texts
}

fn any_history() -> impl Strategy<Value = Vec<Event>> {
    vec(
        prop_oneof![5 => work(), 1 => forget(), 3 => reading(0..3)],
        1..60,
    )
}

fn layouts() -> impl Strategy<Value = Layout> {
    prop_oneof![
        Just(Layout::Undated),
        Just(Layout::Booted),
        Just(Layout::Dated),
        Just(Layout::Switched),
    ]
}

/// A history in which every text can be placed, from any server: without start_time a reset may not show from the text
/// before to the one after.
fn clear_history() -> impl Strategy<Value = (Layout, Vec<Event>)> {
    prop_oneof![
        (
            layouts(),
            vec(prop_oneof![5 => work(), 3 => plain_reading()], 1..60)
        ),
        (
            prop_oneof![Just(Layout::Booted), Just(Layout::Dated)],
            vec(
                prop_oneof![5 => work(), 1 => forget(), 3 => plain_reading()],
                1..60
            )
        ),
    ]
}

/// Texts in an order that follows from these numbers.
fn shuffled(texts: Vec<(i64, String)>, order: &[u32]) -> Vec<(i64, String)> {
    let mut texts: Vec<_> = texts.into_iter().zip(order.iter().cycle()).collect();
    texts.sort_by_key(|(_, order)| **order);
    texts.into_iter().map(|(text, _)| text).collect()
}

fn any_order() -> impl Strategy<Value = Vec<u32>> {
    vec(any::<u32>(), 60)
}

/// Per entry and column, what rows or their parts amount to.
fn sums(totals: &[(String, String, i64)]) -> BTreeMap<(&str, &str), i64> {
    let mut sums = BTreeMap::new();
    for (entry, column, growth) in totals {
        *sums.entry((entry.as_str(), column.as_str())).or_default() += growth;
    }
    sums
}

/// Returns the entry of a row and the second at which the row begins.
fn beginning(row: &str) -> (usize, i64) {
    let (entry, rest) = row.split_once(" (").unwrap();
    let (since, _) = rest.split_once(',').unwrap();
    let entry = entry.strip_prefix('e').unwrap();
    (entry.parse().unwrap(), since.parse().unwrap())
}

/// All stored calls were made.
fn is_within(stored: &Totals, done: &Totals) {
    for (what, stored) in stored {
        let done = done.get(what).copied().unwrap_or(0);
        assert!(*stored <= done, "{what:?}: stored {stored}, done {done}");
    }
}

/// The work in a history up to the last reading.
fn done_in(layout: Layout, history: &[Event]) -> Totals {
    let mut done = Totals::new();
    happen(layout, history, |_, lustre, _, _| {
        done.clone_from(&lustre.done)
    });
    done
}

proptest! {
    #[test]
    fn stored_is_never_more_than_was_done(layout in layouts(), history in any_history()) {
        let mut observer = Observer::default();
        happen(layout, &history, |time, lustre, text, _| {
            observer.observe(time, text);
            is_within(&observer.stored, &lustre.done);
        });
    }

    /// At least what began after the reading before is stored, and at most what began after the first one.
    #[test]
    fn with_start_time_what_was_read_is_stored(
        // A `write` that cannot be read gives its calls to `write_bytes`, or not: rule 6 decides.
        history in vec(prop_oneof![5 => work(), 1 => forget(), 3 => reading(2..3)], 1..60)
    ) {
        let mut observer = Observer::default();
        let (mut least, mut most, mut first) = (Oracle::default(), Oracle::default(), None);
        happen(Layout::Dated, &history, |time, _, text, shown| {
            observer.observe(time, text);
            let first = *first.get_or_insert(time);
            least.read(time, shown, |epoch, last_reading| epoch.start > last_reading);
            most.read(time, shown, |epoch, _| epoch.start > first);
            is_within(&least.totals(), &observer.stored);
            is_within(&observer.stored, &most.totals());
        });
    }

    #[test]
    fn on_the_boot_clock_every_reading_of_every_epoch_adds_up(
        history in vec(prop_oneof![5 => work(), 1 => forget(), 3 => plain_reading()], 1..60)
    ) {
        let (mut observer, mut oracle) = (Observer::default(), Oracle::default());
        happen(Layout::Booted, &history, |time, _, text, shown| {
            observer.observe(time, text);
            oracle.read(time, shown, |_, _| true);
            assert_eq!(observer.stored, oracle.totals());
        });
    }

    #[test]
    fn a_epoch_seen_at_every_reading_adds_up(
        layout in layouts(),
        history in vec(prop_oneof![5 => work(), 3 => plain_reading()], 1..60)
    ) {
        let mut observer = Observer::default();
        happen(layout, &history, |time, lustre, text, _| {
            observer.observe(time, text);
            let mut done = lustre.done.clone();
            done.retain(|_, done| *done > 0);
            assert_eq!(observer.stored, done);
        });
    }

    #[test]
    fn rows_begin_before_their_work_and_resets_not_before_the_previous_reading(
        layout in layouts(),
        history in vec(prop_oneof![5 => work(), 1 => forget(), 3 => plain_reading()], 1..60)
    ) {
        let (mut observer, mut previous) = (Observer::default(), 0);
        happen(layout, &history, |time, lustre, text, _| {
            for row in observer.observe(time, text) {
                let (entry, since) = beginning(&row);
                assert!(since <= lustre.first_unread[&entry] / SECOND, "{row}");
                assert!(since < time / SECOND, "{row}");
                assert!(since >= previous || !row.contains(" reset"), "{row}");
            }
            previous = time / SECOND;
        });
    }

    #[test]
    fn a_reading_that_was_left_out_changes_no_sum(
        layout in layouts(),
        history in vec(prop_oneof![5 => work(), 3 => plain_reading()], 1..60),
        left_out in vec(any::<bool>(), 60)
    ) {
        let (mut all, mut some) = (Observer::default(), Observer::default());
        let mut readings = 0;
        happen(layout, &history, |time, _, text, _| {
            all.observe(time, text);
            readings += 1;
            if readings == 1 || !left_out[readings - 1] {
                some.observe(time, text);
                assert_eq!(all.stored, some.stored);
            }
        });
    }

    #[test]
    fn the_order_of_records_does_not_matter(
        layout in layouts(),
        history in vec(prop_oneof![5 => work(), 1 => forget(), 3 => plain_reading()], 1..60),
        swaps in vec((0..ENTRIES, 0..ENTRIES), 60)
    ) {
        let (mut ordered, mut shuffled) = (Observer::default(), Observer::default());
        let mut swaps = swaps.into_iter();
        happen(layout, &history, |time, lustre, text, _| {
            let mut epochs = lustre.epochs.clone();
            if let (Some((a, b)), false) = (swaps.next(), epochs.is_empty()) {
                let len = epochs.len();
                epochs.swap(a % len, b % len);
            }
            let (other, _) = print(layout, &epochs, None, None);
            let mut rows = ordered.observe(time, text);
            let mut other_rows = shuffled.observe(time, &other);
            rows.sort();
            other_rows.sort();
            assert_eq!(rows, other_rows);
        });
    }

    #[test]
    fn rows_divided_at_edges_add_up(layout in layouts(), history in any_history(), pace in 1..400_i64) {
        let mut target = Target::default();
        // So slow that rows cross edges of ten minutes and of hours.
        for (time, text) in texts(layout, &history) {
            let seen = target.observe_text(time * pace, &text);
            assert_eq!(sums(&seen.divided), sums(&seen.totals));
        }
    }

    #[test]
    fn a_text_that_comes_again_gives_nothing(layout in layouts(), mut history in any_history()) {
        // An entry that began while a text was printed and is not in it would be in a text that was really read again.
        for event in &mut history {
            if let Event::Read(reading) = event {
                reading.twice = None;
            }
        }
        let (mut once, mut twice) = (Observer::default(), Observer::default());
        happen(layout, &history, |time, _, text, _| {
            once.observe(time, text);
            twice.observe(time, text);
            let again: Vec<String> = twice.observe(time + SECOND, text);
            assert_eq!(again, [] as [String; 0]);
            assert_eq!(once.stored, twice.stored);
        });
    }

    #[test]
    fn texts_in_any_order_are_stored_as_in_order(
        (layout, history) in clear_history(),
        order in any_order()
    ) {
        let texts = texts(layout, &history);
        let (mut in_order, mut placed) = (Store::default(), Store::default());
        for (time, text) in &texts {
            assert_eq!(in_order.feed(*time, text), Ok(()));
        }
        for (time, text) in shuffled(texts, &order) {
            assert_eq!(placed.feed(time, &text), Ok(()));
        }
        assert!(placed.stored().eq(in_order.stored()));
    }

    #[test]
    fn texts_of_which_some_are_refused_are_stored_as_the_others_in_order(
        layout in layouts(),
        history in any_history(),
        order in any_order()
    ) {
        let mut placed = Store::default();
        for (time, text) in shuffled(texts(layout, &history), &order) {
            // Repeating the text changes nothing, whether it was taken or not.
            let first = placed.feed(time, &text);
            assert_eq!(placed.feed(time, &text), first);
        }
        let mut in_order = Store::default();
        for (time, text) in placed.texts() {
            in_order.feed(time, text).unwrap();
        }
        assert!(placed.stored().eq(in_order.stored()));
        let before: Vec<_> = in_order.stored().map(|(_, seen, _)| seen.clone()).collect();
        let recomputed = placed.recomputed();
        let after: Vec<_> = recomputed.stored().map(|(_, seen, _)| seen.clone()).collect();
        assert_eq!(after, before);
    }

    #[test]
    fn with_start_time_texts_in_any_order_never_give_more_than_was_done(
        history in any_history(),
        order in any_order()
    ) {
        let mut placed = Store::default();
        for (time, text) in shuffled(texts(Layout::Dated, &history), &order) {
            let _: Result<(), _> = placed.feed(time, &text);
        }
        let mut observer = Observer::default();
        placed.stored().for_each(|(_, seen, _)| observer.take(seen));
        is_within(&observer.stored, &done_in(Layout::Dated, &history));
    }

    #[test]
    fn with_start_time_an_old_text_with_a_late_time_never_makes_more_than_was_done(
        history in vec(prop_oneof![5 => work(), 1 => forget(), 3 => plain_reading()], 1..60),
        wrong in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>()
    ) {
        let texts = texts(Layout::Dated, &history);
        prop_assume!(texts.len() > 1);
        let place = place.index(texts.len() - 1);
        let wrong = wrong.index(place + 1);
        let mut observer = Observer::default();
        for (position, (time, text)) in texts.iter().enumerate() {
            observer.observe(time * SECOND, text);
            if position == place {
                let (late, next) = (&texts[wrong].1, &texts[place + 1]);
                let time = (time + next.0) / 2;
                let next = (next.0, next.1.as_str());
                if observer.target.admits_text(time, late, next, None).is_ok() {
                    observer.observe(time * SECOND, late);
                }
            }
        }
        is_within(&observer.stored, &done_in(Layout::Dated, &history));
    }

    #[test]
    fn whatever_is_damaged_comparing_ends_and_its_rows_make_sense(
        layout in layouts(),
        history in any_history(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)
    ) {
        let mut damage = damage.into_iter().cycle();
        let mut observer = Observer::default();
        for (time, text) in texts(layout, &history) {
            let mut bytes = text.into_bytes();
            for (place, byte) in damage.by_ref().take(3) {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            let text = String::from_utf8_lossy(&bytes);
            if read(text.as_bytes(), Pause::NEVER).unwrap().snapshots.len() == 1 {
                let seen = observer.target.observe_text(time, &text);
                assert!(seen.totals.iter().all(|(.., growth)| (1..1 << 53).contains(growth)));
                assert!(seen.active <= seen.entries && seen.unknown <= seen.entries);
            }
        }
    }
}
