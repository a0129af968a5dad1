//! The targets of a file system beside each other.

use jobstats_client::answers::{Balance, BalanceRow, Window, exactly};
use jobstats_core::quantity::Quantity;

use super::Scope;
use crate::chart::bars::{Bar, horizontal};
use crate::chart::{Chart, Words};
use crate::html::{Block, Cell, Figure, Table};
use crate::inquiry::Error;
use crate::number::Number;
use crate::store::Store;
use crate::text::shown;

/// The largest number of targets that are drawn.
const TARGETS: usize = 40;

/// The comparisons: the operation, the kind of its targets, and the heading.
const COMPARED: [(&str, &str, &str); 3] = [
    ("write_bytes", "OST", "Bytes written to each OST"),
    ("read_bytes", "OST", "Bytes read from each OST"),
    ("metadata", "MDT", "Metadata requests of each MDT"),
];

/// Asks for the pictures.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let mut blocks = Vec::new();
    for (operation, kind, heading) in COMPARED {
        let balance = store.ask(&Balance {
            window: Window::new(scope.window.0, scope.window.1),
            operation: Some(operation.to_owned()),
            cluster: scope.cluster.as_ref().map(|name| vec![exactly(name)]),
            filesystem: Some(vec![exactly(&scope.filesystem)]),
            kind: Some(vec![kind.to_owned()]),
            target: None,
        })?;
        if balance.rows.len() > 1 {
            blocks.push(figure(
                (operation, heading),
                balance.rows,
                balance.statement,
            ));
        }
    }
    if blocks.is_empty() {
        let text = "There are no two targets of a kind that could be compared.";
        blocks.push(Block::Text(text.to_owned()));
    }
    Ok(blocks)
}

fn figure(
    (operation, heading): (&str, &str),
    mut rows: Vec<BalanceRow>,
    statement: String,
) -> Block {
    rows.sort_by(|one, other| {
        other
            .rate
            .unwrap_or(-1.0)
            .total_cmp(&one.rate.unwrap_or(-1.0))
    });
    let print = |rate| Number::of(rate, operation, Quantity::Rate).text();
    let who = |row: &BalanceRow| {
        let number = row.uid.map(|uid| uid.to_string());
        let user = row.user_name.clone().or(number);
        user.map_or_else(|| "–".to_owned(), |user| shown(&user))
    };
    let bars = rows.iter().take(TARGETS).map(|row| {
        let mut label = print(row.rate);
        if let (Some(share), true) = (row.share, row.rate > Some(0.0)) {
            let share = Number::percent(Some(share)).text();
            label.push_str(&format!(", {share} of {}", who(row)));
        }
        Bar {
            name: row.target.clone(),
            value: row.rate,
            label,
        }
    });
    let bars: Vec<_> = bars.collect();
    let median = rows.iter().find_map(|row| {
        let median = row.rate? / row.ratio?;
        median.is_finite().then_some(median)
    });
    let line = median.map(|median| (median, format!("median {}", print(Some(median)))));
    let words = Words {
        title: heading.to_owned(),
        description: format!("{} targets, largest first.", rows.len()),
    };
    let chart = Chart::new(|size| horizontal(&words, &bars, line.clone(), size));
    let largest = rows.first().and_then(|row| {
        let ratio = Number::of(Some(row.ratio?), "service_time", Quantity::Rate).text();
        let name = shown(&row.target);
        Some(format!("{name} has {ratio} times the median. "))
    });
    let advice = match operation {
        "metadata" => {
            "If one user has most of a long bar, that user probably has a busy directory there."
        }
        _ => {
            "If one user has most of a long bar, that user's files are probably not striped, or a pool has only one target."
        }
    };
    let mut caption = format!(
        "{}Beside each bar is its largest user and that user's share. {advice}",
        largest.unwrap_or_default()
    );
    if rows.len() > TARGETS {
        caption.push_str(&format!(
            " The {TARGETS} largest of {} are drawn.",
            rows.len()
        ));
    }
    let cells = rows.iter().map(|row| {
        let cells = vec![
            Cell::text(&row.target),
            Cell::number(print(row.rate)),
            Cell::number(Number::of(row.ratio, "service_time", Quantity::Rate).text()),
            Cell::text(&who(row)),
            Cell::text(row.account.as_deref().unwrap_or("–")),
            Cell::text(row.workload.as_deref().unwrap_or("–")),
            Cell::number(Number::percent(row.share).text()),
        ];
        (row.rate.unwrap_or(-1.0), cells)
    });
    let columns = [
        "Target",
        "#Rate",
        "#÷ median",
        "Most by",
        "Account",
        "Workload",
        "#Part",
    ];
    Block::Figure(Box::new(Figure {
        heading: heading.to_owned(),
        caption,
        charts: vec![chart],
        table: Table::new("targets, largest first", &columns).largest(cells.collect()),
        statements: vec![(heading.to_owned(), statement)],
    }))
}
