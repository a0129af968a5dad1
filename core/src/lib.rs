//! The logic of jobstats, without PostgreSQL.
//!
//! A Lustre server counts in `job_stats` what each job did since its entry was made. jobstats reads these counters
//! again and again; what a job did between two readings is the increment of its counters. An increment is split at
//! edges in time, so that it can be added up by time:
//!
//! ```
//! use jobstats_core::increment::{Observation, compare, split};
//! use jobstats_core::instant::MINUTE;
//! use jobstats_core::pause::Pause;
//! use jobstats_core::snapshot;
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
//! The name of an entry says whose work it counts, in a format that the site chooses:
//!
//! ```
//! use jobstats_core::entry_id::{Format, FormatError, Status};
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
//! A room uses only rooms that stand below it.
//!
//! | room | task |
//! |---|---|
//! | [`audit`] | says which observations can be computed again, and which of the stored values differ then |
//! | [`feed`] | decides about a text: its place, the pieces that are rejected, the outcome and the warning of its sender |
//! | [`finding`] | judges work by rules |
//! | [`event`] | finds when a file system made its users wait, and who made it |
//! | [`usage`] | adds usage up by groups of targets and entries |
//! | [`window`] | chooses the rollups that answer for a window, divides totals by observed time |
//! | [`columns`] | names the columns of increments, and sums over them |
//! | [`usual`] | compares an amount with what is usual |
//! | [`change`] | finds who made the difference between two windows |
//! | [`per_call`] | finds the bounds and the standard deviation of single calls in the details of increments |
//! | [`whole`] | keeps what targets count as a whole, and compares it |
//! | [`increment`] | compares two snapshots of one target, by the rules of `docs/rules.md`, and splits the increments at edges in time |
//! | [`snapshot`] | keeps the records of each target of a text, and prints them |
//! | [`job_stats`] | reads the meaning of the lines of `job_stats` |
//! | `lctl` | finds whose value each line of the output of `lctl get_param` belongs to |
//! | [`sample`], [`used`] | read gauges, and the space that owners use |
//! | [`stats`] | reads the counters of targets and services |
//! | [`parameter`] | names the parameters that are read beside `job_stats` |
//! | [`energy`] | reads the joules of nodes out of counters that go round |
//! | [`matching`] | decides which job an entry belongs to, by the accounting of the jobs of its number |
//! | [`accounting`] | reads the accounting of schedulers, a room for each |
//! | [`exposition`] | reads the text that exporters print for Prometheus |
//! | [`passwd`], [`group`] | read the output of `getent passwd` and `getent group`: the names of users and groups |
//! | [`getent`] | reads the fields that both have, and keeps the names that a user or group had before |
//! | [`filter`] | reads the filters of questions |
//! | [`dimension`] | lists the dimensions by which usage is grouped and filtered |
//! | [`entry_id`] | reads job, user and node out of the identifiers of entries |
//! | [`counter`], [`density`], [`distribution`] | sum up the readings of any counter, count values by size, describe them |
//! | [`metrics`] | chooses the metrics of targets and of the store |
//! | [`fold`] | folds the numbers in names of jobs |
//! | [`nearest`] | finds the known names that are most like an unknown one |
//! | [`openmetrics`] | writes the text that Prometheus scrapes |
//! | [`quantity`] | prints numbers of answers with units |
//! | [`field`] | reads lines of texts, and numbers and text in their fields |
//! | [`operation`] | lists the operations, from which tables, views and documentation follow |
//! | [`target`], [`instant`] | name targets and instants |
//! | [`pattern`] | says which names a pattern matches |
//! | [`escape`], [`template`], [`pause`] | convert bytes to text, fill text with text, and let the caller of long work cancel it |
//! | `named`, `room` | name the variants of enums, and grow vectors if there is memory for that |

// A test may be a long table.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

pub mod accounting;
pub mod audit;
pub mod change;
pub mod columns;
pub mod counter;
pub mod density;
pub mod dimension;
pub mod distribution;
pub mod energy;
pub mod entry_id;
pub mod escape;
pub mod event;
pub mod exposition;
pub mod feed;
pub mod field;
pub mod filter;
pub mod finding;
pub mod fold;
pub mod getent;
pub mod group;
pub mod increment;
pub mod instant;
pub mod job_stats;
mod lctl;
pub mod matching;
pub mod metrics;
mod named;
pub mod nearest;
pub mod openmetrics;
pub mod operation;
pub mod parameter;
pub mod passwd;
pub mod pattern;
pub mod pause;
pub mod per_call;
pub mod quantity;
mod room;
pub mod sample;
pub mod snapshot;
pub mod stats;
pub mod target;
pub mod template;
pub mod usage;
pub mod used;
pub mod usual;
pub mod whole;
pub mod window;
