//! Short ways to make readings in tests.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

use jobstats_core::increment::Column;
use jobstats_core::instant::{Micros, SECOND};
use jobstats_core::operation::find;
use jobstats_core::target::{TargetKind, kind_in_name};

use crate::live::interval::{Interval, Reading, Seen, Work};
use crate::live::who::Names;

/// Makes an interval in seconds, in which entries did so much. An operation that ends with `_usecs` is the time of one.
pub fn interval(since: Micros, until: Micros, work: &[(&str, &str, i64)]) -> Interval {
    let mut names = Names::new(&["%j:%u:%H".to_owned(), "%e.%u".to_owned()]).unwrap();
    let work = work.iter().map(|(id, operation, total)| {
        let column = match operation.strip_suffix("_usecs") {
            Some(operation) => Column::Usecs(find(operation.as_bytes()).unwrap()),
            None => Column::Total(find(operation.as_bytes()).unwrap()),
        };
        Work {
            who: names.who(id),
            totals: vec![(column, *total)],
        }
    });
    let work: Vec<_> = work.collect();
    let is_timed = |work: &Work| matches!(work.totals[0].0, Column::Usecs(_));
    Interval {
        since: since * SECOND,
        until: until * SECOND,
        timed: (!work.is_empty()).then(|| work.iter().any(is_timed)),
        work,
        added: 0,
        resets: 0,
        removed: 0,
    }
}

/// Makes a reading at a second, with one text for each target.
pub fn reading(time: Micros, targets: &[(&str, Option<Interval>)]) -> Reading {
    let seen = targets.iter().map(|(name, interval)| Seen {
        target: (*name).into(),
        kind: kind_in_name(name).unwrap_or(TargetKind::Ost),
        server: format!("oss-of-{name}").into(),
        time: time * SECOND,
        entries: 1,
        problems: 0,
        interval: interval.clone(),
    });
    Reading {
        time: time * SECOND,
        seen: seen.collect(),
        pending: Vec::new(),
        failures: Vec::new(),
    }
}
