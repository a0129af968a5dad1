//! Ingests an INSERT into `jobstats.feed`.
//!
//! This room does the work that all sources share: the sender ([`delivery`]), unpacking ([`text`]), limits, unusable lines
//! ([`rejects`]), retained texts ([`texts`]), covered spans ([`covered`]), and warnings. A source parses the text and stores
//! rows: [`job_stats`], [`getent`], [`accounting`], [`openmetrics`]; [`sources`] lists them.

mod accounting;
mod covered;
mod delivery;
mod energy;
mod functions;
mod getent;
mod ingest;
pub mod job_stats;
mod neighbours;
mod openmetrics;
mod rejected_lines;
mod reread;
mod samples;
mod server_parameters;
mod services;
pub mod sources;
pub mod target_counters;
pub mod targets;
mod text;
mod texts;
mod timing;
mod used;

use std::ffi::CString;

use jobstats_core::rules::feed::{Action, Outcome, Warning, reason};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::spi::SpiClient;
use pgrx::{PgLogLevel, PgSqlErrorCode as Code, pg_sys};

use crate::pg::error::Error;
use crate::pg::guc;
use crate::pg::guc::Pinned;
use crate::pg::memory;
use crate::pg::spi::{Statements, connect_mut};
use crate::pg::time::clock_now;
use crate::store;
use crate::text::zstd::Recycling;
use delivery::{Arguments, Delivery};
use ingest::Ingest;
use text::Text;
use timing::reported;

/// Registers thread-local memory with the C library, which aborts the process if that fails on first use.
pub fn register_memory() {
    job_stats::register_memory();
    timing::register_memory();
}

/// The number of entries above which a feed returns its free memory to the system.
const MANY_ENTRIES: i64 = 10_000;

/// Ingests a row of the feed, and warns the sender of snapshots that were rejected, late or truncated.
fn run(mut arguments: Arguments<'_>) -> Result<Vec<Outcome>, Error> {
    let outcomes = reported(|| connect_mut(|client| ingest_row(client, &mut arguments)))?;
    let warnings = [Warning::of(&outcomes), Warning::of_cut(&outcomes)];
    for warning in warnings.into_iter().flatten() {
        report(warning, Code::ERRCODE_WARNING, PgLogLevel::WARNING);
    }
    if let Some(notice) = Warning::of_forgeable(&outcomes) {
        let code = Code::ERRCODE_SUCCESSFUL_COMPLETION;
        report(notice, code, PgLogLevel::NOTICE);
    }
    // A feed of so many entries takes far longer than returning the memory.
    if outcomes.iter().map(Outcome::entries).sum::<i64>() > MANY_ENTRIES {
        memory::give_back();
    }
    Ok(outcomes)
}

fn report(warning: Warning, code: Code, level: PgLogLevel) {
    ErrorReport::new(code, warning.message, "jobstats")
        .set_detail(warning.detail)
        .set_hint(warning.hint)
        .report(level);
}

fn ingest_row(
    client: &mut SpiClient<'_>,
    arguments: &mut Arguments<'_>,
) -> Result<Vec<Outcome>, Error> {
    require_read_committed(client, "feeding")?;
    let settings = store::settings(client)?.require_rows()?;
    // Setup locks this view against feeds.
    client.execute("LOCK TABLE jobstats.feed IN ROW EXCLUSIVE MODE", &[])?;
    let source = sources::named(arguments.source.as_deref())?;
    let now = clock_now();
    let delivery = Delivery::new(arguments, now)?;
    let text = Text::new(arguments.body, arguments.body_zstd)?;
    let _recycling = Recycling;
    let _patience = patience(settings.feed_wait);
    let mut ingest = Ingest::new(&delivery, settings, now);
    let outcomes = match sources::is_of_another(source, text.bytes()) {
        true => vec![ingest.reject(None, reason::WRONG_SOURCE, None)],
        false => texts::ingest(client, source, &mut ingest, text)?,
    };
    // The rejects of a repeated text are stored already.
    let is_known = |outcome: &Outcome| outcome.action == Action::Repeated;
    if outcomes.is_empty() || !outcomes.iter().all(is_known) {
        rejected_lines::insert(client, ingest.rejects.take(), &delivery, now)?;
    }
    Ok(outcomes)
}

/// Limits how long this feed waits for another one, unless the session has a shorter `lock_timeout`.
fn patience(milliseconds: i64) -> Pinned {
    // SAFETY: reads a variable of this backend.
    #[allow(unsafe_code)]
    let limit = i64::from(unsafe { pg_sys::LockTimeout });
    let limit = match limit {
        ..=0 => milliseconds,
        limit => limit.min(milliseconds),
    };
    let limit = CString::new(limit.to_string()).unwrap_or_default();
    Pinned::new([(c"lock_timeout", limit.as_c_str())])
}

/// Requires the isolation level READ COMMITTED: only then a feed that waited for the lock of a target sees the snapshot that
/// another feed has committed meanwhile.
///
/// # Errors
/// [`Error::Isolation`] if the level is higher.
pub fn require_read_committed(client: &SpiClient<'_>, action: &'static str) -> Result<(), Error> {
    if guc::is_read_committed() {
        return Ok(());
    }
    let level = guc::setting(client, "transaction_isolation")?.to_uppercase();
    Err(Error::Isolation { action, level })
}
