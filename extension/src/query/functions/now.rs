//! `jobstats_now()` reports who keeps each target busy, as of its last observation.

use std::collections::BTreeMap;

use jobstats_core::instant::DAY;
use jobstats_core::operation::{OPERATIONS, Operation};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{self, SqlResult, Statements, connect_as_of_call};
use crate::pg::template::sql;
use crate::pg::time::{EARLIEST, micros, timestamptz};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::dimension::{By, Jobs, Table, join_names, named_columns};
use crate::query::filters::Filters;
use crate::query::functions::last_work::sums;
use crate::query::functions::top::rows_wanted;
use crate::query::names::users_at;
use crate::query::question::Period;
use crate::query::{empty, without_times};
use crate::store;
use crate::store::columns::usecs_name;
use crate::store::views::LAST_WORK;

/// The usage of one user with one workload on one target.
struct Usage {
    target: Target,
    workload: String,
    /// One of the entries, all of which have one user and job.
    entry: i64,
    /// The number of calls per operation.
    calls: Vec<f64>,
    /// The microseconds per operation.
    usecs: Vec<f64>,
}

/// A target and its last observation.
#[derive(Clone)]
struct Target {
    id: i32,
    cluster: String,
    name: String,
    kind: String,
    server: String,
    time: TimestampWithTimeZone,
    age: Interval,
    seconds: f64,
}

/// The load of a target: in microseconds, or in calls if the target reports no times.
#[derive(Default)]
struct Load {
    usecs: f64,
    calls: f64,
}

/// The user of a target, if it is known.
#[derive(Default)]
struct Whose {
    uid: Option<i64>,
    user_name: Option<String>,
    account: Option<String>,
    job_name: Option<String>,
}

/// The usage that a row of the answer shows.
struct Ranked {
    usage: Usage,
    rank: i64,
    operation: &'static str,
    rate: f64,
    service_time: Option<f64>,
    share: f64,
}

#[pg_extern(sql = false)]
fn jobstats_now(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let target = arguments.take::<Vec<Option<String>>>()?;
    let n = rows_wanted(arguments.take()?)?;
    let at = arguments.take::<TimestampWithTimeZone>()?;
    at.map_or(Ok(0), micros)?;
    let usages = store::read(|client| {
        store::require(client)?;
        let filters = Filters::default().any_of("target", target.clone());
        let found = client.query(&statement()?, &[target.into(), at.into()])?;
        if found.len() == 0 {
            note_age(client, at)?;
            empty::explain(client, &day_until(at)?, &filters)?;
        }
        require_room(found.len(), USAGE_BYTES)?;
        PAUSE.among(found).map(|row| Usage::read(&row)).collect()
    })?;
    let ranked = ranked(usages, n);
    if !ranked.is_empty() && ranked.iter().all(|it| it.service_time.is_none()) {
        without_times::note_calls();
    }
    let whose = connect_as_of_call(|client| whose(client, &ranked))?;
    for (ranked, whose) in ranked.into_iter().zip(whose) {
        ranked.write(whose, &mut rows);
    }
    Ok(())
}

/// Returns the window in which the last observations up to a time, or up to now, lie.
fn day_until(at: Option<TimestampWithTimeZone>) -> Result<Period, Error> {
    let end = at.unwrap_or_else(pgrx::datum::datetime_support::now);
    Ok(Period {
        since: Some(timestamptz(micros(end)?.saturating_sub(DAY).max(EARLIEST))?),
        until: Some(end),
        ..Period::default()
    })
}

/// Raises a notice if a time is too old: the increments of then are not stored any more.
fn note_age(client: &SpiClient<'_>, at: Option<TimestampWithTimeZone>) -> Result<(), Error> {
    let kept_since = store::settings(client)?.kept_since;
    if at
        .map(micros)
        .transpose()?
        .is_some_and(|at| at <= kept_since)
    {
        pgrx::notice!("increments are kept since {}", timestamptz(kept_since)?);
    }
    Ok(())
}

/// The memory that a usage takes, several times while usages are ranked.
const USAGE_BYTES: usize = 3 << 10;

/// Returns the operations that make up service time. No call is counted in two of them.
fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS
        .iter()
        .filter(|operation| operation.in_service_time())
}

fn statement() -> Result<String, Error> {
    Ok(sql!(
        "now.sql",
        extschema = store::extension_schema()?,
        last_work = LAST_WORK,
        calls = sums(operations().map(|operation| operation.name.to_owned()))?,
        usecs = sums(operations().map(usecs_name))?,
    ))
}

impl Usage {
    fn read(row: &spi::Row<'_>) -> Result<Self, Error> {
        Ok(Self {
            target: Target {
                id: row.at(1)?,
                cluster: row.at(2)?,
                name: row.at(3)?,
                kind: row.at(4)?,
                server: row.at(5)?,
                time: row.at(6)?,
                age: row.at(7)?,
                seconds: row.at(8)?,
            },
            workload: row.at(9)?,
            entry: row.at(10)?,
            calls: known(row.at(11)?),
            usecs: known(row.at(12)?),
        })
    }
}

/// Finds the users and jobs of the rows of an answer. Only these few are looked up, and not those of all entries.
fn whose(client: &SpiClient<'_>, ranked: &[Ranked]) -> Result<Vec<Whose>, Error> {
    let entry = Table {
        name: "entry",
        jobs: Jobs::Joined,
    };
    let by = By::these(&["uid", "user_name", "account", "job_name"]);
    let times: Vec<_> = ranked.iter().map(|it| it.usage.target.time).collect();
    // To look up the name at a time takes a round trip for each row in a front.
    let are_renamed: bool = client.query_value(
        "SELECT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.until >= (SELECT min(t.at) FROM unnest($1) t (at)))",
        &[times.clone().into()],
    )?;
    let users = match are_renamed {
        true => format!("LATERAL {}", users_at("asked.\"time\"")),
        false => "jobstats.users".to_owned(),
    };
    let statement = sql!(
        "now/whose.sql",
        dimensions = named_columns(by.iter(), |_| entry),
        names = join_names(by.iter(), entry, [&users, "jobstats.groups"], ""),
    );
    let entries: Vec<i64> = ranked.iter().map(|it| it.usage.entry).collect();
    let mut whose: Vec<Whose> = Vec::new();
    whose.resize_with(ranked.len(), Whose::default);
    for row in client.query(&statement, &[entries.into(), times.into()])? {
        let position: i64 = row.get("position")?;
        let position = usize::try_from(position - 1).ok();
        if let Some(found) = position.and_then(|position| whose.get_mut(position)) {
            *found = Whose {
                uid: row.get("uid")?,
                user_name: row.get("user_name")?,
                account: row.get("account")?,
                job_name: row.get("job_name")?,
            };
        }
    }
    Ok(whose)
}

/// Returns sums with 0 in place of those that are not known.
fn known(sums: Vec<Option<f64>>) -> Vec<f64> {
    let sums = sums.into_iter();
    sums.map(Option::unwrap_or_default).collect()
}

impl Ranked {
    fn write(self, whose: Whose, rows: &mut Rows) {
        let target = self.usage.target;
        rows.put(|| {
            [
                target.cluster.cell(),
                target.name.cell(),
                target.kind.cell(),
                target.server.cell(),
                target.time.cell(),
                target.age.cell(),
                target.seconds.cell(),
                self.rank.cell(),
                self.usage.workload.cell(),
                whose.uid.cell(),
                whose.user_name.cell(),
                whose.account.cell(),
                whose.job_name.cell(),
                self.operation.cell(),
                self.rate.cell(),
                self.service_time.cell(),
                self.share.cell(),
            ]
        });
    }
}

/// Returns the first n rows of each target, in order of cluster and target.
///
/// Rust adds up and ranks: in SQL, 5,000 usages of 28 operations took 53 ms, where the whole function takes 8 ms.
fn ranked(usages: Vec<Usage>, n: i64) -> Vec<Ranked> {
    let mut loads: BTreeMap<i32, Load> = BTreeMap::new();
    for usage in &usages {
        let load = loads.entry(usage.target.id).or_default();
        load.usecs += usage.usecs.iter().sum::<f64>();
        load.calls += usage.calls.iter().sum::<f64>();
    }
    let mut rows: Vec<Ranked> = usages
        .into_iter()
        .filter_map(|usage| {
            let load = loads.get(&usage.target.id)?;
            row(usage, load)
        })
        .collect();
    // The sort is stable: of equal shares, the first by workload and user stays first.
    rows.sort_by(|a, b| {
        let (one, other) = (&a.usage.target, &b.usage.target);
        let place = one
            .cluster
            .cmp(&other.cluster)
            .then_with(|| one.name.cmp(&other.name));
        place.then(b.share.total_cmp(&a.share))
    });
    let mut rank = 0;
    let mut target = None;
    rows.retain_mut(|row| {
        rank = if target == Some(row.usage.target.id) {
            rank + 1
        } else {
            1
        };
        target = Some(row.usage.target.id);
        row.rank = rank;
        rank <= n
    });
    rows
}

/// Returns the row of a usage with its share in the load of the target; `None` if the usage is zero.
fn row(usage: Usage, load: &Load) -> Option<Ranked> {
    let timed = load.usecs > 0.0;
    let (of, all) = if timed {
        (&usage.usecs, load.usecs)
    } else {
        (&usage.calls, load.calls)
    };
    let own: f64 = of.iter().sum();
    // Of equal values, `max_by` takes the last one. The order is reversed because the first operation is better known.
    let (leading, _) = of
        .iter()
        .enumerate()
        .rev()
        .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let operation = operations().nth(leading)?;
    (own > 0.0).then(|| Ranked {
        rank: 0,
        operation: operation.name,
        rate: usage.calls[leading] / usage.target.seconds,
        service_time: timed.then(|| own / 1e6 / usage.target.seconds),
        share: own / all,
        usage,
    })
}
