//! Used space: its owners on each file system, at the end of a window.

use std::cmp::Reverse;

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use jobstats_client::answers::{self, Dimension, Filters, SpaceRow, words};

use super::number;
use crate::ask::store::{Answer, Error, Store};
use crate::values::when::Span;

/// The space of owners.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// The owners, largest first. The growth is unknown without `since`.
    pub answered: Answer<SpaceRow>,
    /// The space of all owners of each file system.
    pub whole: Vec<SpaceRow>,
    /// The time of the lists that others are compared with, if there are any of about the start of the window.
    pub since: Option<Timestamp>,
}

/// The dimensions of the place of a file, and of its owner.
const OWNER: [Dimension; 5] = [
    Dimension::Cluster,
    Dimension::Filesystem,
    Dimension::User,
    Dimension::Uid,
    Dimension::Account,
];

/// Loads the space of these owners; `None` if unknown.
pub fn ask(store: &mut Store, owners: Filters, window: Span) -> Result<Option<Space>, Error> {
    let mut question = answers::Space {
        at: day(window, Timestamp::now()),
        by: words(OWNER),
        since: Some(window.0),
        n: None,
        filter: owners,
    };
    let mut answered = store.ask(&question)?;
    if answered.rows.is_empty() {
        return Ok(None);
    }
    question.by = words(&OWNER[..2]);
    question.filter = Filters {
        cluster: question.filter.cluster,
        filesystem: question.filter.filesystem,
        ..Filters::default()
    };
    let whole = store.ask(&question)?.rows;
    (question.at, question.since) = (question.since, None);
    let before = store.ask(&question)?;
    let oldest = |rows: &[SpaceRow]| rows.iter().filter_map(|row| row.time).min();
    // Where days are missing, both times may have the same lists.
    let since = oldest(&before.rows).filter(|since| Some(*since) < oldest(&whole));
    let rows = &mut answered.rows;
    if since.is_none() {
        rows.iter_mut()
            .for_each(|row| (row.added_bytes, row.added_inodes) = (None, None));
    }
    rows.sort_by_key(|row| Reverse(row.bytes));
    Ok(Some(Space {
        answered,
        whole,
        since,
    }))
}

/// Returns the day whose first quota lists are nearest to the end of a window; `None` for the newest lists.
fn day(window: Span, now: Timestamp) -> Option<Timestamp> {
    let days = TimestampRound::new().smallest(Unit::Hour).increment(24);
    let end = window.1.round(days.mode(RoundMode::Ceil)).ok()?;
    let today = now.round(days.mode(RoundMode::Trunc)).ok()?;
    (end < today).then_some(end)
}

impl Space {
    /// Returns the part of all that is used in its file system.
    pub fn share(&self, row: &SpaceRow) -> Option<f64> {
        let place = |row: &SpaceRow| (row.labels.cluster.clone(), row.labels.filesystem.clone());
        let whole = self.whole.iter().find(|whole| place(whole) == place(row))?;
        let whole = number(whole.bytes);
        (whole > 0.0).then(|| number(row.bytes) / whole)
    }

    /// Returns the time of the oldest list.
    pub fn read(&self) -> Option<Timestamp> {
        self.answered.rows.iter().filter_map(|row| row.time).min()
    }

    /// Returns the name of the file system of a row, with its cluster if there are several.
    pub fn place(&self, row: &SpaceRow) -> String {
        let of = |row: &SpaceRow| row.labels.cluster.clone().unwrap_or_default();
        let name = row.labels.filesystem.clone().unwrap_or_default();
        match self.whole.iter().all(|it| of(it) == of(row)) {
            true => name,
            false => format!("{} {name}", of(row)),
        }
    }
}

/// Returns the number of targets that a row sums up, in words.
pub fn targets(row: &SpaceRow) -> String {
    let [said, all] = [row.targets, row.of_targets].map(Option::unwrap_or_default);
    format!("{said} of {all}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_those_nearest_to_the_end_of_the_window() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = time("2026-11-20T15:30:00Z");
        let day = |end: &str| day((Timestamp::MIN, time(end)), now).map(|day| day.to_string());
        for newest in [
            "2026-11-20T15:30:00Z",
            "2026-11-20T00:00:00Z",
            "2026-11-19T10:00:00Z",
        ] {
            assert_eq!(day(newest), None, "{newest}");
        }
        let past = Some("2026-11-19T00:00:00Z".to_owned());
        assert_eq!(day("2026-11-19T00:00:00Z"), past);
        assert_eq!(day("2026-11-18T10:00:00Z"), past);
    }
}
