//! Usage: `jobstats_totals()`, `jobstats_rates()`, `jobstats_summary()`, `jobstats_top()`, `jobstats_sizes()`,
//! `jobstats_densities()` and `jobstats_balance()`.

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
        first: Option<Timestamp>,
        last_active: Option<Timestamp>,
        nodes: Option<i64>,
        read_bytes: Option<Decimal>,
        write_bytes: Option<Decimal>,
        read: Option<Decimal>,
        write: Option<Decimal>,
        opens: Option<Decimal>,
        metadata: Option<Decimal>,
        service_time: Option<Decimal>,
        busiest_target: Option<String>,
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
    }
}

answer! {
    /// A group with its rank.
    TopRow {
        rank: i64,
        group: Group,
        operation: String,
        total: Option<Decimal>,
        rate: Option<f64>,
        share: Option<f64>,
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
        known_from: String,
        lower: Option<i64>,
        upper: Option<i64>,
        count: Decimal,
        share: f64,
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
        bucket: i32,
        lower: f64,
        upper: f64,
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
        ratio: Option<f64>,
        workload: Option<String>,
        uid: Option<i64>,
        user_name: Option<String>,
        account: Option<String>,
        share: Option<f64>,
        coverage: f64,
    }
}
