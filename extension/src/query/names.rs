//! Finds out which names users and groups had in the window of a question.
//!
//! A user has the name that was known at the start of the day of UTC. Nearly always that is one name throughout the window, so usage is added up
//! before names are looked up. Only usage of users with several names in the window is divided by their days. Groups have the names of its end.

use crate::query::dimension::Dimension;
use crate::query::question::Question;
use crate::query::state::State;
use crate::query::window::Window;

/// Returns the table of the names that users had at a time, which is an expression.
pub fn users_at(at: &str) -> String {
    users(&format!("{at} - interval '1 microsecond'"), at)
}

/// Returns the table of the names that users had after `since`, up to `until`.
fn users(since: &str, until: &str) -> String {
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
    pub fn find(question: &Question, window: &Window, state: &State) -> Self {
        if !question.dimensions().any(Dimension::is_name) {
            return Self::default();
        }
        let mut renamed = state.renamed.iter().filter(|it| **it > window.since());
        Self {
            users: renamed.clone().next().is_some(),
            several: renamed.any(|it| *it < window.until()),
            groups: state.group_renamed >= window.until(),
        }
    }

    /// Returns the tables of the names of users in the window between two expressions, and of the names of groups at its end.
    pub fn tables(&self, since: &str, until: &str) -> [String; 2] {
        let users_now =
            "(SELECT known.*, NULL::timestamptz AS named_until FROM jobstats.users known)";
        [
            match self.users {
                true => users(since, until),
                false => users_now.to_owned(),
            },
            match self.groups {
                true => groups_at(until),
                false => "jobstats.groups".to_owned(),
            },
        ]
    }
}
