//! Finds out how a question depends on jobs.
//!
//! `jobstats.entry_jobs` has the job of each entry by day. Nearly every entry belongs to one job throughout, so its usage is added up before jobs are
//! looked up. Only usage of entries with several rows is divided by their days.

use jobstats_core::base::pattern::Pattern;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Statements, values};
use crate::query::dimension::{self, Dimension, Table};
use crate::query::filters::Filters;
use crate::query::notice::{distinct, listed};
use crate::query::question::Question;
use crate::query::state::State;
use crate::query::window::Window;
use crate::store::rights::caller::{OWN_FIRST, OwnUsage, after_own, seen};
use crate::store::rollup::Owner;

/// The number of patterns that are looked up in the index of labels, one by one.
const LOOKED_UP: usize = 100;

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
    /// Set if entries with usage in the window may belong to several jobs, so that a job is known for a share of their usage only. For a restricted
    /// reader that applies to all entries: the number may have had another user's job before accounting began.
    pub several: bool,
    /// The filters of the question, with the jobs whose labels they match.
    pub filters: Filters,
    /// Arrays in a filter whose elements share a number.
    pub arrays: Vec<String>,
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
        let (mut filters, own) = (question.filters.clone(), question.filters.own.as_ref());
        for (patterns, labelled) in filters.of_jobs() {
            *labelled = jobs.labelled(client, own, patterns)?;
            jobs.joined |= !labelled.is_empty();
        }
        jobs.filters = filters;
        if own.is_some() {
            // They may be other users' arrays.
            jobs.arrays.clear();
        }
        let has_users = question.dimensions().any(Dimension::is_user) && state.has_unnamed;
        jobs.names = has_users && question.dimensions().any(Dimension::is_name);
        jobs.joined |= has_users || question.dimensions().any(Dimension::is_of_job);
        // A front does not count them on its nodes, but reads them.
        let has_several = || match state.has_divided {
            true if !state.is_front => has_several(client, window),
            several => Ok(several),
        };
        jobs.several = jobs.joined && (own.is_some() || has_several()?);
        Ok(jobs)
    }

    /// Finds the jobs whose labels, but not whose numbers, match any of the patterns.
    fn labelled(
        &mut self,
        client: &SpiClient<'_>,
        own: Option<&OwnUsage>,
        patterns: &[String],
    ) -> Result<Vec<i64>, Error> {
        // The number of a job is a text, too, which matches such a pattern.
        let selects = |it: &&String| it.bytes().any(|byte| byte != b'*');
        let patterns = patterns.iter().filter(selects);
        let patterns: Vec<String> = patterns.map(|it| Pattern::new(it).like()).collect();
        // No index of labels finds a reader's jobs.
        let (pattern, parameters): (_, Vec<DatumWithOid<'_>>) =
            match patterns.len() <= LOOKED_UP && own.is_none() {
                true => ("$3", patterns.into_iter().map(Into::into).collect()),
                false => ("ANY ($3)", vec![patterns.into()]),
            };
        // If elements of an array share the number, the label of a run is not the label of its job.
        let statement = format!(
            "SELECT DISTINCT job.job_no, job.job, job.label IS NULL AS is_array FROM {} run \
             JOIN jobstats.job_ids job ON job.scheduler = run.scheduler AND job.job = run.job \
             AND run.started >= job.started AND run.started <= job.last_started \
             WHERE run.label LIKE {pattern} AND NOT run.job LIKE {pattern}",
            seen("jobs", own, OWN_FIRST)
        );
        let mut found = Vec::new();
        for it in parameters {
            let rows = client.query(&statement, &after_own(own, [it]))?;
            require_room(found.len() + rows.len(), JOB_BYTES)?;
            for row in rows {
                found.push(row.get("job_no")?);
                if row.get("is_array")? {
                    self.arrays.push(row.get("job")?);
                }
            }
        }
        Ok(found)
    }

    /// Returns the table of entries, which statements call `entry`.
    pub fn entry(&self) -> Table {
        Table {
            name: "entry",
            jobs: match self.joined {
                true => dimension::Jobs::Joined,
                false => dimension::Jobs::Unknown,
            },
        }
    }

    /// Returns the columns of sums by an owner that a question needs. They have the names of dimensions.
    ///
    /// A part of the window that the sums do not have, because they are not computed yet or entries have got another job since, is
    /// read by entry. These rows are few, or are so for a short time.
    pub fn owner_columns(&self, owner: Owner, question: &Question) -> Vec<&'static str> {
        let mut columns: Vec<&str> = match owner {
            Owner::User | Owner::Member => vec!["uid"],
            Owner::Account => Vec::new(),
        };
        for dimension in question.dimensions() {
            let name = dimension.column;
            let needed: &[&str] = match self.names {
                true if dimension.is_group() => &["gid", name],
                true if dimension.is_name() => &[name],
                _ if dimension.is_of_job() => &[name],
                _ => &[],
            };
            for name in needed {
                if !columns.contains(name) {
                    columns.push(name);
                }
            }
        }
        columns
    }
}

/// Raises a notice that the answer is about all elements of these arrays, if there are any.
pub fn note_arrays(arrays: &[String]) {
    let arrays = distinct(arrays.iter().map(String::as_str));
    if !arrays.is_empty() {
        pgrx::notice!(
            "elements of an array share its number, so the answer covers all elements of {}",
            listed(&arrays, NAMED)
        );
    }
}

/// Returns whether there are entries that belong to several jobs, one of them in this window.
fn has_several(client: &SpiClient<'_>, window: &Window) -> Result<bool, Error> {
    let [since, until] = window.bounds()?;
    client.query_value(
        "SELECT EXISTS (SELECT FROM jobstats.entry_jobs entry_job \
         WHERE NOT entry_job.alone AND entry_job.valid_to > $1 AND entry_job.valid_from < $2)",
        &values![since, until],
    )
}
