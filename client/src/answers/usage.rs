//! Usage: `jobstats_totals()`, `jobstats_changes()`, `jobstats_usual()`, `jobstats_rates()`, `jobstats_summary()`, `jobstats_top()`, `jobstats_sizes()`,
//! `jobstats_findings()`, `jobstats_verdict()`, `jobstats_densities()`, `jobstats_balance()` and `jobstats_unaccounted()`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Dimension, Filters, Group, Interval, Source, Window, answer, question};

question! {
    /// How much was used in a window?
    Totals(Source::Function("jobstats_totals")) -> TotalRow {
        window: Window,
        operations: Option<Vec<String>>,
        by: Option<Vec<Dimension>>,
        filters: Filters,
    }
}

answer! {
    /// The total of an operation of a group.
    TotalRow {
        group: Group,
        operation: String,
        total: Option<Decimal>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        coverage: f64,
    }
}

question! {
    /// Who made the difference between a window and what was before it?
    Changes(Source::Function("jobstats_changes")) -> ChangeRow {
        window: Window,
        operation: Option<String>,
        by: Option<Vec<Dimension>>,
        baseline_since: Option<Timestamp>,
        baseline_until: Option<Timestamp>,
        n: Option<i32>,
        filters: Filters,
    }
}

answer! {
    /// The change of a group, or of all groups that have no row of their own.
    ChangeRow {
        /// The rank; `None` for the rest.
        rank: Option<i64>,
        group: Group,
        operation: String,
        before: Decimal,
        after: Decimal,
        change: Decimal,
        /// The part of the whole change; `None` where that is next to nothing.
        share: Option<f64>,
        share_of_rise: Option<f64>,
        /// The number of groups in the row.
        groups: i64,
        /// The number of days that the mean before is of; `None` with a baseline.
        days: Option<i64>,
        coverage: f64,
    }
}

question! {
    /// Is what a group does usual for it?
    Usual(Source::Function("jobstats_usual")) -> UsualRow {
        window: Window,
        operation: Option<String>,
        by: Option<Vec<Dimension>>,
        n: Option<i32>,
        filters: Filters,
    }
}

answer! {
    /// The rate of a group, and those of the 30 days before at the same time.
    UsualRow {
        rank: i64,
        group: Group,
        operation: String,
        rate: f64,
        lower_quartile: Option<f64>,
        median: Option<f64>,
        upper_quartile: Option<f64>,
        mean: Option<f64>,
        /// The rate ÷ the median, and ÷ the mean; `None` if these are 0.
        times_usual: Option<f64>,
        times_mean: Option<f64>,
        /// The part of the days with less.
        percentile: Option<f64>,
        days: i64,
        coverage: f64,
    }
}

question! {
    /// How fast was usage, in a window or in its steps?
    Rates(Source::Function("jobstats_rates")) -> RateRow {
        window: Window,
        operations: Option<Vec<String>>,
        by: Option<Vec<Dimension>>,
        step: Option<Interval>,
        filters: Filters,
    }
}

answer! {
    /// The rate of an operation of a group in a step.
    RateRow {
        time: Timestamp,
        seconds: f64,
        group: Group,
        operation: String,
        rate: Option<f64>,
        coverage: f64,
    }
}

question! {
    /// What did each job, user, node or target do?
    Summary(Source::Function("jobstats_summary")) -> SummaryRow {
        window: Window,
        by: Option<Vec<Dimension>>,
        filters: Filters,
    }
}

answer! {
    /// The most important totals of a group. Totals are exact, and `None` if they are not known.
    SummaryRow {
        group: Group,
        /// The time after which the group was active.
        first: Option<Timestamp>,
        last_active: Option<Timestamp>,
        nodes: Option<i64>,
        read_bytes: Option<Decimal>,
        write_bytes: Option<Decimal>,
        /// Calls of read; those of write and open follow.
        read: Option<Decimal>,
        write: Option<Decimal>,
        opens: Option<Decimal>,
        /// Calls of all metadata operations.
        metadata: Option<Decimal>,
        /// The seconds that servers spent on all calls; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        busiest_target: Option<String>,
    }
}

question! {
    /// In what way do jobs or users make servers work more than they need to?
    Findings(Source::Function("jobstats_findings")) -> FindingRow {
        window: Window,
        by: Option<Vec<Dimension>>,
        /// The levels that are wanted: `bad`, `fair`, `good`.
        levels: Option<Vec<String>>,
        filters: Filters,
    }
}

answer! {
    /// The judgement of a rule on a group.
    FindingRow {
        group: Group,
        /// The name of the rule.
        finding: String,
        level: String,
        /// The value by the rule, and the threshold that it passed.
        value: f64,
        threshold: f64,
        /// True if the value is made of means.
        estimated: bool,
        /// The value in words.
        says: String,
        /// The seconds that servers spent on what the rule is about; `None` where they report no times.
        service_time: Option<f64>,
        /// The part of all their time for the group; where they report no times, of its calls.
        share: Option<f64>,
        /// Advice, and the page of the site that says more. The owner of a store can delete a rule.
        advice: Option<String>,
        url: Option<String>,
    }
}

question! {
    /// How much of the work of servers was good, fair and bad?
    Verdict(Source::Function("jobstats_verdict")) -> VerdictRow {
        window: Window,
        by: Option<Vec<Dimension>>,
        n: Option<i32>,
        filters: Filters,
    }
}

answer! {
    /// A level, or a group with findings.
    VerdictRow {
        /// The rank; `None` for a level.
        rank: Option<i64>,
        group: Group,
        level: String,
        /// The rules that found something; `None` for a level.
        findings: Option<Vec<String>>,
        groups: i64,
        calls: i64,
        /// The seconds that servers spent; `None` where they report no times.
        service_time: Option<f64>,
        /// The part of the time of all groups; where servers report no times, of their calls.
        share: Option<f64>,
    }
}

question! {
    /// Which groups have the largest total of an operation?
    Top(Source::Function("jobstats_top")) -> TopRow {
        window: Window,
        operation: Option<String>,
        by: Option<Vec<Dimension>>,
        n: Option<i32>,
        min_rate: Option<f64>,
        filters: Filters,
        /// True adds the work of targets that is in no entry.
        unaccounted: Option<bool>,
    }
}

answer! {
    /// A group with its rank, or the work of targets that is in no entry.
    TopRow {
        /// The rank; `None` for work in no entry, whose rows come last.
        rank: Option<i64>,
        group: Group,
        operation: String,
        total: Option<Decimal>,
        rate: Option<f64>,
        /// The part of the total of all groups; `None` for work in no entry.
        share: Option<f64>,
        /// The part of all that the targets of the group did, by their own counters.
        share_of_target: Option<f64>,
        calls: Option<Decimal>,
        per_call: Option<f64>,
        coverage: f64,
    }
}

question! {
    /// How large were reads and writes?
    Sizes(Source::Function("jobstats_sizes")) -> SizeRow {
        window: Window,
        by: Option<Vec<Dimension>>,
        filters: Filters,
    }
}

answer! {
    /// The calls of a size, or those whose sizes are known as sums only.
    SizeRow {
        group: Group,
        operation: String,
        /// `histogram`, or `sums` for targets before Lustre 2.16.
        known_from: String,
        /// Calls of this many bytes are too small; `None` for sums.
        lower: Option<i64>,
        /// The size in bytes of the largest calls; `None` for sums.
        upper: Option<i64>,
        count: Decimal,
        share: f64,
        /// The mean size in bytes, and its standard deviation; `None` for histograms.
        mean: Option<f64>,
        stddev: Option<f64>,
    }
}

question! {
    /// How many groups have a rate of which size?
    Densities(Source::Function("jobstats_densities")) -> DensityRow {
        window: Window,
        operation: Option<String>,
        by: Option<Vec<Dimension>>,
        base: Option<i32>,
        step: Option<Interval>,
        filters: Filters,
    }
}

answer! {
    /// A bucket of rates in a step.
    DensityRow {
        time: Timestamp,
        seconds: f64,
        operation: String,
        /// The exponent of the lower edge.
        bucket: i32,
        /// The edges, per second: the lower one belongs to the bucket.
        lower: f64,
        upper: f64,
        /// The number of groups with such a rate.
        count: i64,
    }
}

question! {
    /// How evenly are the targets of a file system used?
    Balance(Source::Function("jobstats_balance")) -> BalanceRow {
        window: Window,
        operation: Option<String>,
        cluster: Option<Vec<String>>,
        filesystem: Option<Vec<String>>,
        kind: Option<Vec<String>>,
        target: Option<Vec<String>>,
    }
}

answer! {
    /// A target beside the others of its kind.
    BalanceRow {
        cluster: String,
        filesystem: String,
        kind: String,
        target: String,
        rate: Option<f64>,
        /// The rate ÷ the median of the observed targets of this cluster, file system and kind; `None` if that is 0.
        ratio: Option<f64>,
        /// The workload, with its user and account, that did most of it, and its part.
        workload: Option<String>,
        uid: Option<i64>,
        user_name: Option<String>,
        account: Option<String>,
        share: Option<f64>,
        /// The observed part of the window, 0 to 1.
        coverage: f64,
    }
}

question! {
    /// How much of the work of targets is in no entry?
    Unaccounted(Source::Function("jobstats_unaccounted")) -> UnaccountedRow {
        window: Window,
        operations: Option<Vec<String>>,
        /// Dimensions of targets.
        by: Option<Vec<Dimension>>,
        cluster: Option<Vec<String>>,
        filesystem: Option<Vec<String>>,
        kind: Option<Vec<String>>,
        target: Option<Vec<String>>,
        step: Option<Interval>,
    }
}

answer! {
    /// The work of targets by their own counters, beside that of their entries, in a step.
    UnaccountedRow {
        time: Timestamp,
        seconds: f64,
        cluster: Option<String>,
        filesystem: Option<String>,
        kind: Option<String>,
        target: Option<String>,
        operation: String,
        /// The work by the own counters of the targets.
        total: Option<Decimal>,
        /// The work of all entries.
        accounted: Option<Decimal>,
        /// The work that entries lack of the total; `None`, as `beyond`, where the own counters were not read all the time.
        unaccounted: Option<Decimal>,
        /// The work of entries beyond the total.
        beyond: Option<Decimal>,
        /// The part of the total that is in no entry.
        share: Option<f64>,
        /// The part of the time in which the own counters were read.
        coverage: f64,
    }
}
