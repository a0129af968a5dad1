//! Selects the days to export: past days in UTC that are completely retained.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use jobstats_client::answers::{Filters, Retained, RetainedRow};
use postgres::Client;

use super::Level;
use crate::ask::error::Error;
use crate::ask::store;
use crate::source::stored;

/// Loads the retained time. Fails if the scope has no target.
pub fn ask(client: &mut Client, scope: &Filters, level: Level) -> Result<RetainedRow, Error> {
    let question = Retained {
        level: Some(level.name().to_owned()),
        cluster: scope.cluster.clone(),
        filesystem: scope.filesystem.clone(),
    };
    let retained = jobstats_client::ask(client, &question).map_err(store::Error::from)?;
    let retained = retained.into_iter().find(|retained| retained.targets > 0);
    retained.ok_or_else(|| stored::nothing(scope))
}

/// The days to export, and notes about skipped days.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The days, from the first one on.
    pub days: Vec<Date>,
    /// Notes about requested days that are skipped.
    pub notes: Vec<String>,
}

/// Selects the days of a window, by default all past days that are retained.
pub fn plan(
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    retained: &RetainedRow,
    level: Level,
) -> Plan {
    let Some(first) = retained.first else {
        return Plan::default();
    };
    // A day that has lost its first hours would be a file that lacks them.
    let whole = day(retained.since.max(first));
    let whole = match start(whole) < retained.since {
        true => after(whole),
        false => whole,
    };
    let mut notes = Vec::new();
    let begins = from.map_or(whole, day);
    if begins < whole {
        notes.push(format!(
            "days before {whole} are left out: the store does not have all {} of them{}",
            level.name(),
            match level {
                Level::Increments => "; --level 1h may have them",
                _ => "",
            }
        ));
    }
    let today = day(retained.now);
    let ends = to.map_or(today, day);
    let settled = retained.complete.map_or(today, |time| day(time).min(today));
    if settled < ends.min(today) && begins < ends {
        notes.push(format!(
            "days from {settled} on are left out: not all targets have been observed since their end; export them later"
        ));
    }
    let ends = ends.min(settled);
    let days = begins.max(whole).series(1.day());
    Plan {
        days: days.take_while(|day| *day < ends).collect(),
        notes,
    }
}

/// Returns the day of a time, in UTC.
pub fn day(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

/// Returns the start of a day, in UTC.
pub fn start(day: Date) -> Timestamp {
    let midnight = day.to_zoned(TimeZone::UTC);
    midnight.map_or(Timestamp::MIN, |midnight| midnight.timestamp())
}

/// Returns the day after a day.
pub fn after(day: Date) -> Date {
    day.tomorrow().unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn retained() -> RetainedRow {
        RetainedRow {
            now: time("2026-11-23T14:00:00Z"),
            since: time("1970-01-01T00:00:00Z"),
            first: Some(time("2026-11-20T09:30:00Z")),
            complete: Some(time("2026-11-23T13:58:00Z")),
            targets: 1,
        }
    }

    fn days(plan: &Plan) -> Vec<String> {
        plan.days.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_days_that_are_over_are_exported() {
        let plan = plan(None, None, &retained(), Level::Increments);
        assert_eq!(days(&plan), ["2026-11-20", "2026-11-21", "2026-11-22"]);
        assert!(plan.notes.is_empty());
    }

    #[test]
    fn the_day_of_the_end_is_not_exported() {
        let (from, to) = (time("2026-11-21T00:00:00Z"), time("2026-11-22T00:00:00Z"));
        let some = plan(Some(from), Some(to), &retained(), Level::Increments);
        assert_eq!(days(&some), ["2026-11-21"]);
        assert!(some.notes.is_empty());
    }

    #[test]
    fn a_day_waits_until_its_last_texts_have_come() {
        let late = RetainedRow {
            now: time("2026-11-23T00:03:00Z"),
            complete: Some(time("2026-11-22T23:59:00Z")),
            ..retained()
        };
        let waiting = plan(None, None, &late, Level::Increments);
        assert_eq!(days(&waiting), ["2026-11-20", "2026-11-21"]);
        assert!(waiting.notes[0].contains("from 2026-11-22 on"));
        let silent = RetainedRow {
            complete: None,
            ..late
        };
        assert_eq!(plan(None, None, &silent, Level::Increments).days.len(), 3);
    }

    #[test]
    fn a_day_that_has_lost_its_start_is_left_out() {
        let old = RetainedRow {
            since: time("2026-11-20T12:00:00Z"),
            ..retained()
        };
        let from = time("2026-10-01T00:00:00Z");
        let rest = plan(Some(from), None, &old, Level::Increments);
        assert_eq!(days(&rest), ["2026-11-21", "2026-11-22"]);
        assert!(rest.notes[0].contains("days before 2026-11-21 are left out"));
        let nothing = RetainedRow {
            first: None,
            ..retained()
        };
        assert_eq!(plan(None, None, &nothing, Level::Day), Plan::default());
    }
}
