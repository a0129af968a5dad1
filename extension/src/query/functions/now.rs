//! `jobstats_now()` reports who keeps each target busy, as of its last observation.

use std::collections::BTreeMap;
use std::rc::Rc;

use jobstats_core::instant::{DAY, Micros};
use jobstats_core::operation::{OPERATIONS, Operation};
use jobstats_core::quantity::Quantity;
use jobstats_core::usage::{Amount, Target};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Row, SqlResult, Statements};
use crate::pg::time::{EARLIEST, micros, timestamptz};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::dimension::{By, Dimension, Level};
use crate::query::engine::{Load, Request, Usage};
use crate::query::filters::Filters;
use crate::query::groups::Group;
use crate::query::labels::{Labels, formatted, rounded};
use crate::query::measure::{Measure, Measures};
use crate::query::params::Params;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted, number_of_rows};
use crate::query::read;
use crate::query::state::State;
use crate::query::window::Window;
use crate::query::{empty, without_times};
use crate::store;

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

/// The last observation of a target, which is its only span, and its age.
type Last = (Target, Interval);

/// The work of a group on a target.
struct Ranked {
    group: Group,
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
    store::read(|client| {
        store::require(client)?;
        let lasts = asked.lasts(client)?;
        let ranked = asked.ranked(client, &lasts)?;
        asked.write(client, &lasts, &ranked, &mut rows)
    })?;
    Ok(())
}

impl Asked {
    fn write(
        &self,
        client: &SpiClient<'_>,
        lasts: &[Last],
        ranked: &[Vec<Ranked>],
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let mut all = ranked.iter().flatten().peekable();
        if all.peek().is_some() && all.clone().all(|it| it.service_time.is_none()) {
            without_times::note_calls();
        }
        let labels = Labels::new(client, self.of_labels.clone(), all.map(|it| &it.group))?;
        let of_targets = lasts.iter().zip(ranked);
        let ranks =
            of_targets.flat_map(|(last, ranked)| (1i64..).zip(ranked).map(move |it| (last, it)));
        for ((target, age), (rank, it)) in ranks {
            let (number, operation) = match it.service_time {
                Some(time) => (time, "service_time"),
                None => (it.rate, it.operation),
            };
            rows.put(|| {
                [
                    target.name.as_str().cell(),
                    rank.cell(),
                    labels.name(&it.group, Some(&self.of_name)).cell(),
                    it.operation.cell(),
                    formatted(Some(number), operation, Quantity::Rate).cell(),
                    rounded(it.share).cell(),
                    it.service_time.cell(),
                    it.rate.cell(),
                    age.cell(),
                    labels.labels(&it.group, None).cell(),
                ]
            });
        }
        Ok(())
    }
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

/// Returns the operations that make up service time. No call is counted in two of them.
fn operations() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS
        .iter()
        .filter(|operation| operation.in_service_time())
}

/// The memory that the last observation of a target takes.
const LAST_BYTES: usize = 1 << 10;

impl Asked {
    /// Returns the last observations of targets, or the last hours of them, in order of cluster and target.
    fn lasts(&self, client: &SpiClient<'_>) -> Result<Vec<Last>, Error> {
        let params = Params::default();
        // Who asks about now does not ask what an observation after a gap of days says of these days.
        let statement = format!(
            "SELECT t.target_id, t.cluster, t.filesystem, t.kind, t.target AS name, t.server, t.since, t.\"time\", \
             coalesce({at}, now()) - t.\"time\" AS age FROM {schema}.jobstats_targets({at}) t \
             JOIN jobstats.targets target ON target.target_id = t.target_id \
             WHERE t.since IS NOT NULL{of_targets}{of_servers} ORDER BY t.cluster, t.target",
            at = params.bind("at", || self.at),
            schema = store::extension_schema()?,
            of_targets = self.filters.conditions(Level::Target, "target", &params),
            of_servers = self.filters.conditions(Level::Server, "t", &params),
        );
        let found = client.query(&statement, &params.take())?;
        require_room(found.len(), LAST_BYTES)?;
        found.map(|row| self.last(&row)).collect()
    }

    fn last(&self, row: &Row<'_>) -> Result<Last, Error> {
        let target = read::Target {
            id: row.get("target_id")?,
            cluster: row.get("cluster")?,
            filesystem: row.get("filesystem")?,
            kind: row.get("kind")?,
            name: row.get("name")?,
            retired: None,
        };
        let server: Option<String> = row.get("server")?;
        let value = |it: &Dimension| match it.level {
            Level::Server => server.clone(),
            _ => target.value(it).map(str::to_owned),
        };
        let of_targets = self.of_labels.of(&[Level::Target, Level::Server]);
        let grouped = Target {
            group: of_targets.map(value).collect(),
            spans: vec![(row.time("since")?, row.time("time")?)],
            ..target.grouped(&self.of_labels)
        };
        Ok((grouped, row.get("age")?))
    }

    /// Returns the first rows of each target, in order of cluster and target.
    fn ranked(&self, client: &SpiClient<'_>, lasts: &[Last]) -> Result<Vec<Vec<Ranked>>, Error> {
        let spans = lasts.iter().map(|it| it.0.spans[0]);
        let window = spans
            .clone()
            .reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let measures = operations().map(|it| Measure::find(it.name));
        let question = Question {
            period: Period::default(),
            by: self.of_labels.clone(),
            measures: Measures::listed(measures.collect::<Result<_, _>>()?),
            filters: self.filters.clone().of_level(Level::Entry),
            wanted: Wanted::Totals,
        };
        let mut ranked = Vec::new();
        let state = || Ok::<_, Error>(Rc::new(State::read(client)?));
        if let Some((since, until)) = window
            && let Some(plan) =
                Plan::with(client, &question, Window::whole(since, until), state()?)?
        {
            let request = Request::of(&question, &plan, None, None);
            let targets = lasts.iter().map(|it| it.0.clone());
            request.read_last(targets.zip(spans).collect(), |usage| {
                ranked = self.ranked_in(lasts, usage)?;
                Ok(())
            })?;
        }
        if ranked.iter().all(Vec::is_empty) {
            note_age(client, self.at)?;
            empty::explain(client, &day_until(self.at)?, &self.filters)?;
        }
        Ok(ranked)
    }

    fn ranked_in(&self, lasts: &[Last], usage: &Usage<'_>) -> Result<Vec<Vec<Ranked>>, Error> {
        let place = |name: &str| {
            self.of_labels
                .iter()
                .position(|it| it.name == name)
                .unwrap_or(0)
        };
        let [cluster, target] = ["cluster", "target"].map(place);
        let mut groups: BTreeMap<[Option<String>; 2], BTreeMap<Group, Vec<Amount>>> =
            BTreeMap::new();
        usage.each(false, |line| {
            let group = usage.values(&line);
            let of_target = groups.entry([group[cluster].clone(), group[target].clone()]);
            of_target.or_default().insert(group, line.amounts);
            Ok(())
        })?;
        let mut loads = usage.loads();
        let of_target = |(target, _): &Last| {
            let key = [Some(target.cluster.clone()), Some(target.name.clone())];
            let load = loads.remove(&target.id).unwrap_or_default();
            let (since, until) = target.spans[0];
            let seconds = (until - since) as f64 / 1e6;
            let ranked = groups.remove(&key).unwrap_or_default().into_iter();
            let ranked = ranked.filter_map(|it| Ranked::new(it.0, &it.1, load, seconds));
            let mut ranked: Vec<Ranked> = ranked.collect();
            // The sort is stable: of equal shares, the first group stays first.
            ranked.sort_by(|one, other| other.share.total_cmp(&one.share));
            ranked.truncate(self.n);
            ranked
        };
        Ok(lasts.iter().map(of_target).collect())
    }
}

impl Ranked {
    /// Returns the row of a group that did this by operation, with its share in the load of the target: in microseconds, or in calls if the target
    /// reports no times; `None` if nothing was done.
    fn new(group: Group, amounts: &[Amount], load: Load, seconds: f64) -> Option<Self> {
        let is_timed = load.time > 0;
        let of = |it: &Amount| if is_timed { it.spent } else { it.total }.unwrap_or(0);
        let (own, all) = (
            amounts.iter().map(of).sum::<i128>(),
            if is_timed { load.time } else { load.calls },
        );
        // Of equal values, `max_by_key` takes the last one. The order is reversed because the first operation is better known.
        let (leading, most) = amounts.iter().enumerate().rev().max_by_key(|it| of(it.1))?;
        (own > 0).then(|| Self {
            group,
            operation: operations().nth(leading).map_or("", |it| it.name),
            rate: most.total.unwrap_or(0) as f64 / seconds,
            service_time: is_timed.then(|| own as f64 / 1e6 / seconds),
            share: own as f64 / all as f64,
        })
    }
}
