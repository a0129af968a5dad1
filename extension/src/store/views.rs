//! The views of the store and the feed, and query parts that reading functions share.

use jobstats_core::accounting::SCHEDULERS;
use jobstats_core::accounting::matching::Values;
use jobstats_core::base::operation::OPERATIONS;
use jobstats_core::identity::entry_id::{Identity, likely_format};
use jobstats_core::usage::dimension::Dimension;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;
use crate::store::columns::{list, operation_columns};
use crate::store::formats::{CONFIGURED, SAMPLE, advice};
use crate::store::{realtime, rollup};

/// Common table expressions with the I/O of the observations in another one, `last`.
pub const LAST_WORK: &str = include_str!("views/last_work.sql");

/// Returns the hour of an instant, as in the index of observations by hour.
pub fn hour_of(time: &str) -> String {
    format!("date_bin(interval '1 hour', {time}, timestamptz '1970-01-01 00:00:00.000001+00')")
}

/// Returns the operation columns and the unpacked values of rows of increments.
pub fn shown_columns() -> String {
    let mut columns = String::new();
    for (_, name) in operation_columns() {
        columns += &format!("increment.\"{name}\", ");
    }
    columns + include_str!("views/unpacked.sql").trim_end()
}

/// Returns the plain views, each after the views that it reads. `schema` is the schema of the extension.
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
    let owner = OwnerColumns::of_rows_at("i.\"time\"");
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

/// Returns the views that summarize the observations of a node, which a front would otherwise search target by target.
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
    let finite = |time: &str| {
        format!(
            "CASE WHEN isfinite({time}) THEN (extract(epoch FROM {time}) * 1000000)::bigint END"
        )
    };
    let micros = |time: &str| {
        format!(
            "coalesce({}, CASE {time} WHEN timestamptz '-infinity' THEN bigint '{}' ELSE bigint '{}' END)",
            finite(time),
            i64::MIN,
            i64::MAX
        )
    };
    sql!(
        "views/question_state.sql",
        kept = finite("r.dropped"),
        renamed = micros("e.until"),
        group_renamed = finite("max(e.until)"),
        dropped = micros("l.dropped"),
        refreshed = micros("l.refreshed"),
        users_refreshed = micros("l.users_refreshed"),
        coarse_since = micros("c.span_from"),
        coarse_until = micros("c.span_to"),
        dirty_since = micros("lower(d.span)"),
        dirty_until = micros("upper(d.span)"),
        day = micros("d.day"),
        retired = finite("t.retired"),
        since = micros("s.since"),
        until = micros("s.until"),
    )
}

/// The columns and joins that name the users and jobs of rows with an `entry` in views of rates.
pub struct OwnerColumns {
    /// The columns that only identifiers have.
    pub identifier: String,
    /// The columns of the user.
    pub user: String,
    /// The columns of the job without its number.
    pub account: String,
    /// The joins that these columns need.
    pub names: String,
}

impl OwnerColumns {
    /// Returns it for rows that belong to the day of an instant `at`, which is after its start.
    ///
    /// A job is looked up only for identifiers without a user, by subqueries: a join would always read all jobs.
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
            identifier: list(Identity::PROCESS, "entry.{name}"),
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

/// Returns a SELECT of the server and pace of each target, and whether it is late or silent. `last` is a relation with an
/// observation of each target, usually the last one. `since` is before the day of each of these.
fn pace(last: &str, since: &str) -> String {
    sql!("views/pace.sql", last = last, since = since)
}

/// A day ago, and the previous day in a form that is known at planning.
pub const DAY_AGO: [&str; 2] = [
    "now() - interval '1 day'",
    "jobstats_internal.planned_ago(interval '2 days')",
];

/// Returns a SELECT of the pace of targets observed after an instant, which is given with the previous day. A front reads the
/// paces of all targets of its nodes: a search by target would take a round trip each.
pub fn pace_since([instant, day_before]: [&str; 2], is_front: bool) -> String {
    if is_front {
        return format!(
            "SELECT pace.* FROM jobstats.paces pace WHERE pace.last_observation > {instant}"
        );
    }
    let last = sql!("views/last_since.sql", instant = instant);
    pace(&last, day_before)
}

/// Returns a SELECT of the gaps between observations of each target, with the number of missing snapshots. `observed` is a
/// relation with the observations and the time since the previous one.
fn missed(observed: &str) -> String {
    sql!("views/missed.sql", observed = observed)
}

/// Creates the feed and the views. Existing views are replaced in place, which keeps grants and dependent views. Views with
/// renamed or removed columns are dropped and created with the same grants.
///
/// # Errors
/// An error of PostgreSQL (2BP01) that lists all foreign objects that depend on a dropped view.
pub fn create(client: &mut SpiClient<'_>, schema: &str) -> Result<(), Error> {
    client.execute(include_str!("views/feed.sql"), &[])?;
    let plain = views_of_nodes().into_iter().chain(views(schema));
    let plain = plain.map(|(name, definition)| (name.to_owned(), definition));
    let of_rollups = rollup::ROLLUPS.iter().flat_map(rollup::Rollup::views);
    let of_rollups = of_rollups.chain(rollup::views_of_all());
    let realtime = realtime::view(client)?;
    let views = of_rollups.chain(plain).chain([realtime]);
    let (names, definitions): (Vec<String>, Vec<String>) = views.unzip();
    client.run(
        "SELECT jobstats_internal.put_views($1, $2)",
        &values![names, definitions],
    )
}

#[pg_extern(sql = false)]
fn jobstats_ids_remedy(names: Short<Vec<Option<String>>>) -> String {
    let known = names.iter().flatten().take(SAMPLE);
    let likely = likely_format(known.map(String::as_str));
    format!("Most identifiers match no known format. {}", advice(likely))
}
