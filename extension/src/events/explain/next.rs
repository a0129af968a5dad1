//! Commands that help further. They are printed, and never run.

use pgrx::spi::SpiClient;
use serde_json::{Value, json};

use super::{Event, Line};
use crate::pg::error::Error;
use crate::pg::spi::Statements;

/// Returns the steps that follow on an event, each with its command.
pub fn steps(client: &SpiClient<'_>, event: &Event) -> Result<Vec<Line>, Error> {
    let mut steps = Vec::new();
    let mut step = |why: &str, command: String| {
        let text = format!("{why}: {command}");
        steps.push(Line::new("next", text, json!({ "command": command })));
    };
    if event.kind == "waiting" {
        waiting(client, event, &mut step)?;
        return Ok(steps);
    }
    let target = plain(event.targets.first().map_or("", String::as_str), "TARGET");
    let (device, is_ost) = match target.contains("-MDT") {
        true => ("mdt", false),
        false => ("obdfilter", true),
    };
    let recovery = format!("lctl get_param {device}.{target}.recovery_status health_check");
    match event.kind.as_str() {
        "slow_target" => {
            step(
                "How large its requests to the disks are",
                format!("lctl get_param osd-*.{target}.brw_stats"),
            );
            step(
                "Whether a disk fails or an array rebuilds",
                "dmesg -T | tail; cat /proc/mdstat; iostat -xy 5 3".to_owned(),
            );
        }
        "stalled" => {
            step("Whether the target is in recovery", recovery);
            step(
                "Whether threads hang",
                "dmesg -T | grep -e LustreError -e 'blocked for more than'".to_owned(),
            );
        }
        "full" => full(target, is_ost, &mut step),
        "rule" => step(
            "Who works there now",
            format!(
                "SELECT * FROM jobstats_top(\"by\" => 'user,job', filter => 'filesystem={}');",
                plain(&event.filesystem, "FILESYSTEM")
            ),
        ),
        _ => step("Whether all clients are back", recovery),
    }
    if is_ost && matches!(event.kind.as_str(), "slow_target" | "full") {
        let create =
            |count| format!("lctl set_param osp.{target}-osc-MDT*.max_create_count={count}");
        step("To let no new files begin there, on each MDS", create(0));
        step("To let them begin there again", create(20_000));
    }
    Ok(steps)
}

fn full(target: &str, is_ost: bool, step: &mut impl FnMut(&str, String)) {
    step(
        "Who uses it",
        format!("SELECT * FROM jobstats_space(filter => 'target={target}');"),
    );
    step(
        "How full the others are, on a client",
        "lfs df -h; lfs df -ih".to_owned(),
    );
    if is_ost {
        step(
            "Which large files are on it, on a client",
            format!("lfs find MOUNTPOINT --ost {target}_UUID --size +100G"),
        );
    }
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

fn waiting(
    client: &SpiClient<'_>,
    event: &Event,
    step: &mut impl FnMut(&str, String),
) -> Result<(), Error> {
    if event.is_only_probed() {
        let command = "lnetctl stats show; lnetctl net show -v".to_owned();
        step(
            "Whether the network loses messages, on the client that probes and on the server",
            command,
        );
    }
    let culprit = &event.culprits["subjects"][0];
    let is_named = event.culprits["named"] == true;
    let job = culprit["job"].as_str().filter(|_| is_named);
    let job = job.filter(|job| !plain(job, "").is_empty());
    let known = match job {
        Some(job) => Known::of(client, job, culprit["uid"].as_i64())?,
        None => Known::default(),
    };
    if let Some(job) = job {
        if let Some(command) = known.show(job) {
            step("What the job is, on the scheduler's host", command);
        }
        step(
            "What the job does in Lustre",
            format!("SELECT * FROM jobstats_job_usage('{job}');"),
        );
    } else {
        let servers = event.servers.iter();
        let servers: Vec<&str> = servers.map(|it| plain(it, "SERVER")).collect();
        step(
            "Who works there now",
            format!(
                "SELECT * FROM jobstats_top(\"by\" => 'user,job', filter => 'server={}');",
                servers.join(",")
            ),
        );
    }
    if let (true, Some(rule)) = (is_named, known.rule(culprit)) {
        limit(event, &rule, step);
    }
    step(
        "How its files are striped, on a client",
        "lfs getstripe -d DIRECTORY".to_owned(),
    );
    Ok(())
}

/// Prints how to let a culprit have fewer requests, and how to stop that.
fn limit(event: &Event, rule: &str, step: &mut impl FnMut(&str, String)) {
    let servers = event.servers.join(", ");
    for service in event.texts("services") {
        let service = match service.as_str() {
            it if it.starts_with("ost") => format!("ost.OSS.{}", plain(it, "SERVICE")),
            it => format!("mds.MDS.{}", plain(it, "SERVICE")),
        };
        step(
            &format!(
                "To let it have 100 requests a second for each part of the processors, on {servers}; this turns the policy tbf on"
            ),
            format!(
                "lctl set_param {service}.nrs_policies=tbf && lctl set_param {service}.nrs_tbf_rule=\"start jobstats {rule} rate=100\""
            ),
        );
        step(
            "To stop that; the last command turns the policy off",
            format!(
                "lctl set_param {service}.nrs_tbf_rule=\"stop jobstats\" && lctl set_param {service}.nrs_policies=fifo"
            ),
        );
    }
}

/// The facts about a job that accounting and identifiers tell.
#[derive(Default)]
struct Known {
    source: Option<String>,
    identifier: Option<String>,
}

impl Known {
    /// The identifiers of a job also limit others who name it; then they are not known.
    fn of(client: &SpiClient<'_>, job: &str, uid: Option<i64>) -> Result<Self, Error> {
        let row = client.query_opt(
            "SELECT (SELECT j.source FROM jobstats.jobs j WHERE j.job = $1 LIMIT 1) AS source, \
                 (SELECT e.name FROM jobstats.entries e WHERE e.job = $1 AND NOT EXISTS (\
                     SELECT FROM jobstats.entries o, jobstats.settings s WHERE (o.job = $1 OR o.claimed = $1) \
                         AND o.uid >= s.system_uids_below AND o.uid IS DISTINCT FROM $2) \
                     ORDER BY e.name LIMIT 1) AS identifier",
            &[job.into(), uid.into()],
        )?;
        row.map_or(Ok(Self::default()), |row| {
            Ok(Self {
                source: row.get("source")?,
                identifier: row.get("identifier")?,
            })
        })
    }

    /// Returns the command by which the scheduler shows the job.
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
        let job = plain(culprit["job"].as_str().unwrap_or_default(), "");
        let rest = self
            .identifier
            .as_deref()
            .and_then(|it| it.strip_prefix(job));
        match rest.and_then(|it| it.chars().next()) {
            Some(delimiter) if !job.is_empty() && ":._-".contains(delimiter) => {
                Some(format!("jobid={{{job}{delimiter}*}}"))
            }
            None if rest.is_some() && !job.is_empty() => Some(format!("jobid={{{job}}}")),
            _ => culprit["uid"].as_i64().map(|uid| format!("uid={{{uid}}}")),
        }
    }
}
