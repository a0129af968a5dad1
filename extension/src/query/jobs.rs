//! Finds out how a question depends on jobs.
//!
//! `jobstats.entry_jobs` says which job of the schedulers' accounting an entry belongs to on which days. Nearly every entry
//! belongs to one job throughout: its usage is added up before anybody asks whose it is. Only usage of entries that have several
//! rows there is told apart by the days of each.

use jobstats_core::instant::{DAY, Micros};
use jobstats_core::pattern::Pattern;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Rows, Statements};
use crate::pg::time::timestamptz;
use crate::query::dimension::{self, Dimension, Table};
use crate::query::filters::Labelled;
use crate::query::notice::{distinct, listed};
use crate::query::question::Question;
use crate::query::state::State;
use crate::query::window::Window;
use crate::store::rights::caller::{OWN_FIRST, Own, after_own, seen};

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
    /// Set if it matters which jobs entries belong to.
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
    pub labelled: Vec<Labelled>,
    /// Arrays whose elements share a number, one of which a filter names.
    arrays: Vec<String>,
}

impl Jobs {
    /// Finds out how a question in this window depends on jobs.
    pub fn find(
        client: &SpiClient<'_>,
        question: &Question,
        window: &Window,
        state: &State,
    ) -> Result<Self, Error> {
        let mut jobs = Self::default();
        for (position, patterns) in question.filters.of_jobs() {
            jobs.add_labelled(client, question.filters.own.as_ref(), position, patterns)?;
        }
        if question.filters.own.is_some() {
            // They may be those of others.
            jobs.arrays.clear();
        }
        let has_users = question.dimensions().any(Dimension::is_user) && state.has_unnamed;
        jobs.names = has_users && question.dimensions().any(Dimension::is_name);
        jobs.joined = has_users
            || !jobs.labelled.is_empty()
            || question.dimensions().any(Dimension::is_of_job);
        jobs.own = question.filters.own.clone();
        // A front does not ask its nodes whether there are any in the window: it reads them.
        let has_several = || match state.has_divided {
            true if !state.is_front => has_several(client, window),
            several => Ok(several),
        };
        jobs.several = jobs.joined && (jobs.own.is_some() || has_several()?);
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
            let runs = seen("jobs", own, OWN_FIRST);
            format!(
                "SELECT DISTINCT job.job_no, job.job, job.label IS NULL AS is_array FROM {runs} run \
                 JOIN jobstats.job_ids job ON job.scheduler = run.scheduler AND job.job = run.job \
                 AND run.started >= job.started AND run.started <= job.last_started \
                 WHERE run.label LIKE {pattern} AND NOT run.job LIKE {pattern}"
            )
        };
        // The label of a single run is not that of its job if elements of an array share the number. What is a reader's own is found by no index of labels.
        if patterns.len() <= LOOKED_UP && own.is_none() {
            for pattern in patterns {
                add(client.query(&statement("$3"), &after_own(own, [pattern.into()]))?)?;
            }
        } else {
            let patterns = after_own(own, [patterns.into()]);
            add(client.query(&statement("ANY ($3)"), &patterns)?)?;
        }
        if !found.is_empty() {
            self.labelled.push((position, found));
        }
        Ok(())
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
