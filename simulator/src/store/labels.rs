//! The true times of readings, for servers whose clocks were wrong.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use crate::failure::Failure;
use crate::time::{self, timestamp};
use crate::world::{Cluster, Due, ServerIndex};

#[cfg(test)]
mod tests;

/// The readings by server and label.
pub type Labels = HashMap<(ServerIndex, Timestamp), Due>;

#[derive(Deserialize)]
struct Row {
    server: String,
    label: String,
    time: String,
}

/// Reads a table of labels.
pub fn read(path: &Path, cluster: &Cluster) -> Result<Labels, Failure> {
    let unreadable = |error| Failure::file(path, error);
    let mut csv = csv::Reader::from_path(path).map_err(unreadable)?;
    let mut labels = Labels::new();
    for (index, row) in csv.deserialize::<Row>().enumerate() {
        let due = due(&row.map_err(unreadable)?, cluster);
        let problem = || format!("label {}: unknown server or time", index + 1);
        let due = due.ok_or_else(|| Failure::file(path, problem()))?;
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
