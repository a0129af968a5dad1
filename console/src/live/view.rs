//! The choice of rows: their grouping, their order, and the filters.

use std::sync::Arc;

use clap::ValueEnum;
use jobstats_core::base::instant::Micros;
use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::base::target::TargetKind;

use crate::live::owner::Owner;
use crate::live::user_names::UserNames;
use crate::values::text;

jobstats_core::named! {
    /// The dimension whose values are rows.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ValueEnum)]
    pub enum By {
        /// Users, by number
        #[default]
        User = "user",
        /// Jobs of the scheduler
        Job = "job",
        /// Accounts of jobs, from a store
        Account = "account",
        /// Nodes
        Node = "node",
        /// Programs
        Process = "process",
        /// MDTs and OSTs
        Target = "target",
        /// Operations
        Operation = "operation",
        /// Identifiers, as Lustre prints them
        Entry = "identifier",
    }
    /// Returns the name of the dimension.
    pub fn name;
}

impl By {
    /// Returns the dimension into which a row of this one is looked.
    pub const fn inside(self) -> Self {
        match self {
            Self::User | Self::Process => Self::Job,
            Self::Job => Self::Node,
            Self::Account | Self::Node | Self::Target | Self::Operation => Self::User,
            Self::Entry => Self::Target,
        }
    }
}

/// The value of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    User(u32),
    /// A job, an account, a node, a process, a target or an identifier.
    Name(Box<str>),
    /// An operation, by its position in [`OPERATIONS`].
    Operation(usize),
}

impl Key {
    /// Returns the name as it may be shown.
    pub fn shown(&self, users: &UserNames) -> String {
        match self {
            Self::User(user) => users.shown(*user),
            Self::Name(name) => text::shown(name),
            Self::Operation(operation) => match OPERATIONS[*operation].doubles {
                Some(other) => format!("{} (in {other})", OPERATIONS[*operation].name),
                None => OPERATIONS[*operation].name.to_owned(),
            },
        }
    }

    /// Returns the name as it is.
    pub fn name(&self) -> String {
        match self {
            Self::User(user) => user.to_string(),
            Self::Name(name) => name.to_string(),
            Self::Operation(operation) => OPERATIONS[*operation].name.to_owned(),
        }
    }

    /// Returns the value that an owner of work has, if its identifier names one.
    pub fn of(by: By, owner: &Owner) -> Option<Self> {
        let name = |name: &Option<Box<str>>| name.clone().map(Self::Name);
        match by {
            By::User => owner.user.map(Self::User),
            By::Job => name(&owner.job),
            By::Account => name(&owner.account),
            By::Node => name(&owner.node),
            By::Process => name(&owner.process),
            By::Entry => (!owner.entry.is_empty()).then(|| Self::Name(owner.entry.clone())),
            By::Target | By::Operation => None,
        }
    }
}

jobstats_core::named! {
    /// A number that ranks rows.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ValueEnum)]
    pub enum Sort {
        /// Requests in service: server time per second
        #[default]
        Service = "requests in service",
        /// Requests per second
        Requests = "requests",
        /// Metadata operations per second
        Metadata = "metadata",
        /// Bytes read per second
        Read = "read",
        /// Bytes written per second
        Write = "write",
    }
    /// Returns the name of the number.
    pub fn name;
}

impl Sort {
    /// Returns the name of the number's field in JSON.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Service => "service_time",
            Self::Requests => "requests",
            Self::Metadata => "metadata",
            Self::Read => "read_bytes",
            Self::Write => "write_bytes",
        }
    }
}

/// A choice that keys go through.
pub trait Choice: ValueEnum + Copy + PartialEq {
    /// Returns the value this many steps ahead.
    fn moved(self, by: isize) -> Self {
        let all = Self::value_variants();
        let position = all.iter().position(|it| *it == self).unwrap_or(0);
        let position = (position as isize + by).rem_euclid(all.len() as isize);
        all[position as usize]
    }
}

impl Choice for By {}
impl Choice for Sort {}

/// A filter of names such as `make !root`: words that a name must have, and words with a leading `!` that it must not have. Upper and
/// lower case are the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter(pub String);

impl Filter {
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns true if the filter lets everything through.
    pub fn is_empty(&self) -> bool {
        self.0.split_whitespace().all(|word| word == "!")
    }

    /// Returns true if the name has all required words and no excluded word.
    pub fn takes(&self, name: &str) -> bool {
        let (words, name) = (self.0.to_lowercase(), name.to_lowercase());
        words
            .split_whitespace()
            .all(|word| match word.strip_prefix('!') {
                Some(unwanted) => unwanted.is_empty() || !name.contains(unwanted),
                None => name.contains(word),
            })
    }
}

/// Everything that decides which rows there are, and in which order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// The dimension whose values are rows.
    pub by: By,
    /// The number that ranks the rows.
    pub sort: Sort,
    pub filter: Filter,
    /// The only kind of targets that counts, or `None` for both.
    pub kind: Option<TargetKind>,
    /// The number of requests per second below which a row is left out.
    pub minimum: f64,
    /// The values of other dimensions to which all rows are limited.
    pub scope: Vec<(By, Key)>,
    /// The time over which rates are averaged, if it is longer than the last interval.
    pub window: Micros,
    pub users: Arc<UserNames>,
    /// True if a store is read, which knows accounts of jobs and the past.
    pub is_store: bool,
}

impl View {
    /// Looks into a row: limits all rows to its value, and goes on with another dimension.
    pub fn enter(&mut self, key: Key) {
        self.scope.push((self.by, key));
        let is_fixed = |by: By| self.scope.iter().any(|(fixed, _)| *fixed == by);
        let mut next = self.by.inside();
        for _ in By::value_variants() {
            if is_fixed(next) || next == By::Account && !self.is_store {
                next = next.moved(1);
            }
        }
        self.by = next;
        self.filter = Filter::default();
    }

    /// Returns the dimension this many steps ahead, skipping dimensions unknown to the source.
    pub fn group_moved(&self, by: isize) -> By {
        match self.by.moved(by) {
            By::Account if !self.is_store => By::Account.moved(by),
            other => other,
        }
    }

    /// Goes back to where the last row was entered. Returns false if no row was entered.
    pub fn leave(&mut self) -> bool {
        let left = self.scope.pop();
        self.by = left.as_ref().map_or(self.by, |(by, _)| *by);
        left.is_some()
    }

    /// Returns true if the filter takes a row, by its name or the number of its user.
    pub fn takes(&self, key: &Key) -> bool {
        let name = key.name();
        match key {
            Key::User(user) => {
                let known = self.users.name(*user).unwrap_or_default();
                self.filter.takes(&format!("{known} {name}"))
            }
            _ => self.filter.takes(&name),
        }
    }

    /// Removes every limit.
    pub fn clear(&mut self) {
        self.filter = Filter::default();
        self.kind = None;
        self.minimum = 0.0;
        self.scope.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_has_words_that_must_and_must_not_be_there() {
        let filter = Filter::new("Make !root  ! x");
        assert!(filter.takes("xmake.1000"));
        assert!(!filter.takes("make.root") && !filter.takes("cmd"));
        assert!(!filter.takes("make.1000"));
        assert!(Filter::new("  ").is_empty() && Filter::new("!").is_empty());
        assert!(Filter::new("").takes(""));
    }

    #[test]
    fn a_row_is_entered_and_left() {
        let mut view = View::default();
        view.enter(Key::User(1000));
        assert_eq!(view.by, By::Job);
        view.enter(Key::Name("4711".into()));
        assert_eq!(view.by, By::Node);
        view.enter(Key::Name("r01c01".into()));
        assert_eq!(view.by, By::Process, "users and jobs are fixed already");
        assert!(view.leave() && view.leave());
        assert_eq!((view.by, view.scope.len()), (By::Job, 1));
        view.clear();
        assert!(!view.leave());
    }

    #[test]
    fn dimensions_and_orders_come_round() {
        assert_eq!(By::User.moved(-1), By::Entry);
        assert_eq!(By::Entry.moved(1), By::User);
        assert_eq!(Sort::Write.moved(1), Sort::Service);
    }
}
