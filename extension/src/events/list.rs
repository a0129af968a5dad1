//! `jobstats_events()` lists events.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::template::sql;
use crate::pg::time::{self, timestamptz};
use crate::pg::tuplestore::Rows;
use crate::query::answer::{with_settings, write_rows};
use crate::query::dimension::{Level, words};
use crate::query::filters::Filters;
use crate::query::params::Params;
use crate::query::window::ROW_LIMIT;
use crate::store;
use crate::store::rights::caller::{Reader, as_any_reader, own_parameters};
use jobstats_core::base::instant::DAY;

/// The default length of the listed time.
const WEEK: i64 = 7 * DAY;

#[pg_extern(sql = false)]
fn jobstats_events(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let since: Option<TimestampWithTimeZone> = arguments.take()?;
    let until: Option<TimestampWithTimeZone> = arguments.take()?;
    let [events, severities] = [patterns(&mut arguments)?, patterns(&mut arguments)?];
    let filters = Filters::take(&mut arguments)?;
    filters.require_keys(&["cluster", "filesystem"])?;
    let withdrawn = arguments.take::<bool>()?.unwrap_or(false);
    let since = match since {
        Some(since) => since,
        None => timestamptz(time::now()? - WEEK)?,
    };
    let (since, until) = time::window(Some(since), until)?;
    let (since, until) = (timestamptz(since)?, timestamptz(until)?);
    Ok(read(|_, reader| {
        let params = Params::default();
        let [uids, accounts, is_nameless] = reader_parameters(reader);
        let statement = sql!(
            "list/events.sql",
            uids = params.bind("uids", || uids),
            accounts = params.bind("accounts", || accounts),
            is_nameless = params.bind("is_nameless", || is_nameless),
            since = params.bind("since", || since),
            until = params.bind("until", || until),
            events = params.bind("events", || events),
            severities = params.bind("severities", || severities),
            withdrawn = params.bind("withdrawn", || withdrawn),
            conditions = filters.conditions(Level::Target, "e", &params),
        );
        write_rows(&statement, &params.take(), &mut rows, ROW_LIMIT)
    })?)
}

/// Takes a list of patterns, separated by commas or blanks; `None` if empty.
fn patterns(arguments: &mut Arguments<'_>) -> Result<Option<Vec<String>>, Error> {
    let names: Option<String> = arguments.take()?;
    Ok(names.map(|it| words(&it).map(str::to_owned).collect()))
}

/// Returns as parameters the users and accounts of a restricted reader, and whether the reader sees no names.
pub(super) fn reader_parameters(reader: &Reader) -> [DatumWithOid<'static>; 3] {
    let [uids, accounts] = own_parameters(reader.own());
    [uids, accounts, matches!(reader, Reader::Nameless).into()]
}

/// Reads events with the reader's rights.
pub(super) fn read<T>(
    answer: impl FnOnce(&SpiClient<'_>, &Reader) -> Result<T, Error>,
) -> Result<T, Error> {
    as_any_reader(|reader| {
        with_settings(|client| {
            store::require(client)?;
            answer(client, &reader)
        })
    })
}
