//! Two snapshots of one target → what its entries did in between.

use crate::operation::OperationIndex;
use crate::snapshot::HISTOGRAM_LEN;

/// Microseconds since 1970.
pub type Micros = i64;

/// A column of `jobstats.increments`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// `<op>`: calls, or bytes for an operation of kind Bytes.
    Total(OperationIndex),
    /// `<op>_usecs`: microseconds spent on an operation of kind Requests.
    Usecs(OperationIndex),
}

/// What one entry did in (since, time].
#[derive(Debug, Clone, PartialEq)]
pub struct Increment<'a> {
    /// The entry's identifier.
    pub id: &'a str,
    /// The observation before.
    pub since: Micros,
    /// The observation that gave it; after splitting, the end of the part.
    pub time: Micros,
    /// The counters restarted in this span.
    pub reset: bool,
    /// `snapshot_time`, where it is on the wall clock; on the last part only.
    pub last_active: Option<Micros>,
    /// Growth, above 0 and below 2^53, each column at most once.
    pub totals: Vec<(Column, i64)>,
    /// Growth of the elements of `read_bytes`' histogram, where any grew.
    pub read_histogram: Option<Box<[i64; HISTOGRAM_LEN]>>,
    /// The same of `write_bytes`.
    pub write_histogram: Option<Box<[i64; HISTOGRAM_LEN]>>,
    /// What the columns do not hold (rule 7), as a JSON object; on the last part only.
    pub detail: Option<String>,
}
