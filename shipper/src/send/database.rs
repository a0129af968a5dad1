//! Stores texts over a connection to PostgreSQL.

use std::future::Future;
use std::io::Cursor;
use std::pin::pin;
use std::time::Duration;

use futures_util::SinkExt;
use jobstats_client::database::connection::keepalive;
use jobstats_client::spool::Text;
use jobstats_client::{Connector, Notice, Session, Settings};
use tokio::runtime::{self, Runtime};
use tokio::time::timeout;
use tokio_postgres::{Client, IsolationLevel, SimpleQueryMessage, Transaction};

use super::{Answer, SendError, Timeouts, Transport};
use crate::frame::Reading;
use crate::send::row::{COPY, Row};
use crate::state::StateFile;
use crate::system::message::{notice, warn};

/// The size of a piece of text that is sent at once.
const PIECE: usize = 64 << 10;

/// The time that the client waits for a statement beyond the server's own timeout, because the server's message is
/// better.
const GRACE: Duration = Duration::from_secs(5);

/// The beginning of the warning about texts that the database put into `jobstats.rejects`.
const REJECTED: &str = "jobstats rejected ";

/// A connection to the database, made when it is first needed.
pub struct Database {
    connector: Connector,
    timeouts: Timeouts,
    state: StateFile,
    runtime: Runtime,
    /// The session, kept from one reading to the next so that the database need not read again the rows that it has just stored.
    session: Option<Session>,
}

impl Drop for Database {
    fn drop(&mut self) {
        self.close();
    }
}

impl Database {
    /// Prepares TLS and the runtime, without connecting.
    pub fn new(
        settings: Settings,
        timeouts: Timeouts,
        state: StateFile,
    ) -> Result<Self, SendError> {
        Ok(Self {
            connector: Connector::new(settings.for_writing(), timeouts.connect)?,
            timeouts,
            state,
            runtime: runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()?,
            session: None,
        })
    }

    pub fn hosts(&self) -> Vec<(String, u16)> {
        self.connector.hosts()
    }

    /// Connects, if there is no connection yet.
    pub fn connect(&mut self) -> Result<(), jobstats_client::Error> {
        self.session = Some(self.take()?);
        Ok(())
    }

    /// Takes the session, or makes one.
    fn take(&mut self) -> Result<Session, jobstats_client::Error> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => self.runtime.block_on(self.connector.session()),
        }
    }

    /// Runs a query, in a form that transaction poolers pass on.
    pub fn ask(&mut self, question: &str) -> Result<Vec<SimpleQueryMessage>, SendError> {
        let session = self.take()?;
        let asked = async { Ok(session.client.simple_query(question).await?) };
        let answer = self.within(self.timeouts.statement, Duration::ZERO, asked);
        self.session = Some(session);
        answer
    }

    /// Tries a text in a transaction that is rolled back, to see whether the database would take it. Returns the notices of the database. If
    /// it fails, they are lost, because the message of the error is better.
    pub fn rehearse(&mut self, reading: &Reading, text: &Text) -> Result<Vec<Notice>, SendError> {
        let mut session = self.take()?;
        let tried = Row::new(reading, text)
            .and_then(|row| self.copy(&mut session, &row, reading, text, false));
        let notices = session.notices().collect();
        self.session = Some(session);
        tried.map(|()| notices)
    }

    /// Sends a row in a transaction, which is committed if it is `kept`, and otherwise rolled back.
    fn copy(
        &self,
        session: &mut Session,
        row: &Row,
        reading: &Reading,
        text: &Text,
        kept: bool,
    ) -> Result<(), SendError> {
        let limit = self.timeouts.statement;
        let copied = async {
            let transaction = begin(&mut session.client, limit).await?;
            fill(&transaction, row, reading, text).await?;
            match kept {
                true => transaction.commit().await?,
                false => transaction.rollback().await?,
            }
            Ok(())
        };
        self.within(limit, GRACE, copied)
    }

    /// Waits for an answer until the limit and the grace after it are over.
    fn within<T>(
        &self,
        limit: Duration,
        grace: Duration,
        answer: impl Future<Output = Result<T, SendError>>,
    ) -> Result<T, SendError> {
        let answer = async { timeout(limit.saturating_add(grace), answer).await };
        let late = |_| Err(SendError::StatementTimeout(limit));
        self.runtime.block_on(answer).unwrap_or_else(late)
    }
}

impl Transport for Database {
    /// Closes the session if it does not answer, for example because the server was restarted or a firewall forgot the
    /// connection. A reading that found this out with its first target would wait too long.
    fn prepare(&mut self) {
        let answers = self.session.as_ref().map(|session| {
            let nothing = async { Ok(session.client.batch_execute("").await?) };
            self.within(self.timeouts.connect, Duration::ZERO, nothing)
        });
        if let Some(Err(_)) = answers {
            self.close();
        }
    }

    /// Stores the first text in one transaction. The session is reused unless it broke.
    fn store(&mut self, reading: &Reading, texts: &[&Text]) -> Result<Answer, SendError> {
        let Some(text) = texts.first() else {
            return Ok(Answer::Stored);
        };
        let row = Row::new(reading, text)?;
        let mut session = self.take()?;
        let tried = self.copy(&mut session, &row, reading, text, true);
        let mut answer = Answer::Stored;
        for said in session.notices() {
            let message = format!("{}: {}", text.shown_name(), said.message);
            if !said.is_warning {
                if self.state.is_news(text.shown_name(), &said.message) {
                    notice(&message);
                }
                continue;
            }
            warn(&message);
            if is_rejection(&said) {
                answer = Answer::Rejected(message);
            }
        }
        if tried.as_ref().err().is_none_or(SendError::is_of_one_target) {
            self.session = Some(session);
        }
        tried.map(|()| answer)
    }

    fn name(&self) -> String {
        self.connector.to_string()
    }

    fn close(&mut self) {
        if let Some(session) = self.session.take() {
            self.runtime.block_on(session.close());
        }
    }
}

/// Returns true if the notice reports that the text is in `jobstats.rejects`.
pub fn is_rejection(notice: &Notice) -> bool {
    notice.is_warning && notice.message.starts_with(REJECTED)
}

/// Confirms a commit only after the server has written it to disk, whatever the database's default is: a reading is deleted
/// then. Other settings than `off` do so too.
const DURABLE: &str = "SELECT pg_catalog.set_config('synchronous_commit'::text, 'on'::text, true)
     WHERE pg_catalog.current_setting('synchronous_commit'::text) OPERATOR(pg_catalog.=) 'off'::text";

/// Returns the statement that limits how long the server lets this transaction wait. If the connection dies silently, the
/// server ends the session, between statements by the idle limit and inside COPY by the limits of TCP: otherwise the
/// session would keep the lock of the target, and later readings could not be stored. `SET LOCAL` also works through a
/// pooler of transactions.
fn limits(statement: Duration) -> String {
    let milliseconds = |limit: Duration| limit.as_millis().min(i32::MAX.unsigned_abs().into());
    format!(
        "SET LOCAL statement_timeout = {};
         SET LOCAL idle_in_transaction_session_timeout = {};
         SET LOCAL tcp_keepalives_idle = {};
         SET LOCAL tcp_keepalives_interval = {};
         SET LOCAL tcp_keepalives_count = {};
         SET LOCAL tcp_user_timeout = {};
         {DURABLE}",
        milliseconds(statement),
        milliseconds(statement.saturating_add(GRACE)),
        keepalive::IDLE.as_secs(),
        keepalive::INTERVAL.as_secs(),
        keepalive::RETRIES,
        milliseconds(keepalive::UNACKNOWLEDGED),
    )
}

async fn begin(client: &mut Client, limit: Duration) -> Result<Transaction<'_>, SendError> {
    // The isolation level is set whatever the database's default is: the feed must see the rows that others committed while it
    // waited.
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted)
        .start()
        .await?;
    transaction.batch_execute(&limits(limit)).await?;
    Ok(transaction)
}

async fn fill(
    transaction: &Transaction<'_>,
    row: &Row,
    reading: &Reading,
    text: &Text,
) -> Result<(), SendError> {
    let copy = transaction.copy_in::<_, Cursor<Vec<u8>>>(COPY);
    let mut sink = pin!(copy.await?);
    sink.send(Cursor::new(row.head.clone())).await?;
    for piece in reading.pieces(text, PIECE) {
        sink.send(Cursor::new(piece?)).await?;
    }
    sink.send(Cursor::new(row.tail.clone())).await?;
    sink.finish().await?;
    Ok(())
}
