//! `jobstats_metrics()`: returns the health and the rates of targets, for scraping and alerting.

use std::collections::BTreeMap;
use std::rc::Rc;

use jobstats_core::base::instant::Micros;
use jobstats_core::base::operation::{OPERATIONS, in_service_time};
use jobstats_core::base::target::TargetKind;
use jobstats_core::output::metrics::{
    Counts, GAUGE_LABELS, Gauge, Maintenance, Target, Work, exposition,
};
use jobstats_core::output::openmetrics::ExpositionError;
use jobstats_core::usage;
use jobstats_core::usage::Measures;
use jobstats_core::usage::columns::sum::Sum;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Row, SqlResult, Statements, connect_as_of_call};
use crate::query::dimension::By;
use crate::query::engine::Request;
use crate::query::filters::Filters;
use crate::query::plan::Plan;
use crate::query::question::{AnswerShape, Period, Question};
use crate::query::state::State;
use crate::query::window::Window;
use crate::store;
use crate::store::views;

#[pg_extern(sql = false)]
fn jobstats_metrics() -> SqlResult<String> {
    let read = |client: &SpiClient<'_>| {
        store::require(client)?;
        let (nodes, all_answer) = nodes(client)?;
        if !nodes.is_empty() {
            store::limit(client)?;
        }
        let (targets, elsewhere, gauges, maintenance) = if all_answer {
            let (targets, elsewhere) = (targets(client)?, elsewhere(client)?);
            let gauges = gauges(client)?.into_iter().chain(nodes).collect();
            (targets, elsewhere, gauges, maintenance(client)?)
        } else {
            (Vec::new(), Vec::new(), nodes, Maintenance::UNKNOWN)
        };
        exposition(&targets, &elsewhere, &gauges, &maintenance)
            .map_err(|ExpositionError::Memory(bytes)| Error::Memory(bytes))
    };
    Ok(store::on_nodes(|| connect_as_of_call(read))?)
}

/// The memory that a target takes with its rates.
const TARGET_BYTES: usize = 4 << 10;

fn targets(client: &SpiClient<'_>) -> Result<Vec<Target>, Error> {
    let mut works = works(client)?;
    let rows = client.query(include_str!("metrics/targets.sql"), &[])?;
    require_room(rows.len(), TARGET_BYTES)?;
    PAUSE
        .among(rows)
        .map(|row| target(&row, &mut works))
        .collect()
}

fn target(row: &Row<'_>, works: &mut BTreeMap<i32, Work>) -> Result<Target, Error> {
    let (id, kind): (Option<i32>, String) = (row.get("target_id")?, row.get("kind")?);
    Ok(Target {
        cluster: row.get("cluster")?,
        filesystem: row.get("filesystem")?,
        name: row.get("name")?,
        kind: TargetKind::find(&kind),
        server: row.get("server")?,
        states: row.get("states")?,
        last_observation: row.get("last_observation")?,
        delay: row.get("delay")?,
        usual_interval: row.get("usual_interval")?,
        missed: row.get("missed")?,
        rejects: row.get("rejects")?,
        counts: match id {
            None => None,
            Some(_) => Some(Counts {
                observations: row.get("observations")?,
                text_bytes: row.get("text_bytes")?,
                problems: row.get("problems")?,
            }),
        },
        work: id.and_then(|id| works.remove(&id)),
    })
}

/// Returns the number of rejects that name no known target, per cluster.
fn elsewhere(client: &SpiClient<'_>) -> Result<Vec<(String, f64)>, Error> {
    client
        .query(include_str!("metrics/rejects.sql"), &[])?
        .map(|row| Ok((row.get("cluster")?, row.get("rejects")?)))
        .collect()
}

/// Returns the last observation, or the last hour of it, of each target that is not silent. Observations that span over an hour (and four usual
/// intervals), after a gap, are left out.
fn lasts(client: &SpiClient<'_>) -> Result<Vec<usage::Target>, Error> {
    let pace = views::pace_since(views::DAY_AGO, store::is_front(client)?);
    let statement = format!(
        "SELECT p.target_id, greatest(p.since, p.last_observation - interval '1 hour') AS since, p.last_observation AS \"time\" FROM ({pace}) p \
         WHERE NOT p.silent AND p.since > now() - greatest(4 * p.usual_interval, interval '1 hour')"
    );
    let last = |row: Row<'_>| {
        let id = row.get("target_id")?;
        Ok(usage::Target {
            spans: vec![(row.time("since")?, row.time("time")?)],
            ..usage::Target::new(id, String::new(), TargetKind::Ost)
        })
    };
    client.query(&statement, &[])?.map(last).collect()
}

/// The memory that last observations may take.
const LIMIT: usize = 512 << 20;

/// Returns what each target did in its last observation.
fn works(client: &SpiClient<'_>) -> Result<BTreeMap<i32, Work>, Error> {
    let lasts = lasts(client)?;
    let Some(window) = Window::of_targets(lasts.iter()) else {
        return Ok(BTreeMap::new());
    };
    let question = Question {
        period: Period::default(),
        by: By::these(&[]),
        measures: Measures::every(),
        filters: Filters::default(),
        wanted: AnswerShape::Totals,
    };
    // Rows of observations need no other state of the store.
    let state = State {
        limit: LIMIT,
        ..State::default()
    };
    let plan = Plan::of(client, &question, window, Rc::new(state))?;
    let mut request = Request::of(&question, &plan, None);
    let usage = request.read_last(lasts)?;
    let all = usage.cells.of_targets(&usage.scope);
    let works = usage
        .scope
        .iter()
        .zip(all)
        .map(|((target, observed), sums)| {
            let value = |sum: Sum| {
                let place = usage.plan.sums.iter().position(|it| *it == sum)?;
                let value = sums.as_ref().and_then(|it| it.get(place))?;
                Some(*value as f64).filter(|it| *it != 0.0)
            };
            let counts = OPERATIONS.iter().map(|it| value(Sum::counts(&[it])));
            let work = Work {
                seconds: observed.iter().sum::<Micros>() as f64 / 1e6,
                active: sums.is_some(),
                amounts: counts.collect(),
                usecs: in_service_time()
                    .map(|it| value(Sum::times(&[it])))
                    .collect(),
            };
            (target.id, work)
        });
    Ok(works.collect())
}

/// The memory that a gauge takes with its labels.
const GAUGE_BYTES: usize = 1 << 10;

fn gauges(client: &SpiClient<'_>) -> Result<Vec<Gauge>, Error> {
    let rows = client.query(include_str!("metrics/gauges.sql"), &[])?;
    require_room(rows.len(), GAUGE_BYTES)?;
    PAUSE.among(rows).map(|row| gauge(&row)).collect()
}

fn gauge(row: &Row<'_>) -> Result<Gauge, Error> {
    let mut labels = GAUGE_LABELS.map(|_| String::new());
    for (label, name) in labels.iter_mut().zip(GAUGE_LABELS) {
        *label = row.get(name)?;
    }
    Ok(Gauge {
        family: row.get("family")?,
        labels,
        value: row.get("value")?,
    })
}

/// Returns the state of the nodes of a front, and whether all respond: a scrape must show that in any case.
fn nodes(client: &SpiClient<'_>) -> Result<(Vec<Gauge>, bool), Error> {
    let (mut gauges, mut all_answer) = (Vec::new(), true);
    for row in client.query(include_str!("metrics/nodes.sql"), &[])? {
        gauges.push(gauge(&row)?);
        all_answer &= !row.get::<bool>("fails")?;
    }
    Ok((gauges, all_answer))
}

/// The end of the last maintenance, whether all of it was well, and how far each rollup stays behind.
const MAINTENANCE: &str = "SELECT extract(epoch FROM m.completed)::double precision AS completed, m.problem IS NOT NULL AS problem, \
    ARRAY(SELECT l.level FROM jobstats.rollups l WHERE l.refreshed > 'epoch' ORDER BY l.width) AS levels, \
    ARRAY(SELECT extract(epoch FROM now() - l.refreshed)::double precision FROM jobstats.rollups l \
    WHERE l.refreshed > 'epoch' ORDER BY l.width) AS lags FROM jobstats.maintenance_state m";

fn maintenance(client: &SpiClient<'_>) -> Result<Maintenance, Error> {
    let row = client.query_only(MAINTENANCE, &[], "maintenance_state")?;
    let levels: Vec<String> = row.get("levels")?;
    let lags: Vec<f64> = row.get("lags")?;
    Ok(Maintenance {
        completed: row.get("completed")?,
        problem: row.get("problem")?,
        lags: levels.into_iter().zip(lags).collect(),
    })
}
