//! The table `jobstats.job_summaries`.

use jiff::Timestamp;
use rust_decimal::Decimal;

use super::{Source, answer, question};

question! {
    /// What did the jobs with this number do that are done?
    JobSummaries(Source::Part {
        view: "jobstats.job_summaries",
        condition: "job = $job OR label = $job ORDER BY started DESC, job_no DESC LIMIT 10",
    }) -> JobSummaryRow {
        /// The job: its number, or what users type.
        job: String,
    }
}

answer! {
    /// A job that is done.
    JobSummaryRow {
        /// The scheduler.
        scheduler: String,
        /// The number that `job_stats` shows.
        job: String,
        /// The job as users type it.
        label: Option<String>,
        /// The time of the first start.
        started: Timestamp,
        /// The time of the last end.
        ended: Timestamp,
        /// The name of the user.
        user_name: Option<String>,
        /// The account or project that pays.
        account: Option<String>,
        /// The partition or queue.
        partition: Option<String>,
        /// The name that the user gave to the job.
        job_name: Option<String>,
        /// The state of the last run.
        state: Option<String>,
        /// The exit code of the last run.
        exit_code: Option<String>,
        /// The number of nodes.
        nodes: Option<i64>,
        /// The number of processors.
        cpus: Option<i64>,
        /// Bytes read.
        read_bytes: Decimal,
        /// Bytes written.
        write_bytes: Decimal,
        /// Calls of read.
        read: Decimal,
        /// Calls of write.
        write: Decimal,
        /// Calls of open.
        opens: Decimal,
        /// Calls of all metadata operations.
        metadata: Decimal,
        /// The seconds that servers spent on all calls; `None` before Lustre 2.14.
        service_time: Option<Decimal>,
        /// The mean number of requests in service per node.
        in_service: Option<f64>,
        /// The target that spent most time on the job.
        busiest_target: Option<String>,
    }
}
