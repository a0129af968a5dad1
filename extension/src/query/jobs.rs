//! Finds out how a question depends on jobs, and joins entries with them.
//!
//! `jobstats.entry_jobs` says which job of the schedulers' accounting an entry belongs to on which days. Nearly every entry
//! belongs to one job throughout, so that usage is summed by entry first, and the sums are joined with the jobs. Only for
//! entries that have several rows there, usage is summed by row.

use jobstats_core::instant::{DAY, Micros};
use jobstats_core::pattern::Pattern;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Rows, Statements};
use crate::pg::template::{optional, sql};
use crate::pg::time::timestamptz;
use crate::query::dimension::{self, Dimension, Table};
use crate::query::filters::{Filters, Labelled};
use crate::query::notice::{distinct, listed};
use crate::query::params::Params;
use crate::query::question::Question;
use crate::query::window::Window;
use crate::store::rights::caller::{Own, own_parameters, seen};

/// The number of patterns that are looked up in the index of labels, one by one.
const LOOKED_UP: usize = 100;

/// The longest window whose jobs are looked up one by one.
const SHORT: Micros = 2 * DAY;

/// The memory that a job found by its label takes.
const JOB_BYTES: usize = 64;

/// The number of arrays that a notice names.
const NAMED: usize = 3;

/// The ways in which a question depends on jobs.
#[derive(Default)]
pub struct Jobs {
    /// Set if entries are joined with their jobs.
    pub joined: bool,
    /// Set if the question is about names or groups of users, some of whom jobs alone name.
    pub names: bool,
    /// Set if entries that have usage in the window may belong to several jobs, so that a job is known for parts of their usage
    /// only.
    pub several: bool,
    /// Set if the window has few of all jobs. Where the planner takes disks for slow, as it does unless it is told otherwise, it
    /// reads a million jobs to find ten thousand.
    pub few: bool,
    /// The work that the reader sees, if the reader does not see all. The job of an entry is then known on its days alone, also if it is the
    /// only one: the number may have been that of another's job before accounting began.
    pub own: Option<Own>,
    /// The jobs whose labels filters match, with the positions of these filters.
    labelled: Vec<Labelled>,
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
            jobs.add_labelled(client, question.filters.own.as_ref(), position, patterns)?;
        }
        if question.filters.own.is_some() {
            // They may be those of others.
            jobs.arrays.clear();
        }
        let has_users = question.dimensions().any(Dimension::is_user) && has_users(client)?;
        jobs.names = has_users && question.dimensions().any(Dimension::is_name);
        jobs.joined = has_users
            || !jobs.labelled.is_empty()
            || question.dimensions().any(Dimension::is_of_job);
        jobs.own = question.filters.own.clone();
        jobs.several = jobs.joined && (jobs.own.is_some() || has_several(client, window)?);
        jobs.few = window.until() - window.since() <= SHORT;
        Ok(jobs)
    }

    /// Adds the jobs whose labels, but not whose numbers, match any of the patterns.
    fn add_labelled(
        &mut self,
        client: &SpiClient<'_>,
        own: Option<&Own>,
        position: usize,
        patterns: &[String],
    ) -> Result<(), Error> {
        // The number of a job is a text, too, which matches such a pattern.
        let selects = |it: &&String| it.bytes().any(|byte| byte != b'*');
        let patterns = patterns.iter().filter(selects);
        let patterns: Vec<String> = patterns.map(|it| Pattern::new(it).like()).collect();
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
        let statement = |pattern: &str| {
            let runs = seen("jobs", own, ["$2", "$3"]);
            sql!("jobs/labelled.sql", runs = runs, pattern = pattern)
        };
        // What is a reader's own is found by no index of labels.
        if patterns.len() <= LOOKED_UP && own.is_none() {
            for pattern in patterns {
                add(client.query(&statement("$1"), &[pattern.into()])?)?;
            }
        } else {
            let [uids, accounts] = own_parameters(own);
            add(client.query(&statement("ANY ($1)"), &[patterns.into(), uids, accounts])?)?;
        }
        if !found.is_empty() {
            self.labelled.push((position, found));
        }
        Ok(())
    }

    /// Returns the conditions of filters on rows `entry` and their jobs, each with a leading AND.
    pub fn conditions_on_entries(&self, filters: &Filters, params: &Params) -> String {
        filters.conditions_on_entries(self.entry(), &self.labelled, params)
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

    /// Returns the start of the days of a row of usage of an entry with several jobs, as a column of a table with a leading
    /// comma, if there are such entries.
    pub fn days(&self, table: &str) -> String {
        optional(self.several, || format!(", {table}.valid_from"))
    }

    /// Returns the condition that two tables are about the same days, with a leading AND.
    pub fn same_days(&self, one: &str, other: &str) -> String {
        optional(self.several, || {
            format!(" AND {one}.valid_from IS NOT DISTINCT FROM {other}.valid_from")
        })
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
    let arrays = distinct(arrays.iter().map(String::as_str));
    if !arrays.is_empty() {
        pgrx::notice!(
            "elements of an array share its number, so the answer is about all elements of {}",
            listed(&arrays, NAMED)
        );
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
