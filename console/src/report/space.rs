//! Used space: the largest users, and those who added most in the window.

use std::cmp::{Ordering, Reverse};

use jobstats_client::Decimal;
use jobstats_client::answers::SpaceRow;
use jobstats_core::output::quantity::Quantity;

use super::vocabulary::*;
use crate::subject::space::{self, Space, targets};

/// The number of rows of a table.
const ROWS: usize = 10;

/// Loads the tables, unless the targets have no quota accounting.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let space = space::ask(store, scope.work().filters, scope.window)?;
    Ok(space.map_or_else(Vec::new, |space| blocks(space, &scope.clock)))
}

fn blocks(space: Space, clock: &Clock) -> Vec<Block> {
    let mut blocks = vec![
        Block::Text(said(&space, clock)),
        largest(&space).into(),
        added(&space).into(),
    ];
    blocks.extend(Block::notes(&space.answered.notes));
    blocks.push(Block::statement("Used space", space.answered.statement));
    blocks
}

/// Returns the total space, its growth, and its source, in words.
fn said(space: &Space, clock: &Clock) -> String {
    let Some(whole) = space.whole.first() else {
        return String::new();
    };
    let bytes = |bytes: Decimal| total(number(bytes), "bytes");
    let mut text = format!("All files use {}", bytes(whole.bytes));
    if let Some(inodes) = whole.inodes {
        text.push_str(&format!(" in {} inodes", calls(number(inodes))));
    }
    if let (Some(added), Some(since)) = (whole.added_bytes, space.since) {
        let (size, since) = (bytes(added.abs()), clock.minute(since));
        text.push_str(&match added.cmp(&Decimal::ZERO) {
            Ordering::Less => format!(", {size} less than at {since}"),
            Ordering::Equal => format!(", unchanged since {since}"),
            Ordering::Greater => format!(", {size} more than at {since}"),
        });
    }
    text.push_str(&format!(". Reported by {} targets", targets(whole)));
    let read = space.read().map(|read| clock.minute(read));
    let read = read.map(|read| format!("; the oldest report was read at {read}"));
    format!("{text}{}.", read.unwrap_or_default())
}

/// Returns the table of the largest users.
fn largest(space: &Space) -> Table {
    let rows = space.answered.rows.iter();
    let rows: Vec<_> = rows.filter(|row| !row.bytes.is_zero()).collect();
    let note = "Account: from the user's running or last ended job.";
    let has_account = rows.iter().any(|row| row.labels.account.is_some());
    Table {
        note: has_account.then(|| note.to_owned()),
        ..owners(space, "Largest users of space", &rows)
    }
}

/// Returns the table of the users who added most. It is empty if that is not known.
fn added(space: &Space) -> Table {
    let rows = space.answered.rows.iter();
    let mut rows: Vec<_> = rows
        .filter(|row| row.added_bytes > Some(Decimal::ZERO))
        .collect();
    rows.sort_by_key(|row| Reverse(row.added_bytes));
    let is_nobody = rows.is_empty() && space.since.is_some();
    Table {
        note: is_nobody.then(|| "No user added space.".to_owned()),
        ..owners(space, "Largest increases", &rows)
    }
}

/// Returns the table of the first of these owners.
fn owners(space: &Space, caption: &str, rows: &[&SpaceRow]) -> Table {
    let cells = rows.iter().take(ROWS).map(|row| {
        let owner = [
            ("User", Cell::name(row.labels.user.as_ref())),
            ("Account", Cell::name(row.labels.account.as_ref())),
        ];
        owner.into_iter().chain(amounts(space, row))
    });
    Table {
        more: rows.len().saturating_sub(ROWS),
        ..Table::new(caption, cells)
    }
}

/// Returns the cells of the space of a row and of its growth.
pub fn amounts(space: &Space, row: &SpaceRow) -> [(&'static str, Cell); 5] {
    let share = space.share(row);
    let amount = |amount: Option<Decimal>, operation| {
        Cell::value(amount.map(number), operation, Quantity::Total)
    };
    let change = |added: Option<Decimal>, operation| {
        let size = |added| Number::fixed(Some(added), operation, Quantity::Total).text();
        Cell::number(difference(added.map(number), size))
    };
    [
        ("Share", Cell::bar(share, share.unwrap_or(0.0))),
        ("Space", amount(Some(row.bytes), "bytes")),
        ("Added", change(row.added_bytes, "bytes")),
        ("Inodes", amount(row.inodes, "open")),
        ("Added", change(row.added_inodes, "open")),
    ]
}
