//! The sources `passwd` and `group`: the names of users and groups by number, as `getent` prints them. `jobstats.users` and
//! `jobstats.groups` have the current names, `earlier_users` and `earlier_groups` the previous ones.
//!
//! Only numbers and names are stored. Rejects have a line number and a reason, never the text, which may have a password or
//! personal data.

mod stored;

use std::borrow::Cow;

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::{Action, Outcome, reason};
use jobstats_core::rules::increment::{Counts, clamp};
use jobstats_core::rules::snapshot;
use jobstats_core::text::getent::{Database, Entry, ReadError};
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::sources::{Source, lock_row, show};
use crate::feed::text::Text;
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Statements, connect_mut};
pub use stored::{AccountingName, GROUPS, USERS, fill};
use stored::{NameTable, WriteCounts};

/// A database of `getent`.
pub struct Getent {
    name: &'static str,
    database: Database,
    table: NameTable,
    /// The outcome of a text.
    action: Action,
    /// The reason to reject a text without any name.
    no_names: &'static str,
}

/// The output of `getent passwd`.
pub const PASSWD: Getent = Getent {
    name: "passwd",
    database: Database::Passwd,
    table: USERS,
    action: Action::Users,
    no_names: reason::NO_USERS,
};

/// The output of `getent group`.
pub const GROUP: Getent = Getent {
    name: "group",
    database: Database::Group,
    table: GROUPS,
    action: Action::Groups,
    no_names: reason::NO_GROUPS,
};

/// The largest text in bytes: a million users with all fields. Each line takes memory and a row, and a small packed text can
/// have many.
const MAX_TEXT: u64 = 64 << 20;

/// The number of names in a batch, each with up to a hundred earlier ones.
const AT_A_TIME: usize = 1_000;

impl Source for Getent {
    fn name(&self) -> &'static str {
        self.name
    }

    fn recognizes(&self, text: &[u8]) -> bool {
        self.database.recognizes(text)
    }

    fn max_size(&self, max_text: u64) -> u64 {
        max_text.min(MAX_TEXT)
    }

    fn retained<'t>(&self, text: &'t [u8]) -> Result<Option<Cow<'t, [u8]>>, Error> {
        let contents = timed(Phase::Scan, || self.database.read(text, PAUSE))?;
        let is_empty = contents.entries.is_empty();
        let names = (!is_empty).then(|| contents.text(PAUSE)).transpose()?;
        Ok(names.map(Cow::Owned))
    }

    /// Serializes feeds of names, which may change the same name.
    fn lock(&self, client: &mut SpiClient<'_>, _: &str) -> Result<(), Error> {
        show(client)?;
        lock_row(client, "names", "FOR UPDATE")
    }

    fn ingest(
        &self,
        _: &mut SpiClient<'_>,
        ingest: &mut Ingest<'_>,
        text: Text<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        if !ingest.is_timely() {
            return Ok(vec![ingest.reject(None, reason::CLOCK, None)]);
        }
        let contents = timed(Phase::Scan, || self.database.read(text.bytes(), PAUSE))?;
        if contents.entries.is_empty() {
            return Ok(vec![ingest.reject(None, self.no_names, None)]);
        }
        for problem in &contents.problems {
            let reason = problem.reason.code();
            ingest.rejects.add(None, Some(problem.line), reason, None);
        }
        let listed = contents.problems.len() as u64;
        ingest.rejects.add_dropped(contents.problems_found - listed);
        let time = ingest.delivery.time;
        let written = timed(Phase::Names, || write(&self.table, &contents.entries, time))?;
        let counts = Counts {
            entries: clamp(contents.entries.len() as u64),
            active: clamp(written.changed),
            added: clamp(written.added),
            problems: clamp(contents.problems_found),
            ..Counts::default()
        };
        Ok(vec![Outcome {
            counts,
            ..Outcome::new(None, self.action)
        }])
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        let ReadError::OutOfMemory(error) = error;
        Self::Read(snapshot::ReadError::from(error))
    }
}

/// Takes the lock of feeds of names unless a feed holds it. Returns whether it did.
fn try_lock(client: &mut SpiClient<'_>) -> Result<bool, Error> {
    let locked = client.execute_opt(
        "SELECT FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE SKIP LOCKED",
        &[],
    )?;
    Ok(locked.is_some())
}

/// Stores the names that are new or have changed.
fn write(table: &NameTable, entries: &[Entry<'_>], time: Micros) -> Result<WriteCounts, Error> {
    let mut written = WriteCounts::default();
    for entries in entries.chunks(AT_A_TIME) {
        pause();
        // The end of the connection frees the rows that were read.
        let some = connect_mut(|client| stored::merge(client, table, entries, time))?;
        written.changed += some.changed;
        written.added += some.added;
    }
    Ok(written)
}
