//! The sizes of reads and writes.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jobstats_client::answers::{IoSizeRow, IoSizes, Window};
use jobstats_core::output::quantity::Quantity;

use super::vocabulary::*;
use crate::show::chart::bars::standing;

/// The longest window of the size histogram, which is read from increments and slow.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);

/// Loads the histogram.
pub fn ask(store: &mut Store, work: &Selection) -> Result<Vec<Block>, Error> {
    let (since, until) = work.window;
    let start = until.checked_sub(LONGEST).unwrap_or(since);
    let sizes = store.ask(&IoSizes {
        window: Window::new(start.max(since), until),
        by: None,
        filter: work.filters.clone(),
    })?;
    let mut blocks = Vec::new();
    if start > since {
        let text = "Sizes of the last 24 hours of the window.";
        blocks.push(Block::text(text));
    }
    let of_sums = sizes.rows.iter().filter(|row| row.source == "sums");
    blocks.extend(of_sums.map(|row| Block::Text(sums(row))));
    if sizes.rows.is_empty() {
        blocks.push(Block::text("No sizes were recorded in this window."));
    }
    let histograms = Histograms::of(&sizes.rows);
    let statements = vec![("Sizes".to_owned(), sizes.statement)];
    blocks.push(match histograms.uppers.is_empty() {
        true => Block::Statements(statements),
        false => histograms.figure(statements),
    });
    Ok(blocks)
}

/// The numbers of calls by size.
#[derive(Debug, Clone, PartialEq)]
struct Histograms {
    /// The largest call of each size in bytes, from the smallest size on; `None` for the last size, which has no end.
    uppers: Vec<Option<i64>>,
    /// The calls of each size.
    reads: Vec<f64>,
    /// The calls of each size.
    writes: Vec<f64>,
}

impl Histograms {
    fn of(rows: &[IoSizeRow]) -> Self {
        let mut sizes: BTreeMap<i64, (Option<i64>, f64, f64)> = BTreeMap::new();
        for row in rows {
            let Some(lower) = row.lower else {
                continue;
            };
            let size = sizes.entry(lower).or_insert((row.upper, 0.0, 0.0));
            match row.operation.as_str() {
                "read_bytes" => size.1 += number(row.calls),
                _ => size.2 += number(row.calls),
            }
        }
        Self {
            uppers: sizes.values().map(|size| size.0).collect(),
            reads: sizes.values().map(|size| size.1).collect(),
            writes: sizes.values().map(|size| size.2).collect(),
        }
    }

    fn kinds(&self) -> [(&'static str, &[f64]); 2] {
        [("reads", &self.reads), ("writes", &self.writes)]
    }

    fn figure(&self, statements: Statements) -> Block {
        let names = self.uppers.iter();
        let names = names.map(|upper| upper.map_or_else(|| "more".to_owned(), binary));
        let names: Vec<_> = names.collect();
        let middle = self.middle();
        let words = Words::new("Calls by size, up to", middle.clone().unwrap_or_default());
        let counted = "Servers count each read and write by its size.".to_owned();
        Block::from(Figure {
            heading: "Calls by size".to_owned(),
            caption: sentences([Some(counted), middle]),
            chart: standing(&words, &names, &self.kinds(), calls),
            table: self.table(&names),
            statements,
        })
    }

    /// Returns the median size of each kind of call, in words.
    fn middle(&self) -> Option<String> {
        let mut are = " are";
        let said = self.kinds().into_iter().filter_map(|(kind, counts)| {
            let parts = cumulated(counts)?;
            let at = parts.iter().position(|part| *part >= 0.5)?;
            let are = std::mem::take(&mut are);
            Some(match self.uppers[at] {
                Some(upper) => {
                    let (part, upper) = (percent(parts[at]), binary(upper));
                    format!("{part} of {kind}{are} at most {upper}")
                }
                None => format!("most {kind}{are} larger than all counted sizes"),
            })
        });
        joined(said).map(|said| format!("{}{}.", said[..1].to_uppercase(), &said[1..]))
    }

    /// Returns the sizes in order, with reads and writes side by side.
    fn table(&self, names: &[String]) -> Table {
        let kinds = [("Reads", &self.reads), ("Writes", &self.writes)]
            .map(|(title, counts)| (title, counts, cumulated(counts)));
        let rows = names.iter().enumerate().map(|(place, name)| {
            let mut cells = vec![("Up to", Cell::text(name))];
            for (title, counts, parts) in &kinds {
                let part = parts.as_ref().map(|parts| parts[place]);
                let count = Cell::value(counts[place], "open", Quantity::Total);
                cells.extend([(*title, count), ("Cumulative", Cell::percent(part))]);
            }
            cells
        });
        Table::new("calls by size", rows)
    }
}

/// Returns the cumulative shares of calls by size; `None` without calls.
fn cumulated(counts: &[f64]) -> Option<Vec<f64>> {
    let whole: f64 = counts.iter().sum();
    let mut sum = 0.0;
    let parts = counts.iter().map(|count| {
        sum += count;
        sum / whole
    });
    (whole > 0.0).then(|| parts.collect())
}

fn sums(row: &IoSizeRow) -> String {
    let name = match row.operation.as_str() {
        "read_bytes" => "reads",
        _ => "writes",
    };
    let (count, mean) = (calls(number(row.calls)), per_call(row.mean, "bytes"));
    format!(
        "For {count} {name}, on servers without histograms, only the mean size is known: {mean}."
    )
}

/// Prints a power of two as memory is counted.
fn binary(bytes: i64) -> String {
    let units = [(1_i64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| bytes >= *size);
    let (size, name) = unit.unwrap_or(&(1, "B"));
    format!("{} {name}", bytes / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_in_powers_of_two() {
        assert_eq!(binary(512), "512 B");
        assert_eq!(binary(4096), "4 KiB");
        assert_eq!(binary(1 << 22), "4 MiB");
    }

    fn histograms(reads: &[f64], writes: &[f64]) -> Histograms {
        Histograms {
            uppers: vec![
                Some(4 << 10),
                Some(64 << 10),
                Some(128 << 10),
                Some(1 << 20),
                None,
            ],
            reads: reads.to_vec(),
            writes: writes.to_vec(),
        }
    }

    #[test]
    fn parts_count_all_calls_up_to_a_size() {
        let sizes = histograms(&[20.0, 19.0, 22.0, 39.0, 0.0], &[5.0, 70.0, 20.0, 5.0, 0.0]);
        assert_eq!(
            sizes.middle().unwrap(),
            "61 % of reads are at most 128 KiB, 75 % of writes at most 64 KiB."
        );
        let large = histograms(&[0.0, 0.0, 0.0, 1.0, 9.0], &[0.0; 5]);
        assert_eq!(
            large.middle().unwrap(),
            "Most reads are larger than all counted sizes."
        );
        assert_eq!(histograms(&[0.0; 5], &[0.0; 5]).middle(), None);
    }

    #[test]
    fn the_table_is_sorted_by_size() {
        let row = |operation: &str, lower: i64, upper: Option<i64>, calls: i64| IoSizeRow {
            operation: operation.to_owned(),
            lower: Some(lower),
            upper,
            calls: calls.into(),
            ..IoSizeRow::default()
        };
        let rows = [
            row("read_bytes", 4096, Some(8192), 3),
            row("read_bytes", 0, Some(4096), 1),
            row("write_bytes", 1 << 30, None, 5),
        ];
        let sizes = Histograms::of(&rows);
        let table = sizes.table(&["4 KiB".to_owned(), "8 KiB".to_owned(), "more".to_owned()]);
        let texts = table.rows.iter().map(|row| {
            row.iter()
                .map(|cell| cell.text.as_str())
                .collect::<Vec<_>>()
        });
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [
                ["4 KiB", "1", "25 %", "0", "0 %"],
                ["8 KiB", "3", "100 %", "0", "0 %"],
                ["more", "0", "100 %", "5", "100 %"]
            ]
        );
    }
}
