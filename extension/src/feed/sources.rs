//! The list of all sources of the feed.
//!
//! The store says in [`crate::store::sources`], in the same order, which tables a source fills and how long they are kept.

use jobstats_core::accounting::SCHEDULERS;
use jobstats_core::getent::begins_with_password;

use crate::feed::getent::{GROUP, PASSWD};
use crate::feed::job_stats::JobStats;
use crate::feed::openmetrics::OpenMetrics;
use crate::feed::source::Source;
use crate::pg::error::Error;
use crate::store::sources;

/// The sources that are no schedulers, in the order of [`sources::SOURCES`], where the schedulers follow.
const OTHERS: [&dyn Source; sources::OTHERS.len()] = [&JobStats, &PASSWD, &GROUP, &OpenMetrics];

/// Returns the source at a position of [`sources::SOURCES`].
fn at(position: usize) -> &'static dyn Source {
    match position.checked_sub(OTHERS.len()) {
        Some(scheduler) => &SCHEDULERS[scheduler],
        None => OTHERS[position],
    }
}

/// Returns the source of a name; `None` names the output of lctl.
///
/// # Errors
/// [`Error::UnknownSource`] if no source has this name.
pub fn named(name: Option<&str>) -> Result<&'static dyn Source, Error> {
    Ok(at(sources::position(name)?))
}

/// Returns whether a text is not of this source, but of another one, or of `shadow`, which none reads. Then its lines must not
/// be stored, not even as rejects: the other source may have secrets in them.
pub fn is_of_another(source: &dyn Source, text: &[u8]) -> bool {
    let mut all = (0..sources::SOURCES.len()).map(at);
    !source.recognizes(text)
        && (all.any(|other| other.recognizes(text)) || begins_with_password(text))
}
