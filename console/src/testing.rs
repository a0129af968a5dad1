//! Short ways to make readings in tests.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use jiff::Timestamp;
use jobstats_client::answers::EventRow;
use jobstats_core::base::instant::{Micros, SECOND};
use jobstats_core::base::operation::find;
use jobstats_core::base::target::{TargetKind, kind_in_name};
use jobstats_core::rules::increment::Column;

use crate::live::interval::{EntryUsage, Interval, Round, TargetCounters, TargetSnapshot};
use crate::live::owner::Names;
use crate::live::user_names::UserNames;
use crate::report::{Load, Scope};
use crate::show::chart::frame::Point;

/// Returns a second since the epoch.
pub fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Returns the question about a file system in the first seconds since the epoch.
pub fn scope(seconds: i64) -> Scope {
    Scope {
        filesystem: "scratch".to_owned(),
        window: (time(0), time(seconds)),
        ..Scope::default()
    }
}

/// Returns a load in steps of ten minutes, each from a second since the epoch on.
pub fn load(steps: &[(i64, Option<f64>)]) -> Load {
    Load {
        step: 600,
        now: points(steps),
        before: Vec::new(),
        coverage: 1.0,
        mean: Some(1.0),
        mean_before: None,
        notes: Vec::new(),
        statements: Vec::new(),
    }
}

/// Returns steps of ten minutes, each from a second since the epoch on.
pub fn points(points: &[(i64, Option<f64>)]) -> Vec<Point> {
    let point = |(second, value): &(i64, Option<f64>)| Point {
        time: time(*second),
        seconds: 600.0,
        value: *value,
    };
    points.iter().map(point).collect()
}

/// Returns an event of ten minutes, from the epoch on.
pub fn event(kind: &str, severity: &str) -> EventRow {
    EventRow {
        event_id: 7,
        event: kind.to_owned(),
        severity: severity.to_owned(),
        filesystem: "scratch".to_owned(),
        began: time(0),
        detected_at: time(300),
        until: time(600),
        ended: Some(time(600)),
        targets: vec!["scratch-OST0000".to_owned(), "scratch-OST0001".to_owned()],
        servers: vec!["mds1".to_owned()],
        rate: 5.0,
        updated: time(600),
        ..EventRow::default()
    }
}

/// Makes an interval in seconds, in which entries did so much. An operation that ends with `_usecs` is the time of one.
pub fn interval(since: Micros, until: Micros, work: &[(&str, &str, i64)]) -> Interval {
    let formats = ["%j:%u:%H", "%e.%u"].map(str::to_owned);
    let mut names = Names::new(&formats, UserNames::default()).unwrap();
    let work = work.iter().map(|(id, operation, total)| {
        let column = match operation.strip_suffix("_usecs") {
            Some(operation) => Column::Usecs(find(operation.as_bytes()).unwrap()),
            None => Column::Total(find(operation.as_bytes()).unwrap()),
        };
        EntryUsage {
            owner: names.owner(id),
            totals: vec![(column, *total)],
        }
    });
    let work: Vec<_> = work.collect();
    let is_timed = |work: &EntryUsage| matches!(work.totals[0].0, Column::Usecs(_));
    Interval {
        since: since * SECOND,
        until: until * SECOND,
        timed: (!work.is_empty()).then(|| work.iter().any(is_timed)),
        work,
        counters: None,
        added: 0,
        resets: 0,
        removed: 0,
    }
}

/// Adds what a target has counted by itself to its interval: the totals, and the parts of them that are in no entry.
pub fn counted(interval: Interval, counters: &[(&str, f64, f64)]) -> Interval {
    let mut counted = TargetCounters::default();
    for (name, total, untracked) in counters {
        let unit = if *name == "service_time" { 1e6 } else { 1.0 };
        counted.add(name, (total * unit) as i128, (untracked * unit) as i128);
    }
    Interval {
        counters: Some(counted),
        ..interval
    }
}

/// Makes a reading at a second, with one text for each target.
pub fn round(time: Micros, targets: &[(&str, Option<Interval>)]) -> Round {
    let seen = targets.iter().map(|(name, interval)| TargetSnapshot {
        target: (*name).into(),
        kind: kind_in_name(name).unwrap_or(TargetKind::Ost),
        server: format!("oss-of-{name}").into(),
        time: time * SECOND,
        entries: 1,
        problems: 0,
        interval: interval.clone(),
    });
    Round {
        time: time * SECOND,
        snapshots: seen.collect(),
        ..Round::default()
    }
}
