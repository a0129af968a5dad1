//! Looks up the entries or users that a question is about, if they are few.

use jobstats_core::instant::HOUR;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::query::dimension::Level;
use crate::query::filters::{Filters, bind_own};
use crate::query::params::Params;
use crate::query::plan::Plan;

/// The largest number of entries that a statement names one by one. The planner then looks up each of them in an index,
/// and in columnar batches by the bounds of the batches.
///
/// Rows of more entries are read and summed as if they were not filtered, and filtered when the sums are joined with their
/// entries. A subquery as a condition on the rows would be scanned, or searched, as often as the planner likes, which knows
/// too little about patterns.
const FEW: usize = 1000;

/// The largest number in a front, where each node has entries of its own for the same identifiers.
const FEW_OF_NODES: usize = 8000;

/// Returns a SELECT of the entries that the filters let through, on any day of the window if they are about jobs
/// or names.
pub fn entries(plan: &Plan, filters: &Filters, params: &Params) -> String {
    let jobs = &plan.jobs;
    sql!(
        "entries/entries.sql",
        distinct = distinct(plan),
        entries = filters.seen_entries(params),
        jobs = plan.join_jobs(params),
        names = plan.join_names(filters.chosen(), jobs.entry(), "", params),
        conditions = jobs.conditions_on_entries(filters, params),
    )
}

/// Returns a SELECT of the users whose names the filters let through; `None` if they let through users without a name, or users
/// whom jobs alone name.
fn users(plan: &Plan, filters: &Filters, params: &Params) -> Option<String> {
    if plan.owners.names {
        return None;
    }
    let conditions = filters.conditions_on_name(params)?;
    let users = plan.users(params);
    Some(format!(
        "SELECT {}person.uid FROM {} person LEFT JOIN {} team ON team.gid = person.gid WHERE true{conditions}",
        distinct(plan),
        match &filters.own {
            Some(own) => {
                let uids = bind_own(own, params)[0].clone();
                format!("(SELECT * FROM {users} known WHERE known.uid = ANY ({uids}) OFFSET 0)")
            }
            None => users,
        },
        plan.groups(params),
    ))
}

/// Returns what keeps an entry or a user that is found several times from being counted so.
fn distinct(plan: &Plan) -> &'static str {
    if plan.divides_entries() {
        "DISTINCT "
    } else {
        ""
    }
}

/// Returns the entries that the filters let through or, if the plan reads sums by owner, the users whose names are
/// selected; `None` if they may be many.
pub fn few(
    client: &SpiClient<'_>,
    plan: &Plan,
    filters: &Filters,
) -> Result<Option<Vec<i64>>, Error> {
    let params = Params::default();
    let statement = if plan.sources.owner().is_some() {
        users(plan, filters, &params)
    } else {
        is_worth_it(plan, filters).then(|| entries(plan, filters, &params))
    };
    let Some(statement) = statement else {
        return Ok(None);
    };
    let statement = format!("{statement} LIMIT {}", most(plan) + 1);
    let found = client.query(&statement, &params.take())?;
    let found: Result<Vec<i64>, _> = found.map(|row| row.at(1)).collect();
    Ok(if_few(plan, found?))
}

/// Returns whether to look up the entries that the filters let through. No index has what accounting says of jobs: to look
/// through a million of them takes longer than to read what a large cluster does in an hour.
fn is_worth_it(plan: &Plan, filters: &Filters) -> bool {
    let mut of_entries = filters.chosen().filter(|it| it.level == Level::Entry);
    let is_short = plan.window.until() - plan.window.since() <= HOUR;
    match is_short {
        true => of_entries.any(|it| !it.is_of_job()),
        false => of_entries.next().is_some(),
    }
}

/// Returns the entries if they are few.
pub fn if_few(plan: &Plan, entries: Vec<i64>) -> Option<Vec<i64>> {
    (entries.len() <= most(plan)).then_some(entries)
}

fn most(plan: &Plan) -> usize {
    if plan.is_front { FEW_OF_NODES } else { FEW }
}
