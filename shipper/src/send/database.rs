//! Stores texts over a connection to PostgreSQL.

use std::future::Future;
use std::io::Cursor;
use std::pin::pin;
use std::time::Duration;

use futures_util::SinkExt;
use jobstats_client::connection::KEEPALIVE;
use jobstats_client::spool::Text;
use jobstats_client::{Connector, Notice, Session, Settings};
use tokio::runtime::{self, Runtime};
use tokio::time::timeout;
use tokio_postgres::{Client, IsolationLevel, Transaction};

use super::{Answer, Error, Timeouts, Transport};
use crate::frame::{Reading, Sender};
use crate::send::row::Row;
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
    /// The session, kept from one reading to the next so that the database need not read again what it has just stored.
    session: Option<Session>,
}

impl Drop for Database {
    fn drop(&mut self) {
        self.close();
    }
}

impl Database {
    /// Prepares TLS and the runtime; connects to nothing yet.
    pub fn new(settings: Settings, timeouts: Timeouts, state: StateFile) -> Result<Self, Error> {
        let connector = Connector::new(settings.for_writing(), timeouts.connect)?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self {
            connector,
            timeouts,
            state,
            runtime,
            session: None,
        })
    }

    /// Stores a text in a transaction of its own. The session is kept unless it broke.
    fn store_one(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        text: &Text,
    ) -> Result<Answer, Error> {
        let row = Row::new(sender, reading, text)?;
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.runtime.block_on(self.connector.session())?,
        };
        let limit = self.timeouts.statement;
        let copying = copy(&mut session.client, limit, &row, reading, text);
        let late = Error::StatementTimeout(limit);
        let tried = self
            .runtime
            .block_on(within(limit.saturating_add(GRACE), copying, late));
        let mut answer = Answer::Stored;
        for said in session.notices() {
            let message = format!("{}: {}", text.shown_name(), said.message);
            if !said.is_warning {
                if self.state.is_news(text.shown_name(), &said.message) {
                    notice(format_args!("{message}"));
                }
                continue;
            }
            warn(format_args!("{message}"));
            if is_rejection(&said) {
                answer = Answer::Rejected(message);
            }
        }
        if tried.as_ref().err().is_none_or(Error::is_of_one_target) {
            self.session = Some(session);
        }
        tried.map(|()| answer)
    }
}

impl Transport for Database {
    /// Closes the session if it does not answer, for example because the server was restarted or a firewall forgot the
    /// connection. A reading that found this out with its first target would wait too long.
    fn prepare(&mut self) {
        let limit = self.timeouts.connect;
        let answers = self.session.as_ref().map(|session| {
            let nothing = async { Ok(session.client.batch_execute("").await?) };
            let late = Error::StatementTimeout(limit);
            self.runtime.block_on(within(limit, nothing, late))
        });
        if let Some(Err(_)) = answers {
            self.close();
        }
    }

    fn store(
        &mut self,
        sender: &Sender,
        reading: &Reading,
        texts: &[&Text],
    ) -> Result<Answer, Error> {
        // There is one, because each text has a transaction of its own.
        let mut answer = Answer::Stored;
        for text in texts {
            answer = self.store_one(sender, reading, text)?;
        }
        Ok(answer)
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

/// Returns true if the database says that it has put the text into `jobstats.rejects`.
pub fn is_rejection(notice: &Notice) -> bool {
    notice.is_warning && notice.message.starts_with(REJECTED)
}

async fn within<T>(
    limit: Duration,
    what: impl Future<Output = Result<T, Error>>,
    late: Error,
) -> Result<T, Error> {
    timeout(limit, what).await.unwrap_or(Err(late))
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
        KEEPALIVE.idle.as_secs(),
        KEEPALIVE.interval.as_secs(),
        KEEPALIVE.retries,
        milliseconds(KEEPALIVE.unacknowledged),
    )
}

async fn copy(
    client: &mut Client,
    limit: Duration,
    row: &Row,
    reading: &Reading,
    text: &Text,
) -> Result<(), Error> {
    let transaction = begin(client, limit).await?;
    fill(&transaction, row, reading, text).await?;
    transaction.commit().await?;
    Ok(())
}

/// Stores a text in a transaction that is rolled back, to see whether the database would take it.
///
/// # Errors
///
/// Fails as the delivery would.
pub async fn rehearse(
    client: &mut Client,
    limit: Duration,
    sender: &Sender,
    reading: &Reading,
    text: &Text,
) -> Result<(), Error> {
    let row = Row::new(sender, reading, text)?;
    let filled = async {
        let transaction = begin(client, limit).await?;
        fill(&transaction, &row, reading, text).await?;
        transaction.rollback().await?;
        Ok(())
    };
    let late = Error::StatementTimeout(limit);
    within(limit.saturating_add(GRACE), filled, late).await
}

async fn begin(client: &mut Client, limit: Duration) -> Result<Transaction<'_>, Error> {
    // The isolation level is set whatever the database's default is: the feed must see what others committed while it
    // waited.
    let transaction = client
        .build_transaction()
        .isolation_level(IsolationLevel::ReadCommitted)
        .start()
        .await?;
    transaction.batch_execute(&limits(limit)).await?;
    Ok(transaction)
}

/// Sends a row to the feed.
async fn fill(
    transaction: &Transaction<'_>,
    row: &Row,
    reading: &Reading,
    text: &Text,
) -> Result<(), Error> {
    let mut sink = pin!(
        transaction
            .copy_in::<_, Cursor<Vec<u8>>>(row.statement())
            .await?
    );
    sink.send(Cursor::new(row.head().to_vec())).await?;
    for piece in reading.pieces(text, PIECE) {
        sink.send(Cursor::new(piece?)).await?;
    }
    sink.send(Cursor::new(row.tail().to_vec())).await?;
    sink.finish().await?;
    Ok(())
}
