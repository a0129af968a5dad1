//! `jobstats_events()` lists events.

use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::{SqlResult, connect_as_of_call};
use crate::pg::time::{self, timestamptz};
use crate::pg::tuplestore::Rows;
use crate::query::answer::{SETTINGS, write_rows};
use crate::store;
use crate::store::rights::caller::{Reader, as_any_reader, own_parameters};
use jobstats_core::instant::DAY;

/// The time of which events are listed where no start is given.
const WEEK: i64 = 7 * DAY;

#[pg_extern(sql = false)]
fn jobstats_events(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let since: Option<TimestampWithTimeZone> = arguments.take()?;
    let until: Option<TimestampWithTimeZone> = arguments.take()?;
    let mut patterns: Vec<Option<Vec<Option<String>>>> = Vec::new();
    for _ in 0..4 {
        patterns.push(arguments.take()?);
    }
    let withdrawn: Option<bool> = arguments.take()?;
    let since = match since {
        Some(since) => since,
        None => timestamptz(time::now()? - WEEK)?,
    };
    let (since, until) = time::window(Some(since), until)?;
    let mut parameters: Vec<DatumWithOid<'_>> =
        vec![timestamptz(since)?.into(), timestamptz(until)?.into()];
    parameters.extend(patterns.into_iter().map(DatumWithOid::from));
    parameters.push(withdrawn.unwrap_or(false).into());
    Ok(read(|client, whose| {
        parameters.extend(whose.parameters());
        write_rows(
            client,
            include_str!("list/events.sql"),
            &parameters,
            &mut rows,
        )?;
        Ok(())
    })?)
}

/// The work that the caller may see.
pub(super) struct Whose(Reader);

impl Whose {
    /// Returns the users and accounts of a reader of their own work, and whether the caller sees no names.
    pub fn parameters(&self) -> Vec<DatumWithOid<'static>> {
        let own = match &self.0 {
            Reader::Own(own) => Some(own),
            Reader::All | Reader::Nameless => None,
        };
        let mut parameters: Vec<_> = own_parameters(own).into();
        parameters.push(matches!(self.0, Reader::Nameless).into());
        parameters
    }
}

/// Reads events for whoever asks.
pub(super) fn read<T>(
    answer: impl FnOnce(&SpiClient<'_>, Whose) -> Result<T, Error>,
) -> Result<T, Error> {
    as_any_reader(|reader| {
        let _pinned = Pinned::new(SETTINGS);
        connect_as_of_call(|client| {
            store::require(client)?;
            answer(client, Whose(reader))
        })
    })
}
