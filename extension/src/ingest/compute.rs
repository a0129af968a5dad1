//! From two neighbouring texts to rows of `jobstats.increments`.

use jobstats_core::increment::{Comparison, Increment, Micros, Observation, Problem, compare};
use jobstats_core::snapshot::{Snapshot, print_to};
use pgrx::spi::SpiClient;

use super::Ingest;
use super::stored::{self, Read, Stored};
use super::targets::Target;
use crate::error::Error;
use crate::memory::{Growing, require_room, reserve};
use crate::staged::{Row, insert_increments};
use crate::zstd_text::pack;

/// What an increment takes at most, nearly always: two histograms, a total and a time for a dozen operations, details.
const INCREMENT_BYTES: usize = 2048;

/// What a new entry takes until it is stored: its name several times and the fields of its identity.
const ENTRY_BYTES: usize = 1024;

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
        let records = next.snapshot.map_or(0, |snapshot| snapshot.records.len());
        require_room(records, INCREMENT_BYTES)?;
        let comparison = compare(
            before.as_ref(),
            next,
            target.cleanup_interval(next.snapshot),
        )?;
        let counts = counts(&comparison, next);
        let carried = carried(&comparison.carried)?;
        let found = comparison.problems.iter().map(Found::from).collect();
        let rows = self.rows(client, comparison.increments)?;
        let increments = insert_increments(client, target.id, next.time, rows)?;
        let computed = Computed {
            since: before.map(|before| before.time),
            counts,
            carried,
            increments: clamp(increments as u64),
        };
        Ok((computed, found))
    }

    /// Increments with the keys of their entries.
    fn rows(
        &mut self,
        client: &mut SpiClient<'_>,
        increments: Vec<Increment<'_>>,
    ) -> Result<Vec<Row>, Error> {
        require_room(increments.len(), ENTRY_BYTES)?;
        self.entries
            .resolve(client, increments.iter().map(|increment| increment.id))?;
        let mut rows = Vec::new();
        reserve(&mut rows, increments.len())?;
        for increment in increments {
            rows.push(Row::new(self.entries.id(increment.id)?, increment));
        }
        Ok(rows)
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

/// The carried records as text; None where there are none.
fn carried(records: &Snapshot<'_>) -> Result<Option<Vec<u8>>, Error> {
    if records.records.is_empty() {
        return Ok(None);
    }
    let mut text = Growing::default();
    print_to(records, &mut text).map_err(|_| Error::Memory(text.0.len()))?;
    Ok(Some(text.0))
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
