//! Plays `lctl get_param`.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use globset::{GlobBuilder, GlobMatcher};

use crate::failure::Failure;
use crate::lustre::TargetKind;
use crate::lustre::service::Service;
use crate::printing::snapshot::{Records, Snapshot};
use crate::printing::{gauges, services, target_counters};
use crate::time::{Nanos, SECOND, Span};
use crate::world::disturbances::DUMP;
use crate::world::queue::{self, Services};
use crate::world::space::{OwnerKind, Space};
use crate::world::{
    Cluster, Plan, ServerIndex, Target, TargetCounters, TargetIndex, TargetState, Walk, Workload,
};

/// The result of a call of `lctl`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub status: u8,
}

/// The exit status if there is no such parameter.
const ENOENT: u8 = 2;
/// The exit status if reading failed.
const EIO: u8 = 5;

/// Plays `lctl get_param PATTERN…` on a server at a time.
pub fn get_param(
    cluster: &Cluster,
    server: ServerIndex,
    time: Nanos,
    patterns: &[String],
) -> Result<Output, Failure> {
    let place = Place {
        cluster,
        server,
        time,
    };
    let parameters = place.parameters();
    let mut player = Player {
        workload: Workload::new(cluster),
        place,
        walks: BTreeMap::new(),
        services: BTreeMap::new(),
        spaces: BTreeMap::new(),
        printed: Output::default(),
    };
    for pattern in patterns {
        let path = path(pattern);
        let matcher = matcher(pattern, &path)?;
        let matching = parameters.iter().filter(|(name, _)| matcher.is_match(name));
        let mut is_missing = true;
        for (name, parameter) in matching {
            is_missing = false;
            player.play(name, *parameter);
        }
        if is_missing {
            let problem = format!("param_path '{path}': No such file or directory");
            player.printed.fail(ENOENT, &problem);
        }
    }
    Ok(player.printed)
}

/// A parameter of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    CleanupInterval(TargetIndex),
    JobStats(TargetIndex),
    Stats(TargetIndex),
    ExportStats(TargetIndex, ServerIndex),
    ExportUuids(TargetIndex, ServerIndex),
    Space(TargetIndex, &'static str),
    Owners(TargetIndex, OwnerKind),
    Recovery(TargetIndex),
    Changelog(TargetIndex),
    ServiceStats(Service),
    Policies(Service),
    Rules(Service),
    /// The work of the default nodemap's clients on the server's targets of a kind.
    Nodemap(TargetKind),
    Health,
}

/// The state that the value of a parameter follows from.
#[derive(Clone, Copy)]
pub enum ParameterState<'a> {
    TargetCounters(&'a TargetCounters<'a>),
    Services(&'a Services),
    Space(&'a Space),
    /// The plan of the cluster alone.
    Plan,
}

/// A server at a time.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub cluster: &'a Cluster,
    pub server: ServerIndex,
    pub time: Nanos,
}

impl Place<'_> {
    /// Returns the parameters of the server with their paths, sorted as in a shell.
    pub fn parameters(self) -> BTreeSet<(String, Parameter)> {
        let (cluster, server, time) = (self.cluster, self.server, self.time);
        let plan = Plan::new(cluster);
        let mut parameters = BTreeSet::from([("health_check".to_owned(), Parameter::Health)]);
        for target in
            (0..cluster.targets.len()).filter(|target| plan.owner(*target, time) == server)
        {
            let of_target = self.parameters_of(target);
            parameters.extend(of_target);
        }
        for kind in [TargetKind::Mdt, TargetKind::Ost] {
            for service in Service::of(kind).filter(|_| plan.serves(server, kind, time)) {
                let path = |name| format!("{}/{name}", service.name().replace('.', "/"));
                parameters.insert((path("stats"), Parameter::ServiceStats(service)));
                parameters.insert((path("nrs_policies"), Parameter::Policies(service)));
                if cluster.layout.has_token_buckets() {
                    parameters.insert((path("nrs_tbf_rule"), Parameter::Rules(service)));
                }
            }
            if cluster.layout.counts_nodemaps() && plan.serves(server, kind, time) {
                let path = format!("nodemap/default/{}", services::of_nodemaps(kind));
                parameters.insert((path, Parameter::Nodemap(kind)));
            }
        }
        parameters
    }

    /// Returns the parameters of a target of the server with their paths.
    pub fn parameters_of(self, index: TargetIndex) -> Vec<(String, Parameter)> {
        let target = &self.cluster.targets[index];
        let of = |device: &str, name: &str| format!("{device}/{}/{name}", target.name);
        let own = |name: &str| of(target.kind.device(), name);
        let osd = |name: &str| of("osd-ldiskfs", name);
        let mut parameters = vec![
            (
                own("job_cleanup_interval"),
                Parameter::CleanupInterval(index),
            ),
            (own("job_stats"), Parameter::JobStats(index)),
            (own("recovery_status"), Parameter::Recovery(index)),
        ];
        match target.kind {
            TargetKind::Mdt => parameters.extend([
                (own("md_stats"), Parameter::Stats(index)),
                (of("mdd", "changelog_users"), Parameter::Changelog(index)),
            ]),
            TargetKind::Ost => {
                parameters.push((own("stats"), Parameter::Stats(index)));
                for mds in target_counters::metadata_servers(self.cluster) {
                    let export = |name| own(&format!("exports/10.0.0.{}@o2ib/{name}", mds + 1));
                    parameters.extend([
                        (export("stats"), Parameter::ExportStats(index, mds)),
                        (export("uuid"), Parameter::ExportUuids(index, mds)),
                    ]);
                }
            }
        }
        let space = gauges::SPACE.map(|name| (osd(name), Parameter::Space(index, name)));
        parameters.extend(space);
        let kinds = OwnerKind::value_variants().iter().copied();
        let has_kind = |kind: &_| *kind != OwnerKind::Project || self.cluster.layout.has_projects();
        parameters.extend(kinds.filter(has_kind).map(|kind| {
            let name = format!("quota_slave.{}", gauges::accounting(kind).0);
            (osd(&name.replace('.', "/")), Parameter::Owners(index, kind))
        }));
        parameters
    }

    /// Returns a parameter other than `job_stats` as lctl prints it, given the state that it depends on.
    pub fn print(self, path: &str, parameter: Parameter, known: ParameterState) -> Vec<u8> {
        let (cluster, server, time) = (self.cluster, self.server, self.time);
        let name = path.replace('/', ".");
        let text = match (parameter, known) {
            (Parameter::CleanupInterval(target), _) => {
                return cleanup_interval(cluster, target).into_bytes();
            }
            (Parameter::Stats(target), ParameterState::TargetCounters(counters)) => {
                target_counters::own(cluster, target, counters, time)
            }
            (Parameter::ExportStats(target, mds), ParameterState::TargetCounters(counters)) => {
                target_counters::of_export(cluster, target, counters, mds, time)
            }
            (Parameter::ServiceStats(service), ParameterState::Services(services)) => {
                services::stats(cluster, server, services, service, time)
            }
            (Parameter::Policies(service), ParameterState::Services(services)) => {
                services::policies(cluster, service, services.queues.get(&service))
            }
            (Parameter::Rules(service), _) => services::rules(cluster, server, service, time),
            (Parameter::Nodemap(_), ParameterState::Services(services)) => {
                services::nodemap(cluster, server, services, time)
            }
            (Parameter::Space(_, name), ParameterState::Space(space)) => gauges::space(space, name),
            (Parameter::Owners(_, kind), ParameterState::Space(space)) => {
                gauges::owners(space, kind)
            }
            (Parameter::ExportUuids(_, mds), _) => target_counters::uuids(cluster, mds, time),
            (Parameter::Recovery(target), _) => gauges::recovery(cluster, target, time),
            (Parameter::Changelog(target), _) => gauges::changelog(cluster, target, time),
            (Parameter::Health, _) => {
                let health = gauges::health(cluster, server, time);
                if cluster.layout.has_two_healths() {
                    return format!("{name}={health}").into_bytes();
                }
                health
            }
            _ => String::new(),
        };
        framed(&name, text.as_bytes())
    }
}

/// Plays lctl on a server at a time, and computes only once what several parameters follow from.
struct Player<'a> {
    workload: Workload<'a>,
    place: Place<'a>,
    walks: BTreeMap<TargetIndex, Walk<'a>>,
    services: BTreeMap<TargetKind, Services>,
    spaces: BTreeMap<TargetIndex, Space>,
    printed: Output,
}

impl Player<'_> {
    /// Adds a parameter to the output.
    fn play(&mut self, path: &str, parameter: Parameter) {
        let place = self.place;
        let known = match parameter {
            Parameter::JobStats(target) => {
                return self.printed.job_stats(&self.workload, target, place.time);
            }
            Parameter::Stats(target) | Parameter::ExportStats(target, _) => {
                ParameterState::TargetCounters(self.target_counters(target))
            }
            Parameter::ServiceStats(service) | Parameter::Policies(service) => {
                ParameterState::Services(self.services(service.kind()))
            }
            Parameter::Nodemap(kind) => ParameterState::Services(self.services(kind)),
            Parameter::Space(target, _) | Parameter::Owners(target, _) => {
                let space = self.spaces.entry(target);
                let at = || Space::at(&self.workload, target, place.time);
                ParameterState::Space(space.or_insert_with(at))
            }
            _ => ParameterState::Plan,
        };
        let text = place.print(path, parameter, known);
        self.printed.stdout.extend(text);
    }

    fn target_counters(&mut self, target: TargetIndex) -> &TargetCounters<'_> {
        let (workload, time) = (&self.workload, self.place.time);
        let walk = self.walks.entry(target).or_insert_with(|| {
            let mut walk = Walk::new(workload, target, Span::new(time, 1));
            walk.advance(time, |_| ());
            walk
        });
        &walk.counters
    }

    fn services(&mut self, kind: TargetKind) -> &Services {
        let (cluster, time) = (self.place.cluster, self.place.time);
        let (here, span) = ((self.place.server, kind), Span::new(time, 1));
        let targets = queue::targets(cluster, here, span);
        for &target in &targets {
            self.target_counters(target);
        }
        let walks = &self.walks;
        self.services.entry(kind).or_insert_with(|| {
            let arrivals = walks.iter().filter(|(target, _)| targets.contains(target));
            let arrivals = arrivals.map(|(target, walk)| (*target, &walk.counters.arrivals[..]));
            let mut services = Services::new(cluster, here, span, arrivals);
            services.advance(time);
            services
        })
    }
}

impl Output {
    fn fail(&mut self, status: u8, problem: &str) {
        let line = format!("error: get_param: {problem}\n");
        self.stderr.push_str(&line);
        self.status = status;
    }

    /// Adds the text of a target.
    fn job_stats(&mut self, workload: &Workload, target: TargetIndex, time: Nanos) {
        let mut state = TargetState::new(workload, target, Span::new(time, DUMP));
        let name = parameter(&workload.cluster.targets[target], "job_stats");
        if let Some(snapshot) = Snapshot::take(&mut state, time, false, |_| ()) {
            let text = snapshot.text(&state, &mut Records::default());
            self.stdout.extend(framed(&name, &text));
            if snapshot.cut.is_none() {
                return;
            }
        }
        let path = name.replace('.', "/");
        let problem = format!("read('/proc/fs/lustre/{path}') failed: Input/output error");
        self.fail(EIO, &problem);
    }
}

/// Returns a pattern of names as one of paths, as lctl does: a dot separates directories, but not in the address of a client.
fn path(pattern: &str) -> String {
    let in_address = |char: char| char.is_ascii_digit() || char == '.';
    let before = pattern.split_once('@').map_or("", |(before, _)| before);
    let address = before.trim_end_matches(in_address).len()..before.len();
    let is_separator = |index| index == address.start || !address.contains(&index);
    let chars = pattern.char_indices().map(|(index, char)| match char {
        '.' if is_separator(index) => '/',
        char => char,
    });
    chars.collect()
}

fn matcher(pattern: &str, path: &str) -> Result<GlobMatcher, Failure> {
    let glob = GlobBuilder::new(path).literal_separator(true).build();
    let glob = glob.map_err(|error| format!("bad pattern {pattern:?}: {error}"))?;
    Ok(glob.compile_matcher())
}

/// Returns the full name of one of a target's parameters.
pub fn parameter(target: &Target, name: &str) -> String {
    format!("{}.{}.{name}", target.kind.device(), target.name)
}

/// Returns the line of a target's cleanup interval.
pub fn cleanup_interval(cluster: &Cluster, target: TargetIndex) -> String {
    let name = parameter(&cluster.targets[target], "job_cleanup_interval");
    format!("{name}={}\n", cluster.cleanup_interval / SECOND)
}

/// Formats a parameter and its value. A value of several lines begins on a new line.
pub fn framed(name: &str, value: &[u8]) -> Vec<u8> {
    let has_lines = value.strip_suffix(b"\n").unwrap_or(value).contains(&b'\n');
    let before: &[u8] = if has_lines { b"\n" } else { b"" };
    let after: &[u8] = if value.is_empty() { b"\n" } else { b"" };
    [name.as_bytes(), b"=", before, value, after].concat()
}
