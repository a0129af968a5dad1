//! The time for which something was observed, in each of the steps of a window.

#[cfg(test)]
mod tests;

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::collections::TryReserveError;
use allocator_api2::vec::Vec;

use crate::instant::Micros;

/// The observed time by step.
#[derive(Debug, Clone)]
pub struct ObservedTime<A: Allocator = Global> {
    /// The edges of the steps. Each step begins where the one before ends.
    edges: Vec<Micros, A>,
    steps: Vec<Micros, A>,
}

impl<A: Allocator + Copy> ObservedTime<A> {
    /// Creates steps between these edges, which are in order, without observed time.
    pub fn new_in(edges: Vec<Micros, A>, memory: A) -> Result<Self, TryReserveError> {
        let len = edges.len().saturating_sub(1);
        let mut steps = Vec::new_in(memory);
        steps.try_reserve_exact(len)?;
        steps.resize(len, 0);
        Ok(Self { edges, steps })
    }

    /// Adds the part of an observed span that lies in steps.
    pub fn push(&mut self, since: Micros, until: Micros) {
        let after = self.edges.partition_point(|&edge| edge <= since);
        let first = after.saturating_sub(1);
        let edges = self.edges.iter().skip(first);
        let bounds = edges.clone().zip(edges.skip(1));
        for (step, (&lower, &upper)) in self.steps.iter_mut().skip(first).zip(bounds) {
            if until <= lower {
                break;
            }
            let inside = until.min(upper).saturating_sub(since.max(lower));
            *step = step.saturating_add(inside.max(0));
        }
    }

    /// Returns the observed microseconds of each step.
    pub fn steps(&self) -> &[Micros] {
        &self.steps
    }
}
