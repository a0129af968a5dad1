//! Finds out which names users and groups had in the window of a question, and joins numbers with them.
//!
//! A user has the name that was known at the start of the day of UTC. Nearly always that is one name throughout the window, so
//! that usage is summed by number first, and the sums are joined with the names at the end of the window. Only of users who
//! had several names in it, usage is summed by name.

use jobstats_core::names;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::query::dimension::{Dimension, Table, join_names};
use crate::query::params::Params;
use crate::query::plan::Plan;
use crate::query::question::Question;
use crate::query::window::Window;

/// The names that have changed since the start of the window. All are `false` if the question is about no names.
#[derive(Default)]
pub struct Names {
    /// Set if users had other names in the window than now.
    users: bool,
    /// Set if users had several names in the window.
    several: bool,
    /// Set if groups had other names at the end of the window than now.
    groups: bool,
}

impl Names {
    /// Finds out which names have changed since the start of this window.
    pub fn find(
        client: &SpiClient<'_>,
        question: &Question,
        window: &Window,
    ) -> Result<Self, Error> {
        if !question.dimensions().any(Dimension::is_name) {
            return Ok(Self::default());
        }
        let (since, until) = (timestamptz(window.since())?, timestamptz(window.until())?);
        let changed = client.query_only(
            include_str!("names/changed.sql"),
            &[since.into(), until.into()],
            "earlier_users",
        )?;
        Ok(Self {
            users: changed.get("users")?,
            several: changed.get("several")?,
            groups: changed.get("groups")?,
        })
    }
}

impl Plan {
    /// Returns whether entries that have usage in the window may belong to several jobs or names, so that these are known for
    /// parts of their usage only.
    pub fn divides_entries(&self) -> bool {
        self.jobs.are_several() || self.names.several
    }

    /// Returns the columns of a table, each with a leading comma, that say to which job and to which name usage belongs, as far as
    /// entries or users have several.
    pub fn days(&self, table: &str) -> String {
        let names = match self.names.several {
            true => format!(", {table}.named_until"),
            false => String::new(),
        };
        self.jobs.days(table) + &names
    }

    /// Returns the condition that two tables are about the same job and the same name, with a leading AND.
    pub fn same_days(&self, one: &str, other: &str) -> String {
        self.jobs.same_days(one, other) + &self.same_name(one, other)
    }

    fn same_name(&self, one: &str, other: &str) -> String {
        match self.names.several {
            true => format!(" AND {one}.named_until IS NOT DISTINCT FROM {other}.named_until"),
            false => String::new(),
        }
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
        let of_jobs = match self.jobs.are_joined() {
            true => sql!(
                "names/of_jobs.sql",
                since = self.since(params),
                until = self.until(params),
            ),
            false => String::new(),
        };
        sql!(
            "names/of_entries.sql",
            usage = usage,
            earlier = earlier,
            of_jobs = of_jobs,
        )
    }

    /// Returns a join of entries with all names that users had in the window, as far as the dimensions are about names.
    pub fn join_names(
        &self,
        dimensions: impl IntoIterator<Item = &'static Dimension>,
        params: &Params,
    ) -> String {
        let table = self.jobs.entry();
        join_names(
            dimensions,
            table,
            [&self.users(params), &self.groups(params)],
            "",
        )
    }

    /// Returns a join of sums `part`, or of entries and their sums, with the names of their days.
    pub fn join_names_of_sums(
        &self,
        dimensions: impl IntoIterator<Item = &'static Dimension>,
        table: Table,
        params: &Params,
    ) -> String {
        let same_name = self.same_name("person", "part");
        join_names(
            dimensions,
            table,
            [&self.users(params), &self.groups(params)],
            &same_name,
        )
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
