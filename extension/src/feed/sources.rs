//! The sources of texts that the feed takes. [`all`] lists them.

use std::borrow::Cow;

use jobstats_core::accounting::SCHEDULERS;
use jobstats_core::rules::feed::Outcome;
use jobstats_core::text::getent::begins_with_password;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::feed::covered::Covers;
use crate::feed::getent::{GROUP, PASSWD};
use crate::feed::ingest::Ingest;
use crate::feed::job_stats::JobStats;
use crate::feed::openmetrics::OpenMetrics;
use crate::feed::text::Text;
use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{SqlResult, Statements, values};

/// Returns all sources. The first one is the default. Each scheduler of [`SCHEDULERS`] is a source.
fn all() -> impl Iterator<Item = &'static dyn Source> {
    let others: [&dyn Source; 4] = [&JobStats, &PASSWD, &GROUP, &OpenMetrics];
    let schedulers = SCHEDULERS.iter().map(|it| it as &dyn Source);
    others.into_iter().chain(schedulers)
}

/// A kind of text that the feed takes.
pub trait Source: Sync {
    /// Returns the name: the column `source` of `jobstats.feed`, and an element of `jobstats.writers.sources`.
    fn name(&self) -> &'static str;

    /// Returns whether the first lines of a text look like this source.
    fn recognizes(&self, text: &[u8]) -> bool;

    /// Returns the largest size of a text in bytes; `max_text` is the setting.
    fn max_size(&self, max_text: u64) -> u64 {
        max_text
    }

    /// Returns the content of a text that `jobstats.texts` retains and [`ingest`](Self::ingest) can read again; `None` if the text is
    /// not stored there.
    ///
    /// # Errors
    /// Errors of reading the text.
    fn retained<'t>(&self, _text: &'t [u8]) -> Result<Option<Cow<'t, [u8]>>, Error> {
        Ok(None)
    }

    /// Serializes feeds that must see the rows of each other, in a cluster or in all clusters if its name is empty.
    ///
    /// # Errors
    /// Errors of PostgreSQL.
    fn lock(&self, _: &mut SpiClient<'_>, _cluster: &str) -> Result<(), Error> {
        Ok(())
    }

    /// Returns how the covered span of a text is determined.
    fn covers(&self) -> Covers {
        Covers::Nothing
    }

    /// Stores the content of a text. Returns one outcome for each separate part, and hands unusable lines to [`Ingest::rejects`].
    ///
    /// # Errors
    /// An error undoes the whole feed, and PostgreSQL may log the text with the statement. So errors are for conditions that end
    /// when the same text is sent again: an exceeded limit, too little memory, a lock of another feed. An unusable text is an outcome.
    fn ingest(
        &self,
        client: &mut SpiClient<'_>,
        ingest: &mut Ingest<'_>,
        text: Text<'_>,
    ) -> Result<Vec<Outcome>, Error>;
}

/// Returns the source of a name, and the default for `None`.
///
/// # Errors
/// [`Error::UnknownSource`] if no source has this name.
pub fn named(name: Option<&str>) -> Result<&'static dyn Source, Error> {
    let found = all().find(|source| name.is_none_or(|name| source.name() == name));
    found.ok_or_else(|| Error::UnknownSource {
        name: name.unwrap_or_default().to_owned(),
        valid: names(),
    })
}

/// Returns the names of all sources, for a message.
fn names() -> String {
    all().map(Source::name).collect::<Vec<_>>().join(", ")
}

/// Returns whether a text belongs to another source, or is the file `shadow`. Such lines may hold secrets and must not be stored, not
/// even as rejects.
pub fn is_of_another(source: &dyn Source, text: &[u8]) -> bool {
    !source.recognizes(text)
        && (all().any(|other| other.recognizes(text)) || begins_with_password(text))
}

/// Locks `jobstats.targets` as feeds of targets do, so that `jobstats.health` and maintenance notice a session that stays in its
/// transaction.
pub fn show(client: &mut SpiClient<'_>) -> Result<(), Error> {
    plans::run(client, "LOCK TABLE jobstats.targets IN ROW SHARE MODE", &[])
}

/// Locks a row of `jobstats.locks` in this mode.
pub fn lock_row(client: &mut SpiClient<'_>, name: &str, mode: &str) -> Result<(), Error> {
    let statement = format!("SELECT FROM jobstats.locks l WHERE l.name = $1 {mode}");
    let row = client.execute_opt(&statement, &values![name])?;
    row.map(|_| ()).ok_or(Error::NoRow("locks"))
}

#[pg_extern(sql = false)]
fn jobstats_known_sources(
    sources: Option<Short<Vec<Option<String>>>>,
) -> SqlResult<Vec<&'static str>> {
    let requested = sources.map_or_else(|| vec![None], |names| names.0);
    if requested.is_empty() {
        let hint = format!("Name one or more of {}.", names());
        return Err(Error::argument("sources is empty", hint).into());
    }
    let requested = requested.iter().map(|it| named(it.as_deref()));
    let requested: Vec<_> = requested.collect::<Result<_, Error>>()?;
    let is_requested = |name: &&str| requested.iter().any(|it| it.name() == *name);
    Ok(all().map(Source::name).filter(is_requested).collect())
}
