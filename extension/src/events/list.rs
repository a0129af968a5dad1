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

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_events(
    since timestamptz DEFAULT now() - interval '7 days', until timestamptz DEFAULT now(),
    cluster text[] DEFAULT NULL, filesystem text[] DEFAULT NULL, kind text[] DEFAULT NULL, severity text[] DEFAULT NULL,
    withdrawn boolean DEFAULT false
) RETURNS TABLE (
    event_id bigint, kind text, severity text, cluster text, filesystem text, began timestamptz, found timestamptz, until timestamptz,
    ended timestamptz, targets text[], servers text[], value double precision, usual double precision, rate double precision,
    load_times double precision, culprits jsonb, reason text, told timestamptz, verdict text, note text, withdrawn timestamptz,
    updated timestamptz, judged bigint, "precision" double precision
)
LANGUAGE c STABLE
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_events IS
'Lists what went wrong on file systems, as far as it was found. A row for each event that lasted into (since, until], the newest first. kind is waiting (requests wait for a thread of a server), slow_target, stalled, full, failover or rule (a rule of the site was broken); severity is critical, warning, or info: nobody is told of it, and reason says why. ended is NULL while it lasts; until is the last time that shows it. value and usual are seconds of waiting, seconds per call of a slow target, calls per second of a stalled one, or the used part of a full one; rate is how many times the value passes the floor of its kind. culprits says whose work made the load rise, load_times by how much it rose. told is when it was notified. verdict and note are what jobstats_judge() was told; precision is the part of the events of this kind, of all times, that were judged real or known, judged is how many were judged. An event that later texts showed to be none is left out, or listed with the time when it was withdrawn. cluster, filesystem, kind and severity are patterns with *. A reader of their own work sees no other culprits, one who sees no names sees none. An argument that is NULL counts as left out. Errors: 22023 for an empty window, 54000 for over a million rows, 55000 where there is no store.';
"#)]
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
