//! `jobstats_balance()`.

use super::{Source, Window, answer, question};

question! {
    /// How evenly are the targets of a file system used?
    Balance(Source::Function("jobstats_balance")) -> BalanceRow {
        /// The window.
        window: Window,
        /// The operation; `write_bytes` by default.
        operation: Option<String>,
        /// Patterns of the names of clusters; `None` for all.
        cluster: Option<Vec<String>>,
        /// Patterns of the names of file systems; `None` for all.
        filesystem: Option<Vec<String>>,
        /// The kinds of targets; `None` for those that report the operation.
        kind: Option<Vec<String>>,
        /// Patterns of the names of targets; `None` for all.
        target: Option<Vec<String>>,
    }
}

answer! {
    /// A target beside the others of its kind.
    BalanceRow {
        /// The name of the target's cluster.
        cluster: String,
        /// The name of the target's file system.
        filesystem: String,
        /// The kind of the target: `MDT` or `OST`.
        kind: String,
        /// The name of the target.
        target: String,
        /// Usage per second; `None` if the target was not observed.
        rate: Option<f64>,
        /// The rate ÷ the median of the observed targets of this cluster, file system and kind; `None` if that is 0.
        ratio: Option<f64>,
        /// The workload that did most of it.
        workload: Option<String>,
        /// The user that did most of it.
        uid: Option<i64>,
        /// The name of that user, if the store knows it.
        user_name: Option<String>,
        /// The account of that workload, if accounting knows it.
        account: Option<String>,
        /// The part that workload and user did of it, 0 to 1.
        share: Option<f64>,
        /// The observed part of the window, 0 to 1.
        coverage: f64,
    }
}
