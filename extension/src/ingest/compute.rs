//! From two neighbouring texts to rows of `jobstats.increments`.

use jobstats_core::increment::{Comparison, Micros, Observation, Problem, compare};
use jobstats_core::snapshot::print;
use jobstats_core::step;
use pgrx::spi::SpiClient;

use super::Ingest;
use super::stored::{self, Read, Stored};
use super::targets::Target;
use crate::error::Error;
use crate::staged::insert_increments;
use crate::zstd_text::pack;

/// The counts of a row of `jobstats.observations`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub entries: i32,
    pub active: i32,
    pub added: i32,
    pub resets: i32,
    pub removed: i32,
    pub carried: i32,
    pub unknown: i32,
    pub problems: i32,
}

/// What an observation gives, its increments already stored.
pub struct Computed {
    pub since: Option<Micros>,
    pub counts: Counts,
    /// The carried records as text; None where there are none.
    pub carried: Option<Vec<u8>>,
    pub increments: i32,
}

/// What comparing could not use.
pub struct Found {
    pub line: u32,
    pub reason: &'static str,
    pub text: String,
}

impl From<&Problem<'_>> for Found {
    fn from(problem: &Problem<'_>) -> Self {
        let place = problem
            .operation
            .map_or_else(String::new, |operation| format!(" {operation}:"));
        let text = format!("{}:{place} {}", problem.entry, problem.reason);
        Self {
            line: problem.line,
            reason: problem.reason.code(),
            text,
        }
    }
}

impl Computed {
    /// As it is stored.
    pub fn carried_packed(&self) -> Result<Option<Vec<u8>>, Error> {
        self.carried.as_deref().map(pack).transpose()
    }
}

impl Ingest<'_> {
    /// Compares an observation with the one before and stores the increments.
    pub fn compute(
        &mut self,
        client: &mut SpiClient<'_>,
        target: &Target,
        previous: Option<&Read<'_>>,
        next: &Observation<'_>,
    ) -> Result<(Computed, Vec<Found>), Error> {
        let before = previous.map(Read::observation);
        let comparison = compare(
            before.as_ref(),
            next,
            target.cleanup_interval(next.snapshot),
        )?;
        let counts = counts(&comparison, next);
        let carried = (!comparison.carried.records.is_empty()).then(|| print(&comparison.carried));
        let found = comparison.problems.iter().map(Found::from).collect();
        let entries = &mut self.entries;
        entries.resolve(
            client,
            comparison.increments.iter().map(|increment| increment.id),
        )?;
        let rows = comparison.increments.into_iter().flat_map(|increment| {
            let entry_id = entries.id(increment.id);
            entry_id
                .into_iter()
                .flat_map(move |id| step::split(increment.clone()).map(move |part| (id, part)))
        });
        let increments = insert_increments(client, target.id, next.time, rows)?;
        let computed = Computed {
            since: before.map(|before| before.time),
            counts,
            carried,
            increments: clamp(increments as u64),
        };
        Ok((computed, found))
    }

    /// Computes again what follows a text that was placed between others, observation by observation, until nothing
    /// changes any more for the next one: when what an observation carries is what it carried before.
    ///
    /// `earliest` is where the first of the rows may begin that `next` gave so far; None where it was a baseline.
    pub fn compute_on(
        &mut self,
        client: &mut SpiClient<'_>,
        target: &Target,
        mut earliest: Option<Micros>,
        placed: Stored,
        next: Stored,
    ) -> Result<(), Error> {
        let (mut previous, mut next) = (placed, next);
        loop {
            pgrx::check_for_interrupts!();
            if let Some(earliest) = earliest {
                stored::delete_increments(client, target.id, next.time, earliest)?;
            }
            let before = previous.read()?;
            let this = next.read()?;
            earliest = Some(this.earliest());
            let (computed, _) = self.compute(client, target, Some(&before), &this.observation())?;
            stored::update(client, target.id, next.time, &computed)?;
            if computed.carried == next.carried {
                return Ok(());
            }
            previous = Stored {
                carried: computed.carried,
                ..next
            };
            match stored::after(client, target.id, previous.time)? {
                Some(after) => next = after,
                None => return Ok(()),
            }
        }
    }
}

fn counts(comparison: &Comparison<'_>, next: &Observation<'_>) -> Counts {
    let scanned = next.snapshot.map_or(0, |snapshot| snapshot.problems.len());
    Counts {
        entries: clamp(comparison.entries),
        active: clamp(comparison.active),
        added: clamp(comparison.added),
        resets: clamp(comparison.resets),
        removed: clamp(comparison.removed),
        carried: clamp(comparison.carried_count),
        unknown: clamp(comparison.unknown),
        problems: clamp((scanned + comparison.problems.len()) as u64),
    }
}

/// A text holds far fewer entries than an integer counts.
fn clamp(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
