//! `jobstats_now()`.

use jiff::Timestamp;

use super::{Interval, Source, answer, question};

question! {
    /// Who keeps each target busy, as of its last observation?
    Now(Source::Function("jobstats_now")) -> NowRow {
        /// Patterns of the names of targets; `None` for all that were observed within a day.
        target: Option<Vec<String>>,
        /// The number of rows per target; ten by default.
        n: Option<i32>,
        /// The time that is asked about; `None` is now.
        at: Option<Timestamp>,
    }
}

answer! {
    /// A workload and user that keeps a target busy.
    NowRow {
        /// The name of the target's cluster.
        cluster: String,
        /// The name of the target.
        target: String,
        /// The kind of the target: `MDT` or `OST`.
        kind: String,
        /// The server that the target was observed on.
        server: String,
        /// The time of the last observation.
        time: Timestamp,
        /// The time from then to now, or to the time that is asked about.
        age: Interval,
        /// The seconds that count: those that the observation covers, but at most an hour.
        seconds: f64,
        /// The rank within the target, from 1.
        rank: i64,
        /// The workload.
        workload: String,
        /// The number of the user.
        uid: Option<i64>,
        /// The name of the user, if the store knows it.
        user_name: Option<String>,
        /// The account of the job, if accounting knows it.
        account: Option<String>,
        /// The name of the job, if accounting knows it.
        job_name: Option<String>,
        /// The operation that took most of the time.
        operation: String,
        /// The calls of that operation per second.
        rate: f64,
        /// The mean number of requests of all operations in service; `None` before Lustre 2.14.
        service_time: Option<f64>,
        /// The part of the server's time, or of all calls if the server reports no times, 0 to 1.
        share: f64,
    }
}
