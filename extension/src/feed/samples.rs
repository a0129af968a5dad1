//! Gauges: stores the latest value of each, and what it was by hour and day.
//!
//! A value that is not newer than the latest of its series does not count. The caller holds the locks of the targets and of the server.

use std::collections::HashMap;

use jobstats_core::parameter::Problems;
use jobstats_core::sample;
use jobstats_core::snapshot::Contents;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use serde::{Serialize, Serializer};

use crate::feed::beside::{Name, json};
use crate::feed::ingest::Ingest;
use crate::feed::targets::Target;
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::plans;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::pg::time::timestamptz;

/// The number of series that a server may have.
const SERIES_MAX: usize = 10_000;

/// The reason to reject values of further series.
const TOO_MANY: &str = "too many series";

/// The memory that a value takes in several copies.
const SAMPLE_BYTES: usize = 2 << 10;

/// A value of a gauge.
#[derive(Serialize)]
pub struct Sample {
    /// The target that the value is of; `None` if it is of the server.
    #[serde(skip)]
    pub target: Option<Name>,
    target_id: Option<i32>,
    name: &'static str,
    #[serde(serialize_with = "map")]
    labels: Vec<(&'static str, String)>,
    value: i64,
}

fn map<S: Serializer>(labels: &[(&str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(labels.iter().map(|(name, value)| (name, value)))
}

/// Takes the values out of a text, and rejects those that cannot be used.
pub fn read(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Vec<Sample>, Error> {
    let mut problems = Problems::default();
    let found = sample::read(&contents.others, &mut problems, PAUSE)?;
    require_room(found.len(), SAMPLE_BYTES)?;
    let samples = found.into_iter().map(|sample| {
        let labels = sample.labels.into_iter();
        Sample {
            target: sample.target.map(Name::of),
            target_id: None,
            name: sample.name,
            labels: labels.map(|(name, it)| (name, it.into_owned())).collect(),
            value: sample.value,
        }
    });
    let samples = samples.collect();
    ingest.rejects.add_values(&problems);
    Ok(samples)
}

/// Stores the values. Those of new series are rejected if the server has too many.
///
/// # Errors
/// Those of PostgreSQL.
pub fn store(
    client: &mut SpiClient<'_>,
    ingest: &mut Ingest<'_>,
    targets: &HashMap<String, Target>,
    mut samples: Vec<Sample>,
) -> Result<(), Error> {
    if samples.is_empty() {
        return Ok(());
    }
    for sample in &mut samples {
        let target = sample.target.as_ref();
        sample.target_id = target.and_then(|it| Some(targets.get(&it.shown())?.id));
    }
    let arguments = [
        ingest.delivery.cluster.as_str().into(),
        ingest.delivery.server.as_str().into(),
        timestamptz(ingest.delivery.time)?.into(),
        json(&samples)?.into(),
    ];
    let found = include_str!("samples/found.sql");
    let write = sql!("samples/write.sql", found = found);
    if missing(client, &write, &arguments)? == 0 {
        return Ok(());
    }
    // Some series are new, which is seldom. They are made, and all is written once more; the others have these values already.
    let limit = SERIES_MAX.to_string();
    let make = sql!("samples/make.sql", found = found, limit = limit);
    client.execute(&*make, &arguments)?;
    let missing = missing(client, &write, &arguments)?;
    if missing > 0 {
        let what = format!("{missing} values");
        ingest
            .rejects
            .add(None, None, TOO_MANY, Some(what.as_bytes()));
    }
    Ok(())
}

/// Writes the values of series that there are, and returns the number of all others.
fn missing(
    client: &mut SpiClient<'_>,
    write: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<i64, Error> {
    let found = plans::update(client, write, arguments)?.first();
    Ok(found.get_one()?.unwrap_or_default())
}
