//! The changed and coarse spans that feeds record for the refresh of rollups and for readers.

use jobstats_core::base::instant::{DAY, HOUR, Micros, Span};
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;
use crate::store::rollup::EPOCH;

/// Records that increments of a span change, if their rollups exist or may soon exist.
pub fn changed(
    client: &mut SpiClient<'_>,
    target_id: i32,
    from: Micros,
    to: Micros,
) -> Result<(), Error> {
    let (announced, horizon) = announced(client)?;
    let from = from.max(horizon);
    if from < to.min(announced) {
        client.execute(
            "INSERT INTO jobstats.dirty (target_id, span_from, span_to) VALUES ($1, $2, $3)",
            &values![
                target_id,
                timestamptz(from)?,
                timestamptz(to.min(announced))?
            ],
        )?;
    }
    Ok(())
}

/// The distances of the edges of rows after a long gap, each with its interval in SQL.
pub const COARSE: [(Micros, &str); 2] = [(HOUR, "1 hour"), (DAY, "1 day")];

/// Records that increments of a span cross bucket edges of rollups narrower than `width`: all buckets that it touches.
pub fn coarse(client: &mut SpiClient<'_>, (from, to): Span, width: &str) -> Result<(), Error> {
    client.run(
        &format!(
            "INSERT INTO jobstats.coarse SELECT date_bin('{width}', $1, {EPOCH}), \
             date_bin('{width}', $2 + interval '{width}' - interval '1 microsecond', {EPOCH}), interval '{width}' ON CONFLICT DO NOTHING"
        ),
        &values![timestamptz(from)?, timestamptz(to)?],
    )
}

/// Returns the end of the rollups that exist or may soon exist, and the start of those that can still be computed. A refresh
/// that announces a later end waits for transactions that know this one, and they never wait for a refresh.
fn announced(client: &mut SpiClient<'_>) -> Result<(Micros, Micros), Error> {
    let (mut known, mut gone) = (None, None);
    loop {
        // This statement takes a new snapshot: another time may have been announced before we got the lock.
        let refresh = client.execute_opt(
            "SELECT r.announced, r.horizon, r.number FROM jobstats.refresh r",
            &[],
        )?;
        let refresh = refresh.ok_or(Error::NoRow("refresh"))?;
        let number: i32 = refresh.get("number")?;
        if known == Some(number) {
            return Ok((refresh.time("announced")?, refresh.time("horizon")?));
        }
        let is_locked = 0 < client.execute(
            "SELECT FROM jobstats.locks WHERE name = 'announcement ' || $1 FOR KEY SHARE",
            &values![number],
        )?;
        // A refresh that has just settled deletes the row; jobstats.refresh has another number then.
        if !is_locked && gone.replace(number) == Some(number) {
            return Err(Error::NoRow("locks"));
        }
        known = is_locked.then_some(number);
    }
}
