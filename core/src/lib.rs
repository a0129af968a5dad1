//! The logic of jobstats, without PostgreSQL.
//!
//! A Lustre server counts the requests of each job in `job_stats`. jobstats reads these counters at intervals; the growth
//! between two snapshots is an increment. Increments are split at edges in time, so that they add up by time:
//!
//! ```
//! use jobstats_core::rules::increment::{Observation, compare, split};
//! use jobstats_core::base::instant::MINUTE;
//! use jobstats_core::base::pause::Pause;
//! use jobstats_core::rules::snapshot;
//!
//! let name = "obdfilter.scratch-OST0000.job_stats=\njob_stats:\n- job_id: 4711:1000:r01c01\n";
//! let before = format!("{name}  read: {{ samples: 100, unit: reqs }}\n");
//! let after = format!("{name}  read: {{ samples: 700, unit: reqs }}\n");
//!
//! let [before, after] = [&before, &after].map(|text| snapshot::read(text.as_bytes(), Pause::NEVER));
//! let (before, after) = (before?, after?);
//! let observe = |snapshot, time| Observation { time, server: "oss1", snapshot: Some(snapshot), carried: None };
//! let before = observe(&before.snapshots[0], 5 * MINUTE);
//! let after = observe(&after.snapshots[0], 15 * MINUTE);
//!
//! // 10 minutes are the cleanup interval of the target.
//! let increments = compare(Some(&before), &after, 600, Pause::NEVER)?.increments;
//! assert_eq!(increments[0].id, "4711:1000:r01c01");
//! assert_eq!(increments[0].totals[0].1, 600);
//!
//! let parts = increments.into_iter().flat_map(split);
//! let parts: Vec<_> = parts.map(|it| (it.since / MINUTE, it.time / MINUTE, it.totals[0].1)).collect();
//! assert_eq!(parts, [(5, 10, 300), (10, 15, 300)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The name of an entry identifies a job, user or node, in a format that the site chooses:
//!
//! ```
//! use jobstats_core::identity::entry_id::{Format, FormatError, Status};
//!
//! let format = Format::compile("%j:%u:%H", None)?;
//! let identity = format.identify("4711:1000:r01c01").expect("the format matches");
//! assert_eq!((identity.job, identity.uid, identity.node), (Some("4711"), Some(1000), Some("r01c01")));
//! assert_eq!(identity.status, Status::Ok);
//! # Ok::<(), FormatError>(())
//! ```
//!
//! # The rooms
//!
//! A room uses only rooms below it.
//!
//! | room | task |
//! |---|---|
//! | [`judgement`] | events of file systems and their culprits, findings about I/O, changes between two windows |
//! | [`output`] | metrics, the text that Prometheus scrapes, numbers with units, SQL templates |
//! | [`usage`] | rows added up by targets and entries; filters, dimensions, windows and rates |
//! | [`rules`] | snapshots compared by the rules of `docs/rules.md`, target counters, late text, audit |
//! | [`accounting`] | jobs, as each scheduler accounts for them: which one an entry belongs to, and its energy |
//! | [`identity`] | job, user and node of an entry |
//! | [`series`] | summaries of any counter, densities and distributions, typical amounts |
//! | [`text`] | everything that servers, name services and exporters print |
//! | [`base`] | operations, targets, instants, patterns, cancellation |

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod accounting;
pub mod usage;

/// Operations, targets, instants, patterns, cancellation.
pub mod base {
    pub mod escape;
    pub mod instant;
    mod named;
    pub mod nearest;
    pub mod operation;
    pub mod pattern;
    pub mod pause;
    pub mod target;
    pub(crate) mod try_vec;
}

/// The job, user and node of an entry.
pub mod identity {
    pub mod entry_id;
    pub mod number_pattern;
}

/// Judgements about usage.
pub mod judgement {
    pub mod change;
    pub mod event;
    pub mod finding;
    pub mod meanwhile;
}

/// Forms in which figures leave the database.
pub mod output {
    pub mod metrics;
    pub mod openmetrics;
    pub mod quantity;
    pub mod template;
}

/// Increments between snapshots.
pub mod rules {
    pub mod audit;
    pub mod feed;
    pub mod increment;
    pub mod snapshot;
    pub mod target_counters;
}

/// Series of values.
pub mod series {
    pub mod counter;
    pub mod density;
    pub mod typical;
}

/// Texts that servers, name services and exporters print.
pub mod text {
    pub mod additional_parameters;
    pub mod field;
    pub mod gauges;
    pub mod getent;
    pub mod job_stats;
    pub mod openmetrics;
    pub mod stats;
    pub mod used;
}
