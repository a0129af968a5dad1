//! Tables as lines of text.

use super::document::{Cell, Table};
use crate::values::text::{left, right, width};

/// The width down to which a column is cut.
const LEAST: usize = 6;

/// The columns that may be narrower or left out, by their titles, the first ones first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fit {
    pub cut: &'static [&'static str],
    pub dropped: &'static [&'static str],
}

/// Returns the titles and the rows of a table as aligned lines, which are fitted into so many cells.
pub fn aligned(table: &Table, cells: usize, fit: Fit) -> Vec<String> {
    let table = table.filled();
    let widest = |at: usize, title: &str| {
        let cells = table.rows.iter().filter_map(|row| row.get(at));
        let widths = cells.map(|it| width(&it.text)).chain([width(title)]);
        widths.max().unwrap_or_default()
    };
    let columns = table.columns.iter().enumerate();
    let columns = columns.map(|(at, (title, _))| (at, title, widest(at, title)));
    let mut columns: Vec<_> = columns.collect();
    for title in fit.cut {
        let over = over(&columns, cells);
        if let Some(column) = columns.iter_mut().find(|it| it.1 == title) {
            column.2 -= over.min(column.2.saturating_sub(LEAST));
        }
    }
    for title in fit.dropped {
        if over(&columns, cells) > 0 {
            columns.retain(|it| it.1 != title);
        }
    }
    let line = |text: &dyn Fn(usize) -> String| {
        let texts = columns.iter().map(|(at, _, width)| {
            let print = if table.columns[*at].1 { right } else { left };
            print(&text(*at), *width)
        });
        let line = texts.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned()
    };
    let titles = line(&|at| table.columns[at].0.to_lowercase());
    let text = |row: &[Cell], at: usize| row.get(at).map(|cell| cell.text.clone());
    let rows = table.rows.iter();
    let rows = rows.map(|row| line(&|at| text(row, at).unwrap_or_default()));
    [titles].into_iter().chain(rows).collect()
}

/// Returns the number of cells that the columns, with two blanks between them, are too wide.
fn over(columns: &[(usize, &String, usize)], cells: usize) -> usize {
    let taken: usize = columns.iter().map(|(.., width)| width + 2).sum();
    taken.saturating_sub(cells.saturating_add(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_give_way_in_their_order() {
        let row = |job: &str, name: &str, nodes: u32| {
            [
                ("Job", Cell::text(job)),
                ("Name", Cell::text(name)),
                ("User", Cell::text("")),
                ("Nodes", Cell::count(nodes)),
            ]
        };
        let table = Table::new("Jobs", [row("1", "a long name", 1), row("23", "b", 100)]);
        let fit = Fit {
            cut: &["Name"],
            dropped: &["Nodes", "Name"],
        };
        let lines = |cells| aligned(&table, cells, fit);
        let whole = [
            "job  name         nodes",
            "1    a long name      1",
            "23   b              100",
        ];
        assert_eq!(lines(23), whole);
        assert_eq!(lines(18)[1], "1    a lon…      1");
        assert_eq!(lines(17), ["job  name", "1    a lon…", "23   b"]);
        assert_eq!(lines(5), ["job", "1", "23"]);
        assert_eq!(aligned(&Table::default(), 5, fit), [""]);
    }
}
