//! The work of a target as the rows of a store, which cross no edge of its sums.

use std::collections::TryReserveError;

use super::Comparison;
use crate::base::instant::Micros;
use crate::base::try_vec::push;
use crate::rules::increment::{Column, Increment, edge_distance, share, spans};

impl Comparison {
    /// Returns the work between two readings, divided at the edges that rows may not cross. Pieces without calls are included:
    /// they show that the target was read.
    ///
    /// # Errors
    /// [`TryReserveError`] if there is not enough memory.
    pub fn pieces(
        &self,
        from: Micros,
        time: Micros,
    ) -> Result<Vec<Increment<'static>>, TryReserveError> {
        let mut pieces = Vec::new();
        for (since, time) in spans(from, time, edge_distance(from, time)) {
            let mut piece = Increment {
                since,
                time,
                ..Increment::default()
            };
            for increment in &self.increments {
                add(&mut piece, increment, from);
            }
            push(&mut pieces, piece)?;
        }
        Ok(pieces)
    }
}

/// Adds the part of an increment that lies in a piece. A counter that earlier readings lacked may have grown before `from`; the
/// pieces of that time are stored, so that all of it counts now.
fn add(piece: &mut Increment<'_>, increment: &Increment<'_>, from: Micros) {
    let (since, time) = (piece.since, piece.time);
    let began = increment.since.max(from);
    piece.reset |= increment.reset && (since..time).contains(&began);
    for (column, total) in &increment.totals {
        match share(*total, began, increment.time, since, time) {
            0 => {}
            part => put(&mut piece.totals, *column, part),
        }
    }
}

fn put(totals: &mut Vec<(Column, i64)>, column: Column, part: i64) {
    match totals.iter_mut().find(|(known, _)| *known == column) {
        Some((_, total)) => *total += part,
        None => totals.push((column, part)),
    }
}
