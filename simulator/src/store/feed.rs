//! Loads a span of a cluster into the database: a row for the entries of each target, and a row for all other parameters of a server at
//! that time.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use jobstats_client::database::retry::retry;
use jobstats_client::{Connector, Kind, Notice};
use postgres::types::ToSql;
use postgres::{Client, Statement};
use zstd::bulk::Compressor;

use crate::failure::Failure;
use crate::lustre::TargetKind;
use crate::printing::lctl::{
    Parameter, ParameterState, Place, cleanup_interval, framed, parameter,
};
use crate::printing::snapshot::{Records, Snapshot};
use crate::random::Seed;
use crate::store::database::connector;
use crate::time::{HOUR, Span, timestamp};
use crate::truth::{Happening, Tally, tally};
use crate::world::queue::{self, Arrivals, Services};
use crate::world::scrape_times::{self, readings};
use crate::world::space::Space;
use crate::world::{
    Change, Cluster, Due, ServerIndex, TargetCounters, TargetIndex, TargetState, Walk, Workload,
    each,
};

/// The options of a load.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// View or table to insert into
    #[arg(long, default_value = "jobstats.feed")]
    table: String,
    /// Number of connections
    #[arg(long, default_value_t = 2)]
    connections: usize,
    /// Load only job_stats and cleanup intervals
    #[arg(long)]
    job_stats_only: bool,
    /// Share of texts that arrive after later ones
    #[arg(long, default_value_t = 0.0)]
    late: f64,
    /// Share of texts that arrive twice
    #[arg(long, default_value_t = 0.0)]
    repeated: f64,
    #[command(flatten)]
    database: jobstats_client::Options,
}

/// The texts that the database was sent and rejected.
#[derive(Debug, Default)]
pub struct Rejections {
    /// The number of texts that were sent, including repeated ones.
    pub sent: u64,
    pub texts: u64,
    /// The warning about the last of them.
    pub warning: String,
}

impl Rejections {
    /// Takes a warning of the database, which is about one text.
    fn take(&mut self, notice: Notice) {
        if notice.is_warning && notice.message.contains("rejected") {
            self.texts += 1;
            self.warning = notice.message;
        }
    }

    /// Returns a line about the texts that were not stored; `None` if all were.
    pub fn line(&self) -> Option<String> {
        let stored = self.sent.saturating_sub(self.texts);
        (self.texts > 0).then(|| {
            format!(
                "{stored} of {} texts were stored, for the others see jobstats.rejects: {}",
                self.sent, self.warning
            )
        })
    }

    /// Returns true if all texts that were sent were rejected.
    pub fn is_all(&self) -> bool {
        self.texts > 0 && self.texts == self.sent
    }
}

/// The sender's name and version in each row.
const SHIPPER: &str = concat!("jobstats-simulator ", env!("CARGO_PKG_VERSION"));
/// Loads a span of a cluster. Targets are independent of each other; each is loaded in order of time. The additional parameters of servers
/// follow: a server together with its failover partner, because both read the same targets.
pub fn load(
    cluster: &Cluster,
    span: Span,
    options: &Options,
) -> Result<(Tally, Rejections), Failure> {
    let readings = scrape_times::of_targets(cluster, span);
    let texts = readings.iter().map(Vec::len);
    let progress = ProgressBar::new(texts.sum::<usize>() as u64);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {pos}/{len} texts, {elapsed} of {duration}")
    {
        progress.set_style(style);
    }
    let connector = connector(&options.database)?;
    let rejected = Arc::new(Mutex::new(Rejections::default()));
    let loader = Loader {
        cluster,
        workload: Workload::new(cluster),
        span,
        options,
        progress,
    };
    let connect = || Writer::connect(&connector, &options.table, &rejected);
    let load = |writer: &mut Writer, target| loader.load(target, writer);
    let loaded = each(cluster.targets.len(), options.connections, connect, load)?;
    let (mut tallies, additional): (Vec<_>, Vec<_>) = loaded.into_iter().unzip();
    let load = |writer: &mut Writer, server| loader.load_servers(server, &additional, writer);
    tallies.extend(each(
        cluster.servers.len(),
        options.connections,
        connect,
        load,
    )?);
    loader.progress.finish_and_clear();
    let rejected = std::mem::take(&mut *locked(&rejected));
    Ok((tally::sum(&tallies), rejected))
}

/// Locks counts, which are right even if another thread has panicked.
fn locked(rejected: &Mutex<Rejections>) -> MutexGuard<'_, Rejections> {
    rejected.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Loader<'a> {
    cluster: &'a Cluster,
    workload: Workload<'a>,
    span: Span,
    options: &'a Options,
    progress: ProgressBar,
}

/// The additional texts of a target, one for each reading, and its requests, which the services of servers count.
#[derive(Default)]
struct AdditionalTexts {
    texts: BTreeMap<Due, Vec<u8>>,
    arrivals: Vec<Arrivals>,
}

impl Loader<'_> {
    /// Loads the entries of a target, and returns its additional texts.
    fn load(
        &self,
        target: TargetIndex,
        writer: &mut Writer,
    ) -> Result<(Tally, AdditionalTexts), Failure> {
        let cluster = self.cluster;
        let mut delivery = Delivery::new(cluster, target, self.options);
        let (mut state, mut counters) = if self.options.job_stats_only {
            let state = TargetState::new(&self.workload, target, self.span);
            (state, None)
        } else {
            let walk = Walk::new(&self.workload, target, self.span);
            (walk.state, Some(walk.counters))
        };
        let mut additional = AdditionalTexts::default();
        let mut counter = tally::Counter::default();
        let mut records = Records::new();
        let name = parameter(&cluster.targets[target], "job_stats");
        let mut first = true;
        let mut space = None;
        for due in readings(cluster, target, self.span) {
            let count = |counters: &mut Option<TargetCounters>, change: &Change| {
                counters
                    .iter_mut()
                    .for_each(|counters| counters.change(change));
            };
            state.advance(due.time, |change| count(&mut counters, &change));
            // Comes before job_stats are read, which takes some seconds of the world.
            if let Some(counters) = &mut counters {
                counters.settle(due.time);
                let text = self.additional(target, &due, counters, &mut space);
                additional.texts.insert(due, text);
            }
            let change = |change: Change| count(&mut counters, &change);
            let snapshot = Snapshot::take(&mut state, due.time, first, change);
            counter.observe(&state, snapshot.as_ref());
            if let Some(snapshot) = snapshot {
                first = false;
                let mut text = cleanup_interval(cluster, target).into_bytes();
                let job_stats = snapshot.text(&state, &mut records);
                text.extend(framed(&name, &job_stats));
                let row = writer.row(cluster, &due, &text)?;
                for row in delivery.next(row, &mut counter.tally) {
                    writer.write(&row)?;
                }
            }
            self.progress.inc(1);
        }
        delivery.end(writer)?;
        additional.arrivals = counters
            .map(|counters| counters.arrivals)
            .unwrap_or_default();
        Ok((counter.tally, additional))
    }

    /// Returns lctl's output for a target except `job_stats`. Owners of space are included once an hour, because they change hourly.
    fn additional(
        &self,
        target: TargetIndex,
        due: &Due,
        counters: &TargetCounters,
        known: &mut Option<(i64, Space)>,
    ) -> Vec<u8> {
        let hour = due.time.div_euclid(HOUR);
        let is_new = known.as_ref().is_none_or(|(known, _)| *known != hour);
        if is_new {
            *known = None;
        }
        let at = || (hour, Space::at(&self.workload, target, due.time));
        let (_, space) = known.get_or_insert_with(at);
        let place = self.place(due);
        let texts = place
            .parameters_of(target)
            .into_iter()
            .map(|(path, parameter)| {
                let known = match parameter {
                    Parameter::JobStats(_) | Parameter::CleanupInterval(_) => return Vec::new(),
                    Parameter::Owners(..) if !is_new => return Vec::new(),
                    Parameter::Owners(..) | Parameter::Space(..) => ParameterState::Space(space),
                    _ => ParameterState::TargetCounters(counters),
                };
                place.print(&path, parameter, known)
            });
        texts.flatten().collect()
    }

    fn place(&self, due: &Due) -> Place<'_> {
        Place {
            cluster: self.cluster,
            server: due.server,
            time: due.time,
        }
    }

    /// Loads the additional texts of a server and its partner, given those for all targets. Only the first of the two does this.
    fn load_servers(
        &self,
        server: ServerIndex,
        additional: &[AdditionalTexts],
        writer: &mut Writer,
    ) -> Result<Tally, Failure> {
        let cluster = self.cluster;
        let mut delivery = Delivery::new(cluster, additional.len() + server, self.options);
        let mut tally = Tally::default();
        let mut services = BTreeMap::new();
        let dues = scrape_times::of_servers(cluster, self.span).into_iter();
        let is_here = |due: &Due| due.server.min(cluster.servers[due.server].partner) == server;
        for due in dues.filter(is_here) {
            let texts = additional.iter().filter_map(|all| all.texts.get(&due));
            let mut text: Vec<u8> = texts.flatten().copied().collect();
            if !self.options.job_stats_only {
                let services = services
                    .entry(due.server)
                    .or_insert_with(|| self.services(due.server, additional));
                text.extend(self.of_server(&due, services));
            }
            if text.is_empty() {
                continue;
            }
            tally.add(Happening::ServerText, 1);
            let row = writer.row(cluster, &due, &text)?;
            for row in delivery.next(row, &mut tally) {
                writer.write(&row)?;
            }
        }
        delivery.end(writer)?;
        Ok(tally)
    }

    /// Returns the services of a server for each kind of target.
    fn services(&self, server: ServerIndex, additional: &[AdditionalTexts]) -> [Services; 2] {
        [TargetKind::Mdt, TargetKind::Ost].map(|kind| {
            let targets = queue::targets(self.cluster, (server, kind), self.span).into_iter();
            let arrivals = targets.map(|target| (target, &additional[target].arrivals[..]));
            Services::new(self.cluster, (server, kind), self.span, arrivals)
        })
    }

    /// Returns the parameters of the server itself.
    fn of_server(&self, due: &Due, services: &mut [Services; 2]) -> Vec<u8> {
        services.iter_mut().for_each(|kind| kind.advance(due.time));
        let place = self.place(due);
        let texts = place.parameters().into_iter().map(|(path, parameter)| {
            let known = match parameter {
                Parameter::ServiceStats(service) | Parameter::Policies(service) => {
                    ParameterState::Services(&services[service.kind() as usize])
                }
                Parameter::Nodemap(kind) => ParameterState::Services(&services[kind as usize]),
                Parameter::Rules(_) | Parameter::Health => ParameterState::Plan,
                _ => return Vec::new(),
            };
            place.print(&path, parameter, known)
        });
        texts.flatten().collect()
    }
}

#[derive(Clone)]
struct Row<'a> {
    cluster: &'a str,
    server: &'a str,
    time: Timestamp,
    body_zstd: Vec<u8>,
    duration: f64,
}

/// Delivers the texts of a target or of a server to the database, some of them late or twice.
struct Delivery<'a> {
    seed: Seed,
    shares: (f64, f64),
    carried: usize,
    /// The late texts, each with the number of the text after which it arrives.
    late: Vec<(usize, Row<'a>)>,
}

impl<'a> Delivery<'a> {
    fn new(cluster: &Cluster, number: usize, options: &Options) -> Self {
        Self {
            seed: cluster.seed.of("courier", &[number as i64]),
            shares: (options.late, options.repeated),
            carried: 0,
            late: Vec::new(),
        }
    }

    /// Takes the next text and returns the texts that arrive now. The first text is never late, because no earlier one exists.
    fn next(&mut self, row: Row<'a>, tally: &mut Tally) -> Vec<Row<'a>> {
        self.carried += 1;
        let seed = self.seed.of("text", &[self.carried as i64]);
        let (late, repeated) = self.shares;
        let mut arriving = Vec::new();
        if self.carried > 1 && seed.of("late", &[]).chance(late) {
            tally.add(Happening::LateText, 1);
            let after = 1 + seed.of("after", &[]).below(5) as usize;
            self.late.push((self.carried + after, row));
        } else {
            let again = seed.of("repeated", &[]).chance(repeated);
            if again {
                tally.add(Happening::RepeatedText, 1);
            }
            arriving.extend(again.then(|| row.clone()));
            arriving.push(row);
        }
        let carried = self.carried;
        let due = self.late.extract_if(.., |(after, _)| *after <= carried);
        arriving.extend(due.map(|(_, row)| row));
        arriving
    }

    /// Writes the texts that have not arrived yet.
    fn end(self, writer: &mut Writer) -> Result<(), Failure> {
        self.late.iter().try_for_each(|(_, row)| writer.write(row))
    }
}

struct Writer {
    client: Client,
    insert: Statement,
    compressor: Compressor<'static>,
    rejected: Arc<Mutex<Rejections>>,
}

impl Writer {
    fn connect(
        connector: &Connector,
        table: &str,
        rejected: &Arc<Mutex<Rejections>>,
    ) -> Result<Self, Failure> {
        let warned = rejected.clone();
        let mut client = connector.client_that_notes(move |notice| locked(&warned).take(notice))?;
        Ok(Self {
            rejected: rejected.clone(),
            insert: prepare(&mut client, table)?,
            client,
            compressor: Compressor::new(1).map_err(zstd_failed)?,
        })
    }

    /// Returns the row of a text.
    fn row<'a>(
        &mut self,
        cluster: &'a Cluster,
        due: &Due,
        text: &[u8],
    ) -> Result<Row<'a>, Failure> {
        Ok(Row {
            cluster: &cluster.name,
            server: &cluster.servers[due.server].name,
            time: timestamp(due.label),
            body_zstd: self.compressor.compress(text).map_err(zstd_failed)?,
            // A dump takes longer the more there is to print.
            duration: 0.05 + text.len() as f64 / 5e7,
        })
    }

    /// Writes one text per transaction, so that concurrent feeds of several targets do not wait for each other in
    /// circles.
    fn write(&mut self, row: &Row) -> Result<(), Failure> {
        let values: [&(dyn ToSql + Sync); 6] = [
            &row.cluster,
            &row.server,
            &row.time,
            &row.body_zstd,
            &row.duration,
            &SHIPPER,
        ];
        let is_conflict = |error: &_| Kind::of(error) == Kind::Conflict;
        retry(is_conflict, || self.client.execute(&self.insert, &values))?;
        locked(&self.rejected).sent += 1;
        Ok(())
    }
}

fn zstd_failed(error: io::Error) -> Failure {
    format!("zstd: {error}").into()
}

/// Prepares a session and its statement.
fn prepare(client: &mut Client, table: &str) -> Result<Statement, postgres::Error> {
    // A commit may be lost in a crash, because a simulated day can be loaded again.
    client.batch_execute("SET synchronous_commit = off")?;
    client.prepare(&format!(
        r#"INSERT INTO {table} (cluster, server, "time", body_zstd, duration, shipper)
           VALUES ($1, $2, $3, $4, make_interval(secs => $5), $6)"#
    ))
}
