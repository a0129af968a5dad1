//! The targets in scope of a job, with the time for which they were observed.

use std::collections::HashMap;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Row, Rows};
use crate::query::filters::OF_TARGETS;
use crate::query::functions::job::grouping::{Group, Grouping};
use crate::query::functions::job::work::Place;

/// A target in scope.
struct Target {
    /// The number of its group.
    group: usize,
    is_mdt: bool,
    /// The microseconds for which the target was observed in each step; empty if it was not observed in the window.
    observed: Vec<i64>,
}

/// The names of a group of targets, in the order of [`OF_TARGETS`]; `None` for those that do not make groups.
pub type Names = [Option<String>; 4];

/// The targets in scope: those that were observed in the window or on the day before.
pub struct Scope {
    targets: Vec<Target>,
    /// The positions of the targets by their keys.
    positions: HashMap<i32, usize>,
    /// The names of the groups of targets, in the order of the answer.
    groups: Vec<Names>,
    has_groups: bool,
}

impl Scope {
    /// Reads the rows of [the statement for targets](crate::query::statement::Statement::targets).
    /// `steps` is the number of steps in which they may have been observed.
    pub fn read(rows: Rows<'_>, steps: usize, grouping: &Grouping) -> Result<Self, Error> {
        require_room(rows.len(), 256 + steps * size_of::<i64>())?;
        let mut scope = Self {
            targets: Vec::new(),
            positions: HashMap::new(),
            groups: Vec::new(),
            has_groups: grouping.by_target.contains(&true),
        };
        let mut numbers = HashMap::new();
        for row in rows {
            let names = names(&row, grouping)?;
            let group = *numbers.entry(names.clone()).or_insert_with(|| {
                scope.groups.push(names);
                scope.groups.len() - 1
            });
            let observed: Option<Vec<Option<i64>>> = row.get("observed")?;
            let observed = observed.unwrap_or_default().into_iter();
            scope
                .positions
                .insert(row.get("target_id")?, scope.targets.len());
            scope.targets.push(Target {
                group,
                is_mdt: row.get::<String>("kind")? == "MDT",
                observed: observed.map(Option::unwrap_or_default).collect(),
            });
        }
        Ok(scope)
    }

    /// Returns whether a target is a metadata target in scope.
    pub fn has_mdt(&self, target: i32) -> bool {
        let position = self.positions.get(&target);
        position.is_some_and(|&position| self.targets[position].is_mdt)
    }

    /// Returns whether a target is in scope.
    pub fn has(&self, target: i32) -> bool {
        self.positions.contains_key(&target)
    }

    /// Returns the number of the group of a target; `None` if targets make no groups.
    pub fn group(&self, target: i32) -> Option<usize> {
        let position = *self.positions.get(&target)?;
        self.has_groups.then_some(self.targets[position].group)
    }

    /// Returns the groups to which usage belongs: the whole job, and the group of its target and node. Usage of a node
    /// that is not known belongs to the whole job only.
    pub fn groups(&self, place: &Place, by_node: bool) -> [Option<Group>; 2] {
        let group = Group {
            targets: self.group(place.target),
            node: place.node,
        };
        let is_known = group != Group::WHOLE && (place.node.is_some() || !by_node);
        [Some(Group::WHOLE), is_known.then_some(group)]
    }

    /// Returns the names of a group.
    pub fn names(&self, group: Group) -> Names {
        let names = group.targets.and_then(|number| self.groups.get(number));
        names.cloned().unwrap_or_default()
    }

    /// Returns the microseconds for which a target was observed in some steps.
    pub fn observed(&self, target: i32, steps: &[usize]) -> i64 {
        let position = self.positions.get(&target);
        position.map_or(0, |&position| self.targets[position].observed_in(steps))
    }

    /// Returns the part of some steps, of these seconds together, in which the targets of a group were observed; `None` if there are none.
    pub fn coverage(&self, group: Group, steps: &[usize], seconds: f64) -> Option<f64> {
        let (targets, observed) = self.observed_by(group, steps);
        let coverage = observed as f64 / 1e6 / (targets as f64 * seconds);
        coverage.is_finite().then_some(coverage)
    }

    /// Returns the number of the targets of a group, and the microseconds for which they were observed in some steps.
    pub fn observed_by(&self, group: Group, steps: &[usize]) -> (usize, i64) {
        let in_group = |it: &&Target| group.targets.is_none_or(|number| it.group == number);
        let targets = self.targets.iter().filter(in_group);
        targets.fold((0, 0), |(count, observed), target| {
            (count + 1, observed + target.observed_in(steps))
        })
    }
}

impl Target {
    fn observed_in(&self, steps: &[usize]) -> i64 {
        let observed = |&step: &usize| self.observed.get(step).copied().unwrap_or(0);
        steps.iter().map(observed).sum()
    }
}

fn names(row: &Row<'_>, grouping: &Grouping) -> Result<Names, Error> {
    let mut names = Names::default();
    for ((name, dimension), wanted) in names.iter_mut().zip(OF_TARGETS).zip(grouping.by_target) {
        if wanted {
            *name = row.get(dimension)?;
        }
    }
    Ok(names)
}
