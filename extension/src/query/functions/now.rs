//! `jobstats_now()` reports who keeps each target busy, as of its last observation.

use std::collections::BTreeMap;

use jobstats_core::instant::{DAY, Micros};
use jobstats_core::operation::{OPERATIONS, Operation};
use jobstats_core::quantity::Quantity;
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
use crate::query::dimension::{By, Dimension, InSql, Jobs, Level, Table, join_names};
use crate::query::filters::Filters;
use crate::query::functions::last_work::sums;
use crate::query::groups::Group;
use crate::query::labels::{Labels, formatted, rounded};
use crate::query::names::users_at;
use crate::query::params::Params;
use crate::query::question::{Period, number_of_rows};
use crate::query::{empty, without_times};
use crate::store;
use crate::store::columns::usecs_name;
use crate::store::views::LAST_WORK;

/// The default number of rows of a target.
const DEFAULT_N: i32 = 3;

/// The further dimensions of labels.
const ALWAYS: [&str; 3] = ["cluster", "target", "uid"];

/// A question, as its arguments say it.
struct Asked {
    n: usize,
    at: Option<TimestampWithTimeZone>,
    /// The dimensions of the names.
    of_name: Vec<&'static str>,
    /// The dimensions of the labels.
    of_labels: By,
    filters: Filters,
}

/// The last observation of a target.
#[derive(Clone)]
struct Target {
    id: i32,
    name: String,
    server: Option<String>,
    time: TimestampWithTimeZone,
    age: Interval,
    seconds: f64,
}

/// The usage of one entry on one target.
struct Usage {
    target: Target,
    entry: i64,
    work: Work,
}

/// Work, by operation.
#[derive(Clone, Default)]
struct Work {
    /// The number of calls per operation.
    calls: Vec<f64>,
    /// The microseconds per operation.
    usecs: Vec<f64>,
}

/// The work of a group on a target.
struct Ranked {
    target: Target,
    group: Group,
    rank: i64,
    operation: &'static str,
    rate: f64,
    service_time: Option<f64>,
    share: f64,
}

#[pg_extern(sql = false)]
fn jobstats_now(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let target = arguments.take::<String>()?;
    let n = usize::try_from(number_of_rows(arguments.take()?, DEFAULT_N)?).unwrap_or(0);
    let at = arguments.take::<TimestampWithTimeZone>()?;
    at.map_or(Ok(0), micros)?;
    let by = By::parse(arguments.take()?, "user,workload,account")?;
    let filters = Filters::take(&mut arguments)?;
    let of_name: Vec<&str> = by.iter().map(|it| it.name).collect();
    let asked = Asked {
        n,
        at,
        of_labels: By::these(&[&of_name, &ALWAYS[..]].concat()),
        of_name,
        filters: filters
            .any_of("target", target.map(|it| vec![Some(it)]))
            .resolved()?,
    };
    let usages = store::read(|client| {
        store::require(client)?;
        asked.usages(client)
    })?;
    let groups = connect_as_of_call(|client| asked.groups(client, &usages))?;
    let ranked = asked.ranked(usages, groups);
    if !ranked.is_empty() && ranked.iter().all(|it| it.service_time.is_none()) {
        without_times::note_calls();
    }
    let by = asked.of_labels.clone();
    let labels =
        connect_as_of_call(|client| Labels::new(client, by, ranked.iter().map(|it| &it.group)))?;
    for it in &ranked {
        let (number, operation) = match it.service_time {
            Some(time) => (time, "service_time"),
            None => (it.rate, it.operation),
        };
        rows.put(|| {
            [
                it.target.name.as_str().cell(),
                it.rank.cell(),
                labels.name(&it.group, Some(&asked.of_name)).cell(),
                it.operation.cell(),
                formatted(Some(number), operation, Quantity::Rate).cell(),
                rounded(it.share).cell(),
                it.service_time.cell(),
                it.rate.cell(),
                it.target.age.cell(),
                labels.labels(&it.group, None).cell(),
            ]
        });
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
    if at.map_or(Ok(Micros::MAX), micros)? <= kept_since {
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

impl Asked {
    /// Reads what entries did in the last observations, in the order of targets.
    fn usages(&self, client: &SpiClient<'_>) -> Result<Vec<Usage>, Error> {
        let params = Params::default();
        let of_targets = self.filters.conditions(Level::Target, "target", &params);
        let statement = sql!(
            "now.sql",
            extschema = store::extension_schema()?,
            at = params.bind("at", || self.at),
            conditions = of_targets + &self.filters.conditions(Level::Server, "t", &params),
            last_work = LAST_WORK,
            calls = sums(operations().map(|operation| operation.name.to_owned())),
            usecs = sums(operations().map(usecs_name)),
        );
        let found = client.query(&statement, &params.take())?;
        if found.len() == 0 {
            note_age(client, self.at)?;
            empty::explain(client, &day_until(self.at)?, &self.filters)?;
        }
        require_room(found.len(), USAGE_BYTES)?;
        let rows = PAUSE.among(found);
        rows.map(|row| Usage::read(&row)).collect()
    }

    /// Finds the groups of usages; `None` for what the filters leave out.
    fn groups(
        &self,
        client: &SpiClient<'_>,
        usages: &[Usage],
    ) -> Result<Vec<Option<Group>>, Error> {
        let entry = Table {
            name: "entry",
            jobs: Jobs::Joined,
        };
        let table = |it: &Dimension| match it.level {
            Level::Target => Table::from("target"),
            Level::Server => Table::from("asked"),
            Level::Entry => entry,
        };
        let times: Vec<_> = usages.iter().map(|it| it.target.time).collect();
        // To look up the name at a time takes a round trip for each row in a front.
        let are_renamed: bool = client.query_value(
            "SELECT EXISTS (SELECT FROM jobstats.earlier_users e WHERE e.until >= (SELECT min(t.at) FROM unnest($1) t (at)))",
            &[times.clone().into()],
        )?;
        let users = match are_renamed {
            true => format!("LATERAL {}", users_at("asked.\"time\"")),
            false => "jobstats.users".to_owned(),
        };
        let params = Params::default();
        let asked = [
            params.bind("entries", || {
                usages.iter().map(|it| it.entry).collect::<Vec<_>>()
            }),
            params.bind("times", || times),
            params.bind("targets", || {
                usages.iter().map(|it| it.target.id).collect::<Vec<_>>()
            }),
            params.bind("servers", || {
                let servers = usages.iter().map(|it| it.target.server.clone());
                servers.collect::<Vec<_>>()
            }),
        ];
        let value = |it: &Dimension| format!(", ({})::text", it.expression(table(it)));
        let values: String = self.of_labels.iter().map(value).collect();
        let dimensions = self.of_labels.iter().chain(self.filters.chosen());
        let statement = sql!(
            "now/groups.sql",
            asked = asked.join(", "),
            dimensions = values,
            names = join_names(dimensions, entry, [&users, "jobstats.groups"], ""),
            conditions = self.filters.conditions(Level::Entry, entry, &params),
        );
        let mut groups: Vec<Option<Group>> = vec![None; usages.len()];
        for row in client.query(&statement, &params.take())? {
            let position: i64 = row.at(1)?;
            let columns = (2..).take(self.of_labels.iter().count());
            let group: Group = columns.map(|it| row.at(it)).collect::<Result<_, _>>()?;
            let position = usize::try_from(position - 1).ok();
            if let Some(found) = position.and_then(|it| groups.get_mut(it)) {
                *found = Some(group);
            }
        }
        Ok(groups)
    }

    /// Returns the first rows of each target, in order of cluster and target.
    ///
    /// Rust adds up and ranks: in SQL, 5,000 usages of 28 operations took 53 ms, where the whole function takes 8 ms.
    fn ranked(&self, usages: Vec<Usage>, groups: Vec<Option<Group>>) -> Vec<Ranked> {
        // Usages are in the order of targets.
        let mut targets: Vec<(Target, Work, BTreeMap<Group, Work>)> = Vec::new();
        for (usage, group) in usages.into_iter().zip(groups) {
            if targets.last().is_none_or(|it| it.0.id != usage.target.id) {
                targets.push((usage.target, Work::default(), BTreeMap::new()));
            }
            if let Some((_, load, sums)) = targets.last_mut() {
                load.add(&usage.work);
                if let Some(group) = group {
                    sums.entry(group).or_default().add(&usage.work);
                }
            }
        }
        let of_target = |(target, load, sums): (Target, Work, BTreeMap<Group, Work>)| {
            let ranked = sums.into_iter();
            let ranked = ranked.filter_map(|(group, work)| work.ranked(&target, group, &load));
            let mut ranked: Vec<Ranked> = ranked.collect();
            // The sort is stable: of equal shares, the first group stays first.
            ranked.sort_by(|one, other| other.share.total_cmp(&one.share));
            ranked.truncate(self.n);
            for (rank, row) in (1..).zip(&mut ranked) {
                row.rank = rank;
            }
            ranked
        };
        targets.into_iter().flat_map(of_target).collect()
    }
}

impl Usage {
    fn read(row: &spi::Row<'_>) -> Result<Self, Error> {
        Ok(Self {
            target: Target {
                id: row.at(1)?,
                name: row.at(2)?,
                server: row.at(3)?,
                time: row.at(4)?,
                age: row.at(5)?,
                seconds: row.at(6)?,
            },
            entry: row.at(7)?,
            work: Work {
                calls: known(row.at(8)?),
                usecs: known(row.at(9)?),
            },
        })
    }
}

/// Returns sums with 0 in place of unknown ones.
fn known(sums: Vec<Option<f64>>) -> Vec<f64> {
    let sums = sums.into_iter();
    sums.map(Option::unwrap_or_default).collect()
}

impl Work {
    fn add(&mut self, other: &Self) {
        let (calls, usecs) = (&mut self.calls, &mut self.usecs);
        for (own, other) in [(calls, &other.calls), (usecs, &other.usecs)] {
            own.resize(other.len(), 0.0);
            for (own, other) in own.iter_mut().zip(other) {
                *own += other;
            }
        }
    }

    /// Returns the row of this work of a group, with its share in the load of the target, in microseconds, or in calls if the target
    /// reports no times; `None` if nothing was done.
    fn ranked(&self, target: &Target, group: Group, load: &Self) -> Option<Ranked> {
        let timed = load.usecs.iter().sum::<f64>() > 0.0;
        let (of, all) = match timed {
            true => (&self.usecs, &load.usecs),
            false => (&self.calls, &load.calls),
        };
        let (own, all): (f64, f64) = (of.iter().sum(), all.iter().sum());
        // Of equal values, `max_by` takes the last one. The order is reversed because the first operation is better known.
        let (leading, _) = of
            .iter()
            .enumerate()
            .rev()
            .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let operation = operations().nth(leading)?;
        (own > 0.0).then(|| Ranked {
            target: target.clone(),
            group,
            rank: 0,
            operation: operation.name,
            rate: self.calls[leading] / target.seconds,
            service_time: timed.then(|| own / 1e6 / target.seconds),
            share: own / all,
        })
    }
}
