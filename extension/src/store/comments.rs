//! The comments on relations and columns of the store.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::pg::template::sql;
use crate::store::columns::{meaning, meaning_of_rate, operation_columns};
use crate::store::realtime;
use crate::store::rollup::{ALL, Owner, ROLLUPS, Rollup, views_of_all};
use crate::store::sum::COMBINED;

/// The relation and the column of a comment, and its text: for a relation, for a column of a relation, or for a column in all relations
/// that have it.
type Meaning = (Option<String>, Option<String>, String);

/// Sets the comments that are missing or have changed. All others stay as they are, so that running setup again is quick.
pub fn set(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let meanings = operations()
        .chain(ROLLUPS.iter().flat_map(of_rollup))
        .chain(of_all());
    let (relations, columns, texts): (Vec<_>, Vec<_>, Vec<_>) = meanings.collect();
    let statement = sql!(
        "comments/comments.sql",
        columns = include_str!("comments/columns.sql"),
        tables = include_str!("comments/tables.sql"),
        jobs = include_str!("comments/jobs.sql"),
        observations = include_str!("comments/observations.sql"),
        events = include_str!("comments/events.sql"),
        views = include_str!("comments/views.sql"),
    );
    let statements: Option<String> =
        client.execute_value(&statement, &values![relations, columns, texts])?;
    if let Some(statements) = statements {
        client.execute(&statements, &[])?;
    }
    Ok(())
}

/// Returns the meanings of the columns of operations: sums everywhere but in the views of rates.
fn operations() -> impl Iterator<Item = Meaning> {
    let sums = operation_columns()
        .map(|(column, name)| (None, Some(name), meaning(column)))
        .chain(COMBINED.map(|it| (None, Some(it.column.to_owned()), it.meaning.to_owned())));
    let views = ["rates".to_owned(), realtime::VIEW.to_owned()]
        .into_iter()
        .chain(ROLLUPS.iter().map(Rollup::rates));
    let rates = views.flat_map(|view| {
        operation_columns()
            .map(move |(column, name)| (Some(view.clone()), Some(name), meaning_of_rate(column)))
    });
    sums.chain(rates)
}

/// Returns the meanings of the views that have the rows of all rollups.
fn of_all() -> impl Iterator<Item = Meaning> {
    views_of_all().flat_map(|(view, _)| {
        let level = (
            Some(view.clone()),
            Some("level".to_owned()),
            "10m, 1h or 1d.".to_owned(),
        );
        let rows = format!(
            "Internal: the rows of {} of all levels, which a front reads at once.",
            view.replace(ALL.name, "…")
        );
        [(Some(view), None, rows), level]
    })
}

/// Returns the meanings of the relations of a rollup.
fn of_rollup(rollup: &Rollup) -> impl Iterator<Item = Meaning> {
    let (relation, width) = (rollup.relation(), rollup.width);
    let live = rollup.live();
    let mut texts = vec![
        (
            rollup.of_targets(),
            format!("Sums of target_increments over {width}, by target, always exact."),
        ),
        (
            rollup.rates(),
            format!(
                "Means over {width} with their dimensions: every operation divided by the seconds of its bucket. Use a condition on bucket for speed."
            ),
        ),
    ];
    for owner in rollup.owners() {
        let whose = match owner {
            Owner::User => " and user",
            Owner::Account => ", account and partition",
            Owner::Member => ", user, account and partition",
        };
        let text = format!(
            "Sums of {relation} by target{whose}, up to rollups.users_refreshed, except for the spans in dirty and the days in dirty_users."
        );
        texts.push((rollup.owned(owner), text));
    }
    let text = format!(
        "Sums of increments over {width}, up to rollups.refreshed, except for the spans in dirty; view {live} is up to date."
    );
    texts.push((relation, text));
    let text = format!(
        "Sums of increments over {width}, by target and entry, always exact. Use a condition on bucket for speed."
    );
    texts.push((live, text));
    let texts = texts.into_iter();
    texts.map(|(relation, text)| (Some(relation), None, text))
}

#[pg_extern(sql = false)]
fn jobstats_set_comments() -> SqlResult<()> {
    Ok(connect_mut(set)?)
}
