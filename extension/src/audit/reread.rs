//! Reading texts of people and jobs again.

use jobstats_core::base::instant::Span;
use pgrx::datum::TimestampWithTimeZone;

use crate::audit::begin_as_feed;
use crate::feed::sources;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Statements, connect_mut, values};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::dimension::Level;
use crate::query::filters::Filters;
use crate::query::params::Params;
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

/// Reads the kept texts of a source again, or of all, and writes a row for each.
///
/// # Errors
/// [`Error::UnknownSource`]
pub fn reread(
    window: Span,
    source: Option<&str>,
    filters: &Filters,
    rows: &mut Rows,
) -> Result<(), Error> {
    sources::named(source)?;
    filters.require_keys(&["cluster", "server"])?;
    as_owner_of_store(|| {
        connect_mut(|client| begin_as_feed(client, "reading texts again"))?;
        let mut after = None;
        loop {
            let keys = connect_mut(|client| next(client, window, source, filters, after.as_ref()))?;
            for key in &keys {
                pause();
                read(key, rows)?;
            }
            match keys.into_iter().next_back() {
                Some(last) => after = Some(last),
                None => return Ok(()),
            }
        }
    })
}

/// Returns the keys of the texts that follow on one, or of the first ones.
fn next(
    client: &mut pgrx::spi::SpiClient<'_>,
    window: Span,
    source: Option<&str>,
    filters: &Filters,
    after: Option<&Key>,
) -> Result<Vec<Key>, Error> {
    let (params, [since, until]) = (Params::default(), [window.0, window.1].map(timestamptz));
    let (since, until) = (since?, until?);
    let bind = |name, value: fn(&Key) -> &String| params.bind(name, || after.map(value).cloned());
    let statement = sql!(
        "reread/texts.sql",
        since = params.bind("since", || after.map_or(since, |key| key.time)),
        until = params.bind("until", || until),
        cluster = bind("after cluster", |key| &key.cluster),
        source = bind("after source", |key| &key.source),
        server = bind("after server", |key| &key.server),
        of_source = params.bind("source", || source.map(str::to_owned)),
        conditions = filters.conditions(Level::Target, "t", &params)
            + &filters.conditions(Level::Server, "t", &params),
        limit = AT_A_TIME.to_string(),
    );
    let rows = client.execute_rows(&statement, &params.take())?;
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
fn read(key: &Key, rows: &mut Rows) -> Result<(), Error> {
    connect_mut(|client| {
        let result = client.execute_opt(
            "SELECT r.records, r.problems, r.changed, r.problem \
             FROM jobstats_internal.reread_guarded($1, $2, $3, $4) r",
            &values![
                key.cluster.as_str(),
                key.source.as_str(),
                key.server.as_str(),
                key.time
            ],
        )?;
        let result = result.ok_or_else(|| Error::Damaged("a text vanished".to_owned()))?;
        let count = |position| Ok::<_, Error>(result.at::<Option<i32>>(position)?.map(i64::from));
        let (records, problems, changed) = (count(1)?, count(2)?, count(3)?);
        let problem: Option<String> = result.at(4)?;
        rows.put(|| {
            [
                key.source.as_str().cell(),
                key.cluster.as_str().cell(),
                key.server.as_str().cell(),
                records.cell(),
                problems.cell(),
                changed.cell(),
                key.time.cell(),
                key.time.cell(),
                None::<i64>.cell(),
                None::<i64>.cell(),
                problem.cell(),
            ]
        });
        Ok(())
    })
}
