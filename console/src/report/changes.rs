//! The users, or the jobs of a user by their names, that did more or less than in the week before.

use jobstats_client::Decimal;
use jobstats_client::answers::{ChangeRow, Changes, Dimension, words};
use jobstats_core::output::quantity::Quantity;

use super::vocabulary::*;

/// The number of groups with a row.
const GROUPS: i32 = 10;

/// The operations that are compared.
const OPERATIONS: [(&str, &str); 4] = [
    ("service_time", "Requests in service"),
    ("metadata", "Metadata requests"),
    ("read_bytes", "Bytes read"),
    ("write_bytes", "Bytes written"),
];

/// Loads the changes; empty if the week before is unknown.
pub fn ask(store: &mut Store, scope: &Scope, load: &Load) -> Result<Vec<Block>, Error> {
    if load.before.is_empty() {
        return Ok(Vec::new());
    }
    let seconds = when::seconds(scope.window);
    let (by, column, who) = match scope.is_own() {
        true => (Dimension::JobName, "Job name", "job names with"),
        false => (Dimension::User, "User", "users with"),
    };
    let (mut tables, mut statements) = (Vec::new(), Vec::new());
    for (operation, title) in OPERATIONS {
        if operation == "service_time" && !scope.measure.is_time() {
            continue;
        }
        let (work, before) = (scope.work(), scope.week_before().window);
        let changes = store.ask(&Changes {
            window: work.window(),
            operation: Some(operation.to_owned()),
            by: words([by]),
            baseline_since: Some(before.0),
            baseline_until: Some(before.1),
            n: Some(GROUPS),
            filter: work.filters,
        })?;
        if !changes.rows.is_empty() {
            tables.push(table((title, column), operation, seconds, &changes.rows));
        }
        statements.push((title.to_owned(), changes.statement));
    }
    let text = format!(
        "The {who} the largest changes from the same time a week before, by mean rate. The rows add up to the total. Share: share of the \
         net change. Of rises: share of all increases."
    );
    Ok(vec![
        Block::text(text),
        Block::Tables(tables),
        Block::Statements(statements),
    ])
}

/// Returns a table of the groups, all others, and all.
fn table(
    (title, column): (&str, &'static str),
    operation: &str,
    seconds: f64,
    changes: &[ChangeRow],
) -> Table {
    let sum = |value: fn(&ChangeRow) -> Decimal| changes.iter().map(value).sum::<Decimal>();
    let all = [sum(|it| it.before), sum(|it| it.after), sum(|it| it.change)];
    let row = |name: String, [before, after, change]: [Decimal; 3], parts: [Option<f64>; 2]| {
        let rate = |total| number(total) / seconds;
        let size = |rate| Number::fixed(Some(rate), operation, Quantity::Rate).text();
        [
            (column, Cell::text(&name)),
            ("Before", Cell::rate(rate(before), operation)),
            ("After", Cell::rate(rate(after), operation)),
            ("Change", Cell::number(difference(rate(change), size))),
            ("Share", Cell::percent(parts[0])),
            ("Of rises", Cell::percent(parts[1])),
        ]
    };
    let rows = changes.iter().map(|it| {
        let name = match it.labels.others {
            Some(others) => format!("all others ({others})"),
            None if column == "User" => user(&it.labels),
            None => named(&it.labels, Dimension::JobName, "name"),
        };
        let amounts = [it.before, it.after, it.change];
        row(name, amounts, [it.share, it.share_of_rise])
    });
    let parts = [|it: &ChangeRow| it.share, |it: &ChangeRow| it.share_of_rise];
    let parts = parts.map(|part| changes.iter().find_map(part).map(|_| 1.0));
    Table::new(title, rows.chain([row("all".to_owned(), all, parts)]))
}

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Group;

    use super::*;

    fn row(name: Option<&str>, before: i64, after: i64) -> ChangeRow {
        ChangeRow {
            share: Some(0.5),
            share_of_rise: (after > before).then_some(1.0),
            before: before.into(),
            after: after.into(),
            change: (after - before).into(),
            labels: Group {
                user: name.map(str::to_owned),
                others: name.is_none().then_some(7),
                ..Group::default()
            },
        }
    }

    #[test]
    fn rows_add_up_to_all() {
        let changes = [
            row(Some("ada"), 700, 0),
            row(Some("bo"), 100, 300),
            row(None, 50, 40),
        ];
        let table = table(("Load", "User"), "service_time", 100.0, &changes);
        let texts = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
        let texts: Vec<_> = table.rows.iter().map(texts).collect();
        assert_eq!(texts[0], ["ada", "7.00", "0", "−7.00", "50 %", "–"]);
        assert_eq!(texts[1], ["bo", "1.00", "3.00", "+2.00", "50 %", "100 %"]);
        assert_eq!(
            texts[2],
            ["all others (7)", "0.500", "0.400", "−0.100", "50 %", "–"]
        );
        assert_eq!(texts[3], ["all", "8.50", "3.40", "−5.10", "100 %", "100 %"]);
    }
}
