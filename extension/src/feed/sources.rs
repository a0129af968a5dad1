//! The list of all sources of the feed.
//!
//! The store says in [`crate::store::sources`], in the same order, which tables a source fills and how long they are kept.

use jobstats_core::accounting::SCHEDULERS;
use jobstats_core::getent::begins_with_password;

use crate::feed::getent::{GROUP, PASSWD};
use crate::feed::job_stats::JobStats;
use crate::feed::source::Source;
use crate::pg::error::Error;
use crate::store::sources;

/// The sources that are no schedulers, in the order of [`sources::SOURCES`], where the schedulers follow.
const OTHERS: [&dyn Source; sources::OTHERS.len()] = [&JobStats, &PASSWD, &GROUP];

fn all() -> impl Iterator<Item = &'static dyn Source> {
    let schedulers = SCHEDULERS.iter().map(|it| it as &dyn Source);
    OTHERS.into_iter().chain(schedulers)
}

/// Returns the source of a name; `None` names the output of lctl.
///
/// # Errors
/// [`Error::UnknownSource`] if no source has this name.
pub fn named(name: Option<&str>) -> Result<&'static dyn Source, Error> {
    let position = sources::position(name)?;
    Ok(all().nth(position).unwrap_or(&JobStats))
}

/// Returns whether a text is not of this source, but of another one, or of `shadow`, which none reads. Then its lines must not
/// be stored, not even as rejects: the other source may have secrets in them.
pub fn is_of_another(source: &dyn Source, text: &[u8]) -> bool {
    let is_known = || all().any(|other| other.recognizes(text));
    !source.recognizes(text) && (is_known() || begins_with_password(text))
}
