//! Reads a simulated cluster back from the database.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use jiff::Timestamp;
use jobstats_client::answers::{Filters, exactly};
use jobstats_client::{Connector, Error, Options};
use postgres::types::ToSql;
use postgres::{Client, Row};

use crate::store::answer::Subject;
use crate::store::labels::Labels;
use crate::store::question::Question;
use crate::time::{Clock, HOUR, Nanos, timestamp};
use crate::truth::TargetTruth;
use crate::truth::totals::Column;
use crate::world::cluster::{Cluster, ServerIndex, Target};
use crate::world::schedule::{self, Due, Span};

/// The time limit for connecting, per host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Prepares connections to the database that the options name.
pub fn connector(options: &Options) -> Result<Connector, Error> {
    Connector::new(options.settings("jobstats-simulator")?, CONNECT_TIMEOUT)
}

/// The target, the entry or group of entries, and the column or operation.
pub type Key = (String, String, String);
/// The amounts by key.
pub type Amounts = BTreeMap<Key, i128>;

/// The store of the extension.
pub struct Store {
    client: Client,
}

/// The part of a query that looks up the targets of a cluster, with the times of their first and last text.
const OBSERVED: &str = r#"
    FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) AS s(name, first, last)
    JOIN jobstats.targets t ON t.cluster = $1 AND t.name = s.name"#;

impl Store {
    /// Connects to the database.
    pub fn open(options: &Options) -> Result<Self, Error> {
        Ok(Self {
            client: connector(options)?.client()?,
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

    /// Counts the observations of the delivered texts.
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

    /// Counts the rows of increments and sums their amounts; sums of zero are left out.
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

    /// Returns the workload of each entry.
    pub fn workloads(&mut self) -> Result<HashMap<String, String>, Error> {
        let rows = self
            .client
            .query("SELECT name, workload FROM jobstats.entries", &[])?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Asks a question about a cluster in a window; amounts of zero are left out.
    pub fn ask(
        &mut self,
        question: &Question,
        cluster: &Cluster,
        (from, until): (Nanos, Nanos),
    ) -> Result<Amounts, Error> {
        let subject = Subject {
            filters: Filters {
                cluster: Some(vec![exactly(&cluster.name)]),
                ..Filters::default()
            },
            window: (timestamp(from), timestamp(until)),
            operations: question.operations(&self.columns()?),
        };
        let mut amounts = (question.ask)(&mut self.client, &subject)?;
        amounts.retain(|_, amount| *amount != 0);
        Ok(amounts)
    }

    /// Returns the columns that `jobstats.increments` has.
    fn columns(&mut self) -> Result<Vec<Column>, Error> {
        let sql = "SELECT attname::text FROM pg_attribute
            WHERE attrelid = 'jobstats.increments'::regclass AND attnum > 0 AND NOT attisdropped";
        let rows = self.client.query(sql, &[])?;
        let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        Ok(Column::all()
            .filter(|column| names.contains(&column.parts().0))
            .collect())
    }

    /// Returns the readings of each target that the database holds, as far as they belong to a span. Readings whose
    /// labels are not planned have the given times, or else the times of their labels.
    pub fn readings(
        &mut self,
        cluster: &Cluster,
        span: Span,
        labels: &Labels,
    ) -> Result<Vec<Vec<Due>>, Error> {
        let sql = format!(
            r#"SELECT t.name, o.server, o."time" {OBSERVED}
               JOIN jobstats.observations o ON o.target_id = t.target_id AND o."time" BETWEEN s.first AND s.last
               ORDER BY o."time""#
        );
        // A server's clock may be wrong, but by less than an hour.
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
                            .or_else(|| labels.get(&(server, *time)))
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

/// Returns a reading at a time that the shipper chose, on a server with a correct clock.
fn unplanned(server: ServerIndex, time: Timestamp) -> Due {
    let time = Clock(time.as_microsecond() as Nanos * 1000).world();
    Due {
        time,
        server,
        label: time,
    }
}

/// Returns the targets with the times of their first and last text.
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
