//! A connection to a store that can be read.

use jobstats_client::Connector;
use jobstats_core::increment::Column;
use jobstats_core::operation::OPERATIONS;
use postgres::Client;

use super::Error;
use crate::ask::store;

/// The settings of a session: it reads only, no statement hangs, and none is compiled, which would take longer than it runs.
const SETTINGS: &str = "\
    SET default_transaction_read_only = on; SET statement_timeout = '30s'; SET jit = off; SET TIME ZONE 'UTC'; \
    SET client_min_messages = warning";

/// A connection to a store.
pub struct Session {
    /// The connection.
    pub client: Client,
    /// The columns of operations that the store has. One of an older version lacks some.
    pub columns: Vec<Column>,
}

impl Session {
    /// Connects, and looks whether there is a store that this role may read.
    ///
    /// # Errors
    ///
    /// Fails if there is no connection or no such store.
    pub fn open(connector: &Connector) -> Result<Self, Error> {
        let client = connector.client();
        let mut client = client.map_err(|cause| jobstats_client::Error::Connect {
            to: connector.to_string(),
            cause: Box::new(cause),
        })?;
        client.batch_execute(SETTINGS)?;
        store::require(&mut client)?;
        let names = client.query_typed(include_str!("columns.sql"), &[])?;
        let names = names.iter().map(|row| row.try_get("name"));
        let names: Vec<String> = names.collect::<Result<_, _>>()?;
        let columns = all_columns().filter(|it| names.contains(&name(*it)));
        let columns = columns.collect();
        Ok(Self { client, columns })
    }
}

fn all_columns() -> impl Iterator<Item = Column> {
    let operations = 0..OPERATIONS.len();
    let usecs = operations.clone().map(Column::Usecs);
    operations.map(Column::Total).chain(usecs)
}

/// Returns the name of a column of increments.
pub fn name(column: Column) -> String {
    match column {
        Column::Total(index) => OPERATIONS[index].name.to_owned(),
        Column::Usecs(index) => format!("{}_usecs", OPERATIONS[index].name),
    }
}
