//! The texts of statistics: one grammar for the counters of targets, of their clients, and of services.

use crate::lustre::operation::Op;
use crate::lustre::{Counter, Counters, Layout, TargetKind, Times, Unit};
use crate::time::{Nanos, SECOND, shown};
use crate::world::{Cluster, Plan, ServerIndex};

/// The numbers in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// The number of samples alone.
    Samples,
    /// The smallest, the largest and the sum of the samples too.
    Sums,
    /// The sum of squares too.
    Squares,
}

/// A text of statistics.
pub struct Stats {
    layout: Layout,
    pub text: String,
}

impl Stats {
    /// Begins the text of a server at a time, with the counts since another time.
    pub fn new(cluster: &Cluster, server: ServerIndex, since: Nanos, time: Nanos) -> Self {
        let layout = cluster.layout;
        let plan = Plan::new(cluster);
        let by_clock = |time| shown(time + plan.clock_error(server, time));
        let mut stats = Self {
            layout,
            text: String::new(),
        };
        match layout.times() {
            Times::Seconds => stats.time("snapshot_time", by_clock(time)),
            Times::Boot => {
                // The start was never set.
                let uptime = time - cluster.servers[server].booted;
                stats.time("snapshot_time", uptime);
                stats.time("start_time", 0);
                stats.time("elapsed_time", uptime);
            }
            Times::Wall => {
                let (read, start) = (by_clock(time), by_clock(since));
                stats.time("snapshot_time", read);
                stats.time("start_time", start);
                stats.time("elapsed_time", read - start);
            }
        }
        stats
    }

    fn time(&mut self, name: &str, time: Nanos) {
        let (width, seconds) = (self.layout.column(), time.div_euclid(SECOND));
        let fraction = self.layout.fraction(time.rem_euclid(SECOND));
        self.text += &format!("{name:<width$} {seconds}.{fraction}\n");
    }

    /// Adds the line of a counter, unless it has no samples.
    pub fn line(&mut self, name: &str, unit: &str, counter: &Counter, numbers: Numbers) {
        if counter.samples == 0 {
            return;
        }
        let width = self.layout.column();
        self.text += &format!("{name:<width$} {} samples [{unit}]", counter.samples);
        if numbers != Numbers::Samples {
            self.text += &format!(" {} {} {}", counter.min, counter.max, counter.sum);
        }
        if numbers == Numbers::Squares {
            self.text += &format!(" {}", self.layout.stats_squares(counter.squares));
        }
        self.text.push('\n');
    }

    /// Adds the lines of a target's operations. The connections of clients are counted too, where methods are.
    pub fn operations(mut self, counters: &Counters, kind: TargetKind, pings: u64) -> Self {
        let layout = self.layout;
        let only = |samples| Counter {
            samples,
            ..Counter::default()
        };
        let methods = layout.counts_methods() && kind == TargetKind::Ost;
        let read_or_written = [Op::ReadBytes, Op::WriteBytes].map(|op| counters.get(op).samples);
        for &op in layout.target_counters(kind) {
            let (unit, numbers) = match layout.unit(kind, op) {
                Unit::Requests | Unit::IdleRequests => ("reqs", Numbers::Samples),
                Unit::Bytes if layout.squares(0).is_none() => ("bytes", Numbers::Sums),
                Unit::Bytes => ("bytes", Numbers::Squares),
                Unit::Usecs => ("usecs", Numbers::Squares),
            };
            if methods && op == Op::Statfs {
                self.line("connect", "reqs", &only(1 + pings / 1000), Numbers::Samples);
            }
            self.line(layout.stats_name(op), unit, counters.get(op), numbers);
            if methods && op == Op::Sync {
                let bulk = only(read_or_written.iter().sum());
                self.line("preprw", "reqs", &bulk, Numbers::Samples);
                self.line("commitrw", "reqs", &bulk, Numbers::Samples);
            }
        }
        if methods {
            self.line("ping", "reqs", &only(pings), Numbers::Samples);
        }
        self
    }
}

#[cfg(test)]
mod tests;
