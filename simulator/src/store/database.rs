//! Reads a simulated cluster back from the database.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use clap::ValueEnum;
use jiff::Timestamp;
use jobstats_client::answers::Filters;
use jobstats_client::{Connector, Error, Options};
use postgres::types::ToSql;
use postgres::{Client, Row};
use strum::VariantArray;

use crate::lustre::service::Service;
use crate::store::labels::Labels;
use crate::store::used;
use crate::store::used::Lists;
use crate::time::{Clock, HOUR, Nanos, Span, timestamp};
use crate::truth::queues::Readings;
use crate::truth::{Column, TargetTruth};
use crate::world::scrape_times;
use crate::world::space::OwnerKind;
use crate::world::{Cluster, Due, ServerIndex, Target};

/// The time limit for connecting, per host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Prepares connections to the database that the options name.
pub fn connector(options: &Options) -> Result<Connector, Error> {
    Connector::new(options.settings("jobstats-simulator")?, CONNECT_TIMEOUT)
}

/// The target, the entry or group of entries, and the column or operation.
pub type Key = (String, String, String);
pub type Amounts = BTreeMap<Key, i128>;

/// The store of the extension, queried about one cluster.
pub struct Store<'a> {
    pub client: Client,
    pub cluster: &'a Cluster,
}

/// The part of a query that looks up the targets of a cluster, with the times of their first and last text.
const OBSERVED: &str = r#"
    FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) AS s(name, first, last)
    JOIN jobstats.targets t ON t.cluster = $1 AND t.name = s.name"#;

/// The table of the readings of a target's entries.
pub const OF_ENTRIES: &str = "observations";

/// The table of the readings of the counters that a target has of itself.
pub const OF_COUNTERS: &str = "target_snapshots";

/// Returns the part of such a query that looks up the readings in a table between these times.
fn between(table: &str) -> String {
    format!(
        r#"JOIN jobstats.{table} o ON o.target_id = t.target_id AND o."time" BETWEEN s.first AND s.last"#
    )
}

impl<'a> Store<'a> {
    /// Connects to the database.
    pub fn open(options: &Options, cluster: &'a Cluster) -> Result<Self, Error> {
        let client = connector(options)?.client()?;
        Ok(Self { client, cluster })
    }

    /// Runs a query about targets, each with the times of its first and last text.
    fn query(
        &mut self,
        sql: &str,
        targets: impl Iterator<Item = (&'a Target, (Nanos, Nanos))>,
    ) -> Result<Vec<Row>, Error> {
        let (mut names, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
        for (target, (from, until)) in targets {
            names.push(target.name.as_str());
            first.push(timestamp(from));
            last.push(timestamp(until));
        }
        let arguments: [&(dyn ToSql + Sync); 4] = [&self.cluster.name, &names, &first, &last];
        Ok(self.client.query(sql, &arguments)?)
    }

    /// Counts the observations of the delivered texts.
    pub fn observations(&mut self, truths: &[TargetTruth]) -> Result<u64, Error> {
        let sql = format!("SELECT count(*) {OBSERVED} {}", between(OF_ENTRIES));
        let rows = self.query(&sql, delivered(self.cluster, truths))?;
        let counts = rows.iter().map(|row| row.get::<_, i64>(0).unsigned_abs());
        Ok(counts.sum())
    }

    /// Counts the rows of increments and sums their amounts; sums of zero are left out.
    pub fn increments(&mut self, truths: &[TargetTruth]) -> Result<(u64, Amounts), Error> {
        let columns = self.columns()?;
        let sums: Vec<String> = columns.iter().map(|column| sum(*column)).collect();
        let sql = format!(
            r#"SELECT t.name, e.name, count(*), {} {OBSERVED}
               JOIN (SELECT r.* FROM jobstats.increments_rows r OFFSET 0) i ON i.target_id = t.target_id AND i.observed BETWEEN s.first AND s.last
               JOIN jobstats.entries e ON e.entry_id = i.entry_id
               GROUP BY t.name, e.name"#,
            sums.join(", ")
        );
        let (mut rows, mut increments) = (0, Amounts::new());
        for row in self.query(&sql, delivered(self.cluster, truths))? {
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
        let sql = "SELECT name, workload FROM jobstats.entries";
        let rows = self.client.query(sql, &[])?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Returns the columns that `jobstats.increments_rows` has.
    pub fn columns(&mut self) -> Result<Vec<Column>, Error> {
        let sql = "SELECT attname::text FROM pg_attribute
            WHERE attrelid = 'jobstats.increments_rows'::regclass AND attnum > 0 AND NOT attisdropped";
        let rows = self.client.query(sql, &[])?;
        let names: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        Ok(Column::all()
            .filter(|column| names.contains(&column.parts().0))
            .collect())
    }

    /// Returns the readings of each target in a span that a table of the database holds. Readings whose labels are not planned have the
    /// given times, or else the times of their labels.
    pub fn readings(
        &mut self,
        table: &str,
        span: Span,
        labels: &Labels,
    ) -> Result<Vec<Vec<Due>>, Error> {
        let between = between(table);
        let sql =
            format!(r#"SELECT t.name, o.server, o."time" {OBSERVED} {between} ORDER BY o."time""#);
        let cluster = self.cluster;
        let window = window(span);
        let targets = cluster.targets.iter().map(|target| (target, window));
        let mut stored: HashMap<String, Vec<(ServerIndex, Timestamp)>> = HashMap::new();
        for row in self.query(&sql, targets)? {
            if let Some(server) = cluster.server(row.get(1)) {
                let label = (server, row.get(2));
                stored.entry(row.get(0)).or_default().push(label);
            }
        }
        let of_target = |(index, target): (usize, &Target)| {
            let planned = by_label(scrape_times::readings(cluster, index, span));
            let stored = stored.get(&target.name).into_iter().flatten();
            let dues = stored.map(|label| due_at(*label, &planned, labels));
            let mut dues: Vec<Due> = dues.filter(|due| span.contains(due.time)).collect();
            dues.sort();
            dues
        };
        Ok(cluster.targets.iter().enumerate().map(of_target).collect())
    }

    /// Returns the readings of services in a span that the database holds, with the same true times.
    pub fn service_readings(&mut self, span: Span, labels: &Labels) -> Result<Readings, Error> {
        let (cluster, (from, until)) = (self.cluster, window(span));
        let planned = by_label(scrape_times::of_servers(cluster, span));
        let sql = r#"SELECT r.server, r.service, r."time" FROM jobstats.server_snapshots r
            WHERE r.cluster = $1 AND r."time" BETWEEN $2 AND $3"#;
        let arguments: [&(dyn ToSql + Sync); 3] =
            [&cluster.name, &timestamp(from), &timestamp(until)];
        let mut readings = Readings::new();
        for row in self.client.query(sql, &arguments)? {
            let (name, label) = (row.get::<_, &str>(1), row.get(2));
            let service = Service::VARIANTS.iter().find(|it| it.short() == name);
            let Some((server, service)) = cluster.server(row.get(0)).zip(service) else {
                continue;
            };
            let due = due_at((server, label), &planned, labels);
            if span.contains(due.time) {
                readings.entry((server, *service)).or_default().insert(due);
            }
        }
        Ok(readings)
    }

    /// Returns the lists of owners in the database.
    pub fn lists(&mut self, span: Span, labels: &Labels) -> Result<Lists, Error> {
        let cluster = self.cluster;
        let sql = r#"SELECT l.kind, t.name, l.first, l.last FROM jobstats.used_lists l
            JOIN jobstats.targets t ON t.target_id = l.target_id WHERE t.cluster = $1"#;
        let rows = self.client.query(sql, &[&cluster.name])?;
        let mut lists = Lists::new();
        for (index, target) in cluster.targets.iter().enumerate() {
            let planned = scrape_times::readings(cluster, index, span).into_iter();
            let known = labels.values().copied().chain(planned);
            let known: HashMap<_, _> = known.map(|due| (timestamp(due.label), due)).collect();
            let due = |label| {
                let known = known.get(&label).copied();
                known.unwrap_or_else(|| unplanned((target.home, label)))
            };
            let of_target = |row: &&Row| row.get::<_, &str>(1) == target.name;
            for row in rows.iter().filter(of_target) {
                let (first, last) = (due(row.get(2)), due(row.get(3)));
                if let Ok(kind) = OwnerKind::from_str(row.get(0), false) {
                    lists.insert((used::day(&first), index, kind), (first, last));
                }
            }
        }
        Ok(lists)
    }

    /// Returns the days with summed space usage.
    pub fn summed_days(&mut self) -> Result<Vec<i64>, Error> {
        let sql = "SELECT DISTINCT (l.day - date '1970-01-01')::bigint FROM jobstats.used_lists l
            JOIN jobstats.targets t ON t.target_id = l.target_id WHERE t.cluster = $1 AND l.summed";
        let rows = self.client.query(sql, &[&self.cluster.name])?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}

/// Returns the filter that lets the work on a cluster through.
pub fn of(cluster: &Cluster) -> Filters {
    Filters {
        cluster: Some(vec![cluster.name.clone()]),
        ..Filters::default()
    }
}

/// Returns the times that labels of readings in a span may have: a server's clock may be wrong, but by less than an hour.
fn window(span: Span) -> (Nanos, Nanos) {
    (span.from - HOUR, span.until + HOUR)
}

/// Returns planned readings by server and label.
fn by_label(dues: impl IntoIterator<Item = Due>) -> Labels {
    let dues = dues.into_iter();
    dues.map(|due| ((due.server, timestamp(due.label)), due))
        .collect()
}

/// Returns the reading with a label: a planned one, a given one, or else one at the time of the label.
fn due_at(label: (ServerIndex, Timestamp), planned: &Labels, given: &Labels) -> Due {
    let known = planned.get(&label).or_else(|| given.get(&label)).copied();
    known.unwrap_or_else(|| unplanned(label))
}

/// Returns a reading at a time that the shipper chose, on a server with a correct clock.
fn unplanned((server, time): (ServerIndex, Timestamp)) -> Due {
    let time = Clock(time.as_microsecond() as Nanos * 1000).world();
    Due {
        time,
        server,
        label: time,
    }
}

/// Returns the targets with the times of their first and last text.
fn delivered<'a>(
    cluster: &'a Cluster,
    truths: &[TargetTruth],
) -> impl Iterator<Item = (&'a Target, (Nanos, Nanos))> {
    let targets = cluster.targets.iter().zip(truths);
    targets.filter_map(|(target, truth)| Some((target, truth.observed?)))
}

fn sum(column: Column) -> String {
    match column.parts() {
        (name, Some(element)) => format!(r#"sum(i."{name}"[{element}])::bigint"#),
        (name, None) => format!(r#"sum(i."{name}")::bigint"#),
    }
}
