//! A target that does what Lustre does: entries begin with their first operation, are forgotten, begin again; a text may
//! lack records and counters, be cut, and show an entry twice.
//!
//! It avoids histories that no rule can resolve: without `start_time`, a text never lacks records that were not shown
//! before, or all that were.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::support::EPOCH;

const HEADER: &str = "mdt.fs-MDT0000.job_stats=\njob_stats:\n";
pub const SECOND: i64 = 1_000_000;

/// The time lines that a version of Lustre prints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    /// Up to 2.14.
    Undated,
    /// 2.15.0 and 2.15.1: seconds since boot.
    Booted,
    /// 2.15.2 and newer.
    Dated,
    /// Versions in which the stats header is switched on and off.
    Switched,
}

#[derive(Debug, Clone)]
pub enum Event {
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

/// The peculiarities of one text.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub skipped: Vec<usize>,
    /// An entry and the counter in it that cannot be read.
    pub damaged: Option<(usize, usize)>,
    /// The position of the cut, in thousandths of the length.
    pub cut: Option<usize>,
    /// Set if the stats header is off, where that is possible.
    pub headless: bool,
    /// An entry that is forgotten when it has been printed, and begins again before the text ends.
    pub twice: Option<usize>,
}

/// The counters of one epoch, in the order of their lines.
pub const COUNTERS: [&str; 3] = ["open", "write", "write_bytes"];

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counter {
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

    /// The values of the counter by column.
    pub fn columns(&self, counter: usize) -> Vec<(String, u64)> {
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

/// One epoch of an entry.
#[derive(Debug, Clone)]
pub struct Epoch {
    pub entry: usize,
    /// Microseconds after the epoch of the tests: its identity.
    pub start: i64,
    pub counters: [Counter; 3],
}

/// A record as printed, with the counters of it that can be read.
pub type Shown = (Epoch, BTreeSet<usize>);

/// Columns of entries.
pub type Totals = BTreeMap<(usize, String), u64>;

pub struct Lustre {
    layout: Layout,
    now: i64,
    pub epochs: Vec<Epoch>,
    /// The work since the first reading.
    pub done: Totals,
    /// The time of the first work of each entry's epoch that no reading has shown, by entry.
    pub first_unread: BTreeMap<usize, i64>,
    has_been_read: bool,
    /// The time at which each epoch was shown last.
    shown: BTreeMap<i64, i64>,
}

impl Lustre {
    fn new(layout: Layout) -> Self {
        Self {
            layout,
            now: 0,
            epochs: Vec::new(),
            done: Totals::new(),
            first_unread: BTreeMap::new(),
            has_been_read: false,
            shown: BTreeMap::new(),
        }
    }

    fn work(&mut self, entry: usize, change: impl Fn(&mut [Counter; 3])) {
        let position = self.epochs.iter().position(|epoch| epoch.entry == entry);
        let position = position.unwrap_or_else(|| {
            self.epochs.push(Epoch {
                entry,
                start: self.now,
                counters: Default::default(),
            });
            self.epochs.len() - 1
        });
        change(&mut self.epochs[position].counters);
        self.first_unread.entry(entry).or_insert(self.now);
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
        self.epochs.retain(|epoch| epoch.entry != entry);
        self.first_unread.remove(&entry);
    }

    /// Reads the target; gives the text and what of it can be read.
    fn read(&mut self, reading: &Reading) -> (String, Vec<Shown>) {
        let is_first = !self.has_been_read;
        self.has_been_read = true;
        let mut printed: Vec<Epoch> = self.epochs.clone();
        printed.retain(|epoch| {
            !self.may_skip(epoch, is_first) || !reading.skipped.contains(&epoch.entry)
        });
        let survives = |epoch: &Epoch| self.shown.contains_key(&epoch.start);
        if !printed.iter().any(survives) && self.layout != Layout::Dated {
            printed = self.epochs.clone();
        }
        if let Some(entry) = reading
            .twice
            .filter(|entry| printed.iter().any(|epoch| epoch.entry == *entry))
        {
            self.now += 1;
            self.forget(entry);
            self.work(entry, |counters| counters[0].add(1, 1));
            printed.extend(self.epochs.last().cloned());
        }
        let cut = reading
            .cut
            .filter(|_| !is_first || self.layout == Layout::Dated);
        let layout = match (self.layout, reading.headless) {
            (Layout::Switched, true) => Layout::Undated,
            (Layout::Switched, false) => Layout::Dated,
            (layout, _) => layout,
        };
        let (text, shown) = print(layout, &printed, reading.damaged, cut);
        for (epoch, _) in &shown {
            self.shown.insert(epoch.start, self.now);
        }
        (text, shown)
    }

    /// Without `start_time` no rule helps if skipped entries were never shown before or not for long.
    fn may_skip(&self, epoch: &Epoch, is_first: bool) -> bool {
        let is_recent = |seen: &i64| self.now - seen < 600 * SECOND;
        let was_shown = self.shown.get(&epoch.start).is_some_and(is_recent);
        self.layout == Layout::Dated || (!is_first && was_shown)
    }
}

/// The text of these epochs, and the counters in it that can be read.
pub fn print(
    layout: Layout,
    epochs: &[Epoch],
    damaged: Option<(usize, usize)>,
    cut: Option<usize>,
) -> (String, Vec<Shown>) {
    let mut text = HEADER.to_owned();
    let mut begins = Vec::new();
    let mut ends = Vec::new();
    for epoch in epochs {
        begins.push(text.len());
        let _ = write!(
            text,
            "- job_id:          e{}\n{}",
            epoch.entry,
            times(layout, epoch)
        );
        let lines = epoch.counters.iter().zip(COUNTERS).enumerate();
        ends.push(
            lines
                .map(|(counter, (values, name))| {
                    let line = values.line(name);
                    let is_damaged = damaged == Some((epoch.entry, counter));
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
    // A text that ends with a complete record does not show the cut.
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
    let shown = epochs.iter().zip(ends).map(|(epoch, counters)| {
        let readable = counters
            .into_iter()
            .filter(|(_, line_end, is_damaged)| *line_end <= end && !is_damaged);
        (
            epoch.clone(),
            readable
                .map(|(counter, ..)| counter)
                .collect::<BTreeSet<_>>(),
        )
    });
    let shown = shown.filter(|(_, counters)| !counters.is_empty()).collect();
    (text, shown)
}

fn times(layout: Layout, epoch: &Epoch) -> String {
    let clock = |begin: i64| {
        let micros = begin * SECOND + epoch.start;
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
        Layout::Dated | Layout::Switched => {
            let time = clock(EPOCH);
            format!(
                "  snapshot_time:   {time}\n  start_time:      {time}\n  elapsed_time:    0.000000000 secs.nsecs\n"
            )
        }
    }
}

/// Lets a history happen; whoever looks gets each text.
pub fn happen(
    layout: Layout,
    history: &[Event],
    mut look: impl FnMut(i64, &Lustre, &str, &[Shown]),
) {
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
                lustre.first_unread.clear();
                lustre.now = (lustre.now / SECOND + 1) * SECOND;
            }
        }
    }
}
