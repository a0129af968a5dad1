//! The names that users and groups had at a time, as tables of statements: those of the store, and those of programs that read its
//! tables. An edge is an expression.

use crate::template::Template;

/// Returns the table of the names that users had after `since`, up to `until`.
pub fn users(since: &str, until: &str) -> String {
    const USERS: Template = Template::new(include_str!("names/users.sql"), &["since", "until"]);
    USERS.fill(&[since, until])
}

/// Returns the table of the names that users had at a time.
pub fn users_at(at: &str) -> String {
    users(&format!("{at} - interval '1 microsecond'"), at)
}

/// Returns the table of the names that groups had at a time.
pub fn groups_at(at: &str) -> String {
    const GROUPS: Template = Template::new(include_str!("names/groups.sql"), &["until"]);
    GROUPS.fill(&[at])
}
