//! The fields of the table `jobs`, as the texts of each scheduler say them. What a text does not say is `None`.

use serde::Serialize;

use crate::lustre::name_of;
use crate::time::{self, Nanos};

use crate::accounting::known::Phase;
use crate::accounting::text::Shown;
use crate::accounting::{flux, gridengine, lsf, pbs, slurm};
use crate::jobs::job::{Outcome, Run};
use crate::jobs::{CLUSTERS, Kind, Site, names, nodes};

/// The fields of the table `jobs`.
#[derive(Debug, Serialize)]
pub struct Fields<'a> {
    scheduler: &'static str,
    job: String,
    label: String,
    submitted: Option<String>,
    started: Option<String>,
    ended: Option<String>,
    uid: Option<u32>,
    user_name: Option<&'a str>,
    gid: Option<u32>,
    group_name: Option<&'a str>,
    account: Option<&'a str>,
    partition: Option<String>,
    qos: Option<&'static str>,
    job_name: Option<String>,
    state: Option<String>,
    nodes: Option<u64>,
    node_list: Option<String>,
    cpus: Option<u64>,
    exit_code: Option<String>,
    parent: Option<String>,
    source: String,
}

/// Returns a time as RFC 3339.
pub fn rfc3339(time: Nanos) -> String {
    time::timestamp(time).to_string()
}

/// Returns the fields that the text has about a run.
pub fn fields<'a>(site: &'a Site, shown: &Shown<'a>) -> Fields<'a> {
    let run = shown.run;
    let owner = run.owner(site);
    let kind = site.kind;
    let has_uid = matches!(kind, Kind::Slurm | Kind::Lsf | Kind::Flux);
    let has_gid = kind == Kind::Slurm && !site.old;
    let has_group = matches!(kind, Kind::Slurm | Kind::Pbs | Kind::Gridengine);
    Fields {
        scheduler: CLUSTERS[run.cluster],
        job: run.job(site),
        label: run.label(site),
        submitted: Some(rfc3339(run.submitted)),
        started: shown.start().map(rfc3339),
        // These write no end of a job that never began.
        ended: shown
            .end()
            .filter(|_| !matches!(kind, Kind::Pbs | Kind::Gridengine) || run.started.is_some())
            .map(rfc3339),
        uid: has_uid.then_some(owner.uid),
        user_name: Some(&owner.name),
        gid: has_gid.then_some(owner.gid),
        group_name: has_group.then_some(owner.group.as_str()),
        account: Some(run.account_name(site)),
        partition: Some(partition(site, run)),
        qos: (kind == Kind::Slurm).then_some(slurm::QOS),
        job_name: Some(names::shown(&match kind {
            Kind::Lsf => lsf::job_name(run),
            _ => run.name.bytes(),
        })),
        state: state(site, shown),
        nodes: match kind {
            Kind::Slurm => Some(slurm::node_count(shown)),
            // Grid Engine names the first node only.
            Kind::Gridengine => (run.nodes == 1).then_some(1),
            Kind::Lsf => run.started.map(|_| run.nodes),
            Kind::Pbs | Kind::Flux => Some(run.nodes),
        },
        node_list: node_list(site, shown),
        cpus: Some(run.cpus),
        exit_code: exit_code(site, shown),
        parent: run.parent().map(|parent| match kind {
            Kind::Pbs => format!("{parent}[]"),
            _ => parent.to_string(),
        }),
        source: name_of(&kind),
    }
}

/// Returns the fields of a job of which the text has only the lines that name no user: in the files of Torque that it was
/// queued, in all files of PBS that it was deleted.
pub fn without_owner<'a>(site: &'a Site, shown: &Shown<'a>, queued: bool) -> Fields<'a> {
    let fields = fields(site, shown);
    Fields {
        submitted: None,
        started: None,
        ended: None,
        user_name: None,
        group_name: None,
        account: None,
        partition: fields.partition.filter(|_| queued),
        job_name: None,
        nodes: None,
        cpus: None,
        ..fields
    }
}

fn partition(site: &Site, run: &Run) -> String {
    match site.kind {
        Kind::Gridengine => format!("{}.q", run.partition),
        _ => run.partition.to_owned(),
    }
}

/// Returns the state in the scheduler's own words. PBS has none but what its manual calls the types of records.
fn state(site: &Site, shown: &Shown) -> Option<String> {
    let run = shown.run;
    let word = match site.kind {
        Kind::Slurm => return Some(slurm::state(site, shown)),
        Kind::Flux => flux::status(shown),
        Kind::Lsf if run.outcome == Outcome::Completed => "DONE",
        Kind::Lsf => "EXIT",
        Kind::Gridengine => return None,
        Kind::Pbs => match shown.phase {
            Phase::Pending => "queued",
            Phase::Running => "started",
            Phase::Ended if run.started.is_none() => "deleted",
            Phase::Ended if run.outcome == Outcome::Requeued && !site.old => "rerun",
            Phase::Ended => "ended",
        },
    };
    Some(word.to_owned())
}

/// Returns the nodes: of PBS and LSF, whose texts count slots, each node once.
fn node_list(site: &Site, shown: &Shown) -> Option<String> {
    let run = shown.run;
    // Grid Engine names a node even for a job that never began.
    if site.kind != Kind::Gridengine {
        shown.start()?;
    }
    let list = match site.kind {
        Kind::Slurm | Kind::Flux => slurm::node_list(shown),
        Kind::Gridengine if run.nodes > 1 => return None,
        Kind::Gridengine => run.node(0),
        Kind::Pbs | Kind::Lsf => {
            nodes::each(run.cluster, run.first_node, run.nodes, ",", |node| node)
        }
    };
    Some(list)
}

fn exit_code(site: &Site, shown: &Shown) -> Option<String> {
    let run: &Run = shown.run;
    let over = shown.end().is_some();
    let said = match site.kind {
        Kind::Slurm => true,
        // These print an exit status even of a job that never began.
        Kind::Lsf | Kind::Gridengine => over,
        Kind::Pbs | Kind::Flux => over && run.started.is_some(),
    };
    said.then(|| match site.kind {
        Kind::Slurm => slurm::exit_code(shown),
        Kind::Pbs => pbs::exit_status(run).to_string(),
        Kind::Lsf => lsf::exit_status(run).to_string(),
        Kind::Gridengine => gridengine::exit_status(run).to_string(),
        Kind::Flux => flux::return_code(run).to_string(),
    })
}
