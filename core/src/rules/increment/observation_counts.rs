//! The counts of an observation, as the store keeps them.

use super::{Comparison, Observation};

/// Defines the counts, with the names of their columns.
macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counts of an observation, which are columns of `jobstats.observations`. A text holds far fewer entries than an
        /// integer can count.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$doc])* pub $name: i32,)*
        }

        impl Counts {
            /// The names of the columns, in the order of [`Self::values`].
            pub const NAMES: [&'static str; 8] = [$(stringify!($name),)*];

            /// Returns the counts in the order of [`Self::NAMES`].
            pub const fn values(&self) -> [i32; 8] {
                [$(self.$name,)*]
            }

            /// Makes counts of values in the order of [`Self::NAMES`].
            pub const fn of_values([$($name,)*]: [i32; 8]) -> Self {
                Self { $($name,)* }
            }
        }
    };
}

counts! {
    /// The number of entries in the text.
    entries,
    /// The number of entries that have increments.
    active,
    /// The number of entries that are proven to be born since the previous observation.
    added,
    /// The number of entries whose counters restarted.
    resets,
    /// The number of entries of the previous text that are missing from this one.
    removed,
    /// The number of entries with carried records.
    carried,
    /// The number of entries with a counter that has no known previous value.
    unknown,
    /// The number of problems of the text and of the comparison.
    problems,
}

impl Counts {
    /// Returns the counts of `next`, which was compared with the observation before it.
    pub fn of_comparison(comparison: &Comparison<'_>, next: &Observation<'_>) -> Self {
        let read = next.snapshot.map_or(0, |text| text.problems_found);
        Self {
            entries: clamp(comparison.entries),
            active: clamp(comparison.active),
            added: clamp(comparison.added),
            resets: clamp(comparison.resets),
            removed: clamp(comparison.removed),
            carried: clamp(comparison.carried_count),
            unknown: clamp(comparison.unknown),
            problems: clamp(read + comparison.problems_found),
        }
    }
}

/// Converts a count to the type of its column.
pub fn clamp(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::snapshot::Snapshot;

    #[test]
    fn values_stand_in_the_order_of_their_names() {
        let counts = Counts::of_values([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(counts.values(), [1, 2, 3, 4, 5, 6, 7, 8]);
        let named: Vec<_> = Counts::NAMES.into_iter().zip(counts.values()).collect();
        assert_eq!(named[0], ("entries", counts.entries));
        assert_eq!(named[3], ("resets", counts.resets));
        assert_eq!(named[5], ("carried", counts.carried));
        assert_eq!(named[7], ("problems", counts.problems));
    }

    #[test]
    fn problems_of_the_text_and_of_the_comparison_count_together() {
        let text = Snapshot {
            problems_found: 2,
            ..Snapshot::default()
        };
        let next = Observation {
            time: 0,
            server: "oss1",
            snapshot: Some(&text),
            carried: None,
        };
        let comparison = Comparison {
            entries: u64::MAX,
            problems_found: 3,
            ..Comparison::default()
        };
        let counts = Counts::of_comparison(&comparison, &next);
        assert_eq!((counts.problems, counts.entries), (5, i32::MAX));
        let gone = Observation {
            snapshot: None,
            ..next
        };
        assert_eq!(Counts::of_comparison(&comparison, &gone).problems, 3);
    }
}
