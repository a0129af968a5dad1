//! Leaves parts out of increments that a store is not to keep.

use super::Increment;
use super::packed::{pack, unpack};

crate::named! {
    /// The values of increments that a store keeps. Each variant keeps all that those before it keep.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Retention {
        /// Calls and sums.
        Counts = "counts",
        /// Also histograms.
        NoDetail = "no detail",
        /// Also bounds and sums of squares.
        #[default]
        Everything = "everything",
    }
    /// Returns the name of the variant, which is a value of the setting `keep`.
    pub fn name;
}

impl Retention {
    /// Removes the values that are not kept from an increment. Its calls and sums stay, also for operations without a
    /// column.
    pub fn apply(self, increment: &mut Increment<'_>) {
        if self < Self::Everything {
            increment.detail = increment.detail.take().as_deref().and_then(counts);
        }
        if self < Self::NoDetail {
            increment.histograms = None;
        }
    }
}

/// Returns the calls and sums of a detail, if it has any.
fn counts(detail: &[u8]) -> Option<Vec<u8>> {
    let mut operations = unpack(detail)?;
    operations.retain(|_, detail| detail.samples.or(detail.sum).is_some());
    for detail in operations.values_mut() {
        (detail.min, detail.max, detail.sumsq, detail.hist) = (None, None, None, None);
    }
    pack(&operations)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::increment::packed::tests::{packed, shown};
    use crate::rules::increment::{Column, Detail, OperationName};

    fn increment(detail: Option<&str>) -> Increment<'static> {
        Increment {
            line: 1,
            id: "a",
            folded: None,
            since: 0,
            time: 1,
            reset: true,
            last_active: Some(1),
            totals: vec![(Column::Total(0), 7)],
            histograms: Some(Box::new([1; _])),
            detail: detail.map(packed),
        }
    }

    fn retained(retention: Retention, detail: &str) -> Increment<'static> {
        let mut increment = increment(Some(detail));
        retention.apply(&mut increment);
        increment
    }

    #[test]
    fn everything_stays_as_it_is() {
        let detail = r#"{"open":{"max":9,"min":1,"sumsq":82}}"#;
        assert_eq!(
            retained(Retention::Everything, detail),
            increment(Some(detail))
        );
    }

    #[test]
    fn bounds_and_squares_go_before_histograms() {
        let detail = r#"{"open":{"max":9,"min":1,"sumsq":82},"read":{}}"#;
        assert_eq!(retained(Retention::NoDetail, detail), increment(None));
        let counts = Increment {
            histograms: None,
            ..increment(None)
        };
        assert_eq!(retained(Retention::Counts, detail), counts);
    }

    #[test]
    fn operations_without_a_column_keep_their_counts() {
        let detail = r#"{"fly":{"hist":[1,1],"max":9,"min":1,"samples":2,"sum":10,"sumsq":82,"unit":"usecs"},"open":{"min":1}}"#;
        let counts = r#"{"fly":{"samples":2,"sum":10,"unit":"usecs"}}"#;
        for retention in [Retention::NoDetail, Retention::Counts] {
            assert_eq!(shown(&retained(retention, detail).detail), counts);
        }
    }

    #[test]
    fn each_name_is_that_of_its_variant() {
        for retention in Retention::ALL {
            assert_eq!(Retention::find(retention.name()), Some(retention));
        }
        assert_eq!(Retention::find("nothing"), None);
        assert!(Retention::ALL.is_sorted());
    }

    proptest! {
        /// Leaving out twice is leaving out once, in either order: an observation that is computed again under the same
        /// setting has the same rows.
        #[test]
        fn what_is_left_out_does_not_depend_on_the_order(
            one in prop::sample::select(Retention::ALL.to_vec()), other in prop::sample::select(Retention::ALL.to_vec()),
            samples in any::<Option<u64>>(), min in any::<Option<u64>>(), name in "[a-z\\\\\"]{1,9}",
        ) {
            let detail = Detail { samples, min, ..Detail::default() };
            let whole = Increment {
                detail: pack([(&OperationName::Other(name.into()), &detail)]),
                ..increment(None)
            };
            let retained = |retention: Retention, mut increment: Increment<'static>| {
                retention.apply(&mut increment);
                increment
            };
            let twice = retained(other, retained(one, whole.clone()));
            prop_assert_eq!(twice, retained(one.min(other), whole));
        }
    }
}
