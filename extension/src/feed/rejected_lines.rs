//! Stores the text that could not be used in `jobstats.rejects`.

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::Reject;
use pgrx::spi::SpiClient;

use crate::feed::delivery::Delivery;
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// Stores the rejects of a feed.
pub fn insert(
    client: &mut SpiClient<'_>,
    rejects: Vec<Reject>,
    delivery: &Delivery,
    received: Micros,
) -> Result<(), Error> {
    if rejects.is_empty() {
        return Ok(());
    }
    let rows = rejects.into_iter();
    let rows = rows.map(|it| (it.target, it.line, it.reason, it.text));
    let (targets, lines, reasons, texts): (Vec<_>, Vec<_>, Vec<_>, Vec<_>) = rows.collect();
    let (time, received) = (timestamptz(delivery.time)?, timestamptz(received)?);
    let (cluster, server) = (delivery.cluster.as_str(), delivery.server.as_str());
    client.run(
        "INSERT INTO jobstats.rejects (\"time\", received, cluster, server, target, line, reason, text) \
         SELECT $1, $2, $3, $4, * FROM unnest($5::text[], $6::integer[], $7::text[], $8::text[])",
        &values![time, received, cluster, server, targets, lines, reasons, texts],
    )
}
