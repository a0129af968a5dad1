//! The table `jobstats.targets`.

use super::{Source, answer, question};

question! {
    /// Which targets have ever been observed?
    Targets(Source::View("jobstats.targets")) -> TargetRow {}
}

answer! {
    /// A target.
    TargetRow {
        /// The name of its cluster.
        cluster: String,
        /// Its name.
        name: String,
        /// The name of its file system.
        filesystem: Option<String>,
        /// Its kind: `MDT` or `OST`.
        kind: String,
    }
}
