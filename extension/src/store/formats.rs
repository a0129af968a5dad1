//! The formats of identifiers in `jobstats.entry_formats`, and advice on unmatched identifiers.

use std::borrow::Cow;

use jobstats_core::identity::entry_id::{
    DEFAULT_FORMATS, Field, Format, Formats, Identity, Status, likely_format,
};
use jobstats_core::rules::snapshot::Snapshot;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};

/// The SELECT of the formats, as stored in `jobstats.identification`.
pub const CONFIGURED: &str = include_str!("formats/configured.sql");

/// The largest number of recorded clusters of an entry. More of them do not change its meaning.
pub const CLUSTERS_MAX: i64 = 100;

/// Returns the formats of `jobstats.entry_formats`.
pub fn configured_formats(client: &SpiClient<'_>) -> Result<Formats, Error> {
    compiled(client)?.into_iter().collect()
}

/// Returns the valid formats of `jobstats.entry_formats`, and warns of invalid ones, which must not make a feed fail.
pub fn usable_formats(client: &SpiClient<'_>) -> Result<Formats, Error> {
    let formats = compiled(client)?.into_iter();
    let usable = formats.filter_map(|format| match format {
        Ok(format) => Some(format),
        Err(error) => {
            pgrx::warning!("{error}; correct jobstats.entry_formats");
            None
        }
    });
    Ok(usable.collect())
}

/// Stores the default formats in a new store.
pub fn insert_default(client: &mut SpiClient<'_>) -> Result<(), Error> {
    client.execute(
        "INSERT INTO jobstats.entry_formats (priority, format) SELECT f.priority, f.format \
         FROM unnest($1::text[]) WITH ORDINALITY AS f (format, priority)",
        &values![DEFAULT_FORMATS.to_vec()],
    )?;
    client.run(
        &format!("UPDATE jobstats.identification SET formats = ({CONFIGURED})"),
        &[],
    )
}

/// Returns the compiled formats, or their errors.
fn compiled(client: &SpiClient<'_>) -> Result<Vec<Result<Format, Error>>, Error> {
    let rows = client.query(
        "SELECT f.format, f.node_label, f.cluster, f.node_pattern FROM jobstats.entry_formats f ORDER BY f.priority",
        &[],
    )?;
    let formats = rows.map(|row| {
        let format: String = row.get("format")?;
        let texts = |name| row.get::<Option<String>>(name);
        let [label, cluster, nodes] = ["node_label", "cluster", "node_pattern"].map(texts);
        let (label, cluster, nodes) = (label?, cluster?, nodes?);
        let format = Format::compile(&format, label.as_deref());
        let format = format.and_then(|it| it.only_for(cluster.as_deref(), nodes.as_deref()));
        Ok(format.map_err(Error::from))
    });
    formats.collect()
}

/// Returns the clusters of the targets of the store.
pub fn clusters(client: &SpiClient<'_>) -> Result<Vec<String>, Error> {
    client.query_value(include_str!("formats/clusters.sql"), &values![CLUSTERS_MAX])
}

/// An identifier and its clusters.
pub struct SentName<'n, 'c> {
    pub name: &'n str,
    /// Empty if unknown.
    pub clusters: Cow<'c, [String]>,
}

/// Returns the columns name, workload, clusters and [`Identity::COLUMNS`] of `jobstats.entries` for these entries, each as an array; the
/// clusters are arrays of JSON, if a format depends on them.
pub fn identity_columns(
    formats: &Formats,
    entries: &[SentName<'_, '_>],
) -> Vec<DatumWithOid<'static>> {
    let names = entries.iter().map(|entry| entry.name.to_owned());
    let (mut workloads, mut fields) = (Vec::new(), Vec::new());
    for entry in entries {
        let identity = formats.identify_in(&entry.clusters, entry.name);
        workloads.push(identity.workload(entry.name));
        fields.push(identity.fields());
    }
    let is_known = formats.differ_by_cluster();
    let clusters = entries.iter().map(|entry| {
        let list = || serde_json::Value::from(entry.clusters.to_vec()).to_string();
        is_known.then(list)
    });
    let columns = Identity::COLUMNS.iter().enumerate();
    let columns = columns.map(|(column, (_, of_type))| -> DatumWithOid<'static> {
        let fields = fields.iter().map(|it| &it[column]);
        if *of_type == "text" {
            let texts = fields.map(|it| match it {
                Field::Text(text) => text.as_deref().map(str::to_owned),
                Field::Number(_) => None,
            });
            return texts.collect::<Vec<_>>().into();
        }
        let numbers = fields.map(|it| match it {
            Field::Number(number) => number.map(i64::from),
            Field::Text(_) => None,
        });
        numbers.collect::<Vec<_>>().into()
    });
    let mut values = vec![
        names.collect::<Vec<_>>().into(),
        workloads.into(),
        clusters.collect::<Vec<Option<String>>>().into(),
    ];
    values.extend(columns);
    values
}

/// Raises a NOTICE if most identifiers in the first snapshot of a target match no format.
pub fn notice_unmatched(
    client: &SpiClient<'_>,
    (cluster, target): (&str, &str),
    snapshot: &Snapshot<'_>,
) -> Result<(), Error> {
    let formats = usable_formats(client)?;
    let ids = || snapshot.records.iter().map(|record| snapshot.id(record));
    let unmatched: Vec<&str> = ids()
        .filter(|id| formats.identify_in(&[cluster], id).status == Status::Malformed)
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

/// The number of identifiers in the sample for finding the likely format.
pub const SAMPLE: usize = 1000;

/// Raises one NOTICE with the remedy.
pub fn notice(target: &str, unmatched: usize, of: usize, likely: Option<&str>) {
    let advice = advice(likely);
    pgrx::notice!("{unmatched} of {of} identifiers of {target} match no known format. {advice}");
}

/// Returns the advice on identifiers that match no known format.
pub fn advice(likely: Option<&str>) -> String {
    match likely {
        Some(format) => format!(
            "They look like {format}. To add it: \
             INSERT INTO jobstats.entry_formats SELECT coalesce(max(priority), 0) + 1, {} FROM jobstats.entry_formats; \
             SELECT jobstats_reidentify();",
            pgrx::spi::quote_literal(format)
        ),
        None => {
            "Compare jobid_name on the clients with the table jobstats.entry_formats.".to_owned()
        }
    }
}
