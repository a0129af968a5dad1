//! Commands that help further. They are printed, and never run.

use pgrx::spi::SpiClient;
use serde_json::{Value, json};

use super::{Event, Line, text};
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};

/// Returns the steps that follow on an event, each with its command.
pub fn steps(client: &SpiClient<'_>, event: &Event) -> Result<Vec<Line>, Error> {
    if event.kind == "waiting" {
        return waiting(client, event);
    }
    let target = plain(event.targets.first().map_or("", String::as_str), "TARGET");
    let (device, is_ost) = match target.contains("-MDT") {
        true => ("mdt", false),
        false => ("obdfilter", true),
    };
    let recovery = format!("lctl get_param {device}.{target}.recovery_status health_check");
    let mut steps = match event.kind.as_str() {
        "slow_target" => vec![
            step(
                "Sizes of its disk requests",
                format!("lctl get_param osd-*.{target}.brw_stats"),
            ),
            step(
                "Failing disks or array rebuilds",
                "dmesg -T | tail; cat /proc/mdstat; iostat -xy 5 3",
            ),
        ],
        "stalled" => vec![
            step("Recovery of the target", recovery),
            step(
                "Hung threads",
                "dmesg -T | grep -e LustreError -e 'blocked for more than'",
            ),
        ],
        "full" => vec![
            step(
                "Largest users of its space",
                format!("SELECT * FROM jobstats_space(filter => 'target={target}');"),
            ),
            step(
                "Use of the other targets (on a client)",
                "lfs df -h; lfs df -ih",
            ),
        ],
        "rule" => vec![who_works(
            "filesystem",
            plain(&event.filesystem, "FILESYSTEM"),
        )],
        _ => vec![step("Clients that have not reconnected", recovery)],
    };
    if is_ost && event.kind == "full" {
        steps.push(step(
            "Large files on it (on a client)",
            format!("lfs find MOUNTPOINT --ost {target}_UUID --size +100G"),
        ));
    }
    if is_ost && matches!(event.kind.as_str(), "slow_target" | "full") {
        let set = format!("lctl set_param osp.{target}-osc-MDT*.max_create_count=");
        let stop = "To stop creating files on it (on each MDS)";
        steps.push(step(stop, format!("{set}0")));
        steps.push(step("To allow that again", set + "20000"));
    }
    Ok(steps)
}

/// Returns a step: its purpose and its command.
fn step(why: &str, command: impl Into<String>) -> Line {
    let command = command.into();
    let text = format!("{why}: {command}");
    Line::new("next", text, json!({ "command": command }))
}

/// Returns the step that shows who works now on a file system, or on servers.
fn who_works(dimension: &str, names: &str) -> Line {
    let command = format!(
        "SELECT * FROM jobstats_top(\"by\" => 'user,job', filter => '{dimension}={names}');"
    );
    step("Users and jobs there now", command)
}

/// Returns a name that may stand in a command, else what to put in its place: clients choose the names of jobs, and a command is copied into a
/// shell.
fn plain<'a>(name: &'a str, otherwise: &'a str) -> &'a str {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_.-@:".contains(letter);
    match !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
        true => name,
        false => otherwise,
    }
}

fn waiting(client: &SpiClient<'_>, event: &Event) -> Result<Vec<Line>, Error> {
    let mut steps = Vec::new();
    if event.is_only_probed() {
        steps.push(step(
            "Lost network messages (on the probing client and the server)",
            "lnetctl stats show; lnetctl net show -v",
        ));
    }
    let culprit = &event.culprits["subjects"][0];
    let is_named = event.culprits["named"] == true;
    let job = culprit["job"].as_str().filter(|_| is_named);
    let job = job.filter(|job| !plain(job, "").is_empty());
    let known = match job {
        Some(job) => JobFacts::of(client, job, culprit["uid"].as_i64())?,
        None => JobFacts::default(),
    };
    if let Some(job) = job {
        let show = known.show(job);
        steps.extend(show.map(|it| step("The job (on the scheduler's host)", it)));
        steps.push(step(
            "The job's I/O",
            format!("SELECT * FROM jobstats_job_usage('{job}');"),
        ));
    } else {
        let servers = event.servers.iter();
        let servers: Vec<&str> = servers.map(|it| plain(it, "SERVER")).collect();
        steps.push(who_works("server", &servers.join(",")));
    }
    if let (true, Some(rule)) = (is_named, known.rule(culprit)) {
        let services = event.texts("services").into_iter();
        steps.extend(services.flat_map(|it| limit(&it, &rule, &event.servers.join(", "))));
    }
    steps.push(step(
        "Striping of its files (on a client)",
        "lfs getstripe -d DIRECTORY",
    ));
    Ok(steps)
}

/// Returns how to let a culprit have fewer requests to a service, and how to stop that.
fn limit(service: &str, rule: &str, servers: &str) -> [Line; 2] {
    let kind = if service.starts_with("ost") {
        "ost.OSS"
    } else {
        "mds.MDS"
    };
    let service = format!("{kind}.{}", plain(service, "SERVICE"));
    [
        step(
            &format!(
                "To limit it to 100 requests per second and CPU partition (on {servers}; enables the policy tbf)"
            ),
            format!(
                "lctl set_param {service}.nrs_policies=tbf && lctl set_param {service}.nrs_tbf_rule=\"start jobstats {rule} rate=100\""
            ),
        ),
        step(
            "To undo that (the second command disables the policy)",
            format!(
                "lctl set_param {service}.nrs_tbf_rule=\"stop jobstats\" && lctl set_param {service}.nrs_policies=fifo"
            ),
        ),
    ]
}

/// The facts about a job from accounting and identifiers.
#[derive(Default)]
struct JobFacts {
    source: Option<String>,
    identifier: Option<String>,
}

impl JobFacts {
    /// The identifiers of a job also limit others who name it; then they are not known.
    fn of(client: &SpiClient<'_>, job: &str, uid: Option<i64>) -> Result<Self, Error> {
        let row = client.query_opt(
            "SELECT (SELECT j.source FROM jobstats.jobs j WHERE j.job = $1 LIMIT 1) AS source, \
                 (SELECT e.name FROM jobstats.entries e WHERE e.job = $1 AND NOT EXISTS (\
                     SELECT FROM jobstats.entries o, jobstats.settings s WHERE (o.job = $1 OR o.claimed = $1) \
                         AND o.uid >= s.system_uids_below AND o.uid IS DISTINCT FROM $2) \
                     ORDER BY e.name LIMIT 1) AS identifier",
            &values![job, uid],
        )?;
        let Some(row) = row else {
            return Ok(Self::default());
        };
        Ok(Self {
            source: row.get("source")?,
            identifier: row.get("identifier")?,
        })
    }

    /// Returns the scheduler's command that shows the job.
    fn show(&self, job: &str) -> Option<String> {
        let command = match self.source.as_deref()? {
            "slurm" => "scontrol show job",
            "pbs" => "qstat -f",
            "lsf" => "bjobs -l",
            "gridengine" => "qstat -j",
            "flux" => "flux job info",
            _ => return None,
        };
        Some(format!("{command} {job}"))
    }

    /// Returns the condition of a rule of the token bucket filter: the identifiers of the job, else the user.
    fn rule(&self, culprit: &Value) -> Option<String> {
        let job = plain(text(culprit, "job"), "");
        let identifier = self.identifier.as_deref().filter(|_| !job.is_empty());
        let rest = identifier.and_then(|it| it.strip_prefix(job));
        match rest.map(|it| it.chars().next()) {
            Some(Some(delimiter)) if ":._-".contains(delimiter) => {
                Some(format!("jobid={{{job}{delimiter}*}}"))
            }
            Some(None) => Some(format!("jobid={{{job}}}")),
            _ => culprit["uid"].as_i64().map(|uid| format!("uid={{{uid}}}")),
        }
    }
}
