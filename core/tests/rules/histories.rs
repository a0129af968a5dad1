//! Random histories of a target, and an oracle that knows what truly happened.
//!
//! The target does what Lustre does: entries begin with their first operation, are forgotten, begin again; a text may
//! lack records and counters, be cut, and show an entry twice. No history contains what no rule can see through: a text
//! that lacks records though nothing shows it, read first or without any record that was there before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{EPOCH, Target};

const ENTRIES: usize = 5;
const HEADER: &str = "mdt.fs-MDT0000.job_stats=\njob_stats:\n";
const SECOND: i64 = 1_000_000;

/// Which time lines a version of Lustre prints.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Layout {
    /// Up to 2.14.
    Undated,
    /// 2.15.0 and 2.15.1: seconds since boot.
    Booted,
    /// 2.15.2 and newer.
    Dated,
}

#[derive(Debug, Clone)]
enum Event {
    Open {
        entry: usize,
        calls: u64,
    },
    Write {
        entry: usize,
        calls: u64,
        size: u64,
        usecs: u64,
    },
    /// Lustre drops the entry.
    Forget {
        entry: usize,
    },
    Read(Reading),
}

/// What is special in one text.
#[derive(Debug, Clone, Default)]
struct Reading {
    skipped: Vec<usize>,
    /// An entry and the counter in it that cannot be read.
    damaged: Option<(usize, usize)>,
    /// Where it is cut, in thousandths of its length.
    cut: Option<usize>,
    /// An entry that is forgotten when it has been printed, and begins again before the text ends.
    twice: Option<usize>,
}

/// The counters of one life, in the order of their lines.
const COUNTERS: [&str; 3] = ["open", "write", "write_bytes"];

#[derive(Debug, Clone, Default, PartialEq)]
struct Counter {
    samples: u64,
    min: u64,
    max: u64,
    sum: u64,
    sizes: BTreeMap<u32, u64>,
}

impl Counter {
    fn add(&mut self, calls: u64, each: u64) {
        self.min = if self.samples == 0 {
            each
        } else {
            self.min.min(each)
        };
        self.max = self.max.max(each);
        self.samples += calls;
        self.sum += calls * each;
        *self
            .sizes
            .entry(each.next_power_of_two().ilog2())
            .or_default() += calls;
    }

    fn line(&self, name: &str) -> String {
        let Self {
            samples,
            min,
            max,
            sum,
            sizes,
        } = self;
        match name {
            "open" => format!("  open: {{ samples: {samples}, unit: reqs }}\n"),
            "write" => format!(
                "  write: {{ samples: {samples}, unit: usecs, min: {min}, max: {max}, sum: {sum} }}\n"
            ),
            _ => {
                let label = |(power, count): (&u32, &u64)| match power {
                    0..10 => format!("{}: {count}", 1 << power),
                    _ => format!("{}K: {count}", 1 << (power - 10)),
                };
                let sizes: Vec<_> = sizes.iter().map(label).collect();
                format!(
                    "  {name}: {{ samples: {samples}, unit: bytes, min: {min}, max: {max}, sum: {sum}, hist: {{ {} }} }}\n",
                    sizes.join(", ")
                )
            }
        }
    }

    /// What the counter says in columns.
    fn columns(&self, counter: usize) -> Vec<(String, u64)> {
        match COUNTERS[counter] {
            "open" => vec![("open".to_owned(), self.samples)],
            "write" => vec![
                ("write".to_owned(), self.samples),
                ("write_usecs".to_owned(), self.sum),
            ],
            _ => {
                let sizes = self.sizes.iter();
                let sizes = sizes
                    .map(|(power, count)| (format!("write_bytes_hist[{}]", power + 1), *count));
                std::iter::once(("write_bytes".to_owned(), self.sum))
                    .chain(sizes)
                    .collect()
            }
        }
    }
}

/// One life of an entry.
#[derive(Debug, Clone)]
struct Life {
    entry: usize,
    /// Microseconds after the epoch of the tests: its identity.
    start: i64,
    counters: [Counter; 3],
}

/// A record as printed, with the counters of it that can be read.
type Shown = (Life, BTreeSet<usize>);

/// Columns of entries.
type Totals = BTreeMap<(usize, String), u64>;

struct Lustre {
    layout: Layout,
    now: i64,
    lives: Vec<Life>,
    /// What was done since the first reading.
    done: Totals,
    has_been_read: bool,
    /// When each life was shown last.
    shown: BTreeMap<i64, i64>,
}

impl Lustre {
    fn new(layout: Layout) -> Self {
        Self {
            layout,
            now: 0,
            lives: Vec::new(),
            done: Totals::new(),
            has_been_read: false,
            shown: BTreeMap::new(),
        }
    }

    fn work(&mut self, entry: usize, change: impl Fn(&mut [Counter; 3])) {
        let position = self.lives.iter().position(|life| life.entry == entry);
        let position = position.unwrap_or_else(|| {
            self.lives.push(Life {
                entry,
                start: self.now,
                counters: Default::default(),
            });
            self.lives.len() - 1
        });
        change(&mut self.lives[position].counters);
        let mut alone: [Counter; 3] = Default::default();
        change(&mut alone);
        if self.has_been_read {
            for (counter, values) in alone.iter().enumerate() {
                for (column, growth) in values.columns(counter) {
                    *self.done.entry((entry, column)).or_default() += growth;
                }
            }
        }
    }

    fn forget(&mut self, entry: usize) {
        self.lives.retain(|life| life.entry != entry);
    }

    /// Reads the target; gives the text and what of it can be read.
    fn read(&mut self, reading: &Reading) -> (String, Vec<Shown>) {
        let is_first = !self.has_been_read;
        self.has_been_read = true;
        let mut printed: Vec<Life> = self.lives.clone();
        printed.retain(|life| {
            !self.may_skip(life, is_first) || !reading.skipped.contains(&life.entry)
        });
        let survives = |life: &Life| self.shown.contains_key(&life.start);
        if !printed.iter().any(survives) && self.layout != Layout::Dated {
            printed = self.lives.clone();
        }
        if let Some(entry) = reading
            .twice
            .filter(|entry| printed.iter().any(|life| life.entry == *entry))
        {
            self.now += 1;
            self.forget(entry);
            self.work(entry, |counters| counters[0].add(1, 1));
            printed.extend(self.lives.last().cloned());
        }
        let cut = reading
            .cut
            .filter(|_| !is_first || self.layout == Layout::Dated);
        let (text, shown) = print(self.layout, &printed, reading.damaged, cut);
        for (life, _) in &shown {
            self.shown.insert(life.start, self.now);
        }
        (text, shown)
    }

    /// Without `start_time` no rule helps if what is skipped was never shown before or not for long.
    fn may_skip(&self, life: &Life, is_first: bool) -> bool {
        let is_recent = |seen: &i64| self.now - seen < 600 * SECOND;
        let was_shown = self.shown.get(&life.start).is_some_and(is_recent);
        self.layout == Layout::Dated || (!is_first && was_shown)
    }
}

/// The text of these lives, and the counters in it that can be read.
fn print(
    layout: Layout,
    lives: &[Life],
    damaged: Option<(usize, usize)>,
    cut: Option<usize>,
) -> (String, Vec<Shown>) {
    let mut text = HEADER.to_owned();
    let mut begins = Vec::new();
    let mut ends = Vec::new();
    for life in lives {
        begins.push(text.len());
        let _ = write!(
            text,
            "- job_id:          e{}\n{}",
            life.entry,
            times(layout, life)
        );
        let lines = life.counters.iter().zip(COUNTERS).enumerate();
        ends.push(
            lines
                .map(|(counter, (values, name))| {
                    let line = values.line(name);
                    let is_damaged = damaged == Some((life.entry, counter));
                    text += &if is_damaged {
                        line.replace("samples: ", "samples: -")
                    } else {
                        line
                    };
                    (counter, text.len() - 1, is_damaged)
                })
                .collect::<Vec<_>>(),
        );
    }
    let mut end = cut.map_or(text.len(), |cut| {
        HEADER.len() + (text.len() - HEADER.len()) * cut / 1_000
    });
    // A text that ends with a whole record shows nothing of the cut.
    let is_whole = |end: usize| {
        end == HEADER.len()
            || begins
                .iter()
                .any(|begin| end == *begin || end + 1 == *begin)
    };
    while cut.is_some() && end < text.len() && is_whole(end) {
        end += 1;
    }
    text.truncate(end);
    let shown = lives.iter().zip(ends).map(|(life, counters)| {
        let readable = counters
            .into_iter()
            .filter(|(_, line_end, is_damaged)| *line_end <= end && !is_damaged);
        (
            life.clone(),
            readable
                .map(|(counter, ..)| counter)
                .collect::<BTreeSet<_>>(),
        )
    });
    let shown = shown.filter(|(_, counters)| !counters.is_empty()).collect();
    (text, shown)
}

fn times(layout: Layout, life: &Life) -> String {
    let clock = |begin: i64| {
        let micros = begin * SECOND + life.start;
        format!("{}.{:06}000 secs.nsecs", micros / SECOND, micros % SECOND)
    };
    match layout {
        Layout::Undated => format!("  snapshot_time:   {EPOCH}\n"),
        Layout::Booted => {
            let time = clock(1_000);
            format!(
                "snapshot_time   : {time}\nstart_time      : {time}\nelapsed_time    : 0.000000000 secs.nsecs\n"
            )
        }
        Layout::Dated => {
            let time = clock(EPOCH);
            format!(
                "  snapshot_time:   {time}\n  start_time:      {time}\n  elapsed_time:    0.000000000 secs.nsecs\n"
            )
        }
    }
}

/// What should have been stored, where lives can be told apart: of every counter its last value, less the first one
/// unless it is proven that it began at zero.
#[derive(Default)]
struct Oracle {
    lives: BTreeMap<i64, Seen>,
    entries: BTreeSet<usize>,
    last_reading: Option<i64>,
}

struct Seen {
    entry: usize,
    began_at_zero: BTreeSet<usize>,
    counters: BTreeMap<usize, (Counter, Counter)>,
}

impl Oracle {
    fn read(&mut self, time: i64, shown: &[Shown], is_proven: impl Fn(&Life, i64) -> bool) {
        let in_text: BTreeSet<usize> = shown
            .iter()
            .flat_map(|(_, counters)| counters.clone())
            .collect();
        let known = self.entries.clone();
        for (life, counters) in shown {
            let last_reading = self.last_reading;
            let seen = self.lives.entry(life.start).or_insert_with(|| {
                let another_life = known.contains(&life.entry);
                let is_proven =
                    last_reading.is_some_and(|last| another_life || is_proven(life, last));
                Seen {
                    entry: life.entry,
                    began_at_zero: if is_proven {
                        in_text.clone()
                    } else {
                        BTreeSet::new()
                    },
                    counters: BTreeMap::new(),
                }
            });
            for counter in counters {
                let value = &life.counters[*counter];
                let first = match seen.began_at_zero.contains(counter) {
                    true => Counter::default(),
                    false => value.clone(),
                };
                seen.counters
                    .entry(*counter)
                    .or_insert((first, Counter::default()))
                    .1 = value.clone();
            }
            self.entries.insert(life.entry);
        }
        self.last_reading = Some(time);
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::new();
        for seen in self.lives.values() {
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

/// Observes what is read; keeps the sum of all increments.
#[derive(Default)]
struct Observer {
    target: Target,
    stored: Totals,
}

impl Observer {
    fn observe(&mut self, time: i64, text: &str) -> Vec<String> {
        let seen = self.target.observe_text(time / SECOND, text);
        for (id, column, growth) in seen.totals {
            assert!(growth > 0, "{id} {column} {growth}");
            let entry = id.strip_prefix('e').unwrap().parse().unwrap();
            *self.stored.entry((entry, column)).or_default() += growth.cast_unsigned();
        }
        seen.rows
    }
}

/// Lets a history happen; whoever looks gets each text.
fn happen(layout: Layout, history: &[Event], mut look: impl FnMut(i64, &Lustre, &str, &[Shown])) {
    let mut lustre = Lustre::new(layout);
    for event in history {
        // Observations are made at whole seconds, and something always lies between them.
        lustre.now += 7 * SECOND + 1;
        match event {
            Event::Open { entry, calls } => {
                lustre.work(*entry, |counters| counters[0].add(*calls, 1))
            }
            Event::Write {
                entry,
                calls,
                size,
                usecs,
            } => lustre.work(*entry, |counters| {
                counters[1].add(*calls, *usecs);
                counters[2].add(*calls, *size);
            }),
            Event::Forget { entry } => lustre.forget(*entry),
            Event::Read(reading) => {
                lustre.now = (lustre.now / SECOND + 1) * SECOND;
                let time = lustre.now;
                let (text, shown) = lustre.read(reading);
                look(time, &lustre, &text, &shown);
                lustre.now = (lustre.now / SECOND + 1) * SECOND;
            }
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
    (skipped, damage, cut, twice).prop_map(|(skipped, damaged, cut, twice)| {
        Event::Read(Reading {
            skipped,
            damaged,
            cut,
            twice,
        })
    })
}

fn plain_reading() -> impl Strategy<Value = Event> {
    Just(Event::Read(Reading::default()))
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
        Just(Layout::Dated)
    ]
}

proptest! {
    #[test]
    fn stored_is_never_more_than_was_done(layout in layouts(), history in any_history()) {
        let mut observer = Observer::default();
        happen(layout, &history, |time, lustre, text, _| {
            observer.observe(time, text);
            for (what, stored) in &observer.stored {
                let done = lustre.done.get(what).copied().unwrap_or(0);
                assert!(*stored <= done, "{what:?}: stored {stored}, done {done}");
            }
        });
    }

    #[test]
    fn with_start_time_exactly_what_was_read_is_stored(
        // A `write` that cannot be read gives its calls to `write_bytes`, or not: that is told in rule 6.
        history in vec(prop_oneof![5 => work(), 1 => forget(), 3 => reading(2..3)], 1..60)
    ) {
        let (mut observer, mut oracle) = (Observer::default(), Oracle::default());
        happen(Layout::Dated, &history, |time, _, text, shown| {
            observer.observe(time, text);
            oracle.read(time, shown, |life, last_reading| life.start > last_reading);
            assert_eq!(observer.stored, oracle.totals());
        });
    }

    #[test]
    fn on_the_boot_clock_every_reading_of_every_life_adds_up(
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
    fn a_life_seen_at_every_reading_adds_up(
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
            let mut lives = lustre.lives.clone();
            if let (Some((a, b)), false) = (swaps.next(), lives.is_empty()) {
                let len = lives.len();
                lives.swap(a % len, b % len);
            }
            let (other, _) = print(layout, &lives, None, None);
            let mut rows = ordered.observe(time, text);
            let mut other_rows = shuffled.observe(time, &other);
            rows.sort();
            other_rows.sort();
            assert_eq!(rows, other_rows);
        });
    }
}
