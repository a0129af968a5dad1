//! Sums of the growth of counters that are read live, and not from rows of a store.

use std::collections::HashMap;

use super::cells::Hasher;
use crate::base::target::TargetKind;
use crate::rules::increment::Column;
use crate::usage::columns::operation_columns;
use crate::usage::columns::sum::Sum;

/// The sums that each column of an increment counts in.
#[derive(Debug)]
pub struct Counting {
    /// The positions of the sums: on an MDT, and on an OST.
    places: HashMap<Column, [Vec<usize>; 2], Hasher>,
}

impl Counting {
    /// Finds the columns of sums.
    pub fn new(sums: &[Sum]) -> Self {
        let places = operation_columns().map(|(column, name)| {
            let places = |kind: TargetKind| {
                let having = sums.iter().enumerate();
                let having =
                    having.filter(|(_, sum)| sum.is_of(kind) && sum.columns.contains(&name));
                having.map(|it| it.0).collect()
            };
            (column, [TargetKind::Mdt, TargetKind::Ost].map(places))
        });
        Self {
            places: places.collect(),
        }
    }

    /// Adds the growth of columns on a target of this kind to the sums that they count in.
    pub fn add(&self, growth: &[(Column, i64)], kind: TargetKind, sums: &mut [i128]) {
        for (column, growth) in growth {
            for place in self.sums(*column, kind) {
                sums[*place] += i128::from(*growth);
            }
        }
    }

    /// Returns the positions of the sums that a column counts in on a target of this kind, in order.
    pub fn sums(&self, column: Column, kind: TargetKind) -> &[usize] {
        let places = self.places.get(&column);
        places.map_or(&[], |places| &places[usize::from(kind != TargetKind::Mdt)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::operation::{READ, find};

    #[test]
    fn columns_count_in_their_sums_and_metadata_on_mdts_alone() {
        let metadata = Sum::metadata_calls().on_mdt();
        let counting = Counting::new(&[Sum::service_time(), Sum::service_calls(), metadata]);
        let [getattr, mknod] = ["getattr", "mknod"].map(|it| find(it.as_bytes()).unwrap());
        let growth = [
            (Column::Total(getattr), 3),
            (Column::Usecs(getattr), 50),
            (Column::Total(READ), 4),
            // An open has counted it.
            (Column::Total(mknod), 9),
        ];
        let mut sums = [1; 3];
        counting.add(&growth, TargetKind::Mdt, &mut sums);
        assert_eq!(sums, [51, 8, 4]);
        counting.add(&growth, TargetKind::Ost, &mut sums);
        assert_eq!(sums, [101, 15, 4]);
        assert_eq!(
            counting.sums(Column::Total(getattr), TargetKind::Mdt),
            [1, 2]
        );
    }
}
