//! The logic of jobstats, without PostgreSQL.
//!
//! The text of `lctl get_param *.*.job_stats` passes through these modules in this order:
//!
//! 1. [`scan`] reads the lines of the text.
//! 2. [`snapshot`] keeps their records per target.
//! 3. [`increment`] compares two snapshots of one target.
//! 4. [`step`] divides increments over time.
//! 5. [`level`] chooses the rollups that answer for a time.
//!
//! [`operation`] is the one list of operations. [`entry_id`] interprets identifiers. [`counter`] sums up the readings
//! of any counter, [`density`] counts values by size, [`observed`] adds up for how long something was observed, and
//! [`rate`] divides totals by that time. [`openmetrics`] writes the text that Prometheus scrapes. [`escape`] converts
//! bytes that are not UTF-8 to text. [`passwd`] reads another text, the names of users. Long work calls [`pause`] regularly, so that it can be cancelled.

pub mod counter;
pub mod density;
pub mod entry_id;
pub mod escape;
pub mod increment;
pub mod level;
pub mod observed;
pub mod openmetrics;
pub mod operation;
pub mod passwd;
pub mod pause;
pub mod rate;
pub mod scan;
pub mod snapshot;
pub mod step;
