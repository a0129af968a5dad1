//! Usage: totals, rates, rankings, findings and distributions.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Filters, Group, Interval, Source, Window, questions};

questions! {
    /// Totals of a window, by `jobstats_totals()`.
    Totals(Source::Function("jobstats_totals")) {
        window: Window,
        operations: Option<String>,
        by: Option<String>,
        filter: Filters,
    }
    /// The total of an operation of a group.
    -> TotalRow {
        operation: String,
        total: Option<Decimal>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        labels: Group,
    }

    /// Changes between a window and the time before it, by `jobstats_changes()`.
    Changes(Source::Function("jobstats_changes")) {
        window: Window,
        operation: Option<String>,
        by: Option<String>,
        baseline_since: Option<Timestamp>,
        baseline_until: Option<Timestamp>,
        n: Option<i32>,
        filter: Filters,
    }
    /// The change of a group; the last row sums up the groups without a row.
    -> ChangeRow {
        /// The share of the net change; `None` if that is near zero.
        share: Option<f64>,
        share_of_rise: Option<f64>,
        before: Decimal,
        after: Decimal,
        change: Decimal,
        labels: Group,
    }

    /// Rates compared with the baseline of each group, by `jobstats_baseline()`.
    Baseline(Source::Function("jobstats_baseline")) {
        window: Window,
        operation: Option<String>,
        by: Option<String>,
        n: Option<i32>,
        filter: Filters,
    }
    /// A group and its rates in the same hours of the 30 days before.
    -> BaselineRow {
        /// The rate ÷ the median; `None` if that is 0.
        times_usual: Option<f64>,
        /// The share of the days with lower rates.
        percentile: Option<f64>,
        median: Option<f64>,
        days: i64,
        labels: Group,
    }

    /// Rates in a window or in its steps, by `jobstats_rates()`.
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
        operation: String,
        rate: Option<f64>,
        total: Option<Decimal>,
        calls: Option<Decimal>,
        /// Bytes or seconds per call.
        per_call: Option<f64>,
        seconds: f64,
        coverage: f64,
        labels: Group,
    }

    /// The main totals of each group, by `jobstats_summary()`.
    Summary(Source::Function("jobstats_summary")) {
        window: Window,
        by: Option<String>,
        filter: Filters,
    }
    /// The main totals of a group; `None` if unknown.
    -> SummaryRow {
        read_bytes: Option<Decimal>,
        write_bytes: Option<Decimal>,
        /// Calls of all metadata operations.
        metadata: Option<Decimal>,
        /// Server time in seconds; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        /// Calls of open, read and write.
        opens: Option<Decimal>,
        read: Option<Decimal>,
        write: Option<Decimal>,
        labels: Group,
    }

    /// Inefficient I/O of jobs or users, by `jobstats_findings()`.
    Findings(Source::Function("jobstats_findings")) {
        window: Window,
        by: Option<String>,
        /// `bad`, `fair` and `good`.
        levels: Option<String>,
        filter: Filters,
    }
    /// The verdict of a rule on a group.
    -> FindingRow {
        /// The name of the rule.
        finding: String,
        level: String,
        name: String,
        /// The group's share of the server time, or of the calls if servers report no times.
        share: Option<f64>,
        /// Server time in seconds of the operations of the rule; `None` if servers report no times.
        service_time: Option<f64>,
        text: String,
        value: f64,
        threshold: f64,
        /// `None` if the owner of the store deleted the rule.
        advice: Option<String>,
        labels: Group,
    }

    /// The groups with the largest totals, by `jobstats_top()`.
    Top(Source::Function("jobstats_top")) {
        window: Window,
        operation: Option<String>,
        by: Option<String>,
        n: Option<i32>,
        filter: Filters,
        /// True adds rows of untracked usage.
        untracked: Option<bool>,
    }
    /// A group with its rank, or the untracked usage of targets.
    -> TopRow {
        /// `None` for untracked usage, which comes last.
        rank: Option<i64>,
        /// The share of the total of all groups; `None` for untracked usage.
        share: Option<f64>,
        total: Option<Decimal>,
        rate: Option<f64>,
        /// The share of the target counters of the group's targets.
        share_of_target: Option<f64>,
        labels: Group,
    }

    /// Sizes of reads and writes, by `jobstats_io_sizes()`.
    IoSizes(Source::Function("jobstats_io_sizes")) {
        window: Window,
        by: Option<String>,
        filter: Filters,
    }
    /// The calls of a bucket of sizes, or all calls where only sums are known.
    -> IoSizeRow {
        operation: String,
        /// The edges of the bucket in bytes, without and with the edge itself; `None` for sums.
        lower: Option<i64>,
        upper: Option<i64>,
        calls: Decimal,
        /// The mean size in bytes; `None` for buckets.
        mean: Option<f64>,
        /// `histogram`, or `sums` for targets before Lustre 2.16.
        source: String,
    }

    /// Distribution of the rates of groups, by `jobstats_densities()`.
    Densities(Source::Function("jobstats_densities")) {
        window: Window,
        operation: Option<String>,
        step: Option<Interval>,
        filter: Filters,
    }
    /// A bucket of rates in a step.
    -> DensityRow {
        time: Timestamp,
        /// The exponent of the lower edge.
        bucket: i32,
        /// The number of groups.
        count: i64,
    }

    /// Balance between the targets of a file system, by `jobstats_balance()`.
    Balance(Source::Function("jobstats_balance")) {
        window: Window,
        operation: Option<String>,
        filter: Filters,
    }
    /// A target compared with others of its kind.
    -> BalanceRow {
        target: String,
        /// The rate ÷ the median of observed targets of this kind and file system; `None` if that is 0.
        ratio: Option<f64>,
        leader_share: Option<f64>,
        rate: Option<f64>,
        /// The cluster and target; user, workload and account of the leader.
        labels: Group,
    }

    /// Usage of targets outside their entries, by `jobstats_untracked()`.
    Untracked(Source::Function("jobstats_untracked")) {
        window: Window,
        operations: Option<String>,
        by: Option<String>,
        filter: Filters,
    }
    /// Target counters compared with the sum of the entries.
    -> UntrackedRow {
        operation: String,
        /// The growth of the target counters.
        total: Option<Decimal>,
        /// The usage of all entries.
        accounted: Option<Decimal>,
        /// The difference; `None` unless the target counters cover the whole window.
        untracked: Option<Decimal>,
        /// The share of the time covered by target counters.
        coverage: f64,
        labels: Group,
    }
}
