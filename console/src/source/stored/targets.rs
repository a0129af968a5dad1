//! The targets of a screen.

use std::collections::HashSet;
use std::sync::Arc;

use jobstats_client::answers::TargetRow;
use jobstats_core::base::instant::Micros;

use super::questions::{Target, of_cluster};
use super::{DEFAULT_INTERVAL, STEP};

/// The targets that a reading was made of.
pub struct ShownTargets {
    pub time: Micros,
    pub targets: Vec<Target>,
    /// True if the targets are of several clusters. As long as they are, their names have the cluster.
    pub has_clusters: bool,
}

impl ShownTargets {
    /// Returns the begin of the step of history in which the time is.
    pub const fn begin_of_step(&self) -> Micros {
        self.time - self.time.rem_euclid(STEP)
    }

    pub fn new(time: Micros, targets: Vec<Target>) -> Self {
        let mut clusters = targets.iter().map(|it| &it.row.cluster);
        let first = clusters.next();
        let has_clusters = clusters.any(|cluster| Some(cluster) != first);
        Self {
            time,
            targets,
            has_clusters,
        }
    }

    pub fn name(&self, target: &Target) -> Arc<str> {
        let TargetRow {
            cluster, target, ..
        } = &target.row;
        of_cluster(self.has_clusters, Some(cluster), target).into()
    }

    /// Returns the names of the targets that are not late at a time.
    pub fn pending(&self, time: Micros) -> Vec<Arc<str>> {
        let pending = self.targets.iter().filter(|it| !it.is_late(time));
        pending.map(|it| self.name(it)).collect()
    }

    /// Returns the targets with a new observation since the previous round.
    pub fn fresh(&self, before: Option<&Self>) -> Vec<&Target> {
        let known = before.iter().flat_map(|before| &before.targets);
        let known: HashSet<_> = known.map(Target::observation).collect();
        let targets = self.targets.iter();
        let fresh = targets.filter(|it| !known.contains(&it.observation()));
        fresh.collect()
    }

    /// Returns the usual time between the readings of most targets.
    pub fn pace(&self) -> Micros {
        let mut usual: Vec<_> = self.targets.iter().filter_map(|it| it.usual).collect();
        usual.sort_unstable();
        usual
            .get(usual.len() / 2)
            .copied()
            .unwrap_or(DEFAULT_INTERVAL)
            .max(1)
    }
}
