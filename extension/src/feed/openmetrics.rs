//! The source `openmetrics`: gauges and counters of an exporter, selected by name in `settings.metrics`.
//!
//! Such a text comes every minute with little news, so `jobstats.texts` does not retain it.

use std::collections::{HashMap, HashSet};

use jobstats_core::accounting::energy::{self, Meter};
use jobstats_core::rules::feed::{Action, Outcome, beginning, reason};
use jobstats_core::rules::increment::{Counts, clamp};
use jobstats_core::text::gauges::NAMES;
use jobstats_core::text::openmetrics::{self, Contents};
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::samples::{self, SERIES_MAX, Sample, SampleCounts};
use crate::feed::server_parameters::lock_server;
use crate::feed::sources::Source;
use crate::feed::text::Text;
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::pause::PAUSE;
use crate::pg::spi::{Statements, values};

/// The output of an exporter.
pub struct OpenMetrics;

/// The largest text in bytes. Large exporters print a few megabytes.
const MAX_TEXT: u64 = 64 << 20;

/// The number of series of a server above which exporters create no new ones, to leave half of them to lctl.
const EXPORTED_MAX: usize = SERIES_MAX / 2;

/// The memory of a name or a value in several copies.
const SAMPLE_BYTES: usize = 4 << 10;

impl Source for OpenMetrics {
    fn name(&self) -> &'static str {
        "openmetrics"
    }

    fn recognizes(&self, text: &[u8]) -> bool {
        openmetrics::recognizes(text)
    }

    fn max_size(&self, max_text: u64) -> u64 {
        max_text.min(MAX_TEXT)
    }

    fn ingest(
        &self,
        client: &mut SpiClient<'_>,
        ingest: &mut Ingest<'_>,
        text: Text<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        if let Some(reason) = ingest.limits().why_not_at(ingest.delivery.time) {
            return Ok(vec![ingest.reject(None, reason, None)]);
        }
        let allowed = allowed(client, text.bytes())?;
        let contents = timed(Phase::Scan, || {
            openmetrics::read(text.bytes(), |name| allowed.contains(name), PAUSE)
        })?;
        let is_empty = contents.samples.is_empty() && contents.without_value == 0;
        if is_empty && contents.unwanted == 0 {
            let shown = Some(beginning(text.bytes()));
            return Ok(vec![ingest.reject(None, reason::NO_METRICS, shown)]);
        }
        if is_empty {
            return Ok(vec![ingest.reject(None, reason::NOT_WANTED, None)]);
        }
        let samples = checked(&contents, ingest)?;
        let stored = timed(Phase::Parameters, || {
            lock_server(client, ingest)?;
            samples::store(client, ingest, &HashMap::new(), samples, EXPORTED_MAX)
        })?;
        Ok(vec![outcome(&contents, &stored)])
    }
}

/// Returns the names in a text that the settings allow. Names of gauges of lctl are reserved.
fn allowed(client: &SpiClient<'_>, text: &[u8]) -> Result<HashSet<String>, Error> {
    let names = timed(Phase::Scan, || openmetrics::names(text, PAUSE));
    require_room(names.len(), SAMPLE_BYTES)?;
    let names = names.into_iter().filter(|name| !NAMES.contains(name));
    let names: Vec<_> = names.map(str::to_owned).collect();
    let found = client.query(
        "SELECT n.name FROM unnest($1::text[]) AS n (name) WHERE n.name LIKE ANY ((SELECT jobstats_internal.as_like(s.metrics) FROM jobstats.settings s)::text[])",
        &values![names],
    )?;
    found.map(|row| row.at(1)).collect()
}

/// Returns the samples with a possible time, and rejects the others and unusable lines.
fn checked(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Vec<Sample>, Error> {
    require_room(contents.samples.len(), SAMPLE_BYTES)?;
    for problem in &contents.problems {
        let (line, reason) = (Some(problem.line), problem.reason.code());
        ingest.rejects.add(None, line, reason, Some(problem.text));
    }
    let listed = contents.problems.len() as u64;
    ingest.rejects.add_dropped(contents.problems_found - listed);
    let mut samples = Vec::new();
    for sample in &contents.samples {
        let at = sample.time.unwrap_or(ingest.delivery.time);
        if let Some(reason) = ingest.limits().why_not_at(at) {
            let (line, name) = (Some(sample.line), sample.name.as_bytes());
            ingest.rejects.add(None, line, reason, Some(name));
            continue;
        }
        let labels = sample.labels.iter();
        let meter = Meter::of(sample.name).filter(|_| sample.is_counter);
        let instance = sample.labels.get("instance").map(AsRef::as_ref);
        let node = meter.and_then(|_| energy::node(instance, &ingest.delivery.server));
        samples.push(Sample {
            target: None,
            target_id: None,
            name: sample.name.to_owned().into(),
            labels: labels
                .map(|(name, value)| ((*name).to_owned().into(), value.clone().into_owned()))
                .collect(),
            is_counter: sample.is_counter,
            value: sample.value,
            at,
            node: node.map(str::to_owned),
            maximum: meter.and_then(|meter| maximum(contents, meter, sample)),
        });
    }
    Ok(samples)
}

/// Returns the largest value of a counter of joules: a metric that has no labels but labels of the counter.
fn maximum(
    contents: &Contents<'_>,
    meter: &Meter,
    counter: &openmetrics::Sample<'_>,
) -> Option<f64> {
    let mut metrics = PAUSE.among(&contents.samples);
    let found = metrics.find(|it| {
        let is_of_counter = |(name, value)| counter.labels.get(name) == Some(value);
        it.name == meter.maximum && it.labels.iter().all(is_of_counter)
    });
    found.map(|it| it.value)
}

fn outcome(contents: &Contents<'_>, stored: &SampleCounts) -> Outcome {
    let allowed = contents.samples.len() as u64 + contents.without_value;
    let number = |number: i64| clamp(number.unsigned_abs());
    Outcome {
        counts: Counts {
            entries: clamp(allowed + contents.unwanted),
            active: number(stored.newer),
            added: number(stored.added),
            resets: number(stored.resets),
            removed: clamp(contents.unwanted),
            unknown: clamp(contents.without_value),
            problems: clamp(contents.problems_found),
            ..Counts::default()
        },
        ..Outcome::new(None, Action::Samples)
    }
}
