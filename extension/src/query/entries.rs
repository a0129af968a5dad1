//! Looks up the entries or users that a question is about, if they are few.

use jobstats_core::base::instant::{DAY, HOUR, Micros};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::query::dimension::{Level, join_names};
use crate::query::filters::{bind_own, is_own};
use crate::query::params::Params;
use crate::query::plan::Plan;

/// The jobs of entries: all at once, or one by one.
const ALL: &str = "jobstats.job_ids job ON job.job_no = entry_job.job_no";
const EACH: &str = "LATERAL (SELECT known.* FROM jobstats.job_ids known WHERE known.job_no = entry_job.job_no OFFSET 0) job ON true";

/// The longest window whose jobs are looked up one by one. With the default disk costs, the planner reads a million jobs to find ten thousand.
const SHORT: Micros = 2 * DAY;

/// The largest number of entries that a statement names one by one. The planner then looks up each of them in an index,
/// and in columnar batches by the bounds of the batches.
///
/// Rows of more entries are read and added up as if they were not filtered, and the sums are filtered. A subquery as a condition on
/// the rows would be scanned, or searched, as often as the planner likes, which knows too little about patterns.
const FEW: usize = 1000;

/// The largest number in a front, where each node has its entries for the same identifiers.
const FEW_OF_NODES: usize = 8000;

/// Returns a join of entries `entry` with their jobs in the window, if the question depends on them.
fn join_jobs(plan: &Plan, params: &Params) -> String {
    if !plan.jobs.joined {
        return String::new();
    }
    // The accounting of other users' jobs stays hidden, even if one was matched with the reader's entry.
    let of_own = plan
        .jobs
        .filters
        .own
        .as_ref()
        .map_or_else(String::new, |own| {
            format!(" AND {}", is_own(own, "job.uid", "job.account", params))
        });
    let [since, until] = bind_window(plan, params);
    let job = match plan.window.until() - plan.window.since() <= SHORT {
        // A front reads the entries of a window at once.
        true if plan.state.is_front => &format!(
            "(SELECT known.* FROM jobstats.job_ids known WHERE known.job_no = ANY (ARRAY(SELECT held.job_no FROM jobstats.entry_jobs held \
             WHERE held.valid_from < {until} AND held.valid_to > {since}))) job ON job.job_no = entry_job.job_no"
        ),
        true => EACH,
        false => ALL,
    };
    format!(
        " LEFT JOIN jobstats.entry_jobs entry_job ON entry_job.entry_id = entry.entry_id \
         AND entry_job.valid_from < {until} AND entry_job.valid_to > {since} LEFT JOIN {job}{of_own}"
    )
}

/// Binds the start and the end of the window.
fn bind_window(plan: &Plan, params: &Params) -> [String; 2] {
    [
        params.bind_time("since", plan.window.since()),
        params.bind_time("until", plan.window.until()),
    ]
}

/// Returns the target list and the tables of the entries that the filters let through, on any day of the window if they are about jobs
/// or names.
fn entries(plan: &Plan, params: &Params) -> String {
    let (entry, filters) = (plan.jobs.entry(), &plan.jobs.filters);
    let [since, until] = bind_window(plan, params);
    let [users, groups] = plan.names.tables(&since, &until);
    format!(
        "entry.entry_id FROM {} entry{}{} WHERE true{}{}",
        filters.seen_entries(params),
        join_jobs(plan, params),
        join_names(filters.chosen(), entry, [&*users, &*groups]),
        filters.conditions_on_entries(entry, params),
        of_users(plan, params),
    )
}

/// Returns a condition that finds entries of users filtered by number through indexes, with a leading AND. The filter alone is a condition on the
/// entry or its job, for which there is no index.
fn of_users(plan: &Plan, params: &Params) -> String {
    let filters = &plan.jobs.filters;
    let uids = filters.on_entries().uids();
    let is_of_use = plan.jobs.joined && !plan.state.is_front && filters.own.is_none();
    uids.filter(|_| is_of_use).map_or_else(String::new, |uids| {
        let uids = params.bind("uids", || Some(uids.clone()));
        format!(
            " AND (entry.uid = ANY ({uids}) OR entry.entry_id = ANY (ARRAY( \
             SELECT held.entry_id FROM jobstats.job_ids job JOIN jobstats.entry_jobs held ON held.job_no = job.job_no WHERE job.uid = ANY ({uids}))))"
        )
    })
}

/// Returns the same of the users whose names the filters let through; `None` if they let through users without a name, or users
/// whom jobs alone name.
fn users(plan: &Plan, params: &Params) -> Option<String> {
    if plan.jobs.names {
        return None;
    }
    let filters = &plan.jobs.filters;
    let conditions = filters.conditions_on_name(params)?;
    let [since, until] = bind_window(plan, params);
    let [users, groups] = plan.names.tables(&since, &until);
    Some(format!(
        "person.uid FROM {} person LEFT JOIN {groups} team ON team.gid = person.gid WHERE true{conditions}",
        match &filters.own {
            Some(own) => {
                let uids = bind_own(Some(own), params)[0].clone();
                format!("(SELECT * FROM {users} known WHERE known.uid = ANY ({uids}) OFFSET 0)")
            }
            None => users,
        },
    ))
}

/// Returns the entries that the filters of a question let through or, if the plan reads sums by owner, the users whose names are
/// selected; `None` if they may be many.
pub fn few(client: &SpiClient<'_>, plan: &Plan) -> Result<Option<Vec<i64>>, Error> {
    let params = Params::default();
    let statement = if plan.sources.owner().is_some() {
        users(plan, &params)
    } else {
        is_worth_it(plan).then(|| entries(plan, &params))
    };
    let Some(statement) = statement else {
        return Ok(None);
    };
    let most = match plan.state.is_front {
        true => FEW_OF_NODES,
        false => FEW,
    };
    // An entry or a user that is found several times counts once.
    let distinct = match plan.divides_entries() {
        true => "DISTINCT ",
        false => "",
    };
    let statement = format!("SELECT {distinct}{statement} LIMIT {}", most + 1);
    let found = client.query(&statement, &params.take())?;
    let found: Result<Vec<i64>, _> = found.map(|row| row.at(1)).collect();
    Ok(Some(found?).filter(|it| it.len() <= most))
}

/// Returns whether to look up the entries that the filters let through. Accounting has no index for it: scanning a million jobs takes longer than
/// reading an hour of a large cluster.
fn is_worth_it(plan: &Plan) -> bool {
    let mut of_entries = plan
        .jobs
        .filters
        .chosen()
        .filter(|it| it.level == Level::Entry);
    let is_short = plan.window.until() - plan.window.since() <= HOUR;
    match is_short {
        true => of_entries.any(|it| !it.is_of_job()),
        false => of_entries.next().is_some(),
    }
}
