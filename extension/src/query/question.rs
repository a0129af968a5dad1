//! The question of a reading function.

use jobstats_core::base::target::TargetKind;
use jobstats_core::usage::{Line, Measure, Measures};
use pgrx::datum::{Interval, TimestampWithTimeZone};

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::query::dimension::{By, Dimension, Level};
use crate::query::filters::Filters;
use crate::query::notice::hinted;
use crate::store::rights::caller::OwnUsage;
use crate::store::rollup::Owner;

/// The requested window. `None` is a default.
#[derive(Default)]
pub struct Period {
    /// The start, which is not part of the window.
    pub since: Option<TimestampWithTimeZone>,
    /// The end, which is part of the window.
    pub until: Option<TimestampWithTimeZone>,
    /// The width of the steps; `None` for one row for the window.
    pub step: Option<Interval>,
    /// Set if the window is not cut to the time up to which it has been observed so far.
    pub fixed: bool,
}

impl Period {
    /// Takes the start and the end from the arguments of a function.
    pub fn take(arguments: &mut Arguments<'_>) -> Result<Self, Error> {
        Ok(Self {
            since: arguments.take()?,
            until: arguments.take()?,
            ..Self::default()
        })
    }
}

/// The default number of groups.
pub const DEFAULT_N: usize = 10;

/// Returns the argument `n`, or its default.
///
/// # Errors
/// [`Error::argument`] if `n` is negative.
pub fn number_of_rows(n: Option<i32>, default: usize) -> Result<usize, Error> {
    n.map_or(Ok(default), |n| {
        usize::try_from(n).map_err(|_| {
            Error::argument(
                "n must not be negative",
                "Give the number of groups wanted, such as 10.",
            )
        })
    })
}

/// The columns of a summary and the operations whose totals they are.
pub const SUMMARY: [(&str, &str); 7] = [
    ("read_bytes", "read_bytes"),
    ("write_bytes", "write_bytes"),
    ("read", "read"),
    ("write", "write"),
    ("opens", "open"),
    ("metadata", "metadata"),
    ("service_time", "service_time"),
];

/// A question with its defaults filled in.
pub struct Question {
    /// The window.
    pub period: Period,
    /// The dimensions that the answer is grouped by.
    pub by: By,
    /// The measures that are summed.
    pub measures: Measures,
    /// The filters that leave rows out.
    pub filters: Filters,
    /// The groups that are wanted.
    pub wanted: AnswerShape,
}

/// The groups that are wanted, with their columns and their order.
#[derive(Debug, Clone, Copy)]
pub enum AnswerShape {
    /// Every group with its rates, in order of time and dimensions.
    Rates,
    /// Every group with its totals, calls and rates, in order of time and dimensions.
    Totals,
    /// The groups with the largest total of the only measure.
    Top {
        /// The number of groups.
        n: usize,
        /// The smallest rate of a group; groups with a smaller rate are left out.
        min_rate: Option<f64>,
        /// Set if the work of targets that is in no entry is wanted, too.
        untracked: bool,
    },
    /// The number of groups per step and bucket of rates.
    Densities {
        /// The ratio of the edges of a bucket: each bucket reaches from one power of it to the next.
        base: i32,
    },
    /// Every group, also with the span of its usage, the number of its nodes, and the target that it used most.
    Summary,
    /// Every group with its totals and the span of its usage.
    Work,
    /// The rate of the only measure per target, and the group of entries that leads on the target.
    Leading,
    /// The sizes of reads and writes, which only increments have.
    Sizes,
    /// Every group with its totals of calls by size, which only increments have.
    SizedCalls,
}

impl AnswerShape {
    /// Returns whether the span of usage is wanted, and no rates.
    pub fn has_span(self) -> bool {
        matches!(self, Self::Summary | Self::Work)
    }

    /// Returns whether the answer has a row for each measure of a group, with calls and `per_call`, and not one for all of them.
    pub fn has_row_per_measure(self) -> bool {
        matches!(self, Self::Rates | Self::Totals | Self::Top { .. })
    }
}

impl Question {
    /// Makes the question for the totals of one operation: of `service_time` by user, unless others are given.
    ///
    /// # Errors
    /// The errors of [`By::parse`] and [`Measures::one`].
    pub fn of_one(
        period: Period,
        operation: Option<String>,
        by: Option<String>,
        filters: Filters,
    ) -> Result<Self, Error> {
        let operation = operation.as_deref().unwrap_or("service_time");
        Ok(Self {
            period,
            by: By::parse(by, "user")?,
            measures: Measures::one(operation, None)?,
            filters,
            wanted: AnswerShape::Totals,
        })
    }

    /// Limits the question to a reader's usage. Target counters are open to everyone.
    pub fn for_reader_of(mut self, own: &OwnUsage) -> Self {
        let is_about_entries = self.by.has(Level::Entry)
            || self.filters.has(Level::Entry)
            || matches!(self.wanted, AnswerShape::Leading);
        if is_about_entries {
            self.filters.own = Some(own.clone());
            hinted(
                "you only see your own I/O",
                "Totals of targets, as by cluster, filesystem, kind and target, include all users.",
            );
        }
        self
    }

    /// Limits the question to a reader without names: it has no group or filter by dimensions of people, unless pseudonyms replace them.
    ///
    /// # Errors
    /// [`Error::Nameless`]
    pub fn without_names(self, pseudonymous: &[&str]) -> Result<Self, Error> {
        let is_refused = |it: &Dimension| it.names_people() && !pseudonymous.contains(&it.name);
        let grouped = self.by.iter().find(|it| is_refused(it));
        let refused = grouped.or_else(|| self.filters.chosen().find(|it| it.names_people()));
        match refused {
            Some(dimension) => Err(Error::Nameless(dimension.name)),
            None => Ok(self),
        }
    }

    /// Returns the question for another measure, on targets of one kind. It has no period: its window is already known.
    pub fn about(&self, kind: TargetKind, measure: &Measure) -> Self {
        Self {
            period: Period::default(),
            by: self.by.clone(),
            measures: Measures::listed(vec![measure.clone()]),
            filters: self.filters.clone().only("kind", kind.as_str()),
            ..*self
        }
    }

    /// Returns the question about the target counters of these groups; `None` for groups or filters by server, because servers have no such counters.
    pub fn about_targets(&self) -> Option<Self> {
        let names: Vec<&str> = self.by.of(&[Level::Target]).map(|it| it.name).collect();
        (!self.asks_servers()).then(|| Self {
            period: Period::default(),
            by: By::these(&names),
            measures: Measures::listed(self.measures.list.clone()),
            filters: self.filters.clone().of_level(Level::Target),
            wanted: AnswerShape::Totals,
        })
    }

    /// Returns whether the answer has a row for the measure of this number of a group, even if its total is zero or unknown. `wanted` is set
    /// if the measure was named, or occurs in any group.
    pub fn is_shown(&self, n: usize, line: &Line, wanted: bool) -> bool {
        let occurs = line.amounts[n].total.map(|it| it != 0);
        if !self.wanted.has_row_per_measure() || occurs == Some(true) {
            return true;
        }
        let measure = &self.measures.list[n];
        if !self.by_targets_only() {
            // A group without activity has no row; a group with activity of unknown time has one.
            return occurs.is_none() && measure.is_time();
        }
        let (on, kinds) = (measure.on, line.observed.kinds);
        let reported = on.0 && kinds.0 || on.1 && kinds.1;
        wanted && (reported || !self.measures.all)
    }

    /// Returns whether the groups consist of targets alone. Targets without usage are then in the answer too.
    pub fn by_targets_only(&self) -> bool {
        !self.by.has(Level::Entry)
    }

    /// Returns whether the answer has targets without usage.
    pub fn has_idle_targets(&self) -> bool {
        self.by_targets_only() || matches!(self.wanted, AnswerShape::Leading)
    }

    /// Returns the owner whose sums answer the question; `None` if it distinguishes entries of one owner. Sums by job may include another user's job:
    /// a restricted reader gets sums by user alone.
    pub fn owner(&self) -> Option<Owner> {
        if self.wanted.has_span() || matches!(self.wanted, AnswerShape::Leading) {
            return None;
        }
        let all = |known: fn(&Dimension) -> bool| {
            let mut of_entries = self.dimensions().filter(|it| it.level == Level::Entry);
            of_entries.all(known)
        };
        if all(Dimension::is_user) {
            return Some(Owner::User);
        }
        if self.filters.own.is_some() {
            return None;
        }
        if all(Dimension::is_account) {
            return Some(Owner::Account);
        }
        all(|it| it.is_user() || it.is_account()).then_some(Owner::Member)
    }

    /// Returns the dimensions that the question groups or filters by.
    pub fn dimensions(&self) -> impl Iterator<Item = &'static Dimension> {
        self.by.iter().chain(self.filters.chosen())
    }

    /// Returns whether the question is about what only increments know.
    pub fn needs_increments(&self) -> bool {
        self.asks_servers() || matches!(self.wanted, AnswerShape::Sizes | AnswerShape::SizedCalls)
    }

    /// Returns whether the question is about servers, which only increments know.
    pub fn asks_servers(&self) -> bool {
        self.by.has(Level::Server) || self.filters.has(Level::Server)
    }
}
