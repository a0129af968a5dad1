//! The views of the store and the feed, and the queries that they have in common with the reading functions.

use jobstats_core::accounting::SCHEDULERS;
use jobstats_core::accounting::matching::Values;
use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::identity::entry_id::{Identity, likely_format};
use jobstats_core::usage::dimension::Dimension;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::store::columns::{list, operation_columns};
use crate::store::formats::{CONFIGURED, SAMPLE, advice};
use crate::store::{realtime, rollup};

/// Common table expressions with the work of the observations in another expression, `last`.
pub const LAST_WORK: &str = include_str!("views/last_work.sql");

/// Returns an expression for the hour that holds an instant, as in the index of observations by hour.
pub fn hour_of(time: &str) -> String {
    format!("date_bin(interval '1 hour', {time}, timestamptz '1970-01-01 00:00:00.000001+00')")
}

/// Returns the operation columns of rows of increments, and what is packed in these rows as people read it.
pub fn shown_columns() -> String {
    let mut columns = String::new();
    for (_, name) in operation_columns() {
        columns += &format!("increment.\"{name}\", ");
    }
    columns + include_str!("views/unpacked.sql").trim_end()
}

/// Returns the plain views, which only show what is in the tables, each after those that it reads. `schema` is that of the
/// extension.
fn views(schema: &str) -> [(&'static str, String); 12] {
    let rows = sql!("views/increments_rows.sql", columns = shown_columns());
    let rates: Vec<String> = operation_columns()
        .map(|(_, name)| format!("i.\"{name}\" / s.seconds AS \"{name}\""))
        .collect();
    let calls: Vec<String> = OPERATIONS
        .iter()
        .filter(|operation| operation.in_service_time())
        .map(|operation| format!("coalesce(i.\"{}\", 0)", operation.name))
        .collect();
    let commands = SCHEDULERS.iter().filter(|scheduler| !scheduler.grows);
    let commands: Vec<String> = commands.map(|it| format!("'{}'", it.name)).collect();
    let health = sql!(
        "views/health.sql",
        pace_of_a_day = pace_since(DAY_AGO, false),
        missed = missed("of_hour"),
        configured = CONFIGURED,
        commands = commands.join(", "),
        of_lustre = include_str!("views/health_of_lustre.sql"),
        unaccounted = include_str!("views/unaccounted.sql")
    );
    let quality = sql!(
        "views/quality.sql",
        hour = hour_of("o.\"time\""),
        pace_of_last = pace("last", ALWAYS),
        missed = missed("observed"),
        calls = calls.join(" + ")
    );
    let job_quality = sql!("views/job_quality.sql", calls = calls.join(" + "));
    let owner = Owner::of_rows_at("i.\"time\"");
    let rates = sql!(
        "views/rates.sql",
        identifier = owner.identifier,
        user = owner.user,
        account = owner.account,
        names = owner.names,
        operation_rates = rates.join(",\n")
    );
    [
        ("raw_text", sql!("views/raw_text.sql", extschema = schema)),
        ("increments_rows", rows),
        ("rates", rates),
        ("samples", sql!("views/samples.sql")),
        ("maintenance_state", sql!("views/maintenance_state.sql")),
        ("rollup_states", sql!("views/rollup_states.sql")),
        ("question_state", question_state()),
        ("node_state", sql!("views/node_state.sql")),
        ("front_nodes", sql!("views/front_nodes.sql")),
        ("health", health),
        ("quality", quality),
        ("job_quality", job_quality),
    ]
}

/// Returns the views in which nodes say of their observations what a front would have to search for, target by target.
fn views_of_nodes() -> [(&'static str, String); 4] {
    let paces = pace_since([ALWAYS, ALWAYS], false);
    let paces = format!("CREATE OR REPLACE VIEW jobstats.paces AS {paces}");
    [
        ("observation_ends", sql!("views/observation_ends.sql")),
        ("observed_spans", sql!("views/observed_spans.sql")),
        ("paces", paces),
        ("last_observations", sql!("views/last_observations.sql")),
    ]
}

fn question_state() -> String {
    let micros = |time: &str| {
        format!(
            "CASE WHEN isfinite({time}) THEN (extract(epoch FROM {time}) * 1000000)::bigint END"
        )
    };
    sql!(
        "views/question_state.sql",
        kept = micros("r.dropped"),
        renamed = micros("e.until"),
        group_renamed = micros("max(e.until)"),
        dropped = micros("l.dropped"),
        refreshed = micros("l.refreshed"),
        users_refreshed = micros("l.users_refreshed"),
        coarse_since = micros("c.span_from"),
        coarse_until = micros("c.span_to"),
        dirty_since = micros("lower(d.span)"),
        dirty_until = micros("upper(d.span)"),
        day = micros("d.day"),
        retired = micros("t.retired"),
        since = micros("s.since"),
        until = micros("s.until"),
    )
}

/// The columns and joins that name the users and jobs of rows with an `entry` in views of rates.
pub struct Owner {
    /// The columns that only identifiers have.
    pub identifier: String,
    /// The columns of the user.
    pub user: String,
    /// The columns of the job beside its number.
    pub account: String,
    /// The joins that these columns need.
    pub names: String,
}

impl Owner {
    /// Returns it for rows that belong to the day of an instant `at`, which is after its start.
    ///
    /// Only where an identifier names no user is a job looked up for it, by subqueries: a join would read all jobs even if
    /// nothing needs one.
    pub fn of_rows_at(at: &str) -> Self {
        let of_job = |column: &str| sql!("views/of_job.sql", column = column, at = at);
        let or_of_job = |known: &str, column: &str| {
            format!(
                "coalesce({known}, CASE WHEN entry.uid IS NULL THEN {} END)",
                of_job(column)
            )
        };
        let uid = or_of_job("entry.uid", "uid");
        let gid = or_of_job("person.gid", "gid");
        let user_name = or_of_job("person.user_name", "user_name");
        let group_name = or_of_job("team.group_name", "group_name");
        let of_jobs: Vec<_> = Values::COLUMNS.into_iter().filter(is_of_job).collect();
        Self {
            identifier: list(Identity::SENDER, "entry.{name}"),
            user: format!("{uid} AS uid, {user_name} AS user_name, {gid} AS gid"),
            account: format!(
                "{group_name} AS group_name, {}, job.state, coalesce(job.job_group, entry.job) AS job_group",
                list(&of_jobs, "job.{name}")
            ),
            names: sql!(
                "views/names.sql",
                uid = uid,
                gid = gid,
                job_no = of_job("job_no")
            ),
        }
    }
}

fn is_of_job(column: &(&str, &str)) -> bool {
    Dimension::find(column.0).is_some_and(Dimension::is_of_job)
}

/// A time before all observations.
const ALWAYS: &str = "timestamptz '-infinity'";

/// Returns a SELECT that says, for each target, on which server and how often it was observed, and whether it is
/// late or silent. `last` is a relation with an observation of each target, as a rule the last one. `since` is before the day of each of
/// these.
fn pace(last: &str, since: &str) -> String {
    sql!("views/pace.sql", last = last, since = since)
}

/// A day ago, and the day before it as a statement knows it when it is planned.
pub const DAY_AGO: [&str; 2] = [
    "now() - interval '1 day'",
    "jobstats_internal.planned_ago(interval '2 days')",
];

/// Returns a SELECT of the pace of each target that was observed after an instant, which is given with the day before it. A front asks nodes
/// for the paces of all their targets: it would look at the observations of each with a round trip.
pub fn pace_since([instant, day_before]: [&str; 2], is_front: bool) -> String {
    if is_front {
        return format!(
            "SELECT pace.* FROM jobstats.paces pace WHERE pace.last_observation > {instant}"
        );
    }
    let last = sql!("views/last_since.sql", instant = instant);
    pace(&last, day_before)
}

/// Returns a SELECT of the gaps between observations of each target, and of the readings that are missing in them. `observed`
/// is a relation with the observations and the time since the one before.
fn missed(observed: &str) -> String {
    sql!("views/missed.sql", observed = observed)
}

/// Creates the feed and the views. Existing ones are replaced in place, so that grants and views on top of them stay. Views
/// whose columns were renamed or removed since are dropped and created with the same grants.
///
/// # Errors
/// An error of PostgreSQL (2BP01) that lists all objects of others that depend on a view which would be dropped.
pub fn create(client: &mut SpiClient<'_>, schema: &str) -> Result<(), Error> {
    client.execute(include_str!("views/feed.sql"), &[])?;
    let plain = views_of_nodes().into_iter().chain(views(schema));
    let plain = plain.map(|(name, definition)| (name.to_owned(), definition));
    let of_rollups = rollup::ROLLUPS.iter().flat_map(rollup::Rollup::views);
    let of_rollups = of_rollups.chain(rollup::views_of_all());
    let realtime = realtime::view(client)?;
    let views = of_rollups.chain(plain).chain([realtime]);
    let (names, definitions): (Vec<String>, Vec<String>) = views.unzip();
    client.execute(
        "SELECT jobstats_internal.put_views($1, $2)",
        &[names.into(), definitions.into()],
    )?;
    Ok(())
}

#[pg_extern(sql = false)]
fn jobstats_ids_remedy(names: Short<Vec<Option<String>>>) -> String {
    let known = names.iter().flatten().take(SAMPLE);
    let likely = likely_format(known.map(String::as_str));
    format!("Most identifiers match no known format. {}", advice(likely))
}
