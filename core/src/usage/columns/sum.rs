//! Sums over operation columns, and the columns of rollups by user that hold the widest of them.

use super::usecs_name;
use crate::base::operation::{OPERATIONS, Operation};
use crate::base::target::TargetKind;

/// A column of rollups by user that holds a sum over many operations.
#[derive(Debug, Clone, Copy)]
pub struct Combined {
    /// The name of the column.
    pub column: &'static str,
    /// Returns the sum.
    pub sum: fn() -> Sum,
    /// The text of COMMENT ON for the column.
    pub meaning: &'static str,
}

/// The columns of rollups by user that hold sums over many operations. Adding these up for each question would take
/// longer than all the rest.
pub const COMBINED: [Combined; 4] = [
    Combined {
        column: "service_usecs",
        sum: Sum::service_time,
        meaning: "microseconds that the server spent on all operations; NULL before Lustre 2.14",
    },
    Combined {
        column: "service_calls",
        sum: Sum::service_calls,
        meaning: "calls of all operations, each counted once",
    },
    Combined {
        column: "metadata_usecs",
        sum: Sum::metadata_time,
        meaning: "microseconds that the server spent on metadata operations; NULL before Lustre 2.14",
    },
    Combined {
        column: "metadata",
        sum: Sum::metadata_calls,
        meaning: "calls of metadata operations",
    },
];

/// A sum over columns of `jobstats.increments`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    /// The columns.
    pub columns: Vec<String>,
    /// Set if only metadata targets count.
    pub mdt_only: bool,
    /// Set if the columns are times, which servers before Lustre 2.14 do not report.
    pub time: bool,
}

impl Sum {
    /// Returns the sum over one column.
    pub fn column(name: &str) -> Self {
        Self {
            columns: vec![name.to_owned()],
            ..Self::default()
        }
    }

    /// Returns the sum of the calls, or bytes, of operations.
    pub fn counts(operations: &[&Operation]) -> Self {
        Self {
            columns: operations.iter().map(|it| it.name.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Returns the sum of the microseconds spent on operations.
    pub fn times(operations: &[&Operation]) -> Self {
        Self {
            columns: operations.iter().map(|it| usecs_name(it)).collect(),
            time: true,
            ..Self::default()
        }
    }

    /// Returns the same sum over metadata targets only.
    pub fn on_mdt(mut self) -> Self {
        self.mdt_only = true;
        self
    }

    /// Returns whether columns of a target of this kind count.
    pub fn is_of(&self, kind: TargetKind) -> bool {
        !self.mdt_only || kind == TargetKind::Mdt
    }

    /// Returns the sum of all calls on which service time is spent, each of them counted once.
    pub fn service_calls() -> Self {
        Self::counts(&chosen(Operation::in_service_time))
    }

    /// Returns the sum of all time that servers spent. A target without any of it reports no times.
    pub fn service_time() -> Self {
        Self::times(&chosen(Operation::in_service_time))
    }

    /// Returns the sum of all calls that count as metadata.
    pub fn metadata_calls() -> Self {
        Self::counts(&chosen(|operation| operation.metadata))
    }

    /// Returns the sum of the time that servers spent on metadata.
    pub fn metadata_time() -> Self {
        Self::times(&chosen(|operation| operation.metadata))
    }

    /// Returns the column of rollups by user that holds this sum, for targets of any kind.
    pub fn combined(&self) -> Option<&'static str> {
        let mut combined = COMBINED.iter();
        let found = combined.find(|it| (it.sum)().columns == self.columns);
        found.map(|it| it.column)
    }

    /// Returns the sum in SQL, made of an expression for each column. The sum is NULL if all expressions are; a sum
    /// over several columns is NULL if it is zero, too.
    pub fn over(&self, expression: impl Fn(&str) -> String) -> String {
        match self.columns.as_slice() {
            [column] => expression(column),
            columns => {
                let term = |it: &String| format!("coalesce({}, 0)", expression(it));
                let terms: Vec<String> = columns.iter().map(term).collect();
                format!("nullif({}, 0)", terms.join(" + "))
            }
        }
    }
}

fn chosen(condition: impl Fn(&Operation) -> bool) -> Vec<&'static Operation> {
    OPERATIONS.iter().filter(|it| condition(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::operation::{READ, READ_BYTES};

    #[test]
    fn a_sum_over_one_column_is_the_column() {
        let sum = Sum::column("read_bytes");
        assert_eq!(sum.over(|column| format!("i.{column}")), "i.read_bytes");
    }

    #[test]
    fn a_sum_over_several_columns_takes_what_is_unknown_for_zero() {
        let sum = Sum::counts(&[&OPERATIONS[READ], &OPERATIONS[READ_BYTES]]);
        assert_eq!(
            sum.over(str::to_owned),
            "nullif(coalesce(read, 0) + coalesce(read_bytes, 0), 0)"
        );
    }

    #[test]
    fn combined_sums_are_found_by_their_columns() {
        for combined in COMBINED {
            assert_eq!((combined.sum)().combined(), Some(combined.column));
        }
        assert_eq!(Sum::column("read").combined(), None);
        let metadata = Sum::metadata_calls().on_mdt();
        assert_eq!(metadata.combined(), Some("metadata"));
    }
}
