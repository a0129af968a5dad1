//! Usage: `jobstats_totals()`, `jobstats_changes()`, `jobstats_baseline()`, `jobstats_rates()`, `jobstats_summary()`, `jobstats_top()`, `jobstats_io_sizes()`,
//! `jobstats_findings()`, `jobstats_verdict()`, `jobstats_densities()`, `jobstats_balance()` and `jobstats_untracked()`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Filters, Group, Interval, Source, Window, questions};

questions! {
    /// How much was used in a window?
    Totals(Source::Function("jobstats_totals")) {
        window: Window,
        operations: Option<String>,
        by: Option<String>,
        filter: Filters,
    }
    /// The total of an operation of a group.
    -> TotalRow {
        name: String,
        operation: String,
        formatted: Option<String>,
        share: Option<f64>,
        total: Option<Decimal>,
        rate: Option<f64>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        coverage: f64,
        group: Group,
    }

    /// Who made the difference between a window and what was before it?
    Changes(Source::Function("jobstats_changes")) {
        window: Window,
        operation: Option<String>,
        by: Option<String>,
        baseline_since: Option<Timestamp>,
        baseline_until: Option<Timestamp>,
        n: Option<i32>,
        filter: Filters,
    }
    /// The change of a group, or of all groups that have no row of their own.
    -> ChangeRow {
        /// The rank; `None` for the rest.
        rank: Option<i64>,
        name: String,
        formatted: Option<String>,
        /// The part of the whole change; `None` where that is next to nothing.
        share: Option<f64>,
        share_of_rise: Option<f64>,
        operation: String,
        before: Decimal,
        after: Decimal,
        change: Decimal,
        /// The number of days that the mean before is of; `None` with a baseline.
        days: Option<i64>,
        coverage: f64,
        group: Group,
    }

    /// Is what a group does usual for it?
    Baseline(Source::Function("jobstats_baseline")) {
        window: Window,
        operation: Option<String>,
        by: Option<String>,
        n: Option<i32>,
        filter: Filters,
    }
    /// The rate of a group, and those of the 30 days before at the same time.
    -> BaselineRow {
        rank: i64,
        name: String,
        operation: String,
        formatted: Option<String>,
        /// The rate ÷ the median; `None` if that is 0.
        times_usual: Option<f64>,
        /// The part of the days with less.
        percentile: Option<f64>,
        median: Option<f64>,
        lower_quartile: Option<f64>,
        upper_quartile: Option<f64>,
        rate: f64,
        days: i64,
        coverage: f64,
        group: Group,
    }

    /// How fast was usage, in a window or in its steps?
    Rates(Source::Function("jobstats_rates")) {
        window: Window,
        operations: Option<String>,
        by: Option<String>,
        step: Option<Interval>,
        filter: Filters,
    }
    /// The rate of an operation of a group in a step.
    -> RateRow {
        time: Timestamp,
        name: String,
        operation: String,
        formatted: Option<String>,
        rate: Option<f64>,
        total: Option<Decimal>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        seconds: f64,
        coverage: f64,
        group: Group,
    }

    /// What did each job, user, node or target do?
    Summary(Source::Function("jobstats_summary")) {
        window: Window,
        by: Option<String>,
        filter: Filters,
    }
    /// The most important totals of a group. Totals are exact, and `None` if they are not known.
    -> SummaryRow {
        name: String,
        nodes: Option<i64>,
        read_bytes: Option<Decimal>,
        write_bytes: Option<Decimal>,
        /// Calls of all metadata operations.
        metadata: Option<Decimal>,
        /// The seconds that servers spent on all calls; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        busiest_target: Option<String>,
        /// Calls of open; those of read and write follow.
        opens: Option<Decimal>,
        read: Option<Decimal>,
        write: Option<Decimal>,
        /// The time after which the group was active.
        first: Option<Timestamp>,
        last_active: Option<Timestamp>,
        coverage: f64,
        group: Group,
    }

    /// In what way do jobs or users make servers work more than they need to?
    Findings(Source::Function("jobstats_findings")) {
        window: Window,
        by: Option<String>,
        /// The levels that are wanted: `bad`, `fair`, `good`.
        levels: Option<String>,
        filter: Filters,
    }
    /// The judgement of a rule on a group.
    -> FindingRow {
        /// The name of the rule.
        finding: String,
        level: String,
        name: String,
        /// The part of all the servers' time for the group; where they report no times, of its calls.
        share: Option<f64>,
        /// The seconds that servers spent on what the rule is about; `None` where they report no times.
        service_time: Option<f64>,
        /// The value in words.
        text: String,
        /// The value by the rule, and the threshold that it passed.
        value: f64,
        threshold: f64,
        /// The advice. The owner of a store can delete a rule.
        advice: Option<String>,
        group: Group,
    }

    /// How much of the work of servers was good, fair and bad?
    Verdict(Source::Function("jobstats_verdict")) {
        window: Window,
        by: Option<String>,
        filter: Filters,
    }
    /// A level of work.
    -> VerdictRow {
        /// The level: `bad`, `fair`, `good` or `not judged`.
        level: String,
        groups: i64,
        /// The seconds that servers spent; `None` where they report no times.
        service_time: Option<f64>,
        /// The part of the time of all groups; where servers report no times, of their calls.
        share: Option<f64>,
    }

    /// Which groups have the largest total of an operation?
    Top(Source::Function("jobstats_top")) {
        window: Window,
        operation: Option<String>,
        by: Option<String>,
        n: Option<i32>,
        min_rate: Option<f64>,
        filter: Filters,
        /// True adds the work of targets that is in no entry.
        untracked: Option<bool>,
    }
    /// A group with its rank, or the work of targets that is in no entry.
    -> TopRow {
        /// The rank; `None` for work in no entry, whose rows come last.
        rank: Option<i64>,
        name: String,
        operation: String,
        formatted: Option<String>,
        /// The part of the total of all groups; `None` for work in no entry.
        share: Option<f64>,
        total: Option<Decimal>,
        rate: Option<f64>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        /// The part of all that the targets of the group did, by their own counters.
        share_of_target: Option<f64>,
        coverage: f64,
        group: Group,
    }

    /// How large were reads and writes?
    IoSizes(Source::Function("jobstats_io_sizes")) {
        window: Window,
        by: Option<String>,
        filter: Filters,
    }
    /// The calls of a size, or those whose sizes are known as sums only.
    -> IoSizeRow {
        name: String,
        operation: String,
        /// Calls of this many bytes are too small; `None` for sums.
        lower: Option<i64>,
        /// The size in bytes of the largest calls; `None` for sums.
        upper: Option<i64>,
        calls: Decimal,
        share: f64,
        /// The mean size in bytes, and its standard deviation; `None` for histograms.
        mean: Option<f64>,
        stddev: Option<f64>,
        /// `histogram`, or `sums` for targets before Lustre 2.16.
        source: String,
        group: Group,
    }

    /// How many groups have a rate of which size?
    Densities(Source::Function("jobstats_densities")) {
        window: Window,
        operation: Option<String>,
        by: Option<String>,
        base: Option<i32>,
        step: Option<Interval>,
        filter: Filters,
    }
    /// A bucket of rates in a step.
    -> DensityRow {
        time: Timestamp,
        /// The exponent of the lower edge.
        bucket: i32,
        /// The edges, per second: the lower one belongs to the bucket.
        lower: f64,
        upper: f64,
        /// The number of groups with such a rate.
        count: i64,
    }

    /// How evenly are the targets of a file system used?
    Balance(Source::Function("jobstats_balance")) {
        window: Window,
        operation: Option<String>,
        /// Dimensions of targets.
        filter: Filters,
    }
    /// A target beside the others of its kind.
    -> BalanceRow {
        target: String,
        kind: String,
        formatted: Option<String>,
        /// The rate ÷ the median of the observed targets of this cluster, file system and kind; `None` if that is 0.
        ratio: Option<f64>,
        /// The user and the workload that did most of it, and their part.
        leader: Option<String>,
        leader_share: Option<f64>,
        rate: Option<f64>,
        coverage: f64,
        /// The cluster and the target; the user, workload and account of the leader.
        group: Group,
    }

    /// How much of the work of targets is in no entry?
    Untracked(Source::Function("jobstats_untracked")) {
        window: Window,
        operations: Option<String>,
        /// Dimensions of targets.
        by: Option<String>,
        step: Option<Interval>,
        /// Dimensions of targets.
        filter: Filters,
    }
    /// The work of targets by their own counters, beside that of their entries, in a step.
    -> UntrackedRow {
        time: Timestamp,
        name: String,
        operation: String,
        formatted: Option<String>,
        /// The part of the total that is in no entry.
        share: Option<f64>,
        /// The work by the own counters of the targets.
        total: Option<Decimal>,
        /// The work of all entries.
        accounted: Option<Decimal>,
        /// The work that entries lack of the total; `None` where the own counters were not read all the time.
        untracked: Option<Decimal>,
        /// The part of the time in which the own counters were read.
        coverage: f64,
        group: Group,
    }
}
