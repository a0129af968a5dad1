//! Keeps the number of alarms of a file system within its budget: the floor that an event must reach rises by itself.

use crate::base::instant::{DAY, Micros};

/// The time over which the budget is kept.
const SPAN: Micros = 28 * DAY;

/// An event that may raise an alert: its time, and by how many times it passes the floor of its kind.
pub type Rated = (Micros, f64);

/// Returns whether an event raises an alert, given those before it. It is if fewer events of the last four weeks were as strong than the
/// budget has alarms for that time.
pub fn allows(before: &[Rated], event: Rated, per_week: f64) -> bool {
    let recent = before.iter();
    let recent = recent.filter(|(time, _)| *time > event.0 - SPAN && *time < event.0);
    let stronger = recent.filter(|(_, rate)| *rate >= event.1).count();
    (stronger as f64) < per_week * (SPAN / (7 * DAY)) as f64
}
