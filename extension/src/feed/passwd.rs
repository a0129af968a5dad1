//! The source `passwd`: `getent passwd` says which number is which user, and `jobstats.users` has the current names.
//!
//! Nothing but the numbers and the name is stored. Rejects have the number of a line and the reason, and never its text, which may
//! have a password or a person's data at any place.

use std::borrow::Cow;

use jobstats_core::feed::{Action, Outcome, reason};
use jobstats_core::increment::{Counts, clamp};
use jobstats_core::passwd::{self, ReadError, User};
use jobstats_core::snapshot;
use pgrx::spi::SpiClient;

use crate::feed::ingest::Ingest;
use crate::feed::source::Source;
use crate::feed::text::{Text, require_size};
use crate::feed::timing::{Phase, timed};
use crate::pg::error::Error;
use crate::pg::memory::{require_room, reserve};
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Statements, connect_mut};
use crate::store::Settings;

/// The output of `getent passwd`.
pub struct Passwd;

/// The largest size of a text in bytes: a million users with everything that is known about them. Each line takes memory and
/// a row, and a small packed text can have many.
const MAX_TEXT: u64 = 64 << 20;

/// The number of users that a statement writes. Their names take a few megabytes at most.
const AT_A_TIME: usize = 10_000;

/// The memory in bytes that a name takes until it is stored, in several copies.
const NAME_BYTES: usize = 1024;

impl Source for Passwd {
    fn recognizes(&self, text: &[u8]) -> bool {
        passwd::is_passwd(text)
    }

    fn kept<'t>(
        &self,
        text: &'t [u8],
        settings: &Settings,
    ) -> Result<Option<Cow<'t, [u8]>>, Error> {
        require_size(text.len(), settings.max_text.min(MAX_TEXT))?;
        let contents = timed(Phase::Scan, || passwd::read(text, PAUSE))?;
        let is_empty = contents.users.is_empty();
        let kept = (!is_empty).then(|| contents.text(PAUSE)).transpose()?;
        Ok(kept.map(Cow::Owned))
    }

    fn ingest(
        &self,
        _: &mut SpiClient<'_>,
        ingest: &mut Ingest<'_>,
        text: Text<'_>,
    ) -> Result<Vec<Outcome>, Error> {
        let contents = timed(Phase::Scan, || passwd::read(text.bytes(), PAUSE))?;
        if contents.users.is_empty() {
            return Ok(vec![ingest.reject(None, reason::NO_USERS, None)]);
        }
        for problem in &contents.problems {
            let reason = problem.reason.code();
            ingest.rejects.add(None, Some(problem.line), reason, None);
        }
        let listed = contents.problems.len() as u64;
        ingest.rejects.add_dropped(contents.problems_found - listed);
        let written = timed(Phase::Users, || write(&contents.users))?;
        let counts = Counts {
            entries: clamp(contents.users.len() as u64),
            active: clamp(written.changed),
            added: clamp(written.added),
            problems: clamp(contents.problems_found),
            ..Counts::default()
        };
        Ok(vec![Outcome {
            counts,
            ..Outcome::new(None, Action::Users)
        }])
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        let ReadError::OutOfMemory(error) = error;
        Self::Read(snapshot::ReadError::from(error))
    }
}

/// The numbers of rows that were written.
#[derive(Default)]
struct Written {
    /// The users that had no name, or another one.
    changed: u64,
    /// The users that had no name.
    added: u64,
}

/// Stores the names of users that are new or have changed.
///
/// Users come in the order of their uid, so that feeds of one text each wait for each other and never deadlock. The lock shows
/// `jobstats.health` and maintenance a session that stays in its transaction, as those of other feeds do.
fn write(users: &[User<'_>]) -> Result<Written, Error> {
    let mut written = Written::default();
    connect_mut(|client| client.execute("LOCK TABLE jobstats.targets IN ROW SHARE MODE", &[]))?;
    for users in users.chunks(AT_A_TIME) {
        pause();
        // Each statement has its own connection, because its arguments stay in memory as long as the connection.
        let (changed, added) = connect_mut(|client| write_some(client, users))?;
        written.changed += changed;
        written.added += added;
    }
    Ok(written)
}

/// Stores some users, and returns how many rows changed and how many of these are new. A name that is known already is
/// neither written nor locked.
fn write_some(client: &mut SpiClient<'_>, users: &[User<'_>]) -> Result<(u64, u64), Error> {
    require_room(users.len(), NAME_BYTES)?;
    let (mut uids, mut names) = (Vec::<i64>::new(), Vec::<&str>::new());
    reserve(&mut uids, users.len())?;
    reserve(&mut names, users.len())?;
    for user in users {
        uids.push(user.uid.into());
        names.push(user.name);
    }
    // A row that an UPDATE has made has the transaction in xmax that locked it for that.
    let counts = client.execute_opt(
        "WITH written AS (\
             INSERT INTO jobstats.users AS u (uid, user_name) \
             SELECT n.uid, n.user_name FROM unnest($1::bigint[], $2::text[]) AS n (uid, user_name) \
             WHERE NOT EXISTS (SELECT FROM jobstats.users k WHERE k.uid = n.uid AND k.user_name = n.user_name) \
             ORDER BY n.uid \
             ON CONFLICT (uid) DO UPDATE SET user_name = excluded.user_name \
             WHERE u.user_name IS DISTINCT FROM excluded.user_name \
             RETURNING u.xmax = xid '0' AS is_new\
         ) SELECT count(*) AS changed, count(*) FILTER (WHERE w.is_new) AS added FROM written w",
        &[uids.into(), names.into()],
    )?;
    let Some(counts) = counts else {
        return Ok((0, 0));
    };
    let (changed, added): (i64, i64) = (counts.get("changed")?, counts.get("added")?);
    Ok((changed.unsigned_abs(), added.unsigned_abs()))
}
