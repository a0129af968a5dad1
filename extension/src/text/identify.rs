//! `jobstats_identify()`, and other functions for the formats of identifiers.

use std::collections::HashMap;

use jobstats_core::identity::entry_id::{
    DEFAULT_FORMATS, Field, Format, Formats, Identity, Keys, StoredNames, looks_swapped,
};
use jobstats_core::text::job_stats::IDENTIFIER_MAX;
use pgrx::Array;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::argument::Short;
use crate::pg::ballast;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call, values};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::store;
use crate::store::formats::{clusters, configured_formats};
use crate::store::personal::secrets;

#[pg_extern(sql = false)]
fn jobstats_looks_swapped(
    jobs: Short<Vec<Option<String>>>,
    uids: Short<Vec<Option<i64>>>,
    users: Short<Vec<Option<i64>>>,
) -> bool {
    let both = jobs.iter().zip(uids.iter());
    let read = both.filter_map(|(job, uid)| Some((job.as_deref()?, u32::try_from((*uid)?).ok()?)));
    looks_swapped(read, |uid| users.contains(&Some(i64::from(uid))))
}

#[pg_extern(sql = false)]
fn jobstats_identify(
    entry: Option<&str>,
    formats: Option<Array<'_, &str>>,
    mut rows: Rows,
) -> SqlResult<()> {
    let Some(entry) = entry else {
        return Ok(());
    };
    if entry.len() > IDENTIFIER_MAX {
        return Err(Error::LongName {
            what: "entry",
            limit: IDENTIFIER_MAX,
        }
        .into());
    }
    ballast::hold()?;
    match formats {
        Some(formats) => by_these(entry, &formats, &mut rows)?,
        None => {
            let (formats, clusters) =
                connect_as_of_call(|client| configured_or_built_in(client, entry))?;
            put(&formats.identify_in(&clusters, entry), &mut rows);
        }
    }
    Ok(())
}

/// The largest number of formats. A site has a few, and each takes a millisecond.
const FORMATS_MAX: usize = 100;

/// Identifies an entry by these formats. Compiles all of them: an error in one is reported whatever the entry is. Keeps those alone that
/// matter, because a regular expression that gets no memory ends the server.
fn by_these(entry: &str, formats: &Array<'_, &str>, rows: &mut Rows) -> Result<(), Error> {
    if formats.len() > FORMATS_MAX {
        return Err(Error::argument(
            format!("formats has more than {FORMATS_MAX} formats"),
            "Give the formats in use on the clients.",
        ));
    }
    let mut needed = Formats::default();
    for format in formats.iter().flatten() {
        pause();
        needed.add_if_needed(Format::compile(format, None)?, entry);
    }
    put(&needed.identify(entry), rows);
    Ok(())
}

fn put(identity: &Identity<'_>, rows: &mut Rows) {
    rows.put(|| {
        identity.fields().map(|field| match field {
            Field::Text(text) => text.as_deref().cell(),
            Field::Number(number) => number.map(i64::from).cell(),
        })
    });
}

/// Returns the formats of the store, and the clusters whose formats apply to an entry.
fn configured_or_built_in(
    client: &SpiClient<'_>,
    entry: &str,
) -> Result<(Formats, Vec<String>), Error> {
    if !store::exists(client)? {
        let built_in = Formats::compile(DEFAULT_FORMATS.iter().copied())?;
        return Ok((built_in, Vec::new()));
    }
    let formats = configured_formats(client)?;
    let clusters = match formats.differ_by_cluster() {
        true => match clusters_of(client, entry)? {
            Some(senders) => senders,
            None => clusters(client)?,
        },
        false => Vec::new(),
    };
    Ok((formats, clusters))
}

/// Returns the clusters that have sent an entry; `None` if it is not stored.
fn clusters_of(client: &SpiClient<'_>, entry: &str) -> Result<Option<Vec<String>>, Error> {
    let (mut keys, mut clusters) = (Keys::of(secrets(client)?), HashMap::new());
    keys.resolve(std::iter::once(entry), |ids| {
        let rows = client.query(
            "SELECT e.entry_id, e.name, e.clusters FROM jobstats.entries e WHERE e.entry_id = ANY ($1)",
            &values![ids],
        )?;
        let mut names = StoredNames::new();
        for row in rows {
            let id: i64 = row.at(1)?;
            names.insert(id, row.at(2)?);
            clusters.insert(id, row.at::<Option<Vec<String>>>(3)?);
        }
        Ok::<_, Error>(names)
    })?;
    let id = keys.id(entry).filter(|_| !keys.is_new(entry));
    Ok(id.and_then(|id| clusters.remove(&id).flatten()))
}
