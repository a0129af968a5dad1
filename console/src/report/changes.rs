//! The users that did more or less than in the week before.

use std::collections::BTreeMap;

use jobstats_client::answers::TopRow;
use jobstats_core::quantity::Quantity;

use super::vocabulary::*;

/// The number of users whose rates are compared.
const USERS: i32 = 1000;

/// The number of rows of a table.
const ROWS: usize = 10;

/// The part of the rate a week before from which on a difference is a change.
const LEAST: f64 = 0.05;

/// The operations that are compared.
const OPERATIONS: [(&str, &str); 4] = [
    ("service_time", "Requests in service"),
    ("metadata", "Metadata requests"),
    ("read_bytes", "Bytes read"),
    ("write_bytes", "Bytes written"),
];

/// Asks for the changes.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let mut tables = Vec::new();
    let mut statements = Vec::new();
    for (operation, title) in OPERATIONS {
        if operation == "service_time" && !scope.measure.is_time() {
            continue;
        }
        let now = scope.work().top(store, operation, &USER, USERS)?;
        let before = scope.week_before().top(store, operation, &USER, USERS)?;
        if before.rows.is_empty() {
            let text = "There is no data for the week before, so nothing can be compared.";
            return Ok(vec![Block::text(text)]);
        }
        tables.push(table(title, operation, &now.rows, &before.rows));
        statements.push((format!("{title}, this window"), now.statement));
        statements.push((format!("{title}, a week before"), before.statement));
    }
    let statements = Block::Statements(statements);
    if tables.iter().all(|table| table.rows.is_empty()) {
        let text = "No user changed by 5 % or more against the week before.";
        return Ok(vec![Block::text(text), statements]);
    }
    let text = "These users differ most from the same time a week before, by mean rate. Changes under 5 % are left out.";
    Ok(vec![Block::text(text), Block::Tables(tables), statements])
}

/// Returns the users with the largest differences.
fn table(title: &str, operation: &str, now: &[TopRow], before: &[TopRow]) -> Table {
    let mut users: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for row in now {
        users.entry(user(&row.group)).or_default().0 += row.rate.unwrap_or(0.0);
    }
    for row in before {
        users.entry(user(&row.group)).or_default().1 += row.rate.unwrap_or(0.0);
    }
    let is_change =
        |(now, before): (f64, f64)| (now - before).abs() >= LEAST * before && now != before;
    let users = users.into_iter().filter(|(_, rates)| is_change(*rates));
    let mut users: Vec<_> = users.collect();
    let distance = |(_, (now, before)): &(String, (f64, f64))| (now - before).abs();
    users.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
    let size = |rate| Number::fixed(Some(rate), operation, Quantity::Rate).text();
    let rows = users.iter().take(ROWS).map(|(name, (now, before))| {
        let change = match *now > 0.0 {
            true => change(Some(*now), Some(*before)),
            false => "gone".to_owned(),
        };
        [
            ("User", Cell::text(name)),
            ("This window", Cell::rate(*now, operation)),
            ("Week before", Cell::rate(*before, operation)),
            ("Difference", Cell::number(difference(now - before, size))),
            ("Change", Cell::number(change)),
        ]
    });
    let mut table = Table::new(title, rows);
    if table.rows.is_empty() {
        table.note = Some("No user changed by 5 % or more.".to_owned());
    }
    table
}

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Group;

    use super::*;

    fn row(name: &str, rate: f64) -> TopRow {
        TopRow {
            rank: Some(1),
            group: Group {
                user_name: Some(name.to_owned()),
                ..Group::default()
            },
            operation: "service_time".to_owned(),
            total: None,
            rate: Some(rate),
            share: None,
            share_of_target: None,
            calls: None,
            per_call: None,
            coverage: 1.0,
        }
    }

    #[test]
    fn the_largest_difference_comes_first_in_either_direction() {
        let now = [row("ada", 10.0), row("bo", 3.0), row("cy", 1.04)];
        let before = [
            row("ada", 9.5),
            row("dee", 7.0),
            row("bo", 1.0),
            row("cy", 1.0),
        ];
        let table = table("Load", "service_time", &now, &before);
        let texts = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&table.rows[0]), ["dee", "0", "7.00", "−7.00", "gone"]);
        assert_eq!(
            texts(&table.rows[1]),
            ["bo", "3.00", "1.00", "+2.00", "× 3.0"]
        );
        assert_eq!(
            texts(&table.rows[2]),
            ["ada", "10.0", "9.50", "+0.500", "+5 %"]
        );
        // A change of 4 % is none.
        assert_eq!((table.rows.len(), table.note), (3, None));
    }

    #[test]
    fn without_a_change_a_table_says_so() {
        let table = table(
            "Load",
            "service_time",
            &[row("ada", 1.04)],
            &[row("ada", 1.0)],
        );
        assert!(table.rows.is_empty());
        assert_eq!(
            table.note.as_deref(),
            Some("No user changed by 5 % or more.")
        );
    }
}
