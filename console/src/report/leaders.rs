//! The users, accounts and jobs that made most of the load.

use jobstats_client::answers::{Dimension, Top, TopRow};

use super::vocabulary::*;

/// The number of rows of each table.
const ROWS: i32 = 8;

/// The name of work that is in no entry.
const UNTRACKED: &str = "(without identifier)";

/// The tables: captions with the titles of names, and the dimensions.
const TABLES: [(&str, &str, &[Dimension]); 3] = [
    ("Users", "User", &[Dimension::User]),
    ("Accounts", "Account", &[Dimension::Account]),
    (
        "Jobs",
        "Job",
        &[Dimension::Job, Dimension::User, Dimension::JobName],
    ),
];

/// Loads the tables and their statements.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let (mut tables, mut statements, mut rest) = (Vec::new(), Vec::new(), None);
    for (caption, title, by) in &TABLES[usize::from(scope.is_own())..] {
        let mut top = store.ask(&Top {
            untracked: Some(true),
            ..scope.work().ranking(scope.measure.name(), by, ROWS)
        })?;
        rest = top.rows.pop_if(|row| row.rank.is_none());
        rest = rest.filter(|rest| rest.share_of_target.is_some());
        statements.push(((*caption).to_owned(), top.statement));
        tables.push(table(scope, (caption, title, by), &top.rows, rest.as_ref()));
    }
    let mut blocks = vec![Block::Tables(tables)];
    blocks.extend(rest.map(|rest| Block::Text(said_of_rest(scope, &rest))));
    blocks.push(Block::Statements(statements));
    Ok(blocks)
}

/// Returns the share of the load without an entry ID.
fn said_of_rest(scope: &Scope, rest: &TopRow) -> String {
    let (share, rate) = (percent(rest.share_of_target), scope.rate(rest.rate));
    format!(
        "{share} of the load has no identifier: {rate} {} on average. Other shares are relative to the rest. See \"I/O in no entry\" in \
         docs/numbers.md.",
        scope.measure.words()
    )
}

/// Returns a table of groups, with the work that is in no entry last.
fn table(
    scope: &Scope,
    (caption, title, by): (&str, &'static str, &[Dimension]),
    rows: &[TopRow],
    rest: Option<&TopRow>,
) -> Table {
    let rates = rows.first().into_iter().chain(rest);
    let most = rates.filter_map(|row| row.rate).fold(0.0, f64::max);
    let rate_title = match scope.measure {
        Measure::ServiceTime => "In service",
        Measure::Bytes => "Bytes",
        Measure::Metadata => "Metadata",
    };
    let cells = rows.iter().chain(rest).map(|row| {
        let mut name = match row.rank {
            None => UNTRACKED.to_owned(),
            Some(_) => named(&row.labels, by[0], by[0].name()),
        };
        if let Some(job_name) = row.labels.text(Dimension::JobName) {
            name = format!("{name} {}", shown(&job_name));
        }
        let share = row.share.or(row.share_of_target);
        let part = Cell::bar(share, row.rate.unwrap_or(0.0) / most);
        let user = row.rank.filter(|_| by.len() > 1).map(|_| user(&row.labels));
        [
            (title, Cell::text(&name)),
            ("Share", part),
            (rate_title, scope.cell(row.rate)),
            ("User", Cell::name(user)),
        ]
    });
    let has_names =
        by[0] != Dimension::Account || rows.iter().any(|row| row.labels.account.is_some());
    let note = "No scheduler's accounting has the account of this I/O.";
    Table {
        note: (!has_names).then(|| note.to_owned()),
        ..Table::new(caption, cells)
    }
}

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Group;

    use super::*;
    use crate::testing::scope;

    #[test]
    fn work_without_an_identifier_comes_last() {
        let row = |account: Option<&str>| TopRow {
            rank: Some(1),
            share: Some(1.0 / 3.0),
            rate: Some(3.0),
            labels: Group {
                account: account.map(str::to_owned),
                ..Group::default()
            },
            ..TopRow::default()
        };
        let rest = TopRow {
            rank: None,
            rate: Some(6.0),
            share: None,
            share_of_target: Some(0.4),
            ..row(None)
        };
        let scope = scope(0);
        let of = |rows: &[TopRow]| table(&scope, TABLES[1], rows, Some(&rest)).filled();
        let accounts = of(&[row(Some("physics")), row(None)]);
        let texts: Vec<Vec<_>> = accounts
            .rows
            .iter()
            .map(|row| row.iter().map(|cell| cell.text.as_str()).collect())
            .collect();
        assert_eq!(
            texts,
            [
                ["physics", "33 %", "3.00"],
                ["(no account)", "33 %", "3.00"],
                ["(without identifier)", "40 %", "6.00"]
            ]
        );
        // The untracked row has the longest bar here, not the first row.
        let bars = accounts.rows.iter().map(|row| row[1].bar);
        assert_eq!(bars.collect::<Vec<_>>(), [Some(50), Some(50), Some(100)]);
        assert_eq!(accounts.note, None);
        assert!(of(&[row(None)]).note.is_some());
        assert!(
            said_of_rest(&scope, &rest).starts_with(
                "40 % of the load has no identifier: 6 requests in service on average."
            )
        );
    }
}
