//! What a reading function asks.

use crate::reading::arguments::{Filters, Period};
use crate::reading::dimension::{By, Dimension, Level};
use crate::reading::measure::Measures;

/// A question, its defaults filled in.
pub struct Question {
    /// When.
    pub period: Period,
    /// What the answer is grouped by.
    pub by: By,
    /// What is summed.
    pub measures: Measures,
    /// What is left out.
    pub filters: Filters,
    /// Whether totals are wanted, and not only rates.
    pub totals: bool,
    /// Whether calls and `per_call` are wanted too.
    pub calls: bool,
    /// Which groups are wanted.
    pub wanted: Wanted,
}

/// Which groups are wanted, what is said of them, and in which order.
#[derive(Debug, Clone, Copy)]
pub enum Wanted {
    /// All, in order of time and dimensions.
    All,
    /// Those with the largest total of the only measure.
    Top {
        /// How many.
        n: i64,
        /// Groups with a smaller rate are left out.
        min_rate: Option<f64>,
    },
    /// Per step, how many of them have a rate in each bucket.
    Densities {
        /// A bucket reaches from one power of it to the next.
        base: i32,
    },
    /// All, also with when they were active, on how many nodes, and which target they used most.
    Summary,
    /// Per target its rate of the only measure, and the group of entries that leads on it.
    Leading,
}

impl Question {
    /// Whether targets alone make the groups: then those that did nothing are in the answer too.
    pub fn by_targets_only(&self) -> bool {
        !self.by.has(Level::Entry)
    }

    /// Whether the answer has targets on which nothing was done.
    pub fn has_idle_targets(&self) -> bool {
        self.by_targets_only() || matches!(self.wanted, Wanted::Leading)
    }

    /// Whether anything is asked of entries that tells two of one user apart.
    pub fn tells_entries_apart(&self) -> bool {
        let of_entries = |it: &Dimension| it.level() == Level::Entry && *it != Dimension::Uid;
        self.by.iter().any(|it| of_entries(&it))
            || self.filters.chosen().any(|it| of_entries(&it))
            || matches!(self.wanted, Wanted::Summary | Wanted::Leading)
    }

    /// Whether anything is asked of servers: only increments know those.
    pub fn asks_servers(&self) -> bool {
        self.by.has(Level::Server) || self.filters.has(Level::Server)
    }
}
