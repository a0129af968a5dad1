//! `jobstats_identify()`, and other functions for the formats of identifiers.

use std::borrow::Cow;
use std::collections::HashMap;

use jobstats_core::entry_id::{DEFAULT_FORMATS, Format, Formats, Identity, Keys, StoredNames};
use jobstats_core::job_stats::IDENTIFIER_MAX;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::{Array, IntoDatum};

use crate::pg::ballast;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};
use crate::pg::tuplestore::Rows;
use crate::store;
use crate::store::formats::{clusters, configured_formats};
use crate::store::personal::secrets;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_identify(entry text, formats text[] DEFAULT NULL) RETURNS TABLE (
    job text, uid bigint, gid bigint, node text, executable text, pid bigint, format text, status text
)
LANGUAGE c STABLE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_identify(text, text[]) IS
'Tells the job, user and node of an entry identifier. The first format (jobid_name as on the clients) that matches counts; formats NULL stands for those in jobstats.entry_formats, or %j:%u:%H and %e.%u where there is no store. Of these, the formats of the clusters count that have sent the entry, or of all if it is not stored; only what all of them read alike is known. An identifier that none matches is the number of a job alone, or the beginning of an identifier, if it can be only one. node ends at its first dot. status is ok, missing_job, truncated, partial or malformed. entry NULL gives no row. Errors: 22023 for an invalid format or over a hundred, 22001 for an entry of over 255 bytes, which no server prints.';
"#)]
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
            "Give those that the clients of a site have.",
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
    let number = |field: Option<u32>| field.map(i64::from).into_datum();
    rows.put(|| {
        [
            identity.number().map(Cow::into_owned).into_datum(),
            number(identity.uid),
            number(identity.gid),
            identity.node.into_datum(),
            identity.executable.into_datum(),
            number(identity.pid),
            identity.format.into_datum(),
            identity.status.as_str().into_datum(),
        ]
    });
}

/// Returns the formats of the store, and the clusters by whose formats an entry is read.
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
            &[ids.into()],
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
