//! The logic of jobstats, without PostgreSQL.
//!
//! Text of `lctl get_param *.*.job_stats` goes through these modules in this order:
//! [`scan`] finds what the text says, [`snapshot`] keeps it per target, [`increment`] compares two snapshots of one
//! target, [`step`] divides what happened over time, [`level`] says which sums answer for which time. [`operation`] is
//! the one list of operations, [`entry_id`] knows what an identifier means. [`counter`] sums up the readings of any
//! counter, [`density`] counts values by size, [`observed`] tells for how long something was
//! observed, [`rate`] adds up what was done by that time, [`openmetrics`] writes what Prometheus scrapes. [`escape`] makes text of
//! bytes that are none. What takes long looks up from its work by [`pause`].

pub mod counter;
pub mod density;
pub mod entry_id;
pub mod escape;
pub mod increment;
pub mod level;
pub mod observed;
pub mod openmetrics;
pub mod operation;
pub mod pause;
pub mod rate;
pub mod scan;
pub mod snapshot;
pub mod step;
