//! `jobstats_now()` reports who keeps each target busy, as of its last observation.

use std::collections::BTreeMap;

use jobstats_core::operation::{OPERATIONS, Operation};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiHeapTupleData;

use crate::pg::argument::require_pattern;
use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::connect;
use crate::query::functions::top::rows_wanted;
use crate::store;
use crate::store::columns::usecs_name;
use crate::store::views::LAST_WORK;

/// The usage of one user with one workload on one target.
struct Usage {
    target: Target,
    workload: String,
    uid: Option<i64>,
    user: Option<String>,
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

/// One row of the answer.
struct Row {
    usage: Usage,
    rank: i64,
    operation: &'static str,
    rate: f64,
    service_time: Option<f64>,
    share: f64,
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_now(target text DEFAULT NULL, n integer DEFAULT 10) RETURNS TABLE (
    cluster text, target text, kind text, server text, "time" timestamptz, age interval, seconds double precision,
    rank bigint, workload text, uid bigint, "user" text, operation text, rate double precision,
    service_time double precision, share double precision
)
LANGUAGE c STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET jit = off
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_now(text, integer) IS
'Who keeps each target busy: per target whose name is LIKE the pattern (NULL: all that were observed within a day) the n workloads and users with the largest share of its last observation, of its service time or, where servers report no times, of its calls. time is that of the observation, age how long ago that was, seconds what it covers: where that is more than an hour, its last hour counts; operation is the one that took most of it, rate its calls per second, service_time the mean number of requests in service. n NULL is 10. Errors: 22023 for a negative n, 55000 where there is no store.';
"#)]
fn jobstats_now(
    target: Option<Short<&str>>,
    n: Option<i32>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(cluster, String),
            name!(target, String),
            name!(kind, String),
            name!(server, String),
            name!(time, TimestampWithTimeZone),
            name!(age, Interval),
            name!(seconds, f64),
            name!(rank, i64),
            name!(workload, String),
            name!(uid, Option<i64>),
            name!(user, Option<String>),
            name!(operation, &'static str),
            name!(rate, f64),
            name!(service_time, Option<f64>),
            name!(share, f64),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let (n, target) = (rows_wanted(n)?, plain(target));
    let usages = connect(|client| -> Result<Vec<Usage>, Error> {
        store::require(client)?;
        target.map_or(Ok(()), require_pattern)?;
        let rows = client.select(&statement()?, None, &[target.into()])?;
        require_room(rows.len(), USAGE_BYTES)?;
        PAUSE.among(rows).map(|row| usage(&row)).collect()
    })?;
    Ok(TableIterator::new(ranked(usages, n).into_iter().map(
        |row| {
            let Usage { target, .. } = row.usage;
            (
                target.cluster,
                target.name,
                target.kind,
                target.server,
                target.time,
                target.age,
                target.seconds,
                row.rank,
                row.usage.workload,
                row.usage.uid,
                row.usage.user,
                row.operation,
                row.rate,
                row.service_time,
                row.share,
            )
        },
    )))
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
    let schema = store::extension_schema()?;
    let sums = |column: fn(&Operation) -> String| {
        let sums: Vec<String> = operations()
            .map(|operation| {
                format!(
                    "coalesce(sum({schema}.jobstats_share(i.\"{}\", i.since, i.\"time\", l.since, l.\"time\")), 0)",
                    column(operation)
                )
            })
            .collect();
        format!("ARRAY[{}]::double precision[]", sums.join(", "))
    };
    Ok(include_str!("now.sql")
        .replace("@last_work@", LAST_WORK)
        .replace("@calls@", &sums(|operation| operation.name.to_owned()))
        .replace("@usecs@", &sums(usecs_name)))
}

fn usage(row: &SpiHeapTupleData<'_>) -> Result<Usage, Error> {
    fn must<T>(value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| Error::Damaged("a target or an entry is missing".to_owned()))
    }
    Ok(Usage {
        target: Target {
            id: must(row.get(1)?)?,
            cluster: must(row.get(2)?)?,
            name: must(row.get(3)?)?,
            kind: must(row.get(4)?)?,
            server: must(row.get(5)?)?,
            time: must(row.get(6)?)?,
            age: must(row.get(7)?)?,
            seconds: must(row.get(8)?)?,
        },
        workload: must(row.get(9)?)?,
        uid: row.get(10)?,
        user: row.get(11)?,
        calls: must(row.get(12)?)?,
        usecs: must(row.get(13)?)?,
    })
}

/// Returns the first n rows of each target, in order of cluster and target.
fn ranked(usages: Vec<Usage>, n: i64) -> Vec<Row> {
    let mut loads: BTreeMap<i32, Load> = BTreeMap::new();
    for usage in &usages {
        let load = loads.entry(usage.target.id).or_default();
        load.usecs += usage.usecs.iter().sum::<f64>();
        load.calls += usage.calls.iter().sum::<f64>();
    }
    let mut rows: Vec<Row> = usages
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
fn row(usage: Usage, load: &Load) -> Option<Row> {
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
    (own > 0.0).then(|| Row {
        rank: 0,
        operation: operation.name,
        rate: usage.calls[leading] / usage.target.seconds,
        service_time: timed.then(|| own / 1e6 / usage.target.seconds),
        share: own / all,
        usage,
    })
}
