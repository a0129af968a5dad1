//! The time for which something was observed, in each of the steps of a window.

#[cfg(test)]
mod tests;

use crate::instant::Micros;

/// The observed time by step.
#[derive(Debug, Clone)]
pub struct ObservedTime<'e> {
    /// The edges of the steps. Each step begins where the one before ends.
    edges: &'e [Micros],
    steps: Vec<Micros>,
}

impl<'e> ObservedTime<'e> {
    /// Creates steps between these edges, which are in order, without observed time.
    pub fn new(edges: &'e [Micros]) -> Self {
        Self {
            edges,
            steps: vec![0; edges.len().saturating_sub(1)],
        }
    }

    /// Adds the part of an observed span that lies in steps.
    pub fn push(&mut self, since: Micros, until: Micros) {
        let after = self.edges.partition_point(|&edge| edge <= since);
        let first = after.saturating_sub(1);
        let bounds = self.edges.windows(2).skip(first);
        for (step, bounds) in self.steps.iter_mut().skip(first).zip(bounds) {
            if until <= bounds[0] {
                break;
            }
            let inside = until.min(bounds[1]).saturating_sub(since.max(bounds[0]));
            *step = step.saturating_add(inside.max(0));
        }
    }

    /// Returns the observed microseconds of each step.
    pub fn into_steps(self) -> Vec<Micros> {
        self.steps
    }
}
