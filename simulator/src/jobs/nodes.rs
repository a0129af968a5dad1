//! The nodes of the clusters, and the ways to write lists of them.

use crate::jobs::CLUSTERS;

/// Returns the letter with which the names of a cluster's nodes begin, so that a node tells its cluster.
fn letter(cluster: usize) -> char {
    CLUSTERS[cluster].chars().next().unwrap_or('n')
}

/// Returns the name of a compute node.
pub fn compute(cluster: usize, node: u64) -> String {
    format!("{}{:04}", letter(cluster), node + 1)
}

/// Returns the name of a login node.
pub fn login(cluster: usize) -> String {
    format!("{}-login1", letter(cluster))
}

/// Returns adjacent nodes as a host list, for example `a[0001-0004]`.
pub fn hostlist(cluster: usize, first: u64, count: u64) -> String {
    match count {
        0 | 1 => compute(cluster, first),
        _ => format!("{}[{:04}-{:04}]", letter(cluster), first + 1, first + count),
    }
}

/// Returns adjacent nodes one by one, each in a format of its own, joined.
pub fn each(
    cluster: usize,
    first: u64,
    count: u64,
    separator: &str,
    format: impl Fn(String) -> String,
) -> String {
    let nodes: Vec<_> = (first..first + count.max(1))
        .map(|node| format(compute(cluster, node)))
        .collect();
    nodes.join(separator)
}
