//! The sizes of reads and writes.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Filters, SizeRow, Sizes, Window};
use jobstats_core::quantity::Quantity;

use crate::chart::bars::standing;
use crate::chart::{Chart, Words};
use crate::html::{Block, Cell, Figure, Table};
use crate::inquiry::Error;
use crate::number::Number;
use crate::store::Store;
use crate::subject::number;

/// The longest window whose sizes are asked for. Only increments have them, which takes a while to read.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);

/// Asks for the histogram.
pub fn ask(
    store: &mut Store,
    window: (Timestamp, Timestamp),
    filters: &Filters,
) -> Result<Vec<Block>, Error> {
    let start = window.1.checked_sub(LONGEST).unwrap_or(window.0);
    let is_cut = start > window.0;
    let window = (start.max(window.0), window.1);
    let sizes = store.ask(&Sizes {
        window: Window::new(window.0, window.1),
        by: None,
        filters: filters.clone(),
    })?;
    let mut edges: Vec<_> = sizes.rows.iter().filter_map(|row| row.lower).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut blocks = Vec::new();
    if is_cut {
        blocks.push(Block::Text(
            "These are the sizes of the last 24 hours of the window.".to_owned(),
        ));
    }
    for row in sizes.rows.iter().filter(|row| row.known_from == "sums") {
        blocks.push(Block::Text(sums(row)));
    }
    if edges.is_empty() {
        if sizes.rows.is_empty() {
            blocks.push(Block::Text("No sizes are known in this window.".to_owned()));
        }
        blocks.push(Block::Statements(vec![(
            "Sizes".to_owned(),
            sizes.statement,
        )]));
        return Ok(blocks);
    }
    let upper = |lower: i64| {
        let row = sizes.rows.iter().find(|row| row.lower == Some(lower));
        match row.and_then(|row| row.upper) {
            Some(upper) => binary(upper),
            None => "more".to_owned(),
        }
    };
    let names: Vec<_> = edges.iter().map(|edge| upper(*edge)).collect();
    let count = |operation: &str| {
        let counts = edges.iter().map(|edge| {
            let is_this = |row: &&SizeRow| row.operation == operation && row.lower == Some(*edge);
            sizes
                .rows
                .iter()
                .find(is_this)
                .map_or(0.0, |row| number(row.count))
        });
        counts.collect::<Vec<_>>()
    };
    let series = [
        ("reads", count("read_bytes")),
        ("writes", count("write_bytes")),
    ];
    let words = Words {
        title: "Calls, by their size up to".to_owned(),
        description: commonest(&series, &names),
    };
    let print = |count: f64| Number::of(Some(count), "open", Quantity::Total).text();
    let chart = Chart::new(|size| standing(&words, &names, &series, print, size));
    let rows = sizes
        .rows
        .iter()
        .filter(|row| row.lower.is_some())
        .map(|row| {
            let name = if row.operation == "read_bytes" {
                "read"
            } else {
                "write"
            };
            let cells = vec![
                Cell::text(name),
                Cell::text(&row.upper.map_or_else(|| "more".to_owned(), binary)),
                Cell::number(print(number(row.count))),
                Cell::number(Number::percent(Some(row.share)).text()),
            ];
            (number(row.count), cells)
        });
    let table = Table::new("calls by size", &["Call", "Up to", "#Calls", "#Part"]);
    blocks.push(Block::Figure(Box::new(Figure {
        heading: "How large reads and writes were".to_owned(),
        caption: format!(
            "Servers count each read and write by its size. {} Small ones cost nearly as much as large ones: a program that \
             moves its bytes in calls of under 64 KiB keeps servers busy with little.",
            words.description
        ),
        charts: vec![chart],
        table: table.largest(rows.collect()),
        statements: vec![("Sizes".to_owned(), sizes.statement)],
    })));
    Ok(blocks)
}

/// Says which size was the most frequent.
fn commonest(series: &[(&str, Vec<f64>)], names: &[String]) -> String {
    let said = series.iter().filter_map(|(kind, counts)| {
        let whole: f64 = counts.iter().sum();
        let most = counts.iter().enumerate();
        let (at, count) = most.max_by(|one, other| one.1.total_cmp(other.1))?;
        let share = Number::percent(Some(count / whole)).text();
        (whole > 0.0).then(|| format!("{share} of {kind} were of the size up to {}.", names[at]))
    });
    said.collect::<Vec<_>>().join(" ")
}

fn sums(row: &SizeRow) -> String {
    let name = if row.operation == "read_bytes" {
        "reads"
    } else {
        "writes"
    };
    let count = Number::of(Some(number(row.count)), "open", Quantity::Total).text();
    let mean = Number::of(row.mean, "bytes", Quantity::PerCall).text();
    format!(
        "Of {count} {name}, whose servers print no histograms, only the mean size is known: {mean}."
    )
}

/// Prints a power of two as memory is counted.
fn binary(bytes: i64) -> String {
    let units = [(1_i64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| bytes >= *size);
    match unit {
        Some((size, name)) => format!("{} {name}", bytes / size),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_in_powers_of_two() {
        assert_eq!(binary(512), "512 B");
        assert_eq!(binary(4096), "4 KiB");
        assert_eq!(binary(1 << 22), "4 MiB");
        let names = ["4 KiB".to_owned(), "1 MiB".to_owned()];
        let series = [("reads", vec![1.0, 3.0]), ("writes", vec![0.0, 0.0])];
        assert_eq!(
            commonest(&series, &names),
            "75 % of reads were of the size up to 1 MiB."
        );
    }
}
