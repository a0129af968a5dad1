//! The targets of a question, and how long each was observed in each step.

use std::collections::HashMap;

use super::cells::{Hasher, parts};
use crate::base::instant::{Micros, Span};
use crate::base::target::TargetKind;
use crate::usage::dimension::{Dimension, Level};
use crate::usage::times::TargetTimes;

/// A target, or a target on one server.
#[derive(Debug, Clone)]
pub struct Target {
    /// The key in the store.
    pub id: i32,
    /// The name.
    pub name: String,
    /// The cluster.
    pub cluster: String,
    /// The file system.
    pub filesystem: Option<String>,
    /// The kind.
    pub kind: TargetKind,
    /// The server, if the answer has servers.
    pub server: Option<String>,
    /// The end of its last observation, if it is retired.
    pub retired: Option<Micros>,
    /// The values of the dimensions that group targets.
    pub group: Vec<Option<String>>,
    /// The spans in which it was observed, in any order.
    pub spans: Vec<Span>,
}

impl Target {
    /// Makes a target with only these attributes, in no group and not yet observed.
    pub fn new(id: i32, name: String, kind: TargetKind) -> Self {
        Self {
            id,
            name,
            kind,
            cluster: String::new(),
            filesystem: None,
            server: None,
            retired: None,
            group: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// Returns the value of a dimension of targets and servers.
    pub fn value(&self, dimension: &Dimension) -> Option<&str> {
        match dimension.name {
            "cluster" => Some(&self.cluster),
            "filesystem" => self.filesystem.as_deref(),
            "kind" => Some(self.kind.as_str()),
            "server" => self.server.as_deref(),
            _ => Some(&self.name),
        }
    }

    /// Returns the target in its group of these dimensions.
    pub fn grouped(&self, by: &[&'static Dimension]) -> Self {
        let of_targets = by.iter().filter(|it| it.level != Level::Entry);
        let values = of_targets.map(|it| self.value(it).map(str::to_owned));
        Self {
            group: values.collect(),
            ..self.clone()
        }
    }
}

/// A target in scope.
#[derive(Debug, Clone)]
pub(super) struct InScope {
    pub target: Target,
    /// The number of its group.
    pub group: u32,
    /// The microseconds of observation in each step.
    pub observed: Vec<Micros>,
}

/// The targets of a question.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The edges of the steps.
    pub edges: Vec<Micros>,
    pub(super) targets: Vec<InScope>,
    /// The positions of the targets by key. One target on several servers has positions side by side.
    positions: HashMap<i32, usize, Hasher>,
    /// The groups of targets, in order.
    pub(super) groups: Vec<Vec<Option<String>>>,
    /// The targets that report times.
    pub times: TargetTimes,
}

/// For how long the targets of a group were observed in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Observed {
    /// The part of the time, from 0 to 1; not a number if there was no time in which any target was in use.
    pub coverage: f64,
    /// The flags whether there are MDTs and OSTs among them.
    pub kinds: (bool, bool),
    /// The microseconds of all targets together.
    pub micros: i128,
}

impl Scope {
    /// Takes the targets that were observed in the window or in the 24 hours before it. Time counts in these parts of the window, which are
    /// retained.
    pub fn new(edges: Vec<Micros>, mut targets: Vec<Target>, retained: Option<&[Span]>) -> Self {
        targets.sort_by(|one, other| (one.id, &one.server).cmp(&(other.id, &other.server)));
        let mut groups: Vec<_> = targets.iter().map(|it| it.group.clone()).collect();
        groups.sort();
        groups.dedup();
        let mut positions = HashMap::default();
        let targets: Vec<InScope> = targets
            .into_iter()
            .enumerate()
            .map(|(position, mut target)| {
                positions.entry(target.id).or_insert(position);
                let group = groups.binary_search(&target.group).unwrap_or_default() as u32;
                let observed = observed(&edges, &target.spans, retained);
                target.spans = Vec::new();
                InScope {
                    target,
                    group,
                    observed,
                }
            })
            .collect();
        Self {
            edges,
            targets,
            positions,
            groups,
            times: TargetTimes::default(),
        }
    }

    /// Returns the targets, each with its microseconds of observation in each step.
    pub fn iter(&self) -> impl Iterator<Item = (&Target, &[Micros])> {
        self.targets
            .iter()
            .map(|it| (&it.target, it.observed.as_slice()))
    }

    /// Returns the position of a target, on this server if the answer has servers.
    pub fn position(&self, id: i32, server: Option<&str>) -> Option<usize> {
        let first = *self.positions.get(&id)?;
        if server.is_none() {
            return Some(first);
        }
        let same = (first..).zip(&self.targets[first..]);
        let mut same = same.take_while(|it| it.1.target.id == id);
        let found = same.find(|it| it.1.target.server.as_deref() == server);
        found.map(|it| it.0)
    }

    /// Returns the targets with calls, all without times.
    pub fn untimed(&self) -> impl Iterator<Item = &Target> {
        let targets = self.targets.iter().map(|it| &it.target);
        targets.filter(|it| self.times.lacks(it.id))
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    fn step(&self, step: usize) -> Span {
        (self.edges[step], self.edges[step + 1])
    }

    /// Returns whether a target is in scope in a step: a retired one is not after its last observation.
    pub(super) fn is_in(&self, target: usize, step: usize) -> bool {
        let retired = self.targets[target].target.retired;
        retired.is_none_or(|retired| retired > self.edges[step])
    }

    /// Returns the same targets with all steps in one, or in one group of no values, or both.
    pub fn together(&self, steps: bool, groups: bool) -> Self {
        let mut all = self.clone();
        if let [first, .., last] = self.edges[..]
            && steps
        {
            all.edges = vec![first, last];
        }
        if groups {
            all.groups = vec![Vec::new()];
        }
        for it in &mut all.targets {
            if steps {
                it.observed = vec![it.observed.iter().sum()];
            }
            if groups {
                it.group = 0;
            }
        }
        all
    }

    /// Returns for how long the targets of each group were observed in a step.
    pub fn observed(&self, step: usize) -> Vec<Observed> {
        let (since, until) = self.step(step);
        let mut groups = vec![(Observed::default(), 0_i128); self.groups.len()];
        for (position, it) in self.targets.iter().enumerate() {
            if !self.is_in(position, step) {
                continue;
            }
            let (all, micros) = &mut groups[it.group as usize];
            let end = it
                .target
                .retired
                .map_or(until, |retired| retired.min(until));
            *micros += i128::from(end - since);
            all.micros += i128::from(it.observed.get(step).copied().unwrap_or(0));
            all.kinds.0 |= it.target.kind == TargetKind::Mdt;
            all.kinds.1 |= it.target.kind == TargetKind::Ost;
        }
        let covered = groups.into_iter().map(|(all, micros)| Observed {
            coverage: all.micros as f64 / micros as f64,
            ..all
        });
        covered.collect()
    }

    /// Returns the observed share of a window of one step, over targets that are not retired by its end. A target on several servers
    /// counts once.
    pub fn coverage(&self) -> f64 {
        let (since, until) = self.step(0);
        let mut best: HashMap<i32, Micros> = HashMap::new();
        let in_use = |it: &&InScope| it.target.retired.is_none_or(|retired| retired >= until);
        for it in self.targets.iter().filter(in_use) {
            let observed = it.observed.first().copied().unwrap_or(0);
            let best = best.entry(it.target.id).or_default();
            *best = observed.max(*best);
        }
        if best.is_empty() {
            return 0.0;
        }
        let sum: i128 = best.values().map(|&it| i128::from(it)).sum();
        sum as f64 / best.len() as f64 / (until - since) as f64
    }
}

/// Returns the microseconds of spans that lie in each step, and in any of the parts that are retained.
fn observed(edges: &[Micros], spans: &[Span], retained: Option<&[Span]>) -> Vec<Micros> {
    let mut steps = vec![0; edges.len().saturating_sub(1)];
    let retained = retained.unwrap_or(&[(Micros::MIN, Micros::MAX)]);
    for (part, span) in spans
        .iter()
        .flat_map(|span| retained.iter().map(move |part| (part, span)))
    {
        for (step, (since, until)) in parts(edges, *part, *span) {
            steps[step] += until - since;
        }
    }
    steps
}

#[cfg(test)]
mod tests;
