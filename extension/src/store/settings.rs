//! The settings of the store: retention periods, limits of feeds, the handling of chunks, and the lag of rollups.

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::increment::Retention;
use pgrx::datum::{DatumWithOid, Interval};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{Statements, values};
use crate::store::version::{VERSION, require};

/// The settings for feeds and queries.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The retention period of raw text.
    pub raw_retention: Micros,
    /// The start of the retained increments and observations.
    pub kept_since: Micros,
    /// The largest time that the clock of a text may be ahead.
    pub max_ahead: Micros,
    /// The largest size of one target's text in bytes.
    pub max_text: u64,
    /// The largest number of targets of one text.
    pub max_targets: usize,
    /// The number of milliseconds that a feed waits for another one.
    pub feed_wait: i64,
    /// The largest rate of one operation, per second, that all entries of a target can reach together.
    pub max_rate: u64,
    /// The values of increments that are stored.
    pub reduced: Reduction,
    /// Set if the store is a front.
    pub front: bool,
}

impl Settings {
    /// Fails with [`Error::Front`] in a front, which has no rows.
    pub fn require_rows(self) -> Result<Self, Error> {
        if self.front {
            return Err(Error::Front);
        }
        Ok(self)
    }

    /// Returns the settings for recomputing an observation that was stored with `stored`: it may get more values, but its
    /// entries stay folded or separate.
    pub fn once_more(self, stored: Reduction) -> Self {
        Self {
            reduced: Reduction {
                keep: self.reduced.keep.max(stored.keep),
                ..stored
            },
            ..self
        }
    }
}

/// The reduction of stored increments.
#[derive(Debug, Clone, Copy)]
pub struct Reduction {
    /// The values that are stored.
    pub keep: Retention,
    /// The limit of system uids, whose entries are folded.
    pub fold_uids_below: u32,
}

/// Reads a stored limit of uids.
pub fn uid_limit(stored: Option<i64>) -> u32 {
    u32::try_from(stored.unwrap_or(0).max(0)).unwrap_or(u32::MAX)
}

/// Reads the settings. Fails with [`Error::NoStore`] if there is no store.
pub fn settings(client: &SpiClient<'_>) -> Result<Settings, Error> {
    require(client)?;
    let row = plans::query_opt(client, include_str!("settings/settings.sql"))?;
    let row = row.ok_or(Error::NoRow("settings"))?;
    let limit =
        |name| -> Result<u64, Error> { Ok(u64::try_from(row.get::<i64>(name)?).unwrap_or(0)) };
    let kept_since: Option<Micros> = row.get("kept_since")?;
    Ok(Settings {
        raw_retention: row.get("raw_retention")?,
        kept_since: kept_since.ok_or(Error::NoRow("refresh"))?,
        max_ahead: row.get("max_ahead")?,
        max_text: limit("max_text")?,
        max_targets: usize::try_from(limit("max_targets")?).unwrap_or(0),
        feed_wait: row.get("feed_wait")?,
        max_rate: limit("max_rate")?,
        reduced: Reduction {
            keep: Retention::find(&row.get::<String>("keep")?).unwrap_or_default(),
            fold_uids_below: uid_limit(row.get("fold_uids_below")?),
        },
        front: row.get("front")?,
    })
}

/// The requested settings as parameters of statements; NULL leaves a setting unchanged.
pub type SettingParameters = [DatumWithOid<'static>; 10];

/// Takes the settings from the arguments of `jobstats_setup()`. As parameters, the retention of rollups follows the other
/// periods.
pub fn parameters(arguments: &mut Arguments<'_>) -> Result<SettingParameters, Error> {
    let mut next = || Ok::<_, Error>(arguments.take::<Interval>()?.into());
    let [raw, retention, rejects] = [next()?, next()?, next()?];
    let [of_10m, of_1h, of_1d] = [next()?, next()?, next()?];
    let [chunk, compress, lag] = [next()?, next()?, next()?];
    let metrics = arguments.take::<Vec<Option<String>>>()?.into();
    Ok([
        raw, retention, rejects, chunk, compress, lag, of_10m, of_1h, of_1d, metrics,
    ])
}

/// Stores the requested settings, which take effect with the next maintenance.
///
/// # Errors
/// An error of PostgreSQL if a value is not possible, [`Error::Settings`] if settings contradict each other; all
/// settings stay as they are then.
pub fn apply(client: &mut SpiClient<'_>, requested: &SettingParameters) -> Result<(), Error> {
    client.execute(EACH_POSSIBLE, requested)?;
    refuse_contradictions(client, requested)?;
    client.run(include_str!("settings/apply.sql"), requested)
}

/// The query that fails if a requested setting is not possible, whatever the others are.
const EACH_POSSIBLE: &str = "SELECT jobstats_internal.require_setting(v.name, v.value) \
    FROM (VALUES ('raw_retention', $1::text), ('retention', $2::text), ('rejects_retention', $3::text), ('chunk_interval', $4::text), \
    ('compress_after', $5::text), ('refresh_lag', $6::text), ('rollup_10m_retention', $7::text), ('rollup_1h_retention', $8::text), \
    ('rollup_1d_retention', $9::text), ('metrics', to_jsonb($10)::text)) AS v (name, value) WHERE v.value IS NOT NULL";

/// Returns a sentence with the retention periods.
pub fn retention_summary(client: &SpiClient<'_>) -> Result<String, Error> {
    client.query_value(
        "SELECT format('Retention: raw text %s, increments %s, rollups %s, rejects %s.', \
         jobstats_internal.shown_retention(s.raw_retention), jobstats_internal.shown_retention(s.retention), \
         (SELECT string_agg(format('%s %s', l.level, jobstats_internal.shown_retention(jobstats_internal.rollup_retention(l.width))), ', ' ORDER BY l.width) \
         FROM jobstats.rollups l), jobstats_internal.shown_retention(s.rejects_retention)) FROM jobstats.settings s",
        &[],
    )
}

fn refuse_contradictions(
    client: &mut SpiClient<'_>,
    requested: &[DatumWithOid<'_>],
) -> Result<(), Error> {
    match client.execute_opt(include_str!("settings/contradictions.sql"), requested)? {
        None => Ok(()),
        Some(row) => Err(Error::Settings {
            problem: row.get("problem")?,
            hint: row.get("hint")?,
        }),
    }
}

/// Restores a lost row of settings: the defaults, with retention periods that keep all stored rows from the next maintenance.
pub fn restore(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let restored = client.execute(
        "INSERT INTO jobstats.settings (version) VALUES ($1) ON CONFLICT (one) DO NOTHING",
        &values![VERSION],
    )?;
    if restored == 0 {
        return Ok(());
    }
    client.execute(include_str!("settings/keep_stored.sql"), &[])?;
    ErrorReport::new(
        PgSqlErrorCode::ERRCODE_WARNING,
        "the settings of the store were lost and reset to their defaults",
        "jobstats",
    )
    .set_hint("Set them again; the retention periods keep everything that is stored now.")
    .report(PgLogLevel::WARNING);
    Ok(())
}
