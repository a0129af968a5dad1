//! Ingests an INSERT into `jobstats.feed`: reads the text and stores observations and increments.
//!
//! The steps, in this order: unpack and scan the text ([`text`]), find and lock its targets ([`targets`]), place the
//! text of each target between its neighbours and write the results ([`job_stats::place`]), store the new identifiers
//! ([`job_stats::entries`]) and the rejected lines ([`rejects`]).

pub mod job_stats;
mod rejects;
pub mod targets;
mod text;
mod timing;
mod warning;

use std::ffi::CString;

use jobstats_core::instant::Micros;
use jobstats_core::snapshot::{self, Words};
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::argument::{Short, plain};
use crate::pg::bytea::Bytea;
use crate::pg::error::Error;
use crate::pg::guc;
use crate::pg::guc::Pinned;
use crate::pg::memory;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{SqlResult, connect_mut};
use crate::pg::time::{DAY, clock_now, micros};
use crate::store::{self, Settings};
use crate::text::zstd::Recycling;
use job_stats::entries::Entries;
use job_stats::place::{Action, Outcome};
use rejects::Rejects;
use text::Text;
use timing::{Step, timed, told};

pub use job_stats::register_memory;

/// One row of the feed, without its text.
pub struct Feed {
    cluster: String,
    server: String,
    time: Micros,
    duration: Option<Interval>,
    shipper: Option<String>,
    /// LIKE patterns of the targets that the sender may feed; `None` allows every target.
    own_targets: Option<Vec<String>>,
}

/// The longest name, in bytes, that is stored with each text. Host names have at most 255 bytes.
const NAME_LIMIT: usize = 255;

/// The number of entries above which a feed returns its free memory to the system.
const MANY_ENTRIES: i64 = 10_000;

/// The longest time that reading a text is believed to have taken.
const LONGEST_READING: i128 = DAY as i128;

/// The columns of a row of the feed, as the caller passes them.
struct Arguments<'a> {
    cluster: Option<String>,
    server: Option<String>,
    read_at: Option<TimestampWithTimeZone>,
    body: Option<&'a str>,
    body_zstd: Option<Bytea<'a>>,
    duration: Option<Interval>,
    shipper: Option<String>,
    own_targets: Option<Vec<String>>,
}

impl Feed {
    fn new(arguments: &mut Arguments<'_>, now: Micros) -> Result<Self, Error> {
        let server = arguments.server.take();
        let feed = Self {
            cluster: arguments.cluster.take().unwrap_or_default(),
            server: server.ok_or_else(Error::no_server)?,
            time: arguments.read_at.map_or(Ok(now), micros)?,
            duration: arguments.duration.take().filter(is_possible),
            shipper: arguments.shipper.take().map(shortened),
            own_targets: arguments.own_targets.take(),
        };
        require_short("cluster", &feed.cluster)?;
        require_short("server", &feed.server)?;
        Ok(feed)
    }
}

fn require_short(what: &'static str, name: &str) -> Result<(), Error> {
    if name.len() > NAME_LIMIT {
        Err(Error::LongName {
            what,
            limit: NAME_LIMIT,
        })
    } else {
        Ok(())
    }
}

/// Cuts a name to [`NAME_LIMIT`] bytes, because a long name of a shipper is no reason to reject a text.
fn shortened(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(NAME_LIMIT));
    name
}

/// Returns whether reading can have taken this long. Computations with other intervals overflow.
fn is_possible(duration: &Interval) -> bool {
    let months = i128::from(duration.months());
    let days = months * 30 + i128::from(duration.days());
    let micros = days * i128::from(DAY) + i128::from(duration.micros());
    (0..=LONGEST_READING).contains(&micros)
}

/// The state that all steps of one feed share.
struct Ingest<'a> {
    feed: &'a Feed,
    settings: Settings,
    now: Micros,
    entries: Entries,
    rejects: Rejects,
}

#[allow(clippy::too_many_arguments, clippy::type_complexity)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_ingest(
    cluster text, server text, read_at timestamptz, body text DEFAULT NULL, body_zstd bytea DEFAULT NULL,
    duration interval DEFAULT NULL, shipper text DEFAULT NULL
) RETURNS TABLE (
    target text, action text, entries integer, active integer, added integer, resets integer, removed integer,
    carried integer, unknown integer, problems integer, increments integer
)
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_ingest(text, text, timestamptz, text, bytea, interval, text) IS
'What INSERT INTO jobstats.feed does. One row per target of the text: action is baseline (first observation), stored, placed (late text), repeated (known already), interval (only job_cleanup_interval) or rejected (see jobstats.rejects); a WARNING counts those that are placed or rejected. read_at NULL is now. Errors: 55000 no store, 22001 cluster or server of over 255 bytes, 25001 isolation level above READ COMMITTED, 54000 text too large, 22P03 body_zstd is not zstd, 22023 neither or both bodies or no server, 53200 out of memory, 40001 feed again.';
"#)]
fn jobstats_ingest(
    cluster: Option<Short<String>>,
    server: Option<Short<String>>,
    read_at: Option<TimestampWithTimeZone>,
    body: Option<&str>,
    body_zstd: Option<Bytea<'_>>,
    duration: Option<Interval>,
    shipper: Option<Short<String>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(target, Option<String>),
            name!(action, &'static str),
            name!(entries, i32),
            name!(active, i32),
            name!(added, i32),
            name!(resets, i32),
            name!(removed, i32),
            name!(carried, i32),
            name!(unknown, i32),
            name!(problems, i32),
            name!(increments, i32),
        ),
    >,
    pgrx::pg_sys::panic::ErrorReport,
> {
    let outcomes = run(Arguments {
        cluster: plain(cluster),
        server: plain(server),
        read_at,
        body,
        body_zstd,
        duration,
        shipper: plain(shipper),
        own_targets: None,
    })?;
    Ok(TableIterator::new(outcomes.into_iter().map(|outcome| {
        let c = outcome.counts;
        (
            outcome.target,
            outcome.action.as_str(),
            c.entries,
            c.active,
            c.added,
            c.resets,
            c.removed,
            c.carried,
            c.unknown,
            c.problems,
            outcome.increments,
        )
    })))
}

/// Limits how long this feed waits for another one, unless the session has a shorter `lock_timeout`.
fn patience(milliseconds: i64) -> Pinned {
    // SAFETY: reads a variable of this backend.
    #[allow(unsafe_code)]
    let limit = i64::from(unsafe { pg_sys::LockTimeout });
    let limit = if limit > 0 {
        limit.min(milliseconds)
    } else {
        milliseconds
    };
    let limit = CString::new(limit.to_string()).unwrap_or_default();
    Pinned::new([(c"lock_timeout", limit.as_c_str())])
}

#[allow(clippy::too_many_arguments)]
#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_internal.ingest(
    cluster text, server text, read_at timestamptz, body text, body_zstd bytea, duration interval, shipper text,
    own_targets text[]
) RETURNS void
LANGUAGE c VOLATILE SET search_path = pg_catalog, pg_temp
AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_internal.ingest(text, text, timestamptz, text, bytea, interval, text, text[]) IS
'Internal: what jobstats_ingest does, for a sender that may feed the targets whose name is LIKE one of own_targets; NULL: all.';
"#)]
fn jobstats_ingest_own(
    cluster: Option<Short<String>>,
    server: Option<Short<String>>,
    read_at: Option<TimestampWithTimeZone>,
    body: Option<&str>,
    body_zstd: Option<Bytea<'_>>,
    duration: Option<Interval>,
    shipper: Option<Short<String>>,
    own_targets: Option<Vec<Option<String>>>,
) -> SqlResult<()> {
    run(Arguments {
        cluster: plain(cluster),
        server: plain(server),
        read_at,
        body,
        body_zstd,
        duration,
        shipper: plain(shipper),
        own_targets: own_targets.map(|targets| targets.into_iter().flatten().collect()),
    })?;
    Ok(())
}

/// Ingests a row of the feed and warns the sender about texts that were rejected or placed before newer ones.
fn run(mut arguments: Arguments<'_>) -> Result<Vec<Outcome>, Error> {
    let outcomes = told(|| {
        connect_mut(|client| -> Result<Vec<Outcome>, Error> {
            require_read_committed(client, "feeding")?;
            let settings = store::settings(client)?;
            let now = clock_now();
            let feed = Feed::new(&mut arguments, now)?;
            let text = Text::new(arguments.body, arguments.body_zstd)?;
            let _recycling = Recycling;
            let _patience = patience(settings.feed_wait);
            ingest(client, &feed, settings, now, text)
        })
    })?;
    warning::warn(&outcomes);
    // A feed of so many entries takes far longer than returning the memory.
    if outcomes.iter().map(Outcome::entries).sum::<i64>() > MANY_ENTRIES {
        memory::give_back();
    }
    Ok(outcomes)
}

/// Requires the isolation level READ COMMITTED: a higher one does not show the previous text if another feed committed
/// it while this feed waited for the lock of the target.
///
/// # Errors
/// [`Error::Isolation`] if the level is higher.
pub fn require_read_committed(client: &SpiClient<'_>, action: &'static str) -> Result<(), Error> {
    let level = guc::setting(client, "transaction_isolation")?;
    match level.as_str() {
        "read committed" | "read uncommitted" => Ok(()),
        _ => Err(Error::Isolation {
            action,
            level: level.to_uppercase(),
        }),
    }
}

fn ingest(
    client: &mut SpiClient<'_>,
    feed: &Feed,
    settings: Settings,
    now: Micros,
    text: Text<'_>,
) -> Result<Vec<Outcome>, Error> {
    let reading = timed(Step::Scan, || snapshot::read(text.bytes(), PAUSE))?;
    if reading.snapshots.len() > settings.max_targets {
        return Err(Error::TooManyTargets {
            found: reading.snapshots.len(),
            limit: settings.max_targets,
        });
    }
    for snapshot in &reading.snapshots {
        text::require_size(snapshot, settings.max_text)?;
    }
    let mut ingest = Ingest {
        feed,
        settings,
        now,
        entries: Entries::default(),
        rejects: Rejects::default(),
    };
    ingest.rejects.add_problems(&reading.problems, None);
    ingest.rejects.add_dropped(reading.problems_dropped);
    let mut words: Vec<Words> = Vec::new();
    words.resize_with(reading.snapshots.len(), Words::default);
    let mut parts = Vec::new();
    let mut outcomes = Vec::new();
    for (snapshot, words) in reading.snapshots.into_iter().zip(&mut words) {
        let part = text.part(snapshot, words)?;
        if part.snapshot.target.is_some() {
            parts.push(part);
        } else {
            outcomes.push(ingest.reject_nameless(&part));
        }
    }
    text.leave();
    let parts = ingest.own(client, parts, &mut outcomes)?;
    for (mut target, part) in targets::find_and_lock(client, &feed.cluster, parts)? {
        pause();
        // Each target has its own connection, because the rows that its statements read stay in memory as long as the
        // connection.
        let place = |client: &mut SpiClient<'_>| ingest.place(client, &mut target, part);
        outcomes.push(connect_mut(place)?);
    }
    if outcomes.is_empty()
        || outcomes
            .iter()
            .any(|outcome| outcome.action != Action::Repeated)
    {
        ingest.rejects.insert(client, feed, now)?;
    }
    timed(Step::Entries, || {
        ingest.entries.insert_new(client, feed.time)
    })?;
    Ok(outcomes)
}
