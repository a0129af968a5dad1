//! The list of all sources of texts that the feed takes.

use jobstats_core::accounting::SCHEDULERS;
use jobstats_core::text::getent::begins_with_password;
use pgrx::prelude::*;

use crate::feed::getent::{GROUP, PASSWD};
use crate::feed::job_stats::JobStats;
use crate::feed::openmetrics::OpenMetrics;
use crate::feed::source::Source;
use crate::pg::argument::Short;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;

/// The sources that are no schedulers. A text that names no source is of the first.
const OTHERS: [&dyn Source; 4] = [&JobStats, &PASSWD, &GROUP, &OpenMetrics];

fn all() -> impl Iterator<Item = &'static dyn Source> {
    let schedulers = SCHEDULERS.iter().map(|it| it as &dyn Source);
    OTHERS.into_iter().chain(schedulers)
}

/// Returns the source of a name; `None` names the output of lctl.
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

/// Returns whether a text is not of this source, but of another one, or of `shadow`, which none reads. Then its lines must not
/// be stored, not even as rejects: the other source may have secrets in them.
pub fn is_of_another(source: &dyn Source, text: &[u8]) -> bool {
    !source.recognizes(text)
        && (all().any(|other| other.recognizes(text)) || begins_with_password(text))
}

#[pg_extern(sql = false)]
fn jobstats_known_sources(
    sources: Option<Short<Vec<Option<String>>>>,
) -> SqlResult<Vec<&'static str>> {
    let wanted = sources.map_or_else(|| vec![None], |names| names.0);
    if wanted.is_empty() {
        let hint = format!("Name some of {}.", names());
        return Err(Error::argument("sources is empty", hint).into());
    }
    let wanted = wanted.iter().map(|name| Ok(named(name.as_deref())?.name()));
    let wanted: Vec<&str> = wanted.collect::<Result<_, Error>>()?;
    let known = all().map(Source::name).filter(|name| wanted.contains(name));
    Ok(known.collect())
}
