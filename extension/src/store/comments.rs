//! The comments on relations and columns of the store.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements, connect_mut};
use crate::store::columns::{meaning, meaning_of_rate, operation_columns};
use crate::store::rollup::{Owner, ROLLUPS, Rollup};
use crate::store::sum::COMBINED;

/// The text of COMMENT ON for a relation, for a column of a relation, or for a column in all relations that have it.
struct Meaning {
    relation: Option<String>,
    column: Option<String>,
    text: String,
}

/// Sets the comments that are missing or have changed. All others stay as they are, so that running setup again is quick.
pub fn set(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let meanings: Vec<Meaning> = operations()
        .chain(ROLLUPS.iter().flat_map(of_rollup))
        .chain(ROLLUPS.iter().flat_map(of_owner))
        .collect();
    let column = |text: fn(&Meaning) -> Option<String>| -> Vec<Option<String>> {
        meanings.iter().map(text).collect()
    };
    let statements: Option<String> = client.execute_value(
        include_str!("comments/comments.sql"),
        &[
            column(|it| it.relation.clone()).into(),
            column(|it| it.column.clone()).into(),
            column(|it| Some(it.text.clone())).into(),
        ],
    )?;
    if let Some(statements) = statements {
        client.execute(&statements, &[])?;
    }
    Ok(())
}

/// Returns the meanings of the columns of operations: sums everywhere but in the views of rates.
fn operations() -> impl Iterator<Item = Meaning> {
    let sums = operation_columns()
        .map(|(column, name)| (name, meaning(column)))
        .chain(COMBINED.map(|it| (it.column.to_owned(), it.meaning.to_owned())))
        .map(|(name, text)| Meaning {
            relation: None,
            column: Some(name),
            text,
        });
    let views = ["rates".to_owned()]
        .into_iter()
        .chain(ROLLUPS.iter().map(Rollup::rates));
    let rates = views.flat_map(|view| {
        operation_columns().map(move |(column, name)| Meaning {
            relation: Some(view.clone()),
            column: Some(name),
            text: meaning_of_rate(column),
        })
    });
    sums.chain(rates)
}

/// Returns the meanings of the relations of a rollup.
fn of_rollup(rollup: &Rollup) -> Vec<Meaning> {
    let (relation, width) = (rollup.relation(), rollup.width);
    let live = rollup.live();
    let owned = rollup.owners().map(|owner| {
        let whose = match owner {
            Owner::User => " and user",
            Owner::Account => ", account and partition",
            Owner::Member => ", user, account and partition",
        };
        let text = format!(
            "Sums of {relation} by target{whose}, up to rollups.users_refreshed and but for the spans in dirty and the days in \
             dirty_users."
        );
        (rollup.owned(owner), text)
    });
    let owned: Vec<_> = owned.collect();
    let others = [
        (
            rollup.wholes(),
            format!("Sums of target_increments over {width}, by target, exact at any moment."),
        ),
        (
            relation,
            format!(
                "Sums of increments over {width}, up to rollups.refreshed and but for the spans in dirty; view {live} is up to \
                 date."
            ),
        ),
        (
            live,
            format!(
                "Sums of increments over {width}, by target and entry, exact at any moment. For speed, ask with a condition on \
                 bucket."
            ),
        ),
        (
            rollup.rates(),
            format!(
                "Means over {width} with their dimensions: every operation divided by the seconds of its bucket. For speed, ask \
                 with a condition on bucket."
            ),
        ),
    ];
    let all = owned.into_iter().chain(others);
    all.map(|(relation, text)| Meaning {
        relation: Some(relation),
        column: None,
        text,
    })
    .collect()
}

/// Returns the meanings of the columns that say whose the sums by user of a rollup are.
fn of_owner(rollup: &Rollup) -> impl Iterator<Item = Meaning> {
    let owners = rollup.owners().filter(|owner| *owner != Owner::Account);
    let relations = owners.map(|owner| rollup.owned(owner));
    relations.flat_map(|relation| {
        OWNER.iter().map(move |(column, text)| Meaning {
            relation: Some(relation.clone()),
            column: Some((*column).to_owned()),
            text: (*text).to_owned(),
        })
    })
}

const OWNER: [(&str, &str); 3] = [
    (
        "user_name",
        "Name of the user as the scheduler knows it, where the identifier names none; else NULL.",
    ),
    (
        "gid",
        "Number of the group as the scheduler knows it, where the identifier names no user; else NULL.",
    ),
    (
        "group_name",
        "Name of the group as the scheduler knows it, where the identifier names no user; else NULL.",
    ),
];

#[pg_extern(sql = false)]
fn jobstats_set_comments() -> SqlResult<()> {
    Ok(connect_mut(set)?)
}
