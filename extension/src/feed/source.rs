//! A source of the feed reads a text and stores what it says.

use std::borrow::Cow;

use jobstats_core::rules::feed::Outcome;
use pgrx::spi::SpiClient;

use crate::feed::covered::Covers;
use crate::feed::ingest::Ingest;
use crate::feed::text::Text;
use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::Statements;
use crate::store::Settings;

/// A kind of text that the feed takes.
pub trait Source: Sync {
    /// Returns the name: the column `source` of `jobstats.feed`, and an element of `jobstats.writers.sources`.
    fn name(&self) -> &'static str;

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

/// Shows `jobstats.health` and maintenance a session that stays in its transaction, as the locks of feeds of targets do.
pub fn show(client: &mut SpiClient<'_>) -> Result<(), Error> {
    plans::update(client, "LOCK TABLE jobstats.targets IN ROW SHARE MODE", &[])?;
    Ok(())
}

/// Locks a row of `jobstats.locks` in this mode.
pub fn lock_row(client: &mut SpiClient<'_>, name: &str, mode: &str) -> Result<(), Error> {
    let statement = format!("SELECT FROM jobstats.locks l WHERE l.name = $1 {mode}");
    let row = client.execute_opt(&statement, &[name.into()])?;
    row.map(|_| ()).ok_or(Error::NoRow("locks"))
}
