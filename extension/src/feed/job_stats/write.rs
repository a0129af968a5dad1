//! Writes rows of `jobstats.observations` and `jobstats.raw`, and deletes increments.

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::increment::{Counts, Retention};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::spi::SpiClient;

use crate::feed::delivery::Delivery;
use crate::feed::job_stats::packed_snapshot::PackedSnapshot;
use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;
use crate::store::{Reduction, rollup, spans};
use crate::text::zstd::pack;

/// The result of comparing an observation with its predecessor, whose increments are stored.
pub struct Computed {
    pub since: Option<Micros>,
    pub counts: Counts,
    /// The carried records as text, if there are any.
    pub carried: Option<Vec<u8>>,
    pub increments: i32,
    /// The number of problems that are not listed.
    pub dropped: u64,
    /// Set if the text ends too early, after a complete line (rule 3).
    pub ends_early: bool,
    pub reduced: Reduction,
}

impl Computed {
    /// Returns the carried records packed, as they are stored.
    pub fn carried_packed(&self) -> Result<Option<Vec<u8>>, Error> {
        self.carried.as_deref().map(pack).transpose()
    }
}

/// Stores a new observation, whose cleanup interval is in seconds.
pub fn insert(
    client: &mut SpiClient<'_>,
    target_id: i32,
    delivery: &Delivery,
    received: Micros,
    (text, cleanup_interval): (&PackedSnapshot<'_>, u32),
    computed: &Computed,
) -> Result<(), Error> {
    let time = timestamptz(delivery.time)?;
    plans::update(
        client,
        "INSERT INTO jobstats.raw (target_id, \"time\", server, body, carried) VALUES ($1, $2, $3, $4, $5)",
        &values![
            target_id,
            time,
            delivery.server.as_str(),
            text.packed,
            computed.carried_packed()?
        ],
    )?;
    let mut values = counts(target_id, time, computed)?;
    values.extend(values![
        delivery.server.as_str(),
        timestamptz(received)?,
        delivery.duration,
        delivery.shipper.as_deref(),
        i64::try_from(text.bytes).unwrap_or(i64::MAX),
        text.digest.as_slice(),
        f64::from(cleanup_interval)
    ]);
    plans::update(
        client,
        "INSERT INTO jobstats.observations (target_id, \"time\", since, entries, active, added, resets, removed, \
         carried, unknown, problems, kept, folded_below, server, received, duration, shipper, bytes, digest, cleanup_interval) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, make_interval(secs => $20))",
        &values,
    )?;
    // The previous span ends at `last_observation`, which `count` replaces.
    if computed.since.is_none() {
        spans::begin(client, target_id, delivery.time)?;
    }
    count(client, target_id, delivery, received, text, computed)
}

/// Adds a new observation to the counters of its locked target.
fn count(
    client: &mut SpiClient<'_>,
    target_id: i32,
    delivery: &Delivery,
    received: Micros,
    text: &PackedSnapshot<'_>,
    computed: &Computed,
) -> Result<(), Error> {
    plans::run(
        client,
        "UPDATE jobstats.targets SET observations_total = observations_total + 1, \
         text_bytes_total = text_bytes_total + $2, problems_total = problems_total + $3, \
         last_observation = greatest(last_observation, $4), \
         server = CASE WHEN last_observation > $4 THEN server ELSE $5 END, \
         received = CASE WHEN last_observation > $4 THEN received ELSE $6 END WHERE target_id = $1",
        &values![
            target_id,
            i64::try_from(text.bytes).unwrap_or(i64::MAX),
            i64::from(computed.counts.problems),
            timestamptz(delivery.time)?,
            delivery.server.as_str(),
            timestamptz(received)?
        ],
    )
}

/// Updates the computed values of a stored observation.
pub fn update(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    computed: &Computed,
) -> Result<(), Error> {
    let time = timestamptz(time)?;
    client.execute(
        "UPDATE jobstats.raw SET carried = $3 WHERE target_id = $1 AND \"time\" = $2",
        &values![target_id, time, computed.carried_packed()?],
    )?;
    client.run(
        "UPDATE jobstats.observations SET since = $3, entries = $4, active = $5, added = $6, resets = $7, \
         removed = $8, carried = $9, unknown = $10, problems = $11, kept = $12, folded_below = $13 \
         WHERE target_id = $1 AND \"time\" = $2 \
         AND (since, entries, active, added, resets, removed, carried, unknown, problems, kept, folded_below) \
         IS DISTINCT FROM ($3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        &counts(target_id, time, computed)?,
    )
}

/// Corrects the columns of an observation that follow from its raw text.
pub fn correct(
    client: &mut SpiClient<'_>,
    target_id: i32,
    time: Micros,
    server: &str,
    bytes: i64,
) -> Result<(), Error> {
    client.run(
        "UPDATE jobstats.observations SET server = $3, bytes = $4 \
         WHERE target_id = $1 AND \"time\" = $2 AND (server, bytes) IS DISTINCT FROM ($3, $4)",
        &values![target_id, timestamptz(time)?, server, bytes],
    )
}

/// The range of increments to replace.
#[derive(Debug, Clone, Copy)]
pub struct Stale {
    /// The time of the observation before.
    pub after: Micros,
    /// The time of the observation whose increments are replaced, with stray increments between both observations.
    pub observed: Micros,
    /// The earliest start of these increments.
    pub earliest: Micros,
}

/// Deletes increments of a target in a single scan, and returns their number.
pub fn delete_increments(
    client: &mut SpiClient<'_>,
    target_id: i32,
    stale: &[Stale],
) -> Result<usize, Error> {
    let times = |time: fn(&Stale) -> Micros| stale.iter().map(time);
    let (Some(earliest), Some(latest)) = (
        times(|stale| stale.earliest).min(),
        times(|stale| stale.observed).max(),
    ) else {
        return Ok(0);
    };
    rollup::changed(client, target_id, earliest, latest)?;
    let all = |time: fn(&Stale) -> Micros| {
        times(time)
            .map(timestamptz)
            .collect::<Result<Vec<_>, Error>>()
    };
    client.execute(
        "DELETE FROM jobstats.increments WHERE target_id = $1 AND \"time\" > $4 AND \"time\" <= $5 \
         AND observed <@ (SELECT range_agg(tstzrange(s.after, s.observed, '(]')) \
         FROM unnest($2::timestamptz[], $3::timestamptz[]) AS s (after, observed))",
        &values![
            target_id,
            all(|stale| stale.after)?,
            all(|stale| stale.observed)?,
            timestamptz(earliest)?,
            timestamptz(latest)?
        ],
    )
}

/// Returns the parameters of [`insert`] and [`update`]: the key, `since`, the counts, `kept` and `folded_below`.
fn counts(
    target_id: i32,
    time: TimestampWithTimeZone,
    computed: &Computed,
) -> Result<Vec<DatumWithOid<'_>>, Error> {
    let since = computed.since.map(timestamptz).transpose()?;
    let mut values = Vec::from(values![target_id, time, since]);
    values.extend(computed.counts.values().map(DatumWithOid::from));
    let reduced = computed.reduced;
    let keep = Some(reduced.keep).filter(|keep| *keep != Retention::Everything);
    let folded_below = Some(i64::from(reduced.fold_uids_below)).filter(|limit| *limit > 0);
    values.extend(values![keep.map(Retention::name), folded_below]);
    Ok(values)
}
