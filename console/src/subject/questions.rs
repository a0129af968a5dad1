//! The questions that are asked about several kinds of subjects.

use jiff::Timestamp;
use jobstats_client::answers::{
    Dimension, Filters, Rates, Summary, SummaryRow, TotalRow, Totals, Window,
};

use jobstats_core::operation::{self, OPERATIONS};

use super::{COURSE, Course, Kind, Subject, Usage, interval, number, seconds};
use crate::ask::store::{Answered, Error, Store};
use crate::values::when;

/// The largest number of steps of a course.
const STEPS: usize = 60;

/// Returns true if an operation is part of the metadata requests, where an MDT reports it: OSTs report some of these operations
/// too.
pub(super) fn is_part(operation: &str) -> bool {
    let known = operation::find(operation.as_bytes());
    known.is_some_and(|it| OPERATIONS[it].metadata)
}

/// Returns a subject with the usage of these totals.
pub(super) fn new(
    kind: Kind,
    name: &str,
    window: (Timestamp, Timestamp),
    totals: &[TotalRow],
    filters: &Filters,
) -> Subject {
    Subject {
        kind,
        name: name.to_owned(),
        filters: filters.clone(),
        facts: Vec::new(),
        window,
        usage: COURSE
            .iter()
            .filter_map(|name| usage(totals, window, name))
            .collect(),
        course: Course::default(),
        rankings: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        statements: Vec::new(),
    }
}

/// Returns the usage of an operation. Its rate is the mean of the whole window, in which time without observations counts as
/// idle.
pub(super) fn usage(
    rows: &[TotalRow],
    window: (Timestamp, Timestamp),
    operation: &str,
) -> Option<Usage> {
    let row = rows.iter().find(|row| row.operation == operation)?;
    Some(Usage {
        operation: row.operation.clone(),
        total: row.total,
        calls: row.calls,
        per_call: row.per_call,
        rate: row.total.map(|total| number(total) / seconds(window)),
    })
}

/// Asks for the totals of the operations of the course.
pub(super) fn ask_totals(
    store: &mut Store,
    window: (Timestamp, Timestamp),
    filters: &Filters,
) -> Result<Answered<TotalRow>, Error> {
    let mut answered = store.ask(&Totals {
        window: Window::new(window.0, window.1),
        operations: Some(COURSE.map(str::to_owned).to_vec()),
        by: Some(Vec::new()),
        filters: filters.clone(),
    })?;
    // A group of targets has a row without anything done; that is nobody's work.
    let is_work = |row: &TotalRow| row.total.is_some_and(|total| !total.is_zero());
    if !answered.rows.iter().any(is_work) {
        answered.rows.clear();
    }
    Ok(answered)
}

/// Adds the parts of the metadata requests of a subject.
pub(super) fn add_parts(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let parts = OPERATIONS.iter().filter(|it| it.metadata);
    let totals = store.ask(&Totals {
        window: Window::new(subject.window.0, subject.window.1),
        operations: Some(parts.map(|it| it.name.to_owned()).collect()),
        by: Some(Vec::new()),
        filters: Filters {
            kind: Some(vec!["MDT".to_owned()]),
            ..subject.filters.clone()
        },
    })?;
    // Rates add up too: those of a job are of the time that was observed.
    let length = match subject.used("metadata") {
        Some(Usage {
            total: Some(total),
            rate: Some(rate),
            ..
        }) if *rate > 0.0 => number(*total) / rate,
        _ => seconds(subject.window),
    };
    let parts = totals.rows.iter().filter_map(|row| {
        Some(Usage {
            rate: row.total.map(|total| number(total) / length),
            ..usage(&totals.rows, subject.window, &row.operation)?
        })
    });
    let parts: Vec<_> = parts.collect();
    subject.usage.extend(parts);
    subject.note("The parts of metadata requests", &totals);
    Ok(())
}

/// Asks for a summary.
pub fn ask_summary(
    store: &mut Store,
    window: (Timestamp, Timestamp),
    by: Vec<Dimension>,
    filters: &Filters,
) -> Result<Answered<SummaryRow>, Error> {
    store.ask(&Summary {
        window: Window::new(window.0, window.1),
        by: Some(by),
        filters: filters.clone(),
    })
}

/// Asks for the course of a subject.
pub(super) fn add_course(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let step = when::step(seconds(subject.window), 60, STEPS);
    let rates = store.ask(&Rates {
        window: Window::new(subject.window.0, subject.window.1),
        operations: Some(COURSE.map(str::to_owned).to_vec()),
        by: Some(Vec::new()),
        step: Some(interval(step)),
        filters: subject.filters.clone(),
    })?;
    subject.course = Course::of(&rates.rows, step);
    subject.note("Its course", &rates);
    Ok(())
}
