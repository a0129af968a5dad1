//! Compares the contents and the answers of the database with the truth.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use jobstats_client::Error;

use crate::store::database::{Amounts, Key, Store};
use crate::store::question::{QUESTIONS, windows};
use crate::store::target_counters::ObservedCounters;
use crate::store::used::Lists;
use crate::store::{queues, target_counters, used};
use crate::time::{Nanos, SECOND, now, timestamp};
use crate::truth::queues::ByService;
use crate::truth::{Cell, Column, Happening, Tally, TargetTruth, tally};
use crate::world::{Cluster, Target};

/// One way to query the stored data, compared with the truth.
#[derive(Debug, Default)]
struct Judgement {
    way: &'static str,
    cells: usize,
    /// The cells in which the database differs from a correct reader, each with the stored amount.
    differences: Vec<(Key, Cell, i128)>,
    /// The number of cells with more than really happened.
    above_truth: usize,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The number of texts delivered, and of observations in the database.
    texts: (u64, u64),
    /// The number of rows of increments.
    pub increments: u64,
    /// The number of readings of targets as a whole, and whether these are all that there should be.
    pub counter_readings: usize,
    has_all_counter_readings: bool,
    pub tally: Tally,
    judgements: Vec<Judgement>,
}

/// The truth, summed in the cells of one way to query.
type Cells = BTreeMap<Key, Cell>;

impl Judgement {
    fn new(way: &'static str, truth: Cells, mut stored: Amounts) -> Self {
        let mut judgement = Self {
            way,
            ..Self::default()
        };
        for (key, cell) in truth {
            let amount = stored.remove(&key).unwrap_or(0);
            judgement.judge(key, cell, amount);
        }
        for (key, amount) in stored {
            judgement.judge(key, Cell::default(), amount);
        }
        judgement
    }

    fn judge(&mut self, key: Key, cell: Cell, stored: i128) {
        self.cells += 1;
        self.above_truth += usize::from(stored > i128::from(cell.truth));
        if stored != cell.stored() {
            self.differences.push((key, cell, stored));
        }
    }
}

/// The truth about a cluster.
pub struct Truth {
    pub entries: Vec<TargetTruth>,
    pub counters: ObservedCounters,
    pub queues: ByService,
    pub lists: Lists,
}

/// Compares the stored increments and the answers of the reading functions with the truth.
pub fn compare(store: &mut Store, truth: &Truth) -> Result<Comparison, Error> {
    let cluster = store.cluster;
    let truths = &truth.entries[..];
    let (increments, amounts) = store.increments(truths)?;
    let stored = cells(cluster, truths, |target, entry, column| {
        vec![(target.name.clone(), entry.to_owned(), column.name())]
    });
    let tally = tally::of_truths(truths);
    let mut comparison = Comparison {
        texts: (tally.get(Happening::Text), store.observations(truths)?),
        increments,
        counter_readings: truth.counters.count(),
        has_all_counter_readings: truth.counters.is_complete(),
        tally,
        judgements: vec![Judgement::new("increments", stored, amounts)],
    };
    let observed = || truths.iter().map(|truth| truth.observed);
    let Some(window) = window(observed()) else {
        return Ok(comparison);
    };
    let_pass(window.1);
    let workloads = store.workloads()?;
    for question in &QUESTIONS {
        let truth = cells(cluster, truths, |target, entry, column| {
            // An entry that was never stored has no workload, and should have no answer.
            let workload = workloads.get(entry).map_or(entry, String::as_str);
            question.cells(target, workload, column)
        });
        let answer = question.ask(store, window)?;
        let judgement = Judgement::new(question.name, truth, answer);
        comparison.judgements.push(judgement);
    }
    let Some(window) = self::window(observed().chain(truth.counters.observed())) else {
        return Ok(comparison);
    };
    for (way, in_parts) in [
        ("jobstats_untracked", false),
        ("jobstats_untracked in odd windows", true),
    ] {
        let cells = truth.counters.cells(cluster, truths, in_parts);
        let answer = target_counters::ask_all(store, window, in_parts)?;
        let judgement = Judgement::new(way, cells, answer);
        comparison.judgements.push(judgement);
    }
    comparison.judge_servers(store, truth, window)?;
    Ok(comparison)
}

/// Returns the window from the first to the last observation of any target, unless the window is empty.
fn window(observed: impl Iterator<Item = Option<(Nanos, Nanos)>>) -> Option<(Nanos, Nanos)> {
    let observed: Vec<_> = observed.flatten().collect();
    let first = observed.iter().map(|(first, _)| *first).min()?;
    let last = observed.iter().map(|(_, last)| *last).max()?;
    (first < last).then_some((first, last))
}

/// Waits until a window that ends at this time no longer reaches now. The functions answer a window that reaches now
/// only until the time at which all targets have been observed.
fn let_pass(until: Nanos) {
    const REACHES_NOW: Nanos = 11 * SECOND;
    let left = now().map_or(0, |now| until + REACHES_NOW - now);
    if (1..=REACHES_NOW).contains(&left) {
        thread::sleep(Duration::from_nanos(left.unsigned_abs()));
    }
}

/// Sums the truth in the cells of one way to query, given the keys of a target, an entry and a column.
fn cells(
    cluster: &Cluster,
    truths: &[TargetTruth],
    keys: impl Fn(&Target, &str, Column) -> Vec<Key>,
) -> Cells {
    let mut cells = Cells::new();
    for (target, truth) in cluster.targets.iter().zip(truths) {
        for ((entry, column), cell) in &truth.cells {
            for key in keys(target, entry, *column) {
                cells.entry(key).or_default().plus(cell);
            }
        }
    }
    cells
}

impl Comparison {
    /// Compares the answers about queues and used space.
    fn judge_servers(
        &mut self,
        store: &mut Store,
        truth: &Truth,
        window: (Nanos, Nanos),
    ) -> Result<(), Error> {
        let cluster = store.cluster;
        let window = (timestamp(window.0), timestamp(window.1));
        let hours = queues::hours(window);
        let odd: Vec<_> = windows(window, true).collect();
        let days = store.summed_days()?;
        let of_days = used::of_days(&truth.lists, &days);
        let now = used::newest(cluster, &truth.lists);
        let ways = [
            (
                "jobstats_queues by the hour",
                queues::cells(cluster, &truth.queues, &hours),
                queues::ask(store, &[window], true)?,
            ),
            (
                "jobstats_queues in odd windows",
                queues::cells(cluster, &truth.queues, &odd),
                queues::ask(store, &odd, false)?,
            ),
            (
                "jobstats_space",
                used::cells(cluster, now),
                used::ask(store, None)?,
            ),
            (
                "jobstats_space of days",
                used::cells(cluster, of_days),
                used::ask(store, Some(&days))?,
            ),
        ];
        let judgements = ways
            .into_iter()
            .map(|(way, cells, answer)| Judgement::new(way, cells, answer));
        self.judgements.extend(judgements);
        Ok(())
    }

    /// Returns true if all cells are equal and each text has its observation.
    pub fn is_exact(&self) -> bool {
        self.differences() == 0 && self.texts.0 == self.texts.1 && self.has_all_counter_readings
    }

    fn sum(&self, count: impl Fn(&Judgement) -> usize) -> usize {
        self.judgements.iter().map(count).sum()
    }

    /// Returns the number of cells that were compared in all ways together.
    pub fn cells(&self) -> usize {
        self.sum(|judgement| judgement.cells)
    }

    /// Returns the number of cells that were compared in ways whose names begin so.
    pub fn cells_of(&self, way: &str) -> usize {
        self.sum(|judgement| usize::from(judgement.way.starts_with(way)) * judgement.cells)
    }

    /// Returns the number of cells that differ.
    pub fn differences(&self) -> usize {
        self.sum(|judgement| judgement.differences.len())
    }

    /// Returns the number of cells that hold more than the truth.
    pub fn above_truth(&self) -> usize {
        self.sum(|judgement| judgement.above_truth)
    }

    /// Shows the result, with the first differences of each way.
    pub fn show(&self, out: &mut impl Write) -> io::Result<()> {
        for judgement in &self.judgements {
            for (key, cell, stored) in judgement.differences.iter().take(10) {
                let (target, group, operation) = key;
                let way = judgement.way;
                writeln!(
                    out,
                    "{way}: {target} {group:?} {operation}: stored {stored}, should be {} (true {}, excluded {:?})",
                    cell.stored(),
                    cell.truth,
                    cell.excluded
                )?;
            }
        }
        let (texts, observations) = self.texts;
        writeln!(out, "texts {texts}, observations {observations}")?;
        let all = if self.has_all_counter_readings {
            ""
        } else {
            ", not all"
        };
        writeln!(
            out,
            "readings of whole targets {}{all}",
            self.counter_readings
        )?;
        let mut line = |way: &str, cells, differences, above_truth| {
            writeln!(
                out,
                "{way}cells {cells}, differences {differences}, above the truth {above_truth}"
            )
        };
        for judgement in &self.judgements {
            let (way, differences) = (judgement.way, judgement.differences.len());
            line(
                &format!("{way}: "),
                judgement.cells,
                differences,
                judgement.above_truth,
            )?;
        }
        line("", self.cells(), self.differences(), self.above_truth())
    }
}
