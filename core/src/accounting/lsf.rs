//! Reads `lsb.acct`, the accounting file of LSF 5.1 to 10.1.
//!
//! A record of `lsb.acct` is a list of fields separated by blanks: numbers, and texts in quotes. The first is the type of
//! the record. Jobs come from `JOB_FINISH`; other types, such as `EVENT_ADRSV_FINISH` and `JOB_RESIZE`, are skipped. So are
//! the records of the elements of an array that were killed together before they started (index -1), and comments (`#`).
//!
//! All elements of an array have the job number of the array, because `LSB_JOBID` has no index; their labels differ
//! (`2342851[24]`). Times are seconds since 1970.
//!
//! ```
//! use jobstats_core::accounting::lsf;
//! use jobstats_core::base::pause::Pause;
//!
//! let text = br#""JOB_FINISH" "10.1" 1720188037 7 1000 33554434 2 1720187960 0 0 1720188010 "ada" "normal" "" "" "" "l1" "" "" "" ""
//!  "1720187960.7" 0 2 "c1" "c2" 64 60.0 "heat[1-90]" "sleep 27" 0.1 0.2 0 0 -1 0 0 0 0 0 0 0 -1 0 0 0 0 0 -1 "" "fluid" 0 2 "" "" 23 2 25 "" "" ""
//! "#;
//! let job = lsf::records(text, Pause::NEVER).next().unwrap().job?;
//! assert_eq!((job.job.as_ref(), job.label.as_ref()), ("7", "7[23]"));
//! assert_eq!((job.uid, job.node_list.as_deref()), (Some(1000), Some("c1,c2")));
//! # Ok::<(), jobstats_core::accounting::Reason>(())
//! ```

mod acct;
mod fields;
mod finish;
#[cfg(test)]
mod tests;

pub use self::acct::{recognizes, records};
use super::{Job, Reason, Record, Scheduler, field};

/// LSF, which writes the file `lsb.acct`.
pub const SCHEDULER: Scheduler = Scheduler {
    name: "lsf",
    recognizes,
    grows: true,
    records: |text, _, pause| Box::new(records(text, pause)),
};
