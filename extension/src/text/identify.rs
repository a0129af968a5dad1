//! `jobstats_identify()`, and other functions for the formats of identifiers.

use jobstats_core::entry_id::{DEFAULT_FORMATS, Format, Formats, Identity};
use jobstats_core::scan::IDENTIFIER_MAX;
use pgrx::Array;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::ballast;
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::connect;
use crate::store;
use crate::store::formats::configured_formats;

/// The columns of `jobstats_identify`.
type Means = (
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<String>,
    Option<i64>,
    Option<String>,
    &'static str,
);

#[allow(clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_identify(entry text, formats text[] DEFAULT NULL) RETURNS TABLE (
    job text, uid bigint, gid bigint, node text, executable text, pid bigint, format text, status text
)
LANGUAGE c STABLE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_identify(text, text[]) IS
'What an entry identifier means by the first of the formats (jobid_name as on the clients) that matches it; formats NULL are those in jobstats.entry_formats, or %j:%u:%H and %e.%u where there is no store. status is ok, missing_job, truncated or malformed. entry NULL gives no row. Errors: 22023 for a format that is none, 22001 for an entry of over 255 bytes, which no server prints.';
"#)]
fn jobstats_identify(
    entry: Option<&str>,
    formats: Option<Array<'_, &str>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(job, Option<String>),
            name!(uid, Option<i64>),
            name!(gid, Option<i64>),
            name!(node, Option<String>),
            name!(executable, Option<String>),
            name!(pid, Option<i64>),
            name!(format, Option<String>),
            name!(status, &'static str),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let Some(entry) = entry else {
        return Ok(TableIterator::empty());
    };
    if entry.len() > IDENTIFIER_MAX {
        return Err(Error::LongName {
            what: "entry",
            limit: IDENTIFIER_MAX,
        }
        .into());
    }
    ballast::hold()?;
    let means = match formats {
        Some(formats) => by_first(entry, &formats)?,
        None => means(&connect(configured_or_built_in)?.identify(entry)),
    };
    Ok(TableIterator::once(means))
}

/// Identifies an entry by the first of the formats that matches it. Compiles all formats: an error in one is reported
/// whatever the entry is.
fn by_first(entry: &str, formats: &Array<'_, &str>) -> Result<Means, Error> {
    let mut found = None;
    for format in formats.iter().flatten() {
        pause();
        let format = Format::compile(format, None)?;
        if found.is_none() {
            found = format.identify(entry).as_ref().map(means);
        }
    }
    Ok(found.unwrap_or_else(|| means(&Formats::default().identify(entry))))
}

fn means(identity: &Identity<'_>) -> Means {
    let owned = |field: Option<&str>| field.map(str::to_owned);
    (
        owned(identity.job),
        identity.uid.map(i64::from),
        identity.gid.map(i64::from),
        owned(identity.node),
        owned(identity.executable),
        identity.pid.map(i64::from),
        owned(identity.format),
        identity.status.as_str(),
    )
}

fn configured_or_built_in(client: &SpiClient<'_>) -> Result<Formats, Error> {
    if store::exists(client)? {
        return configured_formats(client);
    }
    Ok(Formats::compile(DEFAULT_FORMATS.iter().copied())?)
}
