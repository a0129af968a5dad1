//! The users, accounts and jobs that made most of the load.

use std::collections::HashMap;

use jobstats_client::answers::{Dimension, Filters, Group, Rates, Top, TopRow, Window, exactly};

use super::{Scope, by_user, change, user};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::html::{Block, Cell, Table};
use crate::values::number::{Number, UNKNOWN};
use crate::values::text::shown;

/// The number of rows of each table.
const ROWS: i32 = 8;

/// The rates of groups a week before, by their keys; the work of no user or account has none.
type Before = HashMap<Option<String>, f64>;

/// The answers behind the three tables.
struct Leaders<'s> {
    scope: &'s Scope,
    /// True if the week before was observed, so that a group without a rate then is new.
    has_before: bool,
    statements: Vec<(String, String)>,
}

/// Asks for the three tables, and returns them with their statements.
pub fn ask(store: &mut Store, scope: &Scope, has_before: bool) -> Result<Vec<Block>, Error> {
    let mut leaders = Leaders {
        scope,
        has_before,
        statements: Vec::new(),
    };
    let tables = vec![
        leaders.users(store)?,
        leaders.accounts(store)?,
        leaders.jobs(store)?,
    ];
    Ok(vec![
        Block::Tables(tables),
        Block::Statements(leaders.statements),
    ])
}

impl Leaders<'_> {
    fn top(
        &mut self,
        store: &mut Store,
        title: &str,
        by: Vec<Dimension>,
    ) -> Result<Vec<TopRow>, Error> {
        let top = store.ask(&Top {
            window: Window::new(self.scope.window.0, self.scope.window.1),
            operation: Some(self.scope.measure.to_owned()),
            by: Some(by),
            n: Some(ROWS),
            filters: self.scope.filters(),
            ..Top::default()
        })?;
        self.statements.push((title.to_owned(), top.statement));
        Ok(top.rows)
    }

    fn users(&mut self, store: &mut Store) -> Result<Table, Error> {
        let rows = self.top(store, "Users", by_user())?;
        // No filter lets work without a user through, so if it is a leader, all users are asked for.
        let filters = Filters {
            uid: rows.iter().map(|row| row.group.uid).collect(),
            ..self.scope.filters()
        };
        let key = |group: &Group| group.uid.map(|uid| uid.to_string());
        let before = self.before(store, by_user(), filters, key)?;
        let named = |row: &TopRow| (user(&row.group), key(&row.group));
        Ok(self.table(("Users", "User"), &rows, &before, named))
    }

    fn accounts(&mut self, store: &mut Store) -> Result<Table, Error> {
        let by = vec![Dimension::Account];
        let rows = self.top(store, "Accounts", by.clone())?;
        let names = rows
            .iter()
            .map(|row| row.group.account.as_deref().map(exactly));
        let filters = Filters {
            account: names.collect(),
            ..self.scope.filters()
        };
        let before = self.before(store, by, filters, |group| group.account.clone())?;
        let named = |row: &TopRow| {
            let name = row.group.account.as_deref();
            let shown = name.map_or_else(|| "(no account)".to_owned(), shown);
            (shown, row.group.account.clone())
        };
        let mut table = self.table(("Accounts", "Account"), &rows, &before, named);
        if rows.iter().all(|row| row.group.account.is_none()) {
            table.note = Some("No accounting of a scheduler says whose work it is.".to_owned());
        }
        Ok(table)
    }

    /// Asks for the rates of the same groups a week before.
    fn before(
        &self,
        store: &mut Store,
        by: Vec<Dimension>,
        filters: Filters,
        key: impl Fn(&Group) -> Option<String>,
    ) -> Result<Before, Error> {
        let window = self.scope.before();
        let rates = store.ask(&Rates {
            window: Window::new(window.0, window.1),
            operations: Some(vec![self.scope.measure.to_owned()]),
            by: Some(by),
            step: None,
            filters,
        })?;
        let rates = rates.rows.iter();
        Ok(rates
            .filter_map(|row| Some((key(&row.group), row.rate?)))
            .collect())
    }

    /// Returns the table of groups, whose names and keys are given.
    fn table(
        &self,
        (caption, title): (&str, &str),
        rows: &[TopRow],
        before: &Before,
        named: impl Fn(&TopRow) -> (String, Option<String>),
    ) -> Table {
        let cells = rows.iter().map(|row| {
            let (name, key) = named(row);
            let change = match self.has_before {
                true => change(row.rate, before.get(&key).copied()),
                false => UNKNOWN.to_owned(),
            };
            let [part, rate] = self.rate(row, rows);
            vec![Cell::text(&name), part, rate, Cell::number(change)]
        });
        let mut table = Table::new(caption, &[title, "#Part", self.title(), "#Change"]);
        table.rows = cells.collect();
        table.note = self
            .has_before
            .then(|| "Change: against the same time a week before.".to_owned());
        table
    }

    /// Returns the part of all work, with its bar, and the rate.
    fn rate(&self, row: &TopRow, rows: &[TopRow]) -> [Cell; 2] {
        let most = rows.first().and_then(|row| row.rate).unwrap_or(1.0);
        let part = Number::percent(row.share).text();
        let bar = Cell::bar(part, row.rate.unwrap_or(0.0) / most);
        [bar, self.scope.cell(row.rate)]
    }

    fn title(&self) -> &'static str {
        match self.scope.measure {
            "service_time" => "#In service",
            "bytes" => "#Bytes",
            _ => "#Metadata",
        }
    }

    fn jobs(&mut self, store: &mut Store) -> Result<Table, Error> {
        let by = vec![
            Dimension::Job,
            Dimension::UserName,
            Dimension::Uid,
            Dimension::JobName,
        ];
        let rows = self.top(store, "Jobs", by)?;
        let cells = rows.iter().map(|row| {
            let job = match (&row.group.job, &row.group.job_name) {
                (Some(job), Some(name)) => format!("{} {}", shown(job), shown(name)),
                (Some(job), None) => shown(job),
                (None, _) => "(no job)".to_owned(),
            };
            let user = Cell::text(&user(&row.group));
            let [part, rate] = self.rate(row, &rows);
            vec![Cell::text(&job), part, rate, user]
        });
        let cells = cells.collect();
        let mut table = Table::new("Jobs", &["Job", "#Part", self.title(), "User"]);
        table.rows = cells;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn work_without_an_account_is_compared_too() {
        let scope = Scope {
            filesystem: "scratch".to_owned(),
            cluster: None,
            window: (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH),
            targets: Vec::new(),
            measure: "service_time",
        };
        let leaders = Leaders {
            scope: &scope,
            has_before: true,
            statements: Vec::new(),
        };
        let row = |account: Option<&str>| TopRow {
            rank: 1,
            group: Group {
                account: account.map(str::to_owned),
                ..Group::default()
            },
            operation: "service_time".to_owned(),
            total: None,
            rate: Some(3.0),
            share: Some(1.0 / 3.0),
            calls: None,
            per_call: None,
            coverage: 1.0,
        };
        let rows = [row(None), row(Some("physics")), row(Some("chemistry"))];
        let before = Before::from([(None, 2.0), (Some("physics".to_owned()), 3.0)]);
        let named = |row: &TopRow| (String::new(), row.group.account.clone());
        let table = leaders.table(("Accounts", "Account"), &rows, &before, named);
        let changes: Vec<_> = table.rows.iter().map(|row| row[3].text.as_str()).collect();
        assert_eq!(changes, ["+50 %", "±0 %", "new"]);
        let texts: Vec<_> = table.rows[0]
            .iter()
            .map(|cell| cell.text.as_str())
            .collect();
        assert_eq!(texts, ["", "33 %", "3.00", "+50 %"]);
    }
}
