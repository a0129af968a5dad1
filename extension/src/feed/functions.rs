//! The functions through which SQL feeds a text.

use jobstats_core::increment::Counts;
use pgrx::IntoDatum;
use pgrx::prelude::*;

use crate::feed::delivery::Arguments;
use crate::feed::run;
use crate::pg::arguments::Arguments as Call;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::store::rights::writer::as_writer;
use crate::store::sources;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_ingest(
    cluster text, server text, read_at timestamptz, body text DEFAULT NULL, body_zstd bytea DEFAULT NULL,
    duration interval DEFAULT NULL, shipper text DEFAULT NULL, source text DEFAULT 'lctl', covers tstzrange DEFAULT NULL
) RETURNS TABLE (
    target text, action text, entries integer, active integer, added integer, resets integer, removed integer,
    carried integer, unknown integer, problems integer, increments integer
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_ingest(text, text, timestamptz, text, bytea, interval, text, text, tstzrange) IS
'Feeds a text as INSERT INTO jobstats.feed does, and tells the outcome. One row per target of the text: action is baseline (first observation), stored, placed (late text), repeated (known already), interval (only job_cleanup_interval) or rejected (see jobstats.rejects); a WARNING counts those that are placed or rejected. source NULL is lctl; the text of another source gives one row without a target, whose action is users, groups, jobs or samples. covers is the span of time in which a text of jobs is complete. read_at NULL is now. Errors: 55000 no store, 22001 cluster or server of over 255 bytes, 25001 isolation level above READ COMMITTED, 54000 text too large, 22P03 body_zstd is not zstd, 22023 neither or both bodies, no server, or covers without a start or an end, 0A000 an unknown source, 53200 out of memory, 40001 feed again.';
"#)]
fn jobstats_ingest(mut call: Call<'_>, mut rows: Rows) -> SqlResult<()> {
    for outcome in run(columns(&mut call)?)? {
        rows.put(|| {
            let mut row = [None; 3 + Counts::NAMES.len()];
            let counts = outcome.counts.values().map(IntoDatum::into_datum);
            row[0] = outcome.target.as_deref().into_datum();
            row[1] = outcome.action.as_str().into_datum();
            row[2..2 + counts.len()].copy_from_slice(&counts);
            row[2 + counts.len()] = outcome.increments.into_datum();
            row
        });
    }
    Ok(())
}

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.ingest(
    cluster text, server text, read_at timestamptz, body text, body_zstd bytea, duration interval, shipper text,
    source text, covers tstzrange
) RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.ingest(text, text, timestamptz, text, bytea, interval, text, text, tstzrange) IS
'Internal: what jobstats_ingest does, for anybody who may feed such a text, with the rights of the store''s owner. Errors: also 42501 where the caller may not feed it.';
"#)]
fn jobstats_ingest_own(mut call: Call<'_>) -> SqlResult<()> {
    let columns = columns(&mut call)?;
    let source = sources::named(columns.source.as_deref())?;
    let cluster = columns.cluster.clone().unwrap_or_default();
    let server = columns.server.clone();
    as_writer(&cluster, server.as_deref(), source, |own| {
        run(Arguments {
            own_targets: own.targets,
            own_server: own.server,
            ..columns
        })
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
