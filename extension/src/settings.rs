//! What `jobstats_setup()` can be told: how long what is kept, and in which pieces.

use pgrx::datum::{DatumWithOid, Interval};
use pgrx::spi::SpiClient;

use crate::error::Error;

/// Settings to be; what is None stays as it is.
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
    /// Makes them those of the store, from the next maintenance on.
    ///
    /// # Errors
    /// [`Error::Settings`] where they contradict each other; then all stay as they are.
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
        refuse_contradictions(client, &wanted)?;
        client.update(
            "WITH rollups AS (UPDATE jobstats.rollups l SET retention = coalesce(w.retention, l.retention) \
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
