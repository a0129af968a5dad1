//! The questions of the screen to the tables of a store, which its functions are made of. The functions sum up for one grouping at a time;
//! the screen has the work of each entry, so that a key answers at once.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{self, Dimension, Filters, Rates, Window};
use jobstats_client::ask;
use jobstats_core::increment::Column;
use jobstats_core::instant::{DAY, HOUR, MINUTE, Micros};
use jobstats_core::names::users_at;
use jobstats_core::target::TargetKind;
use postgres::Row;
use tokio_postgres::types::Type;

use super::session::{Session, name};
use super::{Error, Scope};
use crate::live::board::{Load, Loads};
use crate::live::who::Who;

/// A target and its last observation.
#[derive(Debug, Clone)]
pub struct Target {
    /// The number in the store.
    pub id: i32,
    /// The name of the cluster.
    pub cluster: String,
    /// The name of the target.
    pub name: String,
    /// The kind.
    pub kind: TargetKind,
    /// The server.
    pub server: Arc<str>,
    /// The time of the observation.
    pub time: Micros,
    /// The time of the observation before, or an hour earlier if that is later; `None` if there was none.
    pub since: Option<Micros>,
    /// The usual time between observations.
    pub usual: Option<Micros>,
    /// The number of entries.
    pub entries: u64,
    /// The number of lines and values that could not be used.
    pub problems: u64,
    /// The number of entries that were born.
    pub added: u64,
    /// The number of entries whose counters restarted.
    pub resets: u64,
    /// The number of entries that are gone.
    pub removed: u64,
}

impl Target {
    fn from_row(row: &Row) -> Result<Self, tokio_postgres::Error> {
        let count = |name| Ok(u64::from(row.try_get::<_, i32>(name)?.unsigned_abs()));
        let kind: String = row.try_get("kind")?;
        let usual: Option<answers::Interval> = row.try_get("usual")?;
        Ok(Self {
            id: row.try_get("target_id")?,
            cluster: row.try_get("cluster")?,
            name: row.try_get("name")?,
            kind: TargetKind::named(&kind).unwrap_or(TargetKind::Ost),
            server: row.try_get::<_, String>("server")?.into(),
            time: micros(row.try_get("time")?),
            since: row.try_get::<_, Option<Timestamp>>("since")?.map(micros),
            usual: usual.and_then(|usual| Micros::try_from(usual.0.as_micros()).ok()),
            entries: count("entries")?,
            problems: count("problems")?,
            added: count("added")?,
            resets: count("resets")?,
            removed: count("removed")?,
        })
    }

    /// Returns true if the target has not been observed for two of its usual intervals, as the view `jobstats.health` has it.
    pub fn is_late(&self, now: Micros) -> bool {
        let usual = self.usual.unwrap_or(super::USUAL);
        now - self.time > 2 * usual
    }
}

/// The work of an entry on a target.
#[derive(Debug, Clone)]
pub struct Work {
    /// The number of the target.
    pub target: i32,
    /// The number of the entry.
    pub entry: i64,
    /// The growth of the columns.
    pub totals: Vec<(Column, i64)>,
}

/// The owner of an entry.
#[derive(Debug, Clone)]
pub struct Person {
    /// The number of the entry.
    pub entry: i64,
    /// The owner.
    pub who: Who,
    /// The name of the user, if it is known.
    pub user_name: Option<Box<str>>,
}

fn micros(time: Timestamp) -> Micros {
    time.as_microsecond()
}

fn timestamp(time: Micros) -> Timestamp {
    Timestamp::from_microsecond(time).unwrap_or_default()
}

/// Returns the time of the database, and the last observation of each target at a time, or now.
pub fn targets(
    session: &mut Session,
    scope: &Scope,
    at: Option<Micros>,
) -> Result<(Micros, Vec<Target>), Error> {
    let at = at.map(timestamp);
    let rows = session.client.query_typed(
        include_str!("targets.sql"),
        &[
            (&at, Type::TIMESTAMPTZ),
            (&scope.cluster, Type::TEXT),
            (&scope.filesystem, Type::TEXT),
        ],
    )?;
    let now = rows.first().map(|row| row.try_get::<_, Timestamp>("now"));
    let now = now.transpose()?.unwrap_or_else(Timestamp::now);
    let targets = rows.iter().map(Target::from_row);
    Ok((micros(now), targets.collect::<Result<_, _>>()?))
}

/// A rollup, which is kept for longer than observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollup {
    /// The view.
    view: &'static str,
    /// The width of a bucket as an interval.
    interval: &'static str,
    /// The width of a bucket.
    width: Micros,
}

/// The rollups, from the finest one on.
pub const ROLLUPS: [Rollup; 3] = [
    Rollup {
        view: "increments_10m",
        interval: "10 minutes",
        width: 10 * MINUTE,
    },
    Rollup {
        view: "increments_1h",
        interval: "1 hour",
        width: HOUR,
    },
    Rollup {
        view: "increments_1d",
        interval: "1 day",
        width: DAY,
    },
];

impl Rollup {
    /// Returns the bucket of a moment, which is the start of the bucket and a microsecond.
    fn bucket(self, at: Micros) -> Timestamp {
        timestamp(self.end(at) - self.width + 1)
    }

    /// Returns the end of the bucket of a moment.
    pub const fn end(self, at: Micros) -> Micros {
        let at = at.saturating_sub(1);
        at - at.rem_euclid(self.width) + self.width
    }
}

/// Returns the targets that did something in the bucket of a moment.
pub fn targets_of(
    session: &mut Session,
    scope: &Scope,
    rollup: Rollup,
    at: Micros,
) -> Result<Vec<Target>, Error> {
    let statement = include_str!("bucket.sql").replace("@view@", rollup.view);
    let rows = session.client.query_typed(
        &statement.replace("@width@", rollup.interval),
        &[
            (&rollup.bucket(at), Type::TIMESTAMPTZ),
            (&scope.cluster, Type::TEXT),
            (&scope.filesystem, Type::TEXT),
        ],
    )?;
    let targets = rows.iter().map(Target::from_row);
    Ok(targets.collect::<Result<_, _>>()?)
}

/// Returns what each entry did on these targets in the bucket of a moment.
pub fn work_of(
    session: &mut Session,
    targets: &[&Target],
    rollup: Rollup,
    at: Micros,
) -> Result<Vec<Work>, Error> {
    let ids: Vec<i32> = targets.iter().map(|it| it.id).collect();
    let statement = include_str!("bucket_work.sql").replace("@view@", rollup.view);
    let rows = session.client.query_typed(
        &statement.replace("@columns@", &columns(session)),
        &[
            (&rollup.bucket(at), Type::TIMESTAMPTZ),
            (&ids, Type::INT4_ARRAY),
        ],
    )?;
    read_work(session, &rows)
}

/// Returns what each entry did in the last observations of these targets.
pub fn work(session: &mut Session, targets: &[&Target]) -> Result<Vec<Work>, Error> {
    let observed = targets
        .iter()
        .filter_map(|it| Some((it.id, it.since?, it.time)));
    let (mut ids, mut since, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for (id, from, time) in observed {
        ids.push(id);
        since.push(timestamp(from));
        times.push(timestamp(time));
    }
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let statement = include_str!("work.sql").replace("@columns@", &columns(session));
    let rows = session.client.query_typed(
        &statement,
        &[
            (&ids, Type::INT4_ARRAY),
            (&since, Type::TIMESTAMPTZ_ARRAY),
            (&times, Type::TIMESTAMPTZ_ARRAY),
        ],
    )?;
    read_work(session, &rows)
}

/// Returns the columns of operations, for a statement.
fn columns(session: &Session) -> String {
    let columns = session.columns.iter();
    let columns: Vec<_> = columns.map(|it| format!(r#"i."{}""#, name(*it))).collect();
    columns.join(", ")
}

fn read_work(session: &Session, rows: &[Row]) -> Result<Vec<Work>, Error> {
    let work = rows.iter().map(|row| {
        let totals: Vec<Option<i64>> = row.try_get("totals")?;
        let totals = session.columns.iter().copied().zip(totals);
        Ok(Work {
            target: row.try_get("target_id")?,
            entry: row.try_get("entry_id")?,
            totals: totals
                .filter_map(|(column, total)| Some((column, total?)))
                .collect(),
        })
    });
    Ok(work.collect::<Result<_, tokio_postgres::Error>>()?)
}

/// Returns the owners of entries at a time.
pub fn people(session: &mut Session, entries: &[i64], at: Micros) -> Result<Vec<Person>, Error> {
    let rows = session.client.query_typed(
        &include_str!("people.sql").replace("@users@", &users_at("$2")),
        &[
            (&entries, Type::INT8_ARRAY),
            (&timestamp(at), Type::TIMESTAMPTZ),
        ],
    )?;
    let people = rows.iter().map(|row| {
        let text = |name| Ok(row.try_get::<_, Option<String>>(name)?.map(Into::into));
        let user: Option<i64> = row.try_get("uid")?;
        Ok(Person {
            entry: row.try_get("entry_id")?,
            who: Who {
                entry: row.try_get::<_, String>("name")?.into(),
                user: user.and_then(|user| u32::try_from(user).ok()),
                job: text("job")?,
                node: text("node")?,
                process: text("executable")?,
                account: text("account")?,
            },
            user_name: text("user_name")?,
        })
    });
    Ok(people.collect::<Result<_, tokio_postgres::Error>>()?)
}

/// Returns the time of the first observation.
pub fn first(session: &mut Session, scope: &Scope) -> Result<Option<Micros>, Error> {
    after(session, scope, 0)
}

/// Returns the time of the first observation after a time.
pub fn after(session: &mut Session, scope: &Scope, time: Micros) -> Result<Option<Micros>, Error> {
    edge(session, scope, time, ("min", ">", "ASC"))
}

/// Returns the time of the last observation up to a time.
pub fn before(session: &mut Session, scope: &Scope, time: Micros) -> Result<Option<Micros>, Error> {
    edge(session, scope, time, ("max", "<=", "DESC"))
}

fn edge(
    session: &mut Session,
    scope: &Scope,
    time: Micros,
    (edge, side, order): (&str, &str, &str),
) -> Result<Option<Micros>, Error> {
    let statement = include_str!("edge.sql").replace("@edge@", edge);
    let statement = statement.replace("@side@", side).replace("@order@", order);
    let rows = session.client.query_typed(
        &statement,
        &[
            (&timestamp(time), Type::TIMESTAMPTZ),
            (&scope.cluster, Type::TEXT),
            (&scope.filesystem, Type::TEXT),
        ],
    )?;
    let time = rows
        .first()
        .map(|row| row.try_get::<_, Option<Timestamp>>("time"));
    Ok(time.transpose()?.flatten().map(micros))
}

/// Returns the loads of file systems in the day up to a time, in steps that rollups have.
pub fn history(
    session: &mut Session,
    scope: &Scope,
    until: Micros,
    step: Micros,
    has_clusters: bool,
) -> Result<Loads, Error> {
    let pattern = |pattern: &Option<String>| pattern.clone().map(|it| vec![it]);
    let question = Rates {
        window: Window::new(timestamp(until - DAY), timestamp(until)),
        operations: Some(vec!["service_time".to_owned()]),
        by: Some(vec![Dimension::Cluster, Dimension::Filesystem]),
        step: Some(SignedDuration::from_micros(step).into()),
        filters: Filters {
            cluster: pattern(&scope.cluster),
            filesystem: pattern(&scope.filesystem),
            ..Filters::default()
        },
    };
    let mut history = Loads::new();
    for row in ask(&mut session.client, &question)? {
        let name = row.group.filesystem.unwrap_or_default();
        let name = match (has_clusters, row.group.cluster) {
            (true, Some(cluster)) => format!("{cluster}/{name}"),
            _ => name,
        };
        history.entry(name.into()).or_default().push(Load {
            time: micros(row.time),
            service: row.rate,
            requests: 0.0,
        });
    }
    // A course of which nothing is known, of servers without times, is none.
    history.retain(|_, loads| loads.iter().any(|load| load.service.is_some()));
    Ok(history)
}
