//! The view `jobstats.health`.

use jiff::Timestamp;

use super::{Interval, Source, answer, question};

question! {
    /// Does the text of each target come in time, from a correct clock and readable?
    Health(Source::View("jobstats.health")) -> HealthRow {}
}

answer! {
    /// The state of a target, of a target or server that is expected and has never reported, or of the store's maintenance,
    /// which has neither.
    HealthRow {
        /// The name of the target's cluster.
        cluster: Option<String>,
        /// The name of the target; `None` for an expected server and for maintenance.
        target: Option<String>,
        /// The kind of the target: `MDT` or `OST`.
        kind: Option<String>,
        /// The server that the target was last observed on.
        server: Option<String>,
        /// The status: `ok`, `silent`, `clock`, `late`, `slow`, `rejects`, `ids`, `retired` or
        /// `maintenance`.
        status: String,
        /// The time of the last observation.
        last_observation: Option<Timestamp>,
        /// The time that the last text took to arrive.
        delay: Option<Interval>,
        /// The usual time between observations.
        usual_interval: Option<Interval>,
        /// The time after which Lustre forgets idle entries; `None` if it is not known.
        cleanup_interval: Option<Interval>,
        /// True if Lustre may forget entries before they are read.
        cleanup_too_short: Option<bool>,
        /// The remedy; `None` if nothing needs to be done.
        remedy: Option<String>,
        /// The number of readings that are missing between the observations of the last hour; `None` if there are none, or
        /// not at regular times.
        missed: Option<i64>,
    }
}
