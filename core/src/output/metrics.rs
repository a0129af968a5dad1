//! The metrics of a store: health and rates of its targets, and the state of its maintenance, for Prometheus.

use crate::base::operation::{Kind, OPERATIONS, Operation};
use crate::base::target::TargetKind;
use crate::output::openmetrics::{Exposition, ExpositionError};
use crate::usage::times::calls_have_times;

#[cfg(test)]
mod tests;

/// The states of targets in the view `health`, but `retired`: retired targets have no metrics.
#[rustfmt::skip]
pub const STATES: [&str; 13] = [
    "ok", "silent", "clock", "late", "slow", "rejects", "ids", "cleanup", "contested", "gap", "full", "recovery", "changelog",
];

/// A target, its health, and its work in the last observation.
#[derive(Debug, Clone)]
pub struct Target {
    /// The cluster; may be empty.
    pub cluster: String,
    /// The file system; empty if the name of the target lacks it.
    pub filesystem: String,
    /// The name; empty for a server that is expected and has never reported.
    pub name: String,
    /// The kind, if it is known.
    pub kind: Option<TargetKind>,
    /// The server of a target, or without targets, that is expected and has never reported.
    pub server: Option<String>,
    /// Some of [`STATES`].
    pub states: Vec<String>,
    /// The time of the last observation, in seconds since 1970.
    pub last_observation: Option<f64>,
    /// The seconds from the last reading of the target to its arrival in the database.
    pub delay: Option<f64>,
    /// The median of the last intervals between observations, in seconds.
    pub usual_interval: Option<f64>,
    /// The number of readings that are missing within the last hour; `None` if the target is not read at regular times.
    pub missed: Option<f64>,
    /// The number of rejects within the last hour.
    pub rejects: Option<f64>,
    /// The counts that feeds have made; `None` for a target that has never reported.
    pub counts: Option<Counts>,
    /// The work in the last observation; `None` if the target is silent, if there is no observation before the last
    /// one, or if the last one spans over an hour and over four usual intervals.
    pub work: Option<Work>,
}

/// Counts that only grow: neither retention nor reprocessing takes anything back.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// The number of observations that were stored.
    pub observations: f64,
    /// The size of their texts in bytes.
    pub text_bytes: f64,
    /// The number of pieces of these texts that could not be used.
    pub problems: f64,
}

/// The work in the last observation.
#[derive(Debug, Clone)]
pub struct Work {
    /// The length of the observation in seconds.
    pub seconds: f64,
    /// True if anything was done.
    pub active: bool,
    /// The calls or bytes, in the order of [`OPERATIONS`].
    pub amounts: Vec<Option<f64>>,
    /// The microseconds of operations that make up service time; `None` where they are not known.
    pub usecs: Vec<Option<f64>>,
}

/// The labels of a [`Gauge`].
pub const GAUGE_LABELS: [&str; 12] = [
    "cluster",
    "filesystem",
    "kind",
    "target",
    "server",
    "reader",
    "service",
    "policy",
    "rule",
    "severity",
    "node",
    "version",
];

/// The families of [`Gauge`], each with its unit and its help.
#[rustfmt::skip]
const GAUGES: [(&str, &str); 20] = [
    ("jobstats_target_size_bytes", "Size of the target."),
    ("jobstats_target_available_bytes", "Space available to users."),
    ("jobstats_target_free_bytes", "Unused space, including reserved space."),
    ("jobstats_target_inodes", "Total inodes of the target."),
    ("jobstats_target_free_inodes", "Unused inodes."),
    ("jobstats_target_recovering", "1 while the target is in recovery, else 0."),
    ("jobstats_server_unhealthy_devices", "Devices that the server reports as unhealthy; at least 1 if any."),
    ("jobstats_changelog_behind_records", "Changelog records that the reader has not cleared."),
    ("jobstats_changelog_idle_seconds", "Time since the changelog reader was last seen."),
    ("jobstats_policy_queued_requests", "Requests held back by a policy of a service when the server was read."),
    ("jobstats_policy_active_requests", "Requests of a policy in service when the server was read."),
    ("jobstats_rule_limit_requests_per_second", "Requests per second that a rule of a token bucket filter allows each client or job."),
    ("jobstats_rule_clients", "Clients or jobs under the rule."),
    ("jobstats_service_requests_per_second", "Requests per second taken by threads of the service, in the last ten minutes read."),
    ("jobstats_service_wait_seconds", "Mean time that these requests waited for a thread."),
    ("jobstats_service_waiting_requests", "Mean number of queued requests."),
    ("jobstats_event", "Ongoing events by kind: waiting, slow_target, stalled, full, failover or rule."),
    ("jobstats_watch_age_seconds", "Time since the newest reading evaluated for events."),
    ("jobstats_node_up", "1 if the node of a front answers and can be queried, else 0."),
    ("jobstats_node_age_seconds", "Time since the last observation of the node."),
];

/// A value of a parameter other than `job_stats`: of a target, or of the server.
#[derive(Debug, Clone)]
pub struct Gauge {
    /// The family.
    pub family: String,
    /// The values of [`GAUGE_LABELS`]; empty for missing labels.
    pub labels: [String; GAUGE_LABELS.len()],
    /// The value in the unit of the family.
    pub value: f64,
}

/// The state of maintenance of the store.
#[derive(Debug, Clone)]
pub struct Maintenance {
    /// The time at which maintenance last completed, in seconds since 1970; `None` if it never did.
    pub completed: Option<f64>,
    /// True if maintenance left something undone.
    pub problem: bool,
    /// The rollups that were ever refreshed, each with its lag in seconds.
    pub lags: Vec<(String, f64)>,
}

impl Maintenance {
    /// Unknown state, which is a problem.
    pub const UNKNOWN: Self = Self {
        completed: None,
        problem: true,
        lags: Vec::new(),
    };
}

/// Writes the metrics of all targets, of `elsewhere`, which is the number of rejects that name no known target per
/// cluster, of gauges, and of maintenance.
///
/// # Errors
/// [`ExpositionError::Memory`] if the text does not fit into memory.
pub fn exposition(
    targets: &[Target],
    elsewhere: &[(String, f64)],
    gauges: &[Gauge],
    maintenance: &Maintenance,
) -> Result<String, ExpositionError> {
    let mut out = Exposition::default();
    health(&mut out, targets)?;
    out.gauge(
        "jobstats_rejects",
        "Rows added to jobstats.rejects within the last hour; without a target: rows of no known target.",
    )?;
    out.samples(of_each(targets, |target| target.rejects))?;
    let elsewhere = elsewhere.iter();
    out.samples(elsewhere.map(|(cluster, rejects)| ([("cluster", cluster.as_str())], *rejects)))?;
    work(&mut out, targets)?;
    for (family, help) in GAUGES {
        out.gauge(family, help)?;
        let of_family = gauges.iter().filter(|gauge| gauge.family == family);
        out.samples(of_family.map(|gauge| {
            let labels = gauge.labels.iter().map(String::as_str);
            (GAUGE_LABELS.into_iter().zip(labels), gauge.value)
        }))?;
    }
    maintenance.print(&mut out)?;
    out.finish()
}

impl Work {
    /// Returns whether the server reports times; `None` without any calls.
    fn timed(&self) -> Option<bool> {
        let usecs = self.usecs.iter().filter(|_| self.active);
        calls_have_times(usecs.map(Option::is_some))
    }

    /// Returns the sum of amounts per second. The sum is taken before the division: sums of whole numbers are exact,
    /// sums of rates are not.
    fn rate<'a>(&self, amounts: impl Iterator<Item = &'a Option<f64>>) -> f64 {
        // `sum` would begin at -0.
        amounts.flatten().fold(0.0, |sum, amount| sum + amount) / self.seconds
    }
}

impl Target {
    fn labels(&self) -> [(&'static str, &str); 5] {
        [
            ("cluster", &self.cluster),
            ("filesystem", &self.filesystem),
            ("kind", self.kind.map_or("", TargetKind::as_str)),
            ("target", &self.name),
            ("server", self.server.as_deref().unwrap_or_default()),
        ]
    }

    /// Returns the operations that targets of its kind report, with the amount of each.
    fn operations(&self) -> impl Iterator<Item = (&'static Operation, &Option<f64>)> {
        let amounts = self.work.iter().flat_map(|work| &work.amounts);
        OPERATIONS
            .iter()
            .zip(amounts)
            .filter(|(operation, _)| self.kind.is_some_and(|kind| operation.on(kind)))
    }

    /// Returns the calls per second of all metadata operations of an MDT.
    fn metadata(&self) -> Option<f64> {
        let work = self.work.as_ref()?;
        let calls = self.operations().filter(|(it, _)| it.metadata);
        (self.kind == Some(TargetKind::Mdt)).then(|| work.rate(calls.map(|(_, calls)| calls)))
    }

    /// Returns the mean number of requests in service. An idle target is assumed to report times if others do.
    fn in_service(&self, others_timed: bool) -> Option<f64> {
        let work = self.work.as_ref()?;
        work.timed()
            .unwrap_or(others_timed)
            .then(|| work.rate(work.usecs.iter()) / 1e6)
    }
}

impl Maintenance {
    fn print(&self, out: &mut Exposition) -> Result<(), ExpositionError> {
        const NONE: [(&str, &str); 0] = [];
        out.gauge(
            "jobstats_maintenance_completed_timestamp_seconds",
            "When jobstats_maintain() was last completed, in seconds since 1970.",
        )?;
        out.samples(self.completed.map(|completed| (NONE, completed)))?;
        out.gauge(
            "jobstats_maintenance_problem",
            "1 if a step failed (see jobstats.maintenance), else 0.",
        )?;
        out.samples(self.completed.map(|_| (NONE, self.problem.into())))?;
        out.gauge(
            "jobstats_rollup_lag_seconds",
            "Lag of the rollup; newer data is read from increments.",
        )?;
        let lags = self.lags.iter();
        out.samples(lags.map(|(level, lag)| ([("level", level.as_str())], *lag)))
    }
}

/// A family with a value for each target: its name, its help and the value.
type Family = (&'static str, &'static str, fn(&Target) -> Option<f64>);

#[rustfmt::skip]
const HEALTH: [Family; 4] = [
    ("jobstats_target_last_observation_timestamp_seconds", "When the target was last observed, in seconds since 1970.", |it| it.last_observation),
    ("jobstats_target_delay_seconds", "Time from the last reading of the target to its arrival in the database.", |it| it.delay),
    ("jobstats_target_usual_interval_seconds", "Median of the last intervals between observations.", |it| it.usual_interval),
    ("jobstats_target_missed_readings", "Readings missing between the observations of the last hour.", |it| it.missed),
];

/// Counters since the target was first observed.
#[rustfmt::skip]
const COUNTS: [Family; 3] = [
    ("jobstats_target_observations", "Observations stored for the target.", |it| Some(it.counts?.observations)),
    ("jobstats_target_text_bytes", "Size of the texts of these observations.", |it| Some(it.counts?.text_bytes)),
    ("jobstats_target_problems", "Pieces of these texts that could not be used.", |it| Some(it.counts?.problems)),
];

fn health(out: &mut Exposition, targets: &[Target]) -> Result<(), ExpositionError> {
    out.gauge(
        "jobstats_target_state",
        "1 for the states of the target in jobstats.health, 0 for the others.",
    )?;
    for target in targets {
        out.samples(STATES.map(|state| {
            let labels = target.labels().into_iter().chain([("state", state)]);
            (labels, target.states.iter().any(|it| it == state).into())
        }))?;
    }
    for (name, help, value) in HEALTH {
        out.gauge(name, help)?;
        out.samples(of_each(targets, value))?;
    }
    for (name, help, value) in COUNTS {
        out.counter(name, help)?;
        out.samples(of_each(targets, value))?;
    }
    Ok(())
}

fn work(out: &mut Exposition, targets: &[Target]) -> Result<(), ExpositionError> {
    out.gauge(
        "jobstats_target_calls_per_second",
        "Calls per second in the last observation. Some calls count in two operations: do not sum over operations.",
    )?;
    rates(out, targets, Kind::Requests)?;
    out.gauge(
        "jobstats_target_bytes_per_second",
        "Bytes per second in the last observation.",
    )?;
    rates(out, targets, Kind::Bytes)?;
    out.gauge(
        "jobstats_target_metadata_calls_per_second",
        "Calls per second of all metadata operations in the last observation.",
    )?;
    out.samples(of_each(targets, Target::metadata))?;
    let works = targets.iter().filter_map(|target| target.work.as_ref());
    let timed = calls_have_times(works.filter_map(Work::timed)).unwrap_or(true);
    out.gauge(
        "jobstats_target_requests_in_service",
        "Mean number of requests in service in the last observation (server seconds per second).",
    )?;
    out.samples(of_each(targets, |target| target.in_service(timed)))
}

/// Writes the rates of all operations of a kind.
fn rates(out: &mut Exposition, targets: &[Target], kind: Kind) -> Result<(), ExpositionError> {
    for target in targets {
        let Some(work) = &target.work else { continue };
        let operations = target.operations().filter(|(it, _)| it.kind == kind);
        out.samples(operations.map(|(operation, amount)| {
            let labels = target.labels().into_iter();
            let labels = labels.chain([("operation", operation.name)]);
            (labels, work.rate(std::iter::once(amount)))
        }))?;
    }
    Ok(())
}

/// Returns a sample of each target that has a value.
fn of_each(
    targets: &[Target],
    value: impl Fn(&Target) -> Option<f64>,
) -> impl Iterator<Item = ([(&'static str, &str); 5], f64)> {
    let targets = targets.iter();
    targets.filter_map(move |target| Some((target.labels(), value(target)?)))
}
