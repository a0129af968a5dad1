//! The operation columns of `jobstats.increments`, which follow from the list of operations, and [sums](sum) over them.

pub mod sum;

use crate::base::operation::{Kind, OPERATIONS, Operation};
use crate::rules::increment::Column;

/// Returns all operation columns with their names, in the order of the table: totals first, then time spent.
pub fn operation_columns() -> impl Iterator<Item = (Column, String)> {
    let all = OPERATIONS.iter().enumerate();
    let timed = all.clone().filter(|(_, it)| it.kind == Kind::Requests);
    let totals = all.map(|(index, it)| (Column::Total(index), it.name.to_owned()));
    let times = timed.map(|(index, it)| (Column::Usecs(index), usecs_name(it)));
    totals.chain(times)
}

/// Returns the name of the column that holds the time spent in an operation.
pub fn usecs_name(operation: &Operation) -> String {
    format!("{}_usecs", operation.name)
}

/// Returns the text of COMMENT ON for a column that holds a sum.
pub fn meaning(column: Column) -> String {
    described(column, "", "")
}

/// Returns the text of COMMENT ON for a column that holds a rate.
pub fn meaning_of_rate(column: Column) -> String {
    let note = "; a million is one call in service on average";
    described(column, " per second", note)
}

fn described(column: Column, per: &str, note: &str) -> String {
    let (unit, operation) = (column.unit(), &OPERATIONS[column.operation()]);
    match column {
        Column::Total(_) => format!("{unit}{per}: {}", operation.meaning),
        Column::Usecs(_) => format!(
            "{unit}{per} that the server spent on {}{note}; NULL before Lustre 2.14",
            operation.name
        ),
    }
}

/// Returns a list of columns with these names and types, each as in `pattern`, such as `row.{name}` or `{name} {type}`.
pub fn list(columns: &[(&str, &str)], pattern: &str) -> String {
    let columns = columns.iter();
    let columns =
        columns.map(|(name, of_type)| pattern.replace("{name}", name).replace("{type}", of_type));
    columns.collect::<Vec<_>>().join(", ")
}

/// Returns the arrays of columns with these names and types as parameters of a statement, from `$first` on.
pub fn arrays(columns: &[(&str, &str)], first: usize) -> String {
    let columns = (first..).zip(columns);
    let columns = columns.map(|(n, (_, of_type))| format!("${n}::{of_type}[]"));
    columns.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::operation::{READ, READ_BYTES};

    #[test]
    fn totals_stand_before_times_which_bytes_do_not_have() {
        let columns: Vec<_> = operation_columns().collect();
        assert_eq!(
            columns[0],
            (Column::Total(READ_BYTES), "read_bytes".to_owned())
        );
        assert_eq!(columns[READ], (Column::Total(READ), "read".to_owned()));
        let requests = OPERATIONS.iter().filter(|it| it.kind == Kind::Requests);
        assert_eq!(columns.len(), OPERATIONS.len() + requests.count());
        let first_time = (Column::Usecs(READ), "read_usecs".to_owned());
        assert_eq!(columns[OPERATIONS.len()], first_time);
    }

    #[test]
    fn a_column_tells_its_unit() {
        let total = meaning(Column::Total(READ_BYTES));
        assert_eq!(total, "bytes: bytes read from the target");
        let rate = meaning_of_rate(Column::Total(READ));
        assert_eq!(rate, "calls per second: bulk read requests");
        let time = meaning(Column::Usecs(READ));
        assert!(time.starts_with("microseconds that the server spent on read;"));
        let time = meaning_of_rate(Column::Usecs(READ));
        assert!(time.starts_with("microseconds per second that the server spent on read;"));
    }
}
