//! The formats of identifiers in `jobstats.entry_formats`, and advice where identifiers match none of them.

use std::borrow::Cow;

use jobstats_core::entry_id::{DEFAULT_FORMATS, Format, Formats, Identity, Status, likely_format};
use jobstats_core::snapshot::Snapshot;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;

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

/// Stores the formats that a new store knows.
pub fn insert_default(client: &mut SpiClient<'_>) -> Result<(), Error> {
    let (formats, labels): (Vec<&str>, Vec<Option<&str>>) = DEFAULT_FORMATS.iter().copied().unzip();
    client.execute(
        "INSERT INTO jobstats.entry_formats (priority, format, node_label) SELECT f.priority, f.format, f.node_label \
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS f (format, node_label, priority)",
        &[formats.into(), labels.into()],
    )?;
    Ok(())
}

fn rows(client: &SpiClient<'_>) -> Result<Vec<(String, Option<String>)>, Error> {
    let rows = client.query(
        "SELECT format, node_label FROM jobstats.entry_formats ORDER BY priority",
        &[],
    )?;
    rows.map(|row| Ok((row.get("format")?, row.get("node_label")?)))
        .collect()
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
        text(|identity| identity.number().map(Cow::into_owned)),
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
    pgrx::notice!("{unmatched} of {of} identifiers of {target} match no known format. {advice}");
}

/// Returns the advice on identifiers that match no known format.
pub fn advice(likely: Option<&str>) -> String {
    match likely {
        Some(format) => format!("They look like {format}. To add it: {}", remedy(format)),
        None => {
            "Compare jobid_name on the clients with the table jobstats.entry_formats.".to_owned()
        }
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
