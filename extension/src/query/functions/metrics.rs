//! `jobstats_metrics()`: returns the health and the rates of targets, for scraping and alerting.

use std::collections::BTreeMap;

use jobstats_core::metrics::{Counts, GAUGE_LABELS, Gauge, Maintenance, Target, Work, exposition};
use jobstats_core::openmetrics::ExpositionError;
use jobstats_core::operation::OPERATIONS;
use jobstats_core::target::TargetKind;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Row, SqlResult, Statements, connect_as_of_call};
use crate::pg::template::sql;
use crate::query::functions::last_work::sums;
use crate::store;
use crate::store::columns::usecs_name;
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
        kind: TargetKind::named(&kind),
        server: row.get("server")?,
        status: row.get("status")?,
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

fn works(client: &SpiClient<'_>) -> Result<BTreeMap<i32, Work>, Error> {
    let mut works = BTreeMap::new();
    for row in PAUSE.among(client.query(&statement(store::is_front(client)?)?, &[])?) {
        let work = Work {
            seconds: row.get("seconds")?,
            active: row.get("active")?,
            amounts: row.get("amounts")?,
            usecs: row.get("usecs")?,
        };
        works.insert(row.get("target_id")?, work);
    }
    Ok(works)
}

fn statement(is_front: bool) -> Result<String, Error> {
    let names = OPERATIONS.iter().map(|operation| operation.name.to_owned());
    let timed = OPERATIONS
        .iter()
        .filter(|operation| operation.in_service_time());
    Ok(sql!(
        "metrics/rates.sql",
        pace_of_a_day = views::pace_since("now() - interval '1 day'", is_front),
        last_work = views::LAST_WORK,
        amounts = sums(names),
        usecs = sums(timed.map(usecs_name)),
    ))
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

/// Returns how the nodes of a front are, and whether they can all be asked, which a scrape must learn although nothing else is known then.
fn nodes(client: &SpiClient<'_>) -> Result<(Vec<Gauge>, bool), Error> {
    let (mut gauges, mut all_answer) = (Vec::new(), true);
    for row in client.query(include_str!("metrics/nodes.sql"), &[])? {
        gauges.push(gauge(&row)?);
        all_answer &= !row.get::<bool>("fails")?;
    }
    Ok((gauges, all_answer))
}

fn maintenance(client: &SpiClient<'_>) -> Result<Maintenance, Error> {
    let row = client.query_only(
        include_str!("metrics/maintenance.sql"),
        &[],
        "maintenance_state",
    )?;
    let levels: Vec<String> = row.get("levels")?;
    let lags: Vec<f64> = row.get("lags")?;
    Ok(Maintenance {
        completed: row.get("completed")?,
        problem: row.get("problem")?,
        lags: levels.into_iter().zip(lags).collect(),
    })
}
