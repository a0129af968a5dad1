//! Finds out how a question depends on jobs, and joins entries with them.
//!
//! `jobstats.entry_jobs` says which job of the schedulers' accounting an entry belongs to on which days. Nearly every entry
//! belongs to one job throughout, so that usage is summed by entry first, and the sums are joined with the jobs. Only for
//! entries that have several rows there, usage is summed by row.

use jobstats_core::instant::{DAY, Micros};
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::memory::require_room;
use crate::pg::spi::{Rows, Statements};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::query::dimension::{self, Dimension, Table};
use crate::query::notice::listed;
use crate::query::params::Params;
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::window::Window;

/// The number of patterns that are looked up in the index of labels, one by one.
const LOOKED_UP: usize = 100;

/// The longest window whose jobs are looked up one by one.
const SHORT: Micros = 2 * DAY;

/// The jobs of entries, all at once or one by one.
const ALL: &str = "jobstats.job_ids job ON job.job_no = entry_job.job_no";
const EACH: &str = "LATERAL (SELECT known.* FROM jobstats.job_ids known WHERE known.job_no = entry_job.job_no OFFSET 0) job ON true";

/// The memory that a job found by its label takes.
const JOB_BYTES: usize = 64;

/// The number of arrays that a notice names.
const NAMED: usize = 3;

/// The ways in which a question depends on jobs.
#[derive(Default)]
pub struct Jobs {
    /// Set if entries are joined with their jobs.
    joined: bool,
    /// Set if the question is about names or groups of users, some of whom jobs alone name.
    names: bool,
    /// Set if entries that have usage in the window may belong to several jobs.
    several: bool,
    /// Set if the window has few of all jobs. Where the planner takes disks for slow, as it does unless it is told otherwise, it
    /// reads a million jobs to find ten thousand.
    few: bool,
    /// The jobs whose labels filters match, with the positions of these filters.
    labelled: Vec<(usize, Vec<i64>)>,
    /// Arrays whose elements share a number, one of which a filter names.
    arrays: Vec<String>,
}

impl Jobs {
    /// Finds out how a question in this window depends on jobs.
    pub fn find(
        client: &SpiClient<'_>,
        question: &Question,
        window: &Window,
    ) -> Result<Self, Error> {
        let mut jobs = Self::default();
        for (position, patterns) in question.filters.of_jobs() {
            jobs.add_labelled(client, position, &patterns)?;
        }
        let has_users = question.dimensions().any(Dimension::is_user) && has_users(client)?;
        jobs.names = has_users && question.dimensions().any(Dimension::is_name);
        jobs.joined = has_users
            || !jobs.labelled.is_empty()
            || question.dimensions().any(Dimension::is_of_job);
        jobs.several = jobs.joined && has_several(client, window)?;
        jobs.few = window.until() - window.since() <= SHORT;
        Ok(jobs)
    }

    /// Adds the jobs whose labels, but not whose numbers, match any of the patterns.
    fn add_labelled(
        &mut self,
        client: &SpiClient<'_>,
        position: usize,
        patterns: &[String],
    ) -> Result<(), Error> {
        // The number of a job is a text, too, which matches such a pattern.
        let selects = |it: &&String| it.bytes().any(|byte| byte != b'%');
        let patterns: Vec<String> = patterns.iter().filter(selects).cloned().collect();
        let mut found = Vec::new();
        let mut add = |rows: Rows<'_>| -> Result<(), Error> {
            require_room(found.len() + rows.len(), JOB_BYTES)?;
            for row in rows {
                found.push(row.get("job_no")?);
                if row.get("is_array")? {
                    self.arrays.push(row.get("job")?);
                }
            }
            Ok(())
        };
        if patterns.len() <= LOOKED_UP {
            for pattern in patterns {
                let statement = sql!("jobs/labelled.sql", pattern = "$1");
                add(client.query(&*statement, &[pattern.into()])?)?;
            }
        } else {
            let statement = sql!("jobs/labelled.sql", pattern = "ANY ($1)");
            add(client.query(&*statement, &[patterns.into()])?)?;
        }
        if !found.is_empty() {
            self.labelled.push((position, found));
        }
        Ok(())
    }

    /// Returns whether entries that have usage in the window may belong to several jobs, so that a job is known for parts of
    /// their usage only.
    pub fn are_several(&self) -> bool {
        self.several
    }

    /// Returns the jobs that the filter at this position matches by their labels; `None` if there are none.
    pub fn labelled(&self, position: usize) -> Option<&[i64]> {
        let mut labelled = self.labelled.iter();
        let found = labelled.find(|(of, _)| *of == position);
        found.map(|(_, jobs)| jobs.as_slice())
    }

    /// Returns the table of entries, which statements call `entry`.
    pub fn entry(&self) -> Table {
        let jobs = match self.joined {
            true => dimension::Jobs::Joined,
            false => dimension::Jobs::Unknown,
        };
        Table {
            name: "entry",
            jobs,
        }
    }

    /// Returns whether the question is about names or groups of users, some of whom jobs alone name.
    pub fn name_users(&self) -> bool {
        self.names
    }

    /// Returns whether entries are joined with their jobs.
    pub fn are_joined(&self) -> bool {
        self.joined
    }

    /// Returns the start of the days of a row of usage of an entry with several jobs, as a column of a table with a leading
    /// comma, if there are such entries.
    pub fn days(&self, table: &str) -> String {
        match self.several {
            true => format!(", {table}.valid_from"),
            false => String::new(),
        }
    }

    /// Returns the condition that two tables are about the same days, with a leading AND.
    pub fn same_days(&self, one: &str, other: &str) -> String {
        match self.several {
            true => format!(" AND {one}.valid_from IS NOT DISTINCT FROM {other}.valid_from"),
            false => String::new(),
        }
    }

    /// Returns a SELECT of no rows to be read with the entries of sums, and a condition on the entries with their jobs that is
    /// always true, with a leading AND.
    ///
    /// Of the entries of sums the planner expects 200, and would look up the jobs of each, which takes longer than to read all
    /// jobs if there are hundreds of thousands. With these rows it expects a ninth of the sums. The condition lets it expect few
    /// again afterwards, so that it hashes the entries, and not the sums. `days` are the columns of sums beside the entry.
    pub fn expected(&self, days: &str) -> (String, &'static str) {
        match self.joined {
            true => (
                sql!("jobs/expected.sql", days = days),
                " AND coalesce(job.job_no, 0) + 0 = coalesce(job.job_no, 0)",
            ),
            false => (String::new(), ""),
        }
    }

    /// Raises a notice if a filter names an element of an array whose elements cannot be told apart.
    pub fn note_arrays(&self) {
        note_arrays(&self.arrays);
    }
}

/// Raises a notice that the answer is about all elements of these arrays, if there are any.
pub fn note_arrays(arrays: &[String]) {
    let mut arrays: Vec<String> = arrays.iter().map(|it| shown(it).into_owned()).collect();
    arrays.sort();
    arrays.dedup();
    if !arrays.is_empty() {
        pgrx::notice!(
            "elements of an array share its number, so the answer is about all elements of {}",
            listed(&arrays, NAMED)
        );
    }
}

impl Plan {
    /// Returns a SELECT of rows of usage, which have a time `at`, with the start of the days to which they belong if their
    /// entry has several jobs.
    pub fn with_jobs(&self, usage: String, params: &Params) -> String {
        if !self.jobs.several {
            return usage;
        }
        sql!(
            "jobs/days.sql",
            usage = usage,
            since = self.since(params),
            until = self.until(params),
        )
    }

    /// Returns a join of entries `entry` with their jobs in the window.
    pub fn join_jobs(&self, params: &Params) -> String {
        self.join_with_jobs(&self.jobs, "entry", "true", params)
    }

    /// Returns a join of sums `part` and their entries `entry` with their jobs in the window.
    pub fn join_jobs_of_sums(&self, params: &Params) -> String {
        let of_sum = match self.jobs.several {
            true => {
                "CASE WHEN part.valid_from IS NULL THEN entry_job.alone ELSE entry_job.valid_from = part.valid_from END"
            }
            false => "entry_job.alone",
        };
        self.join_with_jobs(&self.jobs, "part", of_sum, params)
    }

    /// Returns a join of a table that has an `entry_id` with the jobs of its rows in the window, if the question depends on
    /// them. `condition` says which of several rows of an entry counts.
    pub fn join_with_jobs(
        &self,
        jobs: &Jobs,
        table: &str,
        condition: &str,
        params: &Params,
    ) -> String {
        if !jobs.joined {
            return String::new();
        }
        sql!(
            "jobs/join.sql",
            table = table,
            condition = condition,
            since = self.since(params),
            until = self.until(params),
            job = if jobs.few { EACH } else { ALL },
        )
    }
}

/// Returns whether there are entries whose job may say who their user is.
fn has_users(client: &SpiClient<'_>) -> Result<bool, Error> {
    client.query_value(
        "SELECT EXISTS (SELECT FROM jobstats.entries entry WHERE entry.uid IS NULL AND entry.job IS NOT NULL)",
        &[],
    )
}

/// Returns whether there are entries that belong to several jobs, one of them in this window.
fn has_several(client: &SpiClient<'_>, window: &Window) -> Result<bool, Error> {
    client.query_value(
        "SELECT EXISTS (SELECT FROM jobstats.entry_jobs entry_job \
         WHERE NOT entry_job.alone AND entry_job.valid_to > $1 AND entry_job.valid_from < $2)",
        &[
            timestamptz(window.since())?.into(),
            timestamptz(window.until())?.into(),
        ],
    )
}
