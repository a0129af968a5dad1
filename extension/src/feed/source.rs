//! The sources of the feed: who reads and stores a text.
//!
//! What the store holds of a source, and for how long, stands in [`crate::store::sources`], in the same order.

use std::borrow::Cow;

use jobstats_core::feed::Outcome;
use jobstats_core::getent::begins_with_password;
use pgrx::spi::SpiClient;

use crate::feed::accounting::{FLUX, GRIDENGINE, LSF, PBS, SLURM};
use crate::feed::covered::Covers;
use crate::feed::getent::{GROUP, PASSWD};
use crate::feed::ingest::Ingest;
use crate::feed::job_stats::JobStats;
use crate::feed::text::Text;
use crate::pg::error::Error;
use crate::store::{Settings, sources};

/// A kind of text that the feed takes.
pub trait Source: Sync {
    /// Returns whether a text looks like one of this source. A quick look at its first lines is enough.
    fn recognizes(&self, text: &[u8]) -> bool;

    /// Checks the size of a text, and returns what may be kept of it in `jobstats.texts`, which reads as the text does; `None` if
    /// nothing is kept there.
    ///
    /// # Errors
    /// [`Error::TextTooLarge`], and those of reading the text.
    fn kept<'t>(&self, text: &'t [u8], settings: &Settings)
    -> Result<Option<Cow<'t, [u8]>>, Error>;

    /// Makes feeds wait for each other that must not see the store without what the other one writes: those of a cluster, or of all
    /// clusters if its name is empty.
    ///
    /// # Errors
    /// Those of PostgreSQL.
    fn lock(&self, _: &mut SpiClient<'_>, _cluster: &str) -> Result<(), Error> {
        Ok(())
    }

    /// Returns how texts of this source say what they cover.
    fn covers(&self) -> Covers {
        Covers::Nothing
    }

    /// Reads a text and stores what it says. Returns one outcome for each part of the text that has a fate of its own, and
    /// hands what could not be used to [`Ingest::rejects`].
    ///
    /// # Errors
    /// An error undoes the whole feed, and PostgreSQL may log the statement with the text in it. So it is for what the
    /// sender can mend by sending the same text again: a limit that is exceeded, too little memory, a lock that another
    /// feed has. A text that cannot be used is an outcome.
    fn ingest(
        &self,
        client: &mut SpiClient<'_>,
        ingest: &mut Ingest<'_>,
        text: Text<'_>,
    ) -> Result<Vec<Outcome>, Error>;
}

/// All sources, as in [`sources::SOURCES`].
const SOURCES: [&dyn Source; sources::SOURCES.len()] = [
    &JobStats,
    &PASSWD,
    &GROUP,
    &SLURM,
    &PBS,
    &LSF,
    &GRIDENGINE,
    &FLUX,
];

/// Returns the source of a name; `None` names the output of lctl.
///
/// # Errors
/// [`Error::UnknownSource`] if no source has this name.
pub fn named(name: Option<&str>) -> Result<&'static dyn Source, Error> {
    Ok(SOURCES[sources::position(name)?])
}

/// Returns whether a text is not of this source, but of another one, or of `shadow`, which none reads. Then its lines must not
/// be stored, not even as rejects: the other source may have secrets in them.
pub fn is_of_another(source: &dyn Source, text: &[u8]) -> bool {
    let is_known = || SOURCES.iter().any(|other| other.recognizes(text));
    !source.recognizes(text) && (is_known() || begins_with_password(text))
}
