//! Questions for several kinds of subjects and for file systems.

use std::fmt::Display;

use jobstats_client::answers::{
    Balance, BalanceRow, Baseline, Dimension, Filters, FindingRow, Findings, RateRow, Rates,
    Summary, SummaryRow, Top, TotalRow, Totals, Window, words,
};
use jobstats_core::base::operation::{self, OPERATIONS};
use jobstats_core::base::pattern::exactly;

use super::{COURSE, Course, Fact, Kind, Subject, Usage, number};
use crate::ask::store::{Answer, Answered, Error, Store};
use crate::values::number::ratio;
use crate::values::when::{self, Span};

/// The seconds of a day.
pub(super) const DAY: f64 = 86_400.0;

/// The largest number of steps of a course.
const STEPS: usize = 60;

/// The work that questions are about: all that passes the filters in a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    pub window: Span,
    pub filters: Filters,
}

impl Selection {
    /// Returns all work in a window.
    pub fn all(window: Span) -> Self {
        Self {
            window,
            filters: Filters::default(),
        }
    }

    /// Returns a selection with changed filters.
    pub fn part(mut self, change: impl FnOnce(&mut Filters)) -> Self {
        change(&mut self.filters);
        self
    }

    /// Returns the window, as an argument of questions.
    pub fn window(&self) -> Window {
        Window::new(self.window.0, self.window.1)
    }

    /// Loads the rates of operations, in steps of so many seconds or in one step.
    pub fn rates(
        &self,
        store: &mut Store,
        operations: &[&str],
        by: &[Dimension],
        step: Option<i64>,
    ) -> Answered<RateRow> {
        store.ask(&Rates {
            window: self.window(),
            operations: words(operations),
            by: words(by),
            step: step.map(when::interval),
            filter: self.filters.clone(),
        })
    }

    /// Loads the totals of operations.
    pub fn totals(
        &self,
        store: &mut Store,
        operations: impl IntoIterator<Item = impl Display>,
    ) -> Answered<TotalRow> {
        store.ask(&Totals {
            window: self.window(),
            operations: words(operations),
            by: Some(String::new()),
            filter: self.filters.clone(),
        })
    }

    /// Loads the totals of metadata operations on MDTs; OSTs have others of the same names.
    pub fn metadata_parts(&self, store: &mut Store) -> Answered<TotalRow> {
        let of_mdts = self.clone();
        let of_mdts = of_mdts.part(|filters| filters.kind = Some(vec!["MDT".to_owned()]));
        let parts = OPERATIONS.iter().filter(|it| it.metadata);
        of_mdts.totals(store, parts.map(|it| it.name))
    }

    /// Returns the question for the groups with most work by an operation.
    pub fn ranking(&self, operation: &str, by: &[Dimension], n: i32) -> Top {
        Top {
            window: self.window(),
            operation: Some(operation.to_owned()),
            by: words(by),
            n: Some(n),
            filter: self.filters.clone(),
            ..Top::default()
        }
    }

    /// Loads the rates of the targets of a kind, largest first.
    pub fn balance(&self, store: &mut Store, operation: &str, kind: &str) -> Answered<BalanceRow> {
        let mut balance = store.ask(&Balance {
            window: self.window(),
            operation: Some(operation.to_owned()),
            filter: Filters {
                kind: Some(vec![kind.to_owned()]),
                ..self.filters.clone()
            },
        })?;
        let rate = |row: &BalanceRow| row.rate.unwrap_or(-1.0);
        let rows = &mut balance.rows;
        rows.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
        Ok(balance)
    }

    /// Loads the findings about groups. Those about chosen jobs are of full hours: no increment lies across these, so that a job has
    /// the same values in any window that holds all of it.
    pub fn findings(&self, store: &mut Store, by: &[Dimension]) -> Answered<FindingRow> {
        let is_of_jobs = self.filters.job.is_some() || self.filters.job_group.is_some();
        let (since, until) = match is_of_jobs {
            true => when::full_hours(self.window),
            false => self.window,
        };
        store.try_ask(&Findings {
            window: Window::new(since, until),
            by: words(by),
            levels: None,
            filter: self.filters.clone(),
        })
    }

    /// Loads a summary.
    pub fn summary(&self, store: &mut Store, by: &[Dimension]) -> Answered<SummaryRow> {
        store.ask(&Summary {
            window: self.window(),
            by: words(by),
            filter: self.filters.clone(),
        })
    }
}

/// Returns the filter for a name.
pub(super) fn only(name: &str) -> Option<Vec<String>> {
    Some(vec![exactly(name)])
}

/// Returns the sum that an operation is part of, or the operation itself; `None` for one that counts calls of another once more.
pub fn sum_of(operation: &str) -> Option<&str> {
    match operation {
        "read" => Some("read_bytes"),
        "write" => Some("write_bytes"),
        _ if COURSE.contains(&operation) => Some(operation),
        _ => {
            let known = &OPERATIONS[operation::find(operation.as_bytes())?];
            match known.metadata {
                true => Some("metadata"),
                false => known.doubles.is_none().then_some(operation),
            }
        }
    }
}

/// Returns the operations of [`of_totals`]: those over time, and the calls that move bytes.
fn operations() -> impl Iterator<Item = &'static str> {
    COURSE.into_iter().chain(["read", "write"])
}

/// Returns a subject with the usage of these totals.
pub fn of_totals(kind: Kind, name: &str, work: &Selection, totals: &Answer<TotalRow>) -> Subject {
    let seconds = when::seconds(work.window);
    let rows = operations().filter_map(|name| total_of(&totals.rows, name));
    let mut subject = Subject::new(kind, name, work.clone());
    subject.usage = rows.map(|row| usage_of(row, seconds)).collect();
    subject.note("All operations", totals);
    subject
}

/// Returns the total of an operation.
pub(super) fn total_of<'r>(rows: &'r [TotalRow], operation: &str) -> Option<&'r TotalRow> {
    rows.iter().find(|row| row.operation == operation)
}

/// Returns the usage of a total. Its rate is the mean over so many seconds, where unobserved seconds count as idle.
fn usage_of(row: &TotalRow, seconds: f64) -> Usage {
    Usage {
        operation: row.operation.clone(),
        total: row.total,
        calls: row.calls,
        per_call: row.per_call,
        rate: row.total.map(|total| number(total) / seconds),
        ..Usage::default()
    }
}

/// Loads the totals of the operations over time.
pub fn ask_totals(store: &mut Store, work: &Selection) -> Answered<TotalRow> {
    let mut answered = work.totals(store, operations())?;
    // A group of targets has a row without anything done; that is nobody's work.
    let is_work = |row: &TotalRow| row.total.is_some_and(|total| !total.is_zero());
    if !answered.rows.iter().any(is_work) {
        answered.rows.clear();
    }
    Ok(answered)
}

/// Compares a subject with the same hours of the 30 days before.
pub(super) fn add_baseline(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    // A baseline is for a time of day.
    if when::seconds(subject.work.window) > DAY {
        return Ok(());
    }
    let usual = store.ask(&Baseline {
        window: subject.work.window(),
        by: Some(String::new()),
        filter: subject.work.filters.clone(),
        ..Baseline::default()
    })?;
    subject.note("The 30 days before", &usual);
    if let Some(row) = usual.rows.first().filter(|row| row.days > 0) {
        let median = format!(
            "the median day at this time (of {} in the 30 days before)",
            row.days
        );
        subject.add([compared(row.times_usual, &median)]);
    }
    Ok(())
}

/// Compares a subject with a median by its load. If the median is 0, any load would be far above it.
pub(super) fn compared(times: Option<f64>, median: &str) -> Option<Fact> {
    let text = format!("{} times as busy as {median}", ratio(times?));
    Fact::text("usual", "Baseline", Some(&text))
}

/// Adds the course of a subject, and the parts of its metadata requests.
pub(super) fn add_course(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let window = subject.work.window;
    let step = when::step(when::seconds(window), 60, STEPS);
    let rates = subject.work.rates(store, &COURSE, &[], Some(step))?;
    subject.note("Rates over time", &rates);
    subject.course = Course {
        step,
        steps: rates.rows,
    };
    add_parts(store, subject)
}

/// Adds the parts of the metadata requests of a subject.
pub fn add_parts(store: &mut Store, subject: &mut Subject) -> Result<(), Error> {
    let totals = subject.work.metadata_parts(store)?;
    // A job's rates are over its observed time.
    let observed = subject.used("metadata").and_then(|it| {
        let rate = it.rate.filter(|rate| *rate > 0.0)?;
        Some(number(it.total?) / rate)
    });
    let length = observed.unwrap_or_else(|| when::seconds(subject.work.window));
    let parts = totals.rows.iter().map(|row| usage_of(row, length));
    subject.usage.extend(parts);
    subject.note("Metadata requests by operation", &totals);
    Ok(())
}
