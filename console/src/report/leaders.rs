//! The users, accounts and jobs that made most of the load.

use std::collections::HashMap;

use jobstats_client::answers::{Dimension, Filters, Rates, Top, TopRow, Window, exactly};

use super::{Scope, by_user, change, user};
use crate::html::{Block, Cell, Table};
use crate::inquiry::Error;
use crate::store::{Answered, Store};
use crate::text::shown;

/// The number of rows of each table.
const ROWS: i32 = 8;

/// Asks for the three tables.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Block, Error> {
    Ok(Block::Tables(vec![
        users(store, scope)?,
        accounts(store, scope)?,
        jobs(store, scope)?,
    ]))
}

fn top(store: &mut Store, scope: &Scope, by: Vec<Dimension>) -> Result<Answered<TopRow>, Error> {
    Ok(store.ask(&Top {
        window: Window::new(scope.window.0, scope.window.1),
        operation: Some(scope.measure.to_owned()),
        by: Some(by),
        n: Some(ROWS),
        filters: scope.filters(),
        ..Top::default()
    })?)
}

fn users(store: &mut Store, scope: &Scope) -> Result<Table, Error> {
    let top = top(store, scope, by_user())?;
    let names: Vec<_> = top.rows.iter().filter_map(|row| row.group.uid).collect();
    let filters = Filters {
        uid: Some(names),
        ..scope.filters()
    };
    let before = before(store, scope, by_user(), filters, |group| {
        group.uid.map(|uid| uid.to_string())
    })?;
    Ok(table("Users", "User", &top.rows, |row| {
        let key = row.group.uid.map(|uid| uid.to_string());
        (
            user(&row.group),
            key.and_then(|key| before.get(&key).copied()),
        )
    }))
}

fn accounts(store: &mut Store, scope: &Scope) -> Result<Table, Error> {
    let by = vec![Dimension::Account];
    let top = top(store, scope, by.clone())?;
    let names = top
        .rows
        .iter()
        .filter_map(|row| row.group.account.as_deref());
    let filters = Filters {
        account: Some(names.map(exactly).collect()),
        ..scope.filters()
    };
    let before = before(store, scope, by, filters, |group| group.account.clone())?;
    let mut table = table("Accounts", "Account", &top.rows, |row| {
        let name = row.group.account.as_deref();
        let rate = name.and_then(|name| before.get(name).copied());
        (name.map_or_else(|| "(no account)".to_owned(), shown), rate)
    });
    if top.rows.iter().all(|row| row.group.account.is_none()) {
        table.note = Some("No accounting of a scheduler says whose work it is.".to_owned());
    }
    Ok(table)
}

/// Asks for the rates of the same groups a week before.
fn before(
    store: &mut Store,
    scope: &Scope,
    by: Vec<Dimension>,
    filters: Filters,
    key: impl Fn(&jobstats_client::answers::Group) -> Option<String>,
) -> Result<HashMap<String, f64>, Error> {
    let window = scope.before();
    let rates = store.ask(&Rates {
        window: Window::new(window.0, window.1),
        operations: Some(vec![scope.measure.to_owned()]),
        by: Some(by),
        step: None,
        filters,
    })?;
    let rates = rates.rows.iter();
    Ok(rates
        .filter_map(|row| Some((key(&row.group)?, row.rate?)))
        .collect())
}

fn table(
    caption: &str,
    title: &str,
    rows: &[TopRow],
    named: impl Fn(&TopRow) -> (String, Option<f64>),
) -> Table {
    let most = rows.first().and_then(|row| row.rate).unwrap_or(1.0);
    let cells = rows.iter().map(|row| {
        let (name, before) = named(row);
        vec![
            Cell::text(&name),
            Cell::bar(rate(row), row.rate.unwrap_or(0.0) / most),
            Cell::number(change(row.rate, before)),
        ]
    });
    let mut table = Table::new(caption, &[title, "#In service", "#Change"]);
    table.rows = cells.collect();
    table.note = Some("Change: against the same time a week before.".to_owned());
    table
}

fn rate(row: &TopRow) -> String {
    use jobstats_core::quantity::Quantity;
    crate::number::Number::of(row.rate, &row.operation, Quantity::Rate).text()
}

fn jobs(store: &mut Store, scope: &Scope) -> Result<Table, Error> {
    let by = vec![
        Dimension::Job,
        Dimension::UserName,
        Dimension::Uid,
        Dimension::JobName,
    ];
    let top = top(store, scope, by)?;
    let most = top.rows.first().and_then(|row| row.rate).unwrap_or(1.0);
    let cells = top.rows.iter().map(|row| {
        let job = match (&row.group.job, &row.group.job_name) {
            (Some(job), Some(name)) => format!("{} {}", shown(job), shown(name)),
            (Some(job), None) => shown(job),
            (None, _) => "(no job)".to_owned(),
        };
        vec![
            Cell::text(&job),
            Cell::bar(rate(row), row.rate.unwrap_or(0.0) / most),
            Cell::text(&user(&row.group)),
        ]
    });
    let mut table = Table::new("Jobs", &["Job", "#In service", "User"]);
    table.rows = cells.collect();
    Ok(table)
}
