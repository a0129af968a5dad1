//! The sources `passwd` and `group`: `getent` says which number is which user or group. `jobstats.users` and `jobstats.groups` have
//! the current names, `earlier_users` and `earlier_groups` those before.
//!
//! Nothing but numbers and names is stored. Rejects have the number of a line and the reason, and never its text, which may
//! have a password or a person's data at any place.

mod stored;

use std::borrow::Cow;

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::feed::{Action, Outcome, reason};
use jobstats_core::rules::increment::{Counts, clamp};
use jobstats_core::rules::snapshot;
use jobstats_core::text::getent::{Database, Entry, ReadError};
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::source::{Source, lock_row, show};
use crate::feed::text::{Text, require_size};
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Statements, connect_mut};
use crate::store::Settings;
pub use stored::{GROUPS, Named, USERS, fill};
use stored::{Table, Written};

/// A database of names that `getent` prints.
pub struct Getent {
    name: &'static str,
    database: Database,
    table: Table,
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

/// The largest size of a text in bytes: a million users with everything that is known about them. Each line takes memory and
/// a row, and a small packed text can have many.
const MAX_TEXT: u64 = 64 << 20;

/// The number of names that a statement reads or writes, with up to a hundred earlier ones of each.
const AT_A_TIME: usize = 1_000;

impl Source for Getent {
    fn name(&self) -> &'static str {
        self.name
    }

    fn recognizes(&self, text: &[u8]) -> bool {
        self.database.recognizes(text)
    }

    fn kept<'t>(
        &self,
        text: &'t [u8],
        settings: &Settings,
    ) -> Result<Option<Cow<'t, [u8]>>, Error> {
        require_size(text.len(), settings.max_text.min(MAX_TEXT))?;
        let contents = timed(Phase::Scan, || self.database.read(text, PAUSE))?;
        let is_empty = contents.entries.is_empty();
        let kept = (!is_empty).then(|| contents.text(PAUSE)).transpose()?;
        Ok(kept.map(Cow::Owned))
    }

    /// Makes feeds of names wait for each other: two that change the same name would each miss what the other one says.
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

/// Takes the same lock for who can do without, unless a feed of names is under way: returns whether there is none.
fn try_lock(client: &mut SpiClient<'_>) -> Result<bool, Error> {
    let locked = client.execute_opt(
        "SELECT FROM jobstats.locks l WHERE l.name = 'names' FOR UPDATE SKIP LOCKED",
        &[],
    )?;
    Ok(locked.is_some())
}

/// Stores the names that are new or have changed.
fn write(table: &Table, entries: &[Entry<'_>], time: Micros) -> Result<Written, Error> {
    let mut written = Written::default();
    for entries in entries.chunks(AT_A_TIME) {
        pause();
        // Each batch has its own connection, because what it reads stays in memory as long as that.
        let some = connect_mut(|client| stored::merge(client, table, entries, time))?;
        written.changed += some.changed;
        written.added += some.added;
    }
    Ok(written)
}
