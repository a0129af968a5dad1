//! `jobstats_reread()`: reads texts of people and jobs again.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::audit::{Window, begin_as_feed};
use crate::feed::sources;
use crate::pg::argument::{Short, plain};
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, Statements, connect_mut};
use crate::pg::time::{micros, timestamptz};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::store::rights::owner::as_owner_of_store;

/// The number of texts whose keys are in memory at once.
const AT_A_TIME: i64 = 1_000;

/// The key of a text, in the order in which texts are read.
struct Key {
    time: TimestampWithTimeZone,
    cluster: String,
    source: String,
    server: String,
}

/// The choice of texts.
struct Choice<'a> {
    window: Window,
    source: Option<&'a str>,
    cluster: Option<&'a str>,
}

#[pg_extern(sql = false)]
fn jobstats_reread(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    source: Option<Short<&str>>,
    cluster: Option<Short<&str>>,
    mut rows: Rows,
) -> SqlResult<()> {
    let choice = Choice {
        window: Window::new(since, until)?,
        source: plain(source),
        cluster: plain(cluster),
    };
    sources::named(choice.source)?;
    as_owner_of_store(|| {
        connect_mut(|client| begin_as_feed(client, "reading texts again"))?;
        let mut after = None;
        loop {
            let keys = connect_mut(|client| next(client, &choice, after.as_ref()))?;
            for key in &keys {
                pause();
                reread(key, &mut rows)?;
            }
            match keys.into_iter().next_back() {
                Some(last) => after = Some(last),
                None => return Ok(()),
            }
        }
    })?;
    Ok(())
}

/// Returns the keys of the texts that follow on one, or of the first ones.
fn next(
    client: &mut pgrx::spi::SpiClient<'_>,
    choice: &Choice<'_>,
    after: Option<&Key>,
) -> Result<Vec<Key>, Error> {
    let since = match after {
        Some(key) => micros(key.time)?,
        None => choice.window.since,
    };
    let text = |value: fn(&Key) -> &str| after.map(value);
    let rows = client.execute_rows(
        "SELECT t.\"time\", t.cluster, t.source, t.server FROM jobstats.texts t \
         WHERE t.\"time\" >= $1 AND t.\"time\" <= $2 \
         AND CASE WHEN $3 IS NULL THEN t.\"time\" > $1 \
         ELSE (t.\"time\", t.cluster, t.source, t.server) > ($1, $3, $4, $5) END \
         AND ($6 IS NULL OR t.source = $6) AND ($7 IS NULL OR t.cluster = $7) \
         ORDER BY t.\"time\", t.cluster, t.source, t.server LIMIT $8",
        &[
            timestamptz(since)?.into(),
            timestamptz(choice.window.until)?.into(),
            text(|key| &key.cluster).into(),
            text(|key| &key.source).into(),
            text(|key| &key.server).into(),
            choice.source.into(),
            choice.cluster.into(),
            AT_A_TIME.into(),
        ],
    )?;
    rows.map(|row| {
        Ok(Key {
            time: row.at(1)?,
            cluster: row.at(2)?,
            source: row.at(3)?,
            server: row.at(4)?,
        })
    })
    .collect()
}

/// Reads a text again and writes the row of the answer.
fn reread(key: &Key, rows: &mut Rows) -> Result<(), Error> {
    connect_mut(|client| {
        let result = client.execute_opt(
            "SELECT r.records, r.problems, r.changed, r.problem \
             FROM jobstats_internal.reread_guarded($1, $2, $3, $4) r",
            &[
                key.cluster.as_str().into(),
                key.source.as_str().into(),
                key.server.as_str().into(),
                key.time.into(),
            ],
        )?;
        let result = result.ok_or_else(|| Error::Damaged("a text vanished".to_owned()))?;
        let count = |position| result.at::<Option<i32>>(position);
        let (records, problems, changed) = (count(1)?, count(2)?, count(3)?);
        let problem: Option<String> = result.at(4)?;
        rows.put(|| {
            [
                key.cluster.as_str().cell(),
                key.server.as_str().cell(),
                key.source.as_str().cell(),
                key.time.cell(),
                records.cell(),
                problems.cell(),
                changed.cell(),
                problem.cell(),
            ]
        });
        Ok(())
    })
}
