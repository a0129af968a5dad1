//! Joins entries with their jobs, and users and groups with their names.

use crate::pg::template::{optional, sql};
use crate::query::dimension::{Dimension, Table, join_names};
use crate::query::filters::is_own;
use crate::query::jobs::Jobs;
use crate::query::names;
use crate::query::params::Params;
use crate::query::plan::Plan;

/// The jobs of entries: all at once, one by one, or at once those of a window, which a front asks for.
const ALL: &str = "jobstats.job_ids job ON job.job_no = entry_job.job_no";
const EACH: &str = "LATERAL (SELECT known.* FROM jobstats.job_ids known WHERE known.job_no = entry_job.job_no OFFSET 0) job ON true";

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
            divided = match self.jobs.own {
                Some(_) => "",
                None => "NOT entry_job.alone AND ",
            },
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
            true if self.jobs.own.is_some() => "entry_job.valid_from = part.valid_from",
            true => {
                "CASE WHEN part.valid_from IS NULL THEN entry_job.alone ELSE entry_job.valid_from = part.valid_from END"
            }
            false => "entry_job.alone",
        };
        self.join_with_jobs(&self.jobs, "part", of_sum, params)
    }

    /// Returns a join of a table that has an `entry_id` with the jobs of its rows in the window, if the question depends on
    /// them. `condition` says which of several rows of an entry counts.
    fn join_with_jobs(&self, jobs: &Jobs, table: &str, condition: &str, params: &Params) -> String {
        if !jobs.joined {
            return String::new();
        }
        // What accounting says of others' jobs is not shown, also if one was taken for that of an own entry.
        let of_own = jobs.own.as_ref().map_or_else(String::new, |own| {
            format!(" AND {}", is_own(own, "job.uid", "job.account", params))
        });
        let (since, until) = (self.since(params), self.until(params));
        let job = match jobs.few {
            true if self.is_front => {
                sql!("jobs/of_window.sql", since = since, until = until)
            }
            true => EACH.to_owned(),
            false => ALL.to_owned(),
        };
        sql!(
            "jobs/join.sql",
            table = table,
            condition = condition,
            since = since,
            until = until,
            job = job + &of_own,
        )
    }

    /// Returns a join of rows `part` by entry, which have the start of their day as `at` if entries must be divided, with their
    /// jobs.
    pub fn join_jobs_of_owners(&self, params: &Params) -> String {
        let of_day = match self.owners.jobs.several {
            true => "entry_job.valid_from < part.at AND entry_job.valid_to >= part.at",
            false => "entry_job.alone",
        };
        self.join_with_jobs(&self.owners.jobs, "part", of_day, params)
    }

    /// Returns whether entries that have usage in the window may belong to several jobs or names, so that these are known for
    /// parts of their usage only.
    pub fn divides_entries(&self) -> bool {
        self.jobs.several || self.names.several
    }

    /// Returns the columns of a table, each with a leading comma, that say to which job and to which name usage belongs, where
    /// entries or users have several.
    pub fn days(&self, table: &str) -> String {
        let names = optional(self.names.several, || format!(", {table}.named_until"));
        self.jobs.days(table) + &names
    }

    /// Returns the condition that two tables are about the same job and the same name, with a leading AND.
    pub fn same_days(&self, one: &str, other: &str) -> String {
        self.jobs.same_days(one, other) + &self.same_name(one, other)
    }

    fn same_name(&self, one: &str, other: &str) -> String {
        optional(self.names.several, || {
            format!(" AND {one}.named_until IS NOT DISTINCT FROM {other}.named_until")
        })
    }

    /// Returns a SELECT of rows of usage, which have a time `at`, with the end of the days for which their user had an earlier
    /// name; NULL is the name at the end of the window.
    pub fn with_names(&self, usage: String, by_owner: bool, params: &Params) -> String {
        if !self.names.several {
            return usage;
        }
        let earlier = sql!(
            "names/earlier.sql",
            since = self.since(params),
            until = self.until(params),
        );
        if by_owner {
            return sql!("names/of_users.sql", usage = usage, earlier = earlier);
        }
        let of_jobs = optional(self.jobs.joined, || {
            sql!(
                "names/of_jobs.sql",
                since = self.since(params),
                until = self.until(params),
            )
        });
        sql!(
            "names/of_entries.sql",
            usage = usage,
            earlier = earlier,
            of_jobs = of_jobs,
        )
    }

    /// Returns a join of entries with all names that users had in the window, if any of the dimensions is a name. `condition` is a further
    /// one on `person`, with a leading AND.
    pub fn join_names(
        &self,
        dimensions: impl IntoIterator<Item = &'static Dimension>,
        table: Table,
        condition: &str,
        params: &Params,
    ) -> String {
        let names = [&*self.users(params), &self.groups(params)];
        join_names(dimensions, table, names, condition)
    }

    /// Returns a join of sums `part`, or of entries and their sums, with the names of their days.
    pub fn join_names_of_sums(
        &self,
        dimensions: impl IntoIterator<Item = &'static Dimension>,
        table: Table,
        params: &Params,
    ) -> String {
        let same_name = self.same_name("person", "part");
        self.join_names(dimensions, table, &same_name, params)
    }

    /// Returns the table of the names that users had in the window, with `named_until` where users had several.
    pub fn users(&self, params: &Params) -> String {
        if !self.names.users {
            return "jobstats.users".to_owned();
        }
        names::users(&self.since(params), &self.until(params))
    }

    /// Returns the table of the names that groups had at the end of the window.
    pub fn groups(&self, params: &Params) -> String {
        if !self.names.groups {
            return "jobstats.groups".to_owned();
        }
        names::groups_at(&self.until(params))
    }
}
