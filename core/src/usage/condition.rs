//! Conditions on the values of dimensions.

use std::collections::HashSet;

use crate::base::pattern::Pattern;
use crate::usage::dimension::Dimension;
use crate::usage::filter::Matcher;

/// The work that a reader may see: of these users, and of the jobs of these accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnUsage {
    /// The users.
    pub uids: Vec<i64>,
    /// The accounts.
    pub accounts: Vec<String>,
}

impl OwnUsage {
    /// Returns whether work of this user, or for a job of this account, is the reader's own.
    pub fn has(&self, uid: Option<i64>, account: Option<&str>) -> bool {
        uid.is_some_and(|it| self.uids.contains(&it))
            || account.is_some_and(|it| self.accounts.iter().any(|own| own == it))
    }
}

/// A condition on the values of a dimension.
#[derive(Debug)]
pub struct Condition {
    /// The dimension.
    pub dimension: &'static Dimension,
    matcher: Matcher,
    /// The values that match as they are, and the patterns of others.
    exact: HashSet<String>,
    patterns: Vec<Pattern>,
    /// The jobs that match by their labels.
    jobs: HashSet<i64>,
    /// Set if what matches is left out, instead of all else.
    excludes: bool,
}

impl Condition {
    /// Makes a condition of the values that are wanted, or left out. Jobs of these keys match, too.
    pub fn new(
        dimension: &'static Dimension,
        matcher: Matcher,
        jobs: impl IntoIterator<Item = i64>,
        excludes: bool,
    ) -> Self {
        let (patterns, exact): (Vec<&String>, Vec<&String>) =
            matcher.patterns.iter().partition(|it| it.contains('*'));
        let compared = |it: &String| matcher.compared(it);
        Self {
            dimension,
            exact: exact.into_iter().map(compared).collect(),
            patterns: patterns
                .into_iter()
                .map(|it| Pattern::new(&compared(it)))
                .collect(),
            jobs: jobs.into_iter().collect(),
            excludes,
            matcher,
        }
    }

    /// Returns whether a row with this value, of the job of this key, is let through.
    pub fn lets(&self, value: Option<&str>, job: Option<i64>) -> bool {
        let matches = match value {
            None => self.matcher.none,
            Some(value) => {
                let value = self.matcher.compared(value);
                self.exact.contains(&value) || self.patterns.iter().any(|it| it.matches(&value))
            }
        };
        let matches = matches || job.is_some_and(|it| self.jobs.contains(&it));
        matches != self.excludes
    }
}

/// The conditions of a question on users, jobs and entries.
#[derive(Debug, Default)]
pub struct Conditions {
    /// The conditions. A row must meet all of them.
    pub list: Vec<Condition>,
    /// The work that a reader may see, if not all.
    pub own: Option<OwnUsage>,
}

impl Conditions {
    /// Returns the users whose work alone is let through, if that is known by number. A reader's own work is found before any filter is
    /// looked at.
    pub fn uids(&self) -> Option<Vec<i64>> {
        if let Some(own) = &self.own {
            return own.accounts.is_empty().then(|| own.uids.clone());
        }
        let of_uid = self.list.iter().find(|it| it.dimension.name == "uid");
        let of_uid = of_uid.filter(|it| !it.excludes && !it.matcher.none)?;
        of_uid.matcher.numbers.clone()
    }

    /// Returns the accounts whose work alone is let through, if no pattern names them.
    pub fn accounts(&self) -> Option<Vec<String>> {
        let mut list = self.list.iter().filter(|_| self.own.is_none());
        let of_account = list.find(|it| it.dimension.name == "account")?;
        let is_exact =
            !of_account.excludes && !of_account.matcher.none && of_account.patterns.is_empty();
        is_exact.then(|| of_account.exact.iter().cloned().collect())
    }
}
