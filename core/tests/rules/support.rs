//! One target observed again and again, in small texts that a test can show whole.
//!
//! Times are seconds after [`EPOCH`]. Every observation goes through the same way as in the store: carried records are
//! printed, stored as text and read back.

use std::fmt::Write;

use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::pause::Pause;
use jobstats_core::rules::increment::{
    Column, Comparison, Increment, LateReason, MAX_RATE, Observation, can_be_followed,
    can_be_older, compare, json, split,
};
use jobstats_core::rules::snapshot::{HISTOGRAM_LEN, Snapshot, print, read, read_carried};

/// 2023-11-14, well on the wall clock.
pub const EPOCH: i64 = 1_700_000_000;
const SECOND: i64 = 1_000_000;

/// A record without `start_time`, as of Lustre 2.14 and older. Counters are `operation samples`, `operation samples unit
/// min max sum` or the same with `sumsq`, separated by commas.
pub fn job(id: &str, counters: &str) -> String {
    active(id, 0, counters)
}

/// Returns the same for an entry that was last active at this second.
pub fn active(id: &str, time: i64, counters: &str) -> String {
    let times = format!("  snapshot_time:   {}\n", EPOCH + time);
    record(id, &times, counters)
}

/// A record that began at this second, as of Lustre 2.15.2 and newer.
pub fn born(id: &str, start: i64, counters: &str) -> String {
    let start = EPOCH + start;
    let times = format!(
        "  snapshot_time:   {start}.500000000 secs.nsecs\n  start_time:      {start}.000000000 secs.nsecs\n  \
         elapsed_time:    0.500000000 secs.nsecs\n"
    );
    record(id, &times, counters)
}

/// A record that began this many seconds after boot, as of Lustre 2.15.0 and 2.15.1.
pub fn booted(id: &str, start: i64, counters: &str) -> String {
    let times = format!(
        "snapshot_time   : {start}.500000000 secs.nsecs\nstart_time      : {start}.000000000 secs.nsecs\nelapsed_time    : \
         0.500000000 secs.nsecs\n"
    );
    record(id, &times, counters)
}

fn record(id: &str, times: &str, counters: &str) -> String {
    let mut text = format!("- job_id:          {id}\n{times}");
    for counter in counters
        .split(',')
        .map(str::trim)
        .filter(|counter| !counter.is_empty())
    {
        let _ = writeln!(text, "{}", counter_line(counter));
    }
    text
}

fn counter_line(counter: &str) -> String {
    let words: Vec<_> = counter.split_whitespace().collect();
    match words[..] {
        [name, samples] => format!("  {name}: {{ samples: {samples}, unit: reqs }}"),
        [name, samples, unit] => format!("  {name}: {{ samples: {samples}, unit: {unit} }}"),
        [name, samples, unit, min, max, sum] => format!(
            "  {name}: {{ samples: {samples}, unit: {unit}, min: {min}, max: {max}, sum: {sum} }}"
        ),
        [name, samples, unit, min, max, sum, sumsq] => format!(
            "  {name}: {{ samples: {samples}, unit: {unit}, min: {min}, max: {max}, sum: {sum}, sumsq: {sumsq} }}"
        ),
        [name, samples, unit, min, max, sum, sumsq, hist] => format!(
            "  {name}: {{ samples: {samples}, unit: {unit}, min: {min}, max: {max}, sum: {sum}, sumsq: {sumsq}, hist: {{ {} }} }}",
            hist.replace('=', ": ").replace('+', ", ")
        ),
        _ => panic!("{counter:?} is no counter"),
    }
}

/// A text of one MDT with these records.
pub fn text(records: &[String]) -> String {
    format!(
        "mdt.fs-MDT0000.job_stats=\njob_stats:\n{}",
        records.concat()
    )
}

/// A text and what came with it.
#[derive(Clone)]
pub struct Kept {
    pub time: i64,
    pub server: String,
    pub text: Option<String>,
    pub carried: Vec<u8>,
}

impl Kept {
    /// Lends the observation, read again from its texts.
    pub fn with<T>(&self, use_it: impl FnOnce(&Observation) -> T) -> T {
        let reading = self
            .text
            .as_ref()
            .map(|text| read(text.as_bytes(), Pause::NEVER).unwrap());
        let snapshot = reading.map(|mut reading| {
            assert_eq!(reading.snapshots.len(), 1, "{:?}", self.text);
            reading.snapshots.remove(0)
        });
        let carried = read_carried(&self.carried, Pause::NEVER).unwrap();
        let observation = Observation {
            time: micros(self.time),
            server: &self.server,
            snapshot: snapshot.as_ref(),
            carried: Some(&carried),
        };
        use_it(&observation)
    }
}

fn micros(seconds: i64) -> i64 {
    (EPOCH + seconds) * SECOND
}

/// A target with its known entries.
#[derive(Clone)]
pub struct Target {
    /// Seconds.
    pub cleanup_interval: u32,
    /// The server that it is on.
    pub server: String,
    /// Its last observation.
    pub last: Option<Kept>,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            cleanup_interval: 600,
            server: "mds1".to_owned(),
            last: None,
        }
    }
}

/// The result of an observation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// A line per increment: `entry (since, time] column=growth …`.
    pub rows: Vec<String>,
    /// The growth: entry, column, amount.
    pub totals: Vec<(String, String, i64)>,
    /// The growth of the parts into which rows are divided at edges (rule 1).
    pub divided: Vec<(String, String, i64)>,
    /// A line per carried record: `entry @ last seen: operation=samples …`.
    pub carried: Vec<String>,
    /// A line per problem.
    pub problems: Vec<String>,
    pub entries: u64,
    pub active: u64,
    pub added: u64,
    pub resets: u64,
    pub removed: u64,
    pub carried_count: u64,
    pub unknown: u64,
    pub ends_early: bool,
}

impl Target {
    /// A target whose first observation was this, at 0 s.
    pub fn first(records: &[String]) -> Self {
        let mut target = Self::default();
        target.observe(0, records);
        target
    }

    /// Observes the target with these records at this second.
    pub fn observe(&mut self, time: i64, records: &[String]) -> Seen {
        self.observe_text(time, &text(records))
    }

    /// Observes the target with this text.
    pub fn observe_text(&mut self, time: i64, text: &str) -> Seen {
        let mut next = Kept {
            time,
            server: self.server.clone(),
            text: Some(text.to_owned()),
            carried: Vec::new(),
        };
        let interval = self.cleanup_interval;
        let (seen, carried) = next.with(|next| match &self.last {
            None => Seen::of(&compare(None, next, interval, Pause::NEVER).unwrap()),
            Some(last) => last.with(|last| {
                let mut comparison = compare(Some(last), next, interval, Pause::NEVER).unwrap();
                comparison.limit(next.time - last.time, MAX_RATE).unwrap();
                Seen::of(&comparison)
            }),
        });
        next.carried = carried;
        self.last = Some(next);
        seen
    }

    /// Returns whether this text, read at this second, can be older than the observation `next` and newer than the target's last.
    pub fn admits(
        &self,
        time: i64,
        records: &[String],
        next: (i64, &[String]),
    ) -> Result<(), LateReason> {
        self.admits_text(time, &text(records), (next.0, &text(next.1)), None)
    }

    /// Returns whether a whole text can be older than another, which one more may follow.
    pub fn admits_text(
        &self,
        time: i64,
        text: &str,
        next: (i64, &str),
        after: Option<(i64, &str)>,
    ) -> Result<(), LateReason> {
        let kept = |time: i64, text: &str| Kept {
            time,
            server: self.server.clone(),
            text: Some(text.to_owned()),
            carried: Vec::new(),
        };
        let (late, next) = (kept(time, text), kept(next.0, next.1));
        let admits = |previous: Option<&Observation>, after: Option<&Observation>| {
            late.with(|late| {
                next.with(|next| {
                    can_be_older(late, previous, next, Pause::NEVER)?;
                    let (texts, interval) = ((next, after), self.cleanup_interval);
                    can_be_followed(late, previous, texts, interval, Pause::NEVER)
                })
            })
        };
        let before = |after: Option<&Observation>| match &self.last {
            None => admits(None, after),
            Some(last) => last.with(|last| admits(Some(last), after)),
        };
        match after {
            None => before(None),
            Some((time, text)) => kept(time, text).with(|after| before(Some(after))),
        }
    }
}

impl Seen {
    fn of(comparison: &Comparison) -> (Self, Vec<u8>) {
        let carried = &comparison.carried;
        let seen = Self {
            rows: comparison.increments.iter().map(row).collect(),
            totals: comparison.increments.iter().flat_map(totals).collect(),
            divided: parts(comparison).flat_map(|part| totals(&part)).collect(),
            carried: carried_lines(carried),
            problems: comparison.problems.iter().map(problem).collect(),
            entries: comparison.entries,
            active: comparison.active,
            added: comparison.added,
            resets: comparison.resets,
            removed: comparison.removed,
            carried_count: comparison.carried_count,
            unknown: comparison.unknown,
            ends_early: comparison.ends_early,
        };
        (seen, print(carried))
    }
}

fn parts<'a>(comparison: &'a Comparison<'a>) -> impl Iterator<Item = Increment<'a>> {
    comparison.increments.iter().cloned().flat_map(split)
}

fn seconds(time: i64) -> i64 {
    time / SECOND - EPOCH
}

/// The name of a column of the table of increments.
pub fn column_name(column: Column) -> String {
    match column {
        Column::Total(index) => OPERATIONS[index].name.to_owned(),
        Column::Usecs(index) => format!("{}_usecs", OPERATIONS[index].name),
    }
}

fn totals(increment: &Increment) -> Vec<(String, String, i64)> {
    let columns = increment.totals.iter();
    let columns = columns.map(|(column, total)| (column_name(*column), *total));
    let totals = columns.chain(histograms(increment));
    totals
        .map(|(column, total)| (increment.id.to_owned(), column, total))
        .collect()
}

/// The elements of both histograms that grew; arrays of PostgreSQL begin with element 1.
fn histograms(increment: &Increment) -> impl Iterator<Item = (String, i64)> {
    let counts = increment.histograms.iter();
    let counts = counts.flat_map(|counts| counts.iter().enumerate());
    let grown = counts.filter(|(_, count)| **count != 0);
    grown.map(|(element, count)| {
        let (operation, element) = (element / HISTOGRAM_LEN, element % HISTOGRAM_LEN + 1);
        let name = OPERATIONS[operation].name;
        (format!("{name}_hist[{element}]"), *count)
    })
}

/// An increment on one line.
pub fn row(increment: &Increment) -> String {
    let (since, time) = (seconds(increment.since), seconds(increment.time));
    let mut line = format!("{} ({since}, {time}]", increment.id);
    for (column, total) in &increment.totals {
        let _ = write!(line, " {}={total}", column_name(*column));
    }
    for (column, total) in histograms(increment) {
        let _ = write!(line, " {column}={total}");
    }
    if increment.reset {
        line.push_str(" reset");
    }
    if let Some(detail) = &increment.detail {
        let details = json(detail).expect("packed details");
        let _ = write!(line, " {details}");
    }
    line
}

fn carried_lines(carried: &Snapshot) -> Vec<String> {
    let lines = carried.records.iter().map(|record| {
        let last_seen = record.last_seen.map_or(-1, seconds);
        let mut line = format!("{} @ {last_seen}:", carried.id(record));
        let slots = (0..OPERATIONS.len() + carried.unlisted.len()).map(|slot| slot as u16);
        for counter in slots.filter_map(|slot| carried.value(record, slot)) {
            let name = carried.slot_name(counter.slot);
            let _ = write!(line, " {name}={}", counter.samples);
        }
        line
    });
    lines.collect()
}

fn problem(problem: &jobstats_core::rules::increment::Problem) -> String {
    let operation = problem.operation.unwrap_or("-");
    let (line, code) = (problem.line, problem.reason.code());
    format!(
        "{} {operation} line {line}: {code}: {}",
        problem.entry, problem.reason
    )
}
