//! `jobstats_identify()`, and other functions for the formats of identifiers.

use jobstats_core::entry_id::{DEFAULT_FORMATS, Format, Formats, Identity, Status, likely_format};
use jobstats_core::scan::IDENTIFIER_MAX;
use jobstats_core::snapshot::Snapshot;
use pgrx::Array;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::ballast::{self, connect};
use crate::error::Error;
use crate::pause::pause;
use crate::store;

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

/// Returns the formats of `jobstats.entry_formats`.
pub fn configured_formats(client: &SpiClient<'_>) -> Result<Formats, Error> {
    rows(client)?.into_iter().map(compile_one).collect()
}

/// Returns the valid formats of `jobstats.entry_formats`, and warns of each invalid one: a feed does not fail because
/// of it.
pub fn usable_formats(client: &SpiClient<'_>) -> Result<Formats, Error> {
    let rows = rows(client)?.into_iter();
    let usable = rows.filter_map(|row| match compile_one(row) {
        Ok(format) => Some(format),
        Err(error) => {
            pgrx::warning!("{error}; correct jobstats.entry_formats");
            None
        }
    });
    Ok(usable.collect())
}

fn rows(client: &SpiClient<'_>) -> Result<Vec<(String, Option<String>)>, Error> {
    let found = client.select(
        "SELECT format, node_label FROM jobstats.entry_formats ORDER BY priority",
        None,
        &[],
    )?;
    let mut rows = Vec::with_capacity(found.len());
    for row in found {
        let format = row.get::<String>(1)?.unwrap_or_default();
        rows.push((format, row.get::<String>(2)?));
    }
    Ok(rows)
}

fn compile_one((format, label): (String, Option<String>)) -> Result<Format, Error> {
    Ok(Format::compile(&format, label.as_deref())?)
}

/// Returns the columns name, job, uid, gid, node, executable, pid, format, status and workload of `jobstats.entries`
/// for these names, each as an array.
pub fn identity_columns<'n>(
    formats: &Formats,
    names: impl Iterator<Item = &'n String> + Clone,
) -> Vec<DatumWithOid<'static>> {
    let identities: Vec<Identity<'_>> = names.clone().map(|name| formats.identify(name)).collect();
    let text = |field: fn(&Identity<'_>) -> Option<String>| -> DatumWithOid<'static> {
        identities.iter().map(field).collect::<Vec<_>>().into()
    };
    let number = |field: fn(&Identity<'_>) -> Option<u32>| -> DatumWithOid<'static> {
        identities
            .iter()
            .map(|identity| field(identity).map(i64::from))
            .collect::<Vec<_>>()
            .into()
    };
    let workloads: Vec<String> = names
        .clone()
        .zip(&identities)
        .map(|(name, identity)| identity.workload(name))
        .collect();
    vec![
        names.cloned().collect::<Vec<_>>().into(),
        text(|identity| identity.job.map(str::to_owned)),
        number(|identity| identity.uid),
        number(|identity| identity.gid),
        text(|identity| identity.node.map(str::to_owned)),
        text(|identity| identity.executable.map(str::to_owned)),
        number(|identity| identity.pid),
        text(|identity| identity.format.map(str::to_owned)),
        text(|identity| Some(identity.status.as_str().to_owned())),
        workloads.into(),
    ]
}

/// Raises a NOTICE if most identifiers of a target's first text match no format: the site uses another one.
pub fn notice_unmatched(
    client: &SpiClient<'_>,
    target: &str,
    snapshot: &Snapshot<'_>,
) -> Result<(), Error> {
    let formats = usable_formats(client)?;
    let ids = || snapshot.records.iter().map(|record| snapshot.id(record));
    let unmatched: Vec<&str> = ids()
        .filter(|id| formats.identify(id).status == Status::Malformed)
        .collect();
    if unmatched.len() * 2 > snapshot.records.len() {
        notice(
            target,
            unmatched.len(),
            snapshot.records.len(),
            likely_format(unmatched.into_iter().take(SAMPLE)),
        );
    }
    Ok(())
}

/// The number of identifiers that are enough to find the likely format.
pub const SAMPLE: usize = 1000;

/// Raises one NOTICE with the remedy.
pub fn notice(target: &str, unmatched: usize, of: usize, likely: Option<&str>) {
    let advice = advice(likely);
    pgrx::notice!("{unmatched} of {of} identifiers of {target} match no known format; {advice}");
}

/// Returns the advice on identifiers that match no known format.
pub fn advice(likely: Option<&str>) -> String {
    match likely {
        Some(format) => format!("they look like {format}: {}", remedy(format)),
        None => "see jobid_name on the clients and table jobstats.entry_formats".to_owned(),
    }
}

/// Returns the statements that add a format and identify the stored entries by it.
fn remedy(format: &str) -> String {
    format!(
        "INSERT INTO jobstats.entry_formats SELECT coalesce(max(priority), 0) + 1, {} FROM jobstats.entry_formats; \
         SELECT jobstats_reidentify();",
        pgrx::spi::quote_literal(format)
    )
}
