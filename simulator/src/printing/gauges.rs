//! The texts of single values and of short lists: space and its owners, health, recovery, readers of changelogs.

use crate::time::{DAY, MINUTE, Nanos, SECOND, shown};
use crate::world::space::{OwnerKind, Space};
use crate::world::{Cluster, Plan, ServerIndex, TargetIndex};

/// The parameters about the space of a target.
pub const SPACE: [&str; 5] = [
    "kbytestotal",
    "kbytesfree",
    "kbytesavail",
    "filestotal",
    "filesfree",
];
/// The length of a recovery.
const RECOVERY: Nanos = 6 * MINUTE;
/// The time at which changelogs have their first record.
const FIRST_RECORD: Nanos = 1_704_067_200 * SECOND;

/// Returns the value of a parameter about space. A hundredth is reserved.
pub fn space(space: &Space, name: &str) -> String {
    let free = space.total.kbytes - space.used.kbytes;
    let value = match name {
        "kbytestotal" => space.total.kbytes,
        "kbytesfree" => free,
        "kbytesavail" => free.saturating_sub(space.total.kbytes / 100),
        "filestotal" => space.total.inodes,
        _ => space.total.inodes - space.used.inodes,
    };
    format!("{value}\n")
}

/// Returns the name of the parameter with the owners of a kind, and the header of its text.
pub fn accounting(kind: OwnerKind) -> (&'static str, &'static str) {
    match kind {
        OwnerKind::User => ("acct_user", "usr_accounting:\n"),
        OwnerKind::Group => ("acct_group", "grp_accounting:\n"),
        OwnerKind::Project => ("acct_project", "prj_accounting:\n"),
    }
}

/// Returns the text with the space of the owners of a kind.
pub fn owners(space: &Space, kind: OwnerKind) -> String {
    let mut text = accounting(kind).1.to_owned();
    for (id, used) in space.by(kind) {
        let (inodes, kbytes) = (used.inodes, used.kbytes);
        text += &format!(
            "- id:      {id}\n  usage:   {{ inodes: {inodes:>20}, kbytes: {kbytes:>20} }}\n"
        );
    }
    text
}

/// Returns the health of a server.
pub fn health(cluster: &Cluster, server: ServerIndex, time: Nanos) -> String {
    match Plan::new(cluster).unhealthy(server, time) {
        Some(target) => cluster.layout.unhealthy(&cluster.targets[target].name),
        None => "healthy\n".to_owned(),
    }
}

/// Returns the state of a target's recovery, which begins when the target is mounted.
pub fn recovery(cluster: &Cluster, target: TargetIndex, time: Nanos) -> String {
    let Some(mounted) = Plan::new(cluster).mounted(target, time) else {
        return "status: INACTIVE\n".to_owned();
    };
    let (start, clients) = (shown(mounted) / SECOND, cluster.nodes);
    let transaction = mounted / MINUTE;
    let left = (mounted + RECOVERY - time) / SECOND;
    if left > 0 {
        let done = clients * ((time - mounted) / SECOND).unsigned_abs() / 360;
        return format!(
            "status: RECOVERING\nrecovery_start: {start}\ntime_remaining: {left}\nconnected_clients: {done}/{clients}\n\
             req_replay_clients: 0\nlock_repay_clients: 0\ncompleted_clients: {done}\nevicted_clients: 0\n\
             replayed_requests: 0\nqueued_requests: 0\nnext_transno: {transaction}\n"
        );
    }
    format!(
        "status: COMPLETE\nrecovery_start: {start}\nrecovery_duration: {}\ncompleted_clients: {clients}/{clients}\n\
         replayed_requests: 0\nlast_transno: {transaction}\nVBR: DISABLED\nIR: ENABLED\n",
        RECOVERY / SECOND
    )
}

/// Returns the readers of a metadata target's changelog: one that reads every minute and, for the first target, one that has been idle for
/// more than a week.
pub fn changelog(cluster: &Cluster, target: TargetIndex, time: Nanos) -> String {
    let per_second = 20 + cluster.seed.of("changelog", &[target as i64]).below(180) as i64;
    let index = |time: Nanos| (time - FIRST_RECORD) / SECOND * per_second;
    let idle = [time.rem_euclid(MINUTE), 8 * DAY + time.rem_euclid(DAY)];
    let readers = if cluster.targets[target].index == 0 {
        2
    } else {
        1
    };
    let readers = ["cl1", "cl2"].into_iter().zip(idle).take(readers);
    let readers = readers.map(|(name, idle)| (name, index(time - idle), idle / SECOND));
    cluster.layout.changelog(index(time), readers)
}
