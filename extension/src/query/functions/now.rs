//! `jobstats_now()` reports who keeps each target busy, as of its last observation.

use std::collections::HashMap;
use std::rc::Rc;

use jobstats_core::base::instant::{DAY, Micros, Span};
use jobstats_core::base::operation::in_service_time;
use jobstats_core::base::target::TargetKind;
use jobstats_core::output::quantity::Quantity;
use jobstats_core::usage::times::reports_times;
use jobstats_core::usage::{Amount, Measure, Measures, Target};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Row, SqlResult, Statements};
use crate::pg::time::{EARLIEST, micros, timestamptz};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::dimension::{By, Level};
use crate::query::engine::{Load, Request, Usage};
use crate::query::explain_empty;
use crate::query::filters::Filters;
use crate::query::labels::{Group, Labels, formatted, rounded};
use crate::query::params::Params;
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question, number_of_rows};
use crate::query::state::State;
use crate::query::window::Window;
use crate::store;

/// The default number of rows of a target.
const DEFAULT_N: usize = 3;

/// The further dimensions of labels.
const ALWAYS: [&str; 3] = ["cluster", "target", "uid"];

/// The arguments.
struct Query {
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
struct RankedGroup {
    /// The position of the target.
    last: usize,
    rank: i64,
    group: Group,
    operation: &'static str,
    rate: f64,
    service_time: Option<f64>,
    share: f64,
}

#[pg_extern(sql = false)]
fn jobstats_now(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let target = arguments.take::<String>()?;
    let n = number_of_rows(arguments.take()?, DEFAULT_N)?;
    let at = arguments.take::<TimestampWithTimeZone>()?;
    at.map_or(Ok(0), micros)?;
    let by = By::parse(arguments.take()?, "user,workload,account")?;
    let filters = Filters::take(&mut arguments)?;
    let of_name: Vec<&str> = by.iter().map(|it| it.name).collect();
    let query = Query {
        n,
        at,
        of_labels: By::these(&[&of_name, &ALWAYS[..]].concat()),
        of_name,
        filters: filters
            .any_of("target", target.map(|it| vec![it]))
            .resolved()?,
    };
    store::read(|client| {
        store::require(client)?;
        let lasts = query.lasts(client)?;
        let ranked = query.ranked(client, &lasts)?;
        query.write(client, &lasts, &ranked, &mut rows)
    })?;
    Ok(())
}

/// The memory that the last observation of a target takes.
const LAST_BYTES: usize = 1 << 10;

impl Query {
    fn write(
        &self,
        client: &SpiClient<'_>,
        lasts: &[Last],
        ranked: &[RankedGroup],
        rows: &mut Rows,
    ) -> Result<(), Error> {
        if !ranked.is_empty() && ranked.iter().all(|it| it.service_time.is_none()) {
            pgrx::notice!(
                "no target in scope reports times (Lustre before 2.14), so share and operation are based on calls"
            );
        }
        let groups = ranked.iter().map(|it| &it.group);
        let labels = Labels::new(client, self.of_labels.clone(), groups)?;
        for it in ranked {
            let (target, age) = &lasts[it.last];
            let (number, operation) = match it.service_time {
                Some(time) => (time, "service_time"),
                None => (it.rate, it.operation),
            };
            rows.put(|| {
                [
                    target.name.as_str().cell(),
                    it.rank.cell(),
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

    /// Returns the last observations of targets, or the last hours of them, in order of cluster and target.
    fn lasts(&self, client: &SpiClient<'_>) -> Result<Vec<Last>, Error> {
        let params = Params::default();
        // An observation after a gap of days is no answer to a question about now.
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
        let kind = TargetKind::find(row.get("kind")?).unwrap_or(TargetKind::Ost);
        let target = Target {
            cluster: row.get("cluster")?,
            filesystem: row.get("filesystem")?,
            server: row.get("server")?,
            spans: vec![(row.time("since")?, row.time("time")?)],
            ..Target::new(row.get("target_id")?, row.get("name")?, kind)
        };
        Ok((target.grouped(self.of_labels.list()), row.get("age")?))
    }

    /// Returns the first rows of each target, in order of cluster and target.
    fn ranked(&self, client: &SpiClient<'_>, lasts: &[Last]) -> Result<Vec<RankedGroup>, Error> {
        let measures = in_service_time().map(|it| Measure::find(it.name));
        let question = Question {
            period: Period::default(),
            by: self.of_labels.clone(),
            measures: Measures::listed(measures.collect::<Result<_, _>>()?),
            filters: self.filters.clone().of_level(Level::Entry),
            wanted: AnswerShape::Totals,
        };
        let targets = lasts.iter().map(|it| &it.0);
        let ranked = match Window::of_targets(targets.clone()) {
            Some(window) => {
                let state = Rc::new(State::read(client)?);
                let plan = Plan::of(client, &question, window, state)?;
                let mut request = Request::of(&question, &plan, None);
                self.ranked_in(lasts, &request.read_last(targets.cloned().collect())?)?
            }
            None => Vec::new(),
        };
        if ranked.is_empty() {
            note_age(client, self.at)?;
            explain_empty::explain(client, &day_until(self.at)?, &self.filters)?;
        }
        Ok(ranked)
    }

    fn ranked_in(&self, lasts: &[Last], usage: &Usage<'_>) -> Result<Vec<RankedGroup>, Error> {
        let places = lasts.iter().zip(0..);
        let places = places.map(|((it, _), place)| ([&*it.cluster, &*it.name], place));
        let places: HashMap<[&str; 2], usize> = places.collect();
        let place = |name: &str| self.of_labels.iter().position(|it| it.name == name);
        let of_target = ["cluster", "target"].map(|it| place(it).unwrap_or(0));
        let loads = usage.loads();
        let mut ranked: Vec<RankedGroup> = Vec::new();
        usage.each(false, |line| {
            let group = usage.values(&line);
            let target = of_target.map(|it| group[it].as_deref().unwrap_or_default());
            if let Some(&last) = places.get(&target) {
                let target = &lasts[last].0;
                let load = loads.get(&target.id).copied().unwrap_or_default();
                let on_target = (last, load, target.spans[0]);
                ranked.extend(RankedGroup::new(group, &line.amounts, on_target));
            }
            Ok(())
        })?;
        ranked.sort_by(|one, other| {
            let by_target = one.last.cmp(&other.last);
            by_target
                .then_with(|| other.share.total_cmp(&one.share))
                .then_with(|| one.group.cmp(&other.group))
        });
        for of_target in ranked.chunk_by_mut(|one, other| one.last == other.last) {
            for (rank, it) in (1..).zip(of_target) {
                it.rank = rank;
            }
        }
        ranked.retain(|it| it.rank <= self.n as i64);
        Ok(ranked)
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
        pgrx::notice!("increments are retained since {}", timestamptz(kept_since)?);
    }
    Ok(())
}

impl RankedGroup {
    /// Returns the row of a group with this usage by operation, with its share in the load of the target: in microseconds, or in calls if the target
    /// reports no times; `None` without usage. `last` is the position of the target, with its load and its last observation.
    fn new(
        group: Group,
        amounts: &[Amount],
        (last, load, (since, until)): (usize, Load, Span),
    ) -> Option<Self> {
        let seconds = (until - since) as f64 / 1e6;
        let is_timed = reports_times([load.time]);
        let of = |it: &Amount| if is_timed { it.spent } else { it.total }.unwrap_or(0);
        let own: i128 = amounts.iter().map(of).sum();
        let all = if is_timed { load.time } else { load.calls };
        // Of equal values, `max_by_key` takes the last one. The order is reversed because the first operation is better known.
        let (leading, most) = amounts.iter().enumerate().rev().max_by_key(|it| of(it.1))?;
        (own > 0).then(|| Self {
            last,
            rank: 0,
            group,
            operation: in_service_time().nth(leading).map_or("", |it| it.name),
            rate: most.total.unwrap_or(0) as f64 / seconds,
            service_time: is_timed.then(|| own as f64 / 1e6 / seconds),
            share: own as f64 / all as f64,
        })
    }
}
