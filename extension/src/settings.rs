//! The settings that `jobstats_setup()` takes: retention periods, the handling of chunks, and the lag of rollups.

use pgrx::datum::{DatumWithOid, Interval};
use pgrx::spi::SpiClient;

use crate::error::Error;
use crate::setup::one_text;

/// The requested settings; a setting that is `None` stays as it is.
pub struct Wanted {
    pub raw_retention: Option<Interval>,
    pub retention: Option<Interval>,
    pub rejects_retention: Option<Interval>,
    pub rollup_10m_retention: Option<Interval>,
    pub rollup_1h_retention: Option<Interval>,
    pub rollup_1d_retention: Option<Interval>,
    pub chunk_interval: Option<Interval>,
    pub compress_after: Option<Interval>,
    pub refresh_lag: Option<Interval>,
}

impl Wanted {
    /// Stores the settings, which take effect with the next maintenance.
    ///
    /// # Errors
    /// An error of PostgreSQL if a value is not possible, [`Error::Settings`] if settings contradict each other; all
    /// settings stay as they are then.
    pub fn apply(self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        let wanted: [DatumWithOid; 9] = [
            self.raw_retention.into(),
            self.retention.into(),
            self.rejects_retention.into(),
            self.chunk_interval.into(),
            self.compress_after.into(),
            self.refresh_lag.into(),
            self.rollup_10m_retention.into(),
            self.rollup_1h_retention.into(),
            self.rollup_1d_retention.into(),
        ];
        client.update(EACH_POSSIBLE, None, &wanted)?;
        refuse_contradictions(client, &wanted)?;
        client.update(
            "WITH rollups AS (UPDATE jobstats.rollups l SET retention = CASE \
             WHEN w.retention >= interval '100 years' THEN NULL ELSE coalesce(w.retention, l.retention) END \
             FROM (VALUES ('10m', $7), ('1h', $8), ('1d', $9)) AS w (level, retention) WHERE w.level = l.level) \
             UPDATE jobstats.settings SET raw_retention = coalesce($1, raw_retention), \
             retention = coalesce($2, retention), rejects_retention = coalesce($3, rejects_retention), \
             chunk_interval = coalesce($4, chunk_interval), compress_after = coalesce($5, compress_after), \
             refresh_lag = coalesce($6, refresh_lag)",
            None,
            &wanted,
        )?;
        Ok(())
    }
}

/// The query that fails if a requested setting is not possible, whatever the others are.
const EACH_POSSIBLE: &str = "SELECT jobstats_internal.require_setting(v.name, v.value::text) \
    FROM (VALUES ('raw_retention', $1), ('retention', $2), ('rejects_retention', $3), ('chunk_interval', $4), \
    ('compress_after', $5), ('refresh_lag', $6), ('rollup_10m_retention', $7), ('rollup_1h_retention', $8), \
    ('rollup_1d_retention', $9)) AS v (name, value) WHERE v.value IS NOT NULL";

/// Returns a sentence with the retention periods.
pub fn told(client: &SpiClient<'_>) -> Result<String, Error> {
    one_text(
        client,
        "SELECT format('Kept are raw text %s, increments %s, rollups %s, rejects %s.', \
         jobstats_internal.shown_retention(s.raw_retention), jobstats_internal.shown_retention(s.retention), \
         (SELECT string_agg(format('of %s %s', l.level, jobstats_internal.shown_retention(l.retention)), ', ' ORDER BY l.width) \
         FROM jobstats.rollups l), jobstats_internal.shown_retention(s.rejects_retention)) FROM jobstats.settings s",
    )
}

fn refuse_contradictions(
    client: &mut SpiClient<'_>,
    wanted: &[DatumWithOid<'_>],
) -> Result<(), Error> {
    let found = client.update(include_str!("sql/check_settings.sql"), Some(1), wanted)?;
    let Some(row) = found.into_iter().next() else {
        return Ok(());
    };
    Err(Error::Settings {
        problem: row.get::<String>(1)?.unwrap_or_default(),
        hint: row.get::<String>(2)?.unwrap_or_default(),
    })
}
