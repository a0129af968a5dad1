//! What the database holds of a simulated cluster.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use postgres::types::ToSql;
use postgres::{Client, NoTls, Row};
use thiserror::Error;

use crate::cluster::{Cluster, ServerIndex, Target};
use crate::question::Question;
use crate::schedule::{self, Due, Span};
use crate::time::{HOUR, Nanos, timestamp};
use crate::totals::Column;
use crate::truth::TargetTruth;

/// Why the database could not be read.
#[derive(Debug, Error)]
pub enum Error {
    /// The server or the connection to it.
    #[error("database: {}", message(.0))]
    Database(#[from] postgres::Error),
}

/// What the server said, where it said something: the client's own words are only "db error".
pub fn message(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!(
            "{} ({}){}",
            said.message(),
            said.code().code(),
            said.hint()
                .map(|hint| format!("\nHINT: {hint}"))
                .unwrap_or_default()
        ),
        None => error.to_string(),
    }
}

/// Target, entry or group of entries, and column or operation.
pub type Key = (String, String, String);
/// What is stored.
pub type Amounts = BTreeMap<Key, i128>;

/// The store of the extension.
pub struct Store {
    client: Client,
}

/// Targets of a cluster with the times of their first and last text, and what was stored of these.
const OBSERVED: &str = r#"
    FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) AS s(name, first, last)
    JOIN jobstats.targets t ON t.cluster = $1 AND t.name = s.name"#;

impl Store {
    /// Connects to the database.
    pub fn open(url: &str) -> Result<Self, Error> {
        Ok(Self {
            client: Client::connect(url, NoTls)?,
        })
    }

    fn query(
        &mut self,
        sql: &str,
        cluster: &Cluster,
        spans: impl Iterator<Item = (String, Timestamp, Timestamp)>,
    ) -> Result<Vec<Row>, Error> {
        let (mut names, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for (name, from, until) in spans {
            names.push(name);
            first.push(from);
            last.push(until);
        }
        let arguments: [&(dyn ToSql + Sync); 4] = [&cluster.name, &names, &first, &last];
        Ok(self.client.query(sql, &arguments)?)
    }

    /// How many observations there are of the texts that were delivered.
    pub fn observations(
        &mut self,
        cluster: &Cluster,
        truths: &[TargetTruth],
    ) -> Result<u64, Error> {
        let sql = format!(
            r#"SELECT count(*) {OBSERVED}
               JOIN jobstats.observations o ON o.target_id = t.target_id AND o."time" BETWEEN s.first AND s.last"#
        );
        let rows = self.query(&sql, cluster, delivered(cluster, truths))?;
        Ok(rows
            .iter()
            .map(|row| row.get::<_, i64>(0).unsigned_abs())
            .sum())
    }

    /// How many rows of increments there are, and what they say that entries did, where that is not zero.
    pub fn increments(
        &mut self,
        cluster: &Cluster,
        truths: &[TargetTruth],
    ) -> Result<(u64, Amounts), Error> {
        let columns = self.columns()?;
        let sums: Vec<String> = columns.iter().map(|column| sum(*column)).collect();
        let sql = format!(
            r#"SELECT t.name, e.name, count(*), {} {OBSERVED}
               JOIN jobstats.increments i ON i.target_id = t.target_id AND i.observed BETWEEN s.first AND s.last
               JOIN jobstats.entries e ON e.entry_id = i.entry_id
               GROUP BY t.name, e.name"#,
            sums.join(", ")
        );
        let (mut rows, mut increments) = (0, Amounts::new());
        for row in self.query(&sql, cluster, delivered(cluster, truths))? {
            rows += row.get::<_, i64>(2).unsigned_abs();
            for (index, column) in columns.iter().enumerate() {
                let amount = row.get::<_, Option<i64>>(index + 3).unwrap_or(0);
                if amount != 0 {
                    let key = (row.get(0), row.get(1), column.name());
                    increments.insert(key, i128::from(amount));
                }
            }
        }
        Ok((rows, increments))
    }

    /// The workload of each entry.
    pub fn workloads(&mut self) -> Result<HashMap<String, String>, Error> {
        let rows = self
            .client
            .query("SELECT name, workload FROM jobstats.entries", &[])?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// What a question about a cluster in a window is answered, where that is not zero.
    pub fn ask(
        &mut self,
        question: &Question,
        cluster: &Cluster,
        (from, until): (Nanos, Nanos),
    ) -> Result<Amounts, Error> {
        let operations = question.operations(&self.columns()?);
        let pattern = cluster
            .name
            .replace('\\', r"\\")
            .replace('%', r"\%")
            .replace('_', r"\_");
        let arguments: [&(dyn ToSql + Sync); 4] =
            [&pattern, &timestamp(from), &timestamp(until), &operations];
        let rows = self.client.query(question.sql, &arguments)?;
        let amounts = rows.iter().filter_map(|row| {
            let amount: i64 = row.get::<_, Option<i64>>(3)?;
            let key = (row.get(0), row.get(1), row.get(2));
            (amount != 0).then_some((key, i128::from(amount)))
        });
        Ok(amounts.collect())
    }

    /// The columns that `jobstats.increments` has.
    fn columns(&mut self) -> Result<Vec<Column>, Error> {
        let sql = "SELECT attname::text FROM pg_attribute
            WHERE attrelid = 'jobstats.increments'::regclass AND attnum > 0 AND NOT attisdropped";
        let rows = self.client.query(sql, &[])?;
        let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        Ok(Column::all()
            .filter(|column| names.contains(&column.parts().0))
            .collect())
    }

    /// The readings of each target that the database holds, as far as they belong to a span.
    pub fn readings(&mut self, cluster: &Cluster, span: Span) -> Result<Vec<Vec<Due>>, Error> {
        let sql = format!(
            r#"SELECT t.name, o.server, o."time" {OBSERVED}
               JOIN jobstats.observations o ON o.target_id = t.target_id AND o."time" BETWEEN s.first AND s.last
               ORDER BY o."time""#
        );
        // Clocks may be wrong, by less than this.
        let (first, last) = (timestamp(span.from - HOUR), timestamp(span.until + HOUR));
        let all = cluster
            .targets
            .iter()
            .map(|target| (target.name.clone(), first, last));
        let rows = self.query(&sql, cluster, all)?;
        let mut readings: HashMap<String, Vec<(String, Timestamp)>> = HashMap::new();
        for row in rows {
            readings
                .entry(row.get(0))
                .or_default()
                .push((row.get(1), row.get(2)));
        }
        let of_target = |(index, target): (usize, &Target)| {
            let planned: HashMap<(ServerIndex, Timestamp), Due> =
                schedule::readings(cluster, index, span)
                    .into_iter()
                    .map(|due| ((due.server, timestamp(due.label)), due))
                    .collect();
            let mut dues: Vec<Due> = readings
                .get(&target.name)
                .into_iter()
                .flatten()
                .filter_map(|(server, time)| {
                    let server = cluster.server(server)?;
                    Some(
                        planned
                            .get(&(server, *time))
                            .copied()
                            .unwrap_or(unplanned(server, *time)),
                    )
                })
                .filter(|due| (span.from..span.until).contains(&due.time))
                .collect();
            dues.sort();
            dues
        };
        Ok(cluster.targets.iter().enumerate().map(of_target).collect())
    }
}

/// A reading at a time of the shipper's choice; its clock is right.
fn unplanned(server: ServerIndex, time: Timestamp) -> Due {
    let time = time.as_microsecond() as Nanos * 1000;
    Due {
        time,
        server,
        label: time,
    }
}

/// Targets with the times of their first and last text.
fn delivered(
    cluster: &Cluster,
    truths: &[TargetTruth],
) -> impl Iterator<Item = (String, Timestamp, Timestamp)> {
    cluster
        .targets
        .iter()
        .zip(truths)
        .filter_map(|(target, truth)| {
            let (first, last) = truth.observed?;
            Some((target.name.clone(), timestamp(first), timestamp(last)))
        })
}

fn sum(column: Column) -> String {
    match column.parts() {
        (name, Some(element)) => format!(r#"sum(i."{name}"[{element}])::bigint"#),
        (name, None) => format!(r#"sum(i."{name}")::bigint"#),
    }
}
