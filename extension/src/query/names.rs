//! Finds out which names users and groups had in the window of a question.
//!
//! A user has the name that was known at the start of the day of UTC. Nearly always that is one name throughout the window, so
//! that usage is summed by number first, and the sums are joined with the names at the end of the window. Only of users who
//! had several names in it, usage is summed by name.

use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::timestamptz;
use crate::query::dimension::Dimension;
use crate::query::question::Question;
use crate::query::window::Window;

/// Returns the table of the names that users had at a time, which is an expression.
pub fn users_at(at: &str) -> String {
    users(&format!("{at} - interval '1 microsecond'"), at)
}

/// Returns the table of the names that users had after `since`, up to `until`.
pub fn users(since: &str, until: &str) -> String {
    format!("jobstats_internal.user_names({since}, {until})")
}

/// Returns the table of the names that groups had at a time.
pub fn groups_at(at: &str) -> String {
    format!("jobstats_internal.group_names({at})")
}

/// The names that have changed since the start of the window. All are `false` if the question is about no names.
#[derive(Default)]
pub struct Names {
    /// Set if users had other names in the window than now.
    pub users: bool,
    /// Set if users had several names in the window.
    pub several: bool,
    /// Set if groups had other names at the end of the window than now.
    pub groups: bool,
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
