//! The table `jobstats.jobs`.

use jiff::Timestamp;

use super::{Source, Window, answer, question};

question! {
    /// Which runs of jobs with this number or label does accounting know, the last 10,000 of them?
    JobRuns(Source::Part {
        view: "jobstats.jobs",
        condition: "(job = $job OR label = $job) AND ($since IS NULL OR ended IS NULL OR ended > $since) \
                    AND ($until IS NULL OR started <= $until) ORDER BY started DESC NULLS LAST LIMIT 10000",
    }) -> JobRunRow {
        /// The job: its number, or what users type.
        job: String,
        /// The window that the runs touch.
        window: Window,
    }
}

answer! {
    /// A run of a job.
    JobRunRow {
        /// The scheduler.
        scheduler: String,
        /// The number that `job_stats` shows.
        job: String,
        /// The time of the start; `None` if it has not begun.
        started: Option<Timestamp>,
        /// The time of the end; `None` if it is not over.
        ended: Option<Timestamp>,
        /// The number of the user.
        uid: Option<i64>,
        /// The name of the user.
        user_name: Option<String>,
        /// The account or project that pays.
        account: Option<String>,
        /// The partition or queue.
        partition: Option<String>,
        /// The name that the user gave to the job.
        job_name: Option<String>,
        /// The state.
        state: Option<String>,
    }
}
