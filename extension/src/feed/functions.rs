//! The functions through which SQL feeds a text.

use jobstats_core::rules::increment::Counts;
use pgrx::prelude::*;

use crate::feed::delivery::Arguments;
use crate::feed::run;
use crate::feed::sources;
use crate::pg::arguments::Arguments as Call;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::{Cell, IntoCell, Rows};
use crate::store::rights::writer::as_writer;

#[pg_extern(sql = false)]
fn jobstats_ingest(mut call: Call<'_>, mut rows: Rows) -> SqlResult<()> {
    for outcome in run(columns(&mut call)?)? {
        rows.put(|| {
            let mut row = [Cell::NULL; 3 + Counts::NAMES.len()];
            let counts = outcome.counts.values().map(IntoCell::cell);
            row[0] = outcome.target.as_deref().cell();
            row[1] = outcome.action.as_str().cell();
            row[2..2 + counts.len()].copy_from_slice(&counts);
            row[2 + counts.len()] = outcome.increments.cell();
            row
        });
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn jobstats_ingest_own(mut call: Call<'_>) -> SqlResult<()> {
    let columns = columns(&mut call)?;
    let source = sources::named(columns.source.as_deref())?;
    let cluster = columns.cluster.clone().unwrap_or_default();
    let server = columns.server.clone();
    as_writer(&cluster, server.as_deref(), source.name(), |bounds| {
        run(Arguments { bounds, ..columns })
    })?;
    Ok(())
}

/// Takes the columns of a row of the feed. All targets are its own.
fn columns<'call>(call: &mut Call<'call>) -> Result<Arguments<'call>, Error> {
    Ok(Arguments {
        cluster: call.take()?,
        server: call.take()?,
        read_at: call.take()?,
        body: call.take_large()?,
        body_zstd: call.take_large()?,
        duration: call.take()?,
        shipper: call.take()?,
        source: call.take()?,
        covers: call.take()?,
        ..Arguments::default()
    })
}
