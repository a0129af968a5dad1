//! Tries texts on the database in transactions that are rolled back.

use jobstats_client::spool::Text;
use jobstats_client::{Connector, Notice, Session, Settings};
use tokio::runtime::{self, Runtime};

use crate::frame::{Reading, Sender};
use crate::send::{self, Timeouts};

/// A connection on which texts are tried.
pub struct Rehearsal {
    /// The way to the database.
    pub connector: Connector,
    /// The time limits of the database.
    pub timeouts: Timeouts,
    /// The runtime of the session.
    pub runtime: Runtime,
    /// The session, if there is one.
    pub session: Option<Session>,
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.runtime.block_on(session.close());
        }
    }
}

impl Rehearsal {
    /// Prepares TLS; connects to nothing yet.
    ///
    /// # Errors
    ///
    /// Fails if the trusted certificates cannot be read.
    pub fn new(settings: Settings, timeouts: Timeouts) -> Result<Self, send::Error> {
        Ok(Self {
            connector: Connector::new(settings.for_writing(), timeouts.connect)?,
            timeouts,
            runtime: runtime::Builder::new_current_thread()
                .enable_all()
                .build()?,
            session: None,
        })
    }

    /// Connects, if there is no connection yet.
    ///
    /// # Errors
    ///
    /// Fails if no host accepts the connection.
    pub fn connect(&mut self) -> Result<(), jobstats_client::Error> {
        if self.session.is_none() {
            self.session = Some(self.runtime.block_on(self.connector.session())?);
        }
        Ok(())
    }

    /// Stores a text in a transaction that is rolled back. Returns what the database says of the text.
    ///
    /// # Errors
    ///
    /// Fails as the delivery would. The notices up to then are lost, because the message of the error is better.
    pub fn text(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        text: &Text,
    ) -> Result<Vec<Notice>, send::Error> {
        self.connect()?;
        let Some(session) = &mut self.session else {
            return Ok(Vec::new());
        };
        let limit = self.timeouts.statement;
        let tried = send::rehearse(&mut session.client, limit, sender, reading, text);
        let tried = self.runtime.block_on(tried);
        let notices = session.notices().collect();
        tried.map(|()| notices)
    }
}
