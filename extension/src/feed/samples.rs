//! Stores the latest value of gauges and counters, and their values by hour and day. The value of a counter is its growth since
//! its predecessor, and after a reset the whole value.
//!
//! A value that is not newer than the latest of its series is ignored. The caller holds the locks of the targets and of the
//! server.

use std::borrow::Cow;
use std::collections::HashMap;

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::snapshot::Contents;
use jobstats_core::text::additional_parameters::Problems;
use jobstats_core::text::gauges;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use serde::{Serialize, Serializer};

use crate::feed::ingest::Ingest;
use crate::feed::server_parameters::{OwnedTargetName, json};
use crate::feed::targets::Target;
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::plans;
use crate::pg::spi::{Statements, values};
use crate::pg::template::sql;

/// The number of series in a week above which a server gets no new ones.
pub const SERIES_MAX: usize = 10_000;

/// The reason to reject values of further series.
const TOO_MANY: &str = "too many series";

/// The number of values in a statement, of which PostgreSQL has several copies.
const AT_ONCE: usize = 2_500;

/// The memory of a value in several copies.
const SAMPLE_BYTES: usize = 2 << 10;

/// A value of a gauge or a counter.
#[derive(Serialize)]
pub struct Sample {
    /// The target of the value; `None` for the server.
    #[serde(skip)]
    pub target: Option<OwnedTargetName>,
    pub target_id: Option<i32>,
    pub name: Cow<'static, str>,
    #[serde(serialize_with = "map")]
    pub labels: Vec<(Cow<'static, str>, String)>,
    pub is_counter: bool,
    pub value: f64,
    pub at: Micros,
    /// The node of a counter of joules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The largest value of a counter of joules, if the text has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
}

fn map<S: Serializer>(
    labels: &[(Cow<'static, str>, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(labels.iter().map(|(name, value)| (name, value)))
}

/// Reads the values of a text, and rejects unusable ones.
pub fn read(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Vec<Sample>, Error> {
    let mut problems = Problems::default();
    let found = gauges::read(&contents.others, &mut problems, PAUSE)?;
    require_room(found.len(), SAMPLE_BYTES)?;
    let at = ingest.delivery.time;
    let samples = found.into_iter().map(|sample| {
        let labels = sample.labels.into_iter();
        Sample {
            target: sample.target.map(OwnedTargetName::of),
            target_id: None,
            name: sample.name.into(),
            labels: labels
                .map(|(name, it)| (name.into(), it.into_owned()))
                .collect(),
            is_counter: sample.is_counter,
            value: sample.value as f64,
            at,
            node: None,
            maximum: None,
        }
    });
    let samples = samples.collect();
    ingest.rejects.add_values(&problems);
    Ok(samples)
}

/// The numbers of stored values.
#[derive(Default)]
pub struct SampleCounts {
    /// The newest values of their series.
    pub newer: i64,
    /// The values of new series.
    pub added: i64,
    /// The counters with a reset.
    pub resets: i64,
}

/// Stores the values. New series beyond `most` are rejected.
///
/// # Errors
/// Errors of PostgreSQL.
pub fn store(
    client: &mut SpiClient<'_>,
    ingest: &mut Ingest<'_>,
    targets: &HashMap<String, Target>,
    mut samples: Vec<Sample>,
    most: usize,
) -> Result<SampleCounts, Error> {
    for sample in &mut samples {
        let target = sample.target.as_ref();
        sample.target_id = target.and_then(|it| Some(targets.get(&it.shown())?.id));
    }
    let (mut all, mut all_missing) = (SampleCounts::default(), 0);
    for some in samples.chunks(AT_ONCE) {
        let (stored, missing) = store_some(client, ingest, some, most)?;
        all.newer += stored.newer;
        all.resets += stored.resets;
        all.added += stored.added;
        all_missing += missing;
    }
    if all_missing > 0 {
        let what = format!("{all_missing} values");
        ingest
            .rejects
            .add(None, None, TOO_MANY, Some(what.as_bytes()));
    }
    Ok(all)
}

/// Stores a batch of values. Also returns the number of values without room for their series.
fn store_some(
    client: &mut SpiClient<'_>,
    ingest: &Ingest<'_>,
    samples: &[Sample],
    most: usize,
) -> Result<(SampleCounts, i64), Error> {
    let arguments = values![
        ingest.delivery.cluster.as_str(),
        ingest.delivery.server.as_str(),
        json(samples)?
    ];
    let found = include_str!("samples/found.sql");
    let write = sql!("samples/write.sql", found = found);
    let (mut stored, missing) = written(client, &write, &arguments)?;
    if missing == 0 {
        return Ok((stored, 0));
    }
    // New series are rare. They are created, and all values are written once more; the others stay equal.
    let limit = most.to_string();
    let make = sql!("samples/make.sql", found = found, limit = limit);
    client.execute(&make, &arguments)?;
    let (made, still_missing) = written(client, &write, &arguments)?;
    stored.added = missing - still_missing;
    stored.newer += made.newer;
    Ok((stored, still_missing))
}

/// Writes the values of existing series, and returns the number of all others.
fn written(
    client: &mut SpiClient<'_>,
    write: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<(SampleCounts, i64), Error> {
    let found = plans::rows(client, write, arguments)?.next();
    let number = |place| match &found {
        Some(row) => Ok::<_, Error>(row.at::<Option<i64>>(place)?.unwrap_or_default()),
        None => Ok(0),
    };
    let stored = SampleCounts {
        newer: number(2)?,
        resets: number(3)?,
        added: 0,
    };
    Ok((stored, number(1)?))
}
