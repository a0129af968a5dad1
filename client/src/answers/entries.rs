//! Entries: `jobstats_internal.entries()` and `jobstats_internal.work()`.

use jiff::Timestamp;

use super::{Source, questions};

questions! {
    /// Whose work do these entries count?
    Entries(Source::Part {
        view: "jobstats_internal.entries($at)",
        condition: "entry_id = ANY ($entry_id)",
    }) {
        at: Option<Timestamp>,
        entry_id: Vec<i64>,
    }
    /// An entry, with the job and the names of a time.
    -> EntryRow {
        entry_id: i64,
        /// The identifier as it arrived.
        entry: String,
        /// The readability of the identifier: `ok`, `missing_job`, `truncated`, `partial` or `malformed`; `claimed` if its job is that of another user.
        status: String,
        /// The job; without one the executable and user; without these the identifier.
        workload: String,
        job: Option<String>,
        uid: Option<i64>,
        user_name: Option<String>,
        /// The number of the user's primary group.
        gid: Option<i64>,
        group_name: Option<String>,
        account: Option<String>,
        partition: Option<String>,
        job_name: Option<String>,
        state: Option<String>,
        /// The array that the job is an element of, or the job.
        job_group: Option<String>,
        node: Option<String>,
        executable: Option<String>,
        pid: Option<i64>,
    }

    /// What did each entry do in the last observations, or in a bucket of a rollup?
    Work(Source::Function("jobstats_internal.work")) {
        at: Option<Timestamp>,
        /// `increments`, which is the default, or a rollup: `10m`, `1h` or `1d`.
        level: Option<String>,
        /// The numbers of the targets; `None` for all.
        target_id: Option<Vec<i32>>,
    }
    /// The work of an entry on a target. The arrays have an element for each operation, in the order of
    /// `jobstats_operations()`.
    -> WorkRow {
        target_id: i32,
        entry_id: i64,
        /// The calls or bytes.
        totals: Vec<Option<i64>>,
        /// The microseconds that the server spent.
        usecs: Vec<Option<i64>>,
    }
}
