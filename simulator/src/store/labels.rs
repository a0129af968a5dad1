//! The true times of readings, for servers whose clocks were wrong.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;
use thiserror::Error;

use crate::time::{self, timestamp};
use crate::world::cluster::{Cluster, ServerIndex};
use crate::world::schedule::Due;

#[cfg(test)]
mod tests;

/// An error of a table of labels.
#[derive(Debug, Error)]
pub enum Error {
    /// The table cannot be read.
    #[error("{0}: {1}")]
    Unreadable(String, csv::Error),
    /// A row names no server or no time.
    #[error("{0}: label {1}: there is no such server or time")]
    Row(String, usize),
}

/// The readings by server and label.
pub type Labels = HashMap<(ServerIndex, Timestamp), Due>;

#[derive(Deserialize)]
struct Row {
    server: String,
    label: String,
    time: String,
}

/// Reads a table of labels.
pub fn read(path: &Path, cluster: &Cluster) -> Result<Labels, Error> {
    let shown = path.display().to_string();
    let unreadable = |error| Error::Unreadable(shown.clone(), error);
    let mut csv = csv::Reader::from_path(path).map_err(unreadable)?;
    let mut labels = Labels::new();
    for (index, row) in csv.deserialize::<Row>().enumerate() {
        let due = due(&row.map_err(unreadable)?, cluster);
        let due = due.ok_or_else(|| Error::Row(shown.clone(), index + 1))?;
        labels.insert((due.server, timestamp(due.label)), due);
    }
    Ok(labels)
}

fn due(row: &Row, cluster: &Cluster) -> Option<Due> {
    Some(Due {
        time: time::parse(&row.time).ok()?,
        server: cluster.server(&row.server)?,
        label: time::parse(&row.label).ok()?,
    })
}
