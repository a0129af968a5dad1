//! `jobstats_changes()` reports who made the difference between two windows.

use std::collections::BTreeMap;

use jobstats_core::change::{Amounts, Change, Scale, changes};
use jobstats_core::instant::Span;
use jobstats_core::quantity::Quantity;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::time::window;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::ask;
use crate::query::empty;
use crate::query::filters::Filters;
use crate::query::groups::Group;
use crate::query::labels::{Labels, OTHERS, covered, decimal, formatted, others, rounded};
use crate::query::notice::hinted;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, rows_wanted};
use crate::query::window::{ROW_LIMIT, Window, clamped};
use crate::query::windows::{Done, LEAST_COVERAGE, Windows, days_before};

/// The number of days that a window is compared with.
const DAYS: i32 = 7;

#[pg_extern(sql = false)]
fn jobstats_changes(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let baseline = baseline(arguments.take()?, arguments.take()?)?;
    let n = rows_wanted(arguments.take()?)?;
    let filters = Filters::take(&mut arguments)?;
    let question = Question::of_one(period, operation, by, filters)?;
    ask(question, |client, question, plan| {
        let mut found = Found {
            groups: BTreeMap::new(),
            windows: Windows::new(client, question),
        };
        let coverage = found.add(plan, 0.0, |all, amount| all.after = amount)?;
        let before = match baseline {
            Some(span) => found.before(plan, span)?,
            None => found.days_before(plan)?,
        };
        plan.note_behind()?;
        plan.jobs.note_arrays();
        let Some(scale) = before.scale else {
            if coverage == 0.0 {
                return empty::explain_window(client, &plan.window, question);
            }
            hinted(
                "none of the seven days before was observed for 80 % of this window",
                "Name a baseline: baseline_since and baseline_until.",
            );
            return Ok(());
        };
        let amounts: Vec<Amounts> = found.groups.values().copied().collect();
        let changes = changes(&amounts, scale, usize::try_from(n).unwrap_or(0));
        found.write(&changes, before.days, coverage, &mut rows)?;
        if changes.is_empty() {
            empty::explain_window(client, &plan.window, question)?;
        }
        // What is known of the earliest window is known of all.
        before.plan.as_ref().unwrap_or(plan).note_age();
        Ok(())
    })
}

/// Returns the span of the baseline that is asked for.
///
/// # Errors
/// [`Error::argument`] if one end is missing, [`Error::empty_window`] if it does not begin before its end.
fn baseline(
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> Result<Option<Span>, Error> {
    match (since, until) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => window(since, until).map(Some),
        _ => Err(Error::argument(
            "a baseline has two ends",
            "Give both baseline_since and baseline_until, or neither.",
        )),
    }
}

/// A baseline, and how it is compared.
struct Baseline {
    /// The scale that makes its amounts comparable; `None` if nothing was observed.
    scale: Option<Scale>,
    /// The number of days that were observed, if it consists of days.
    days: Option<i64>,
    /// The plan of its earliest window.
    plan: Option<Plan>,
}

/// The groups that were found, by the values of their dimensions.
struct Found<'a> {
    groups: BTreeMap<Group, Amounts>,
    windows: Windows<'a>,
}

/// Adds an amount to those before.
fn to_before(amounts: &mut Amounts, amount: i128) {
    amounts.before = amounts.before.saturating_add(amount);
}

impl Found<'_> {
    /// Adds the total of each group in the window of a plan if at least this part of it was observed. Returns the part that was.
    fn add(
        &mut self,
        plan: &Plan,
        least: f64,
        to: impl Fn(&mut Amounts, i128),
    ) -> Result<f64, Error> {
        let held = self.groups.len();
        let groups = &mut self.groups;
        let add = |group, done: Done| {
            to(groups.entry(group).or_default(), done.amount);
            match groups.len() {
                ..=ROW_LIMIT => Ok(()),
                _ => Err(Error::TooManyRows),
            }
        };
        self.windows.read(plan, least, held, add)
    }

    /// Adds the totals of a baseline, and says so if much of it was not observed.
    fn before(&mut self, plan: &Plan, baseline: Span) -> Result<Baseline, Error> {
        let (client, question) = (self.windows.client, self.windows.question);
        let (since, until) = clamped(&plan.state, baseline);
        let before = plan.again(client, question, Window::whole(since, until))?;
        if let Some(plan) = &before {
            let coverage = self.add(plan, 0.0, to_before)?;
            if coverage < LEAST_COVERAGE {
                hinted(
                    format!("{:.0} % of the baseline were observed", coverage * 100.0),
                    "What was done in the rest of it is unknown, and counts as nothing: compare with a time that was observed.",
                );
            }
        }
        let length = plan.window.until() - plan.window.since();
        Ok(Baseline {
            scale: Scale::of_lengths(length, until - since),
            days: None,
            plan: before,
        })
    }

    /// Adds the totals of the same window on the seven days before, in local time.
    fn days_before(&mut self, plan: &Plan) -> Result<Baseline, Error> {
        let (client, question) = (self.windows.client, self.windows.question);
        let (mut observed, mut earliest) = (0, None);
        for window in days_before(client, &plan.window, DAYS)? {
            let Some(plan) = plan.again(client, question, window)? else {
                continue;
            };
            let coverage = self.add(&plan, LEAST_COVERAGE, to_before)?;
            if coverage >= LEAST_COVERAGE {
                observed += 1;
                earliest = Some(plan);
            }
        }
        Ok(Baseline {
            scale: Scale::mean_of(observed),
            days: i64::try_from(observed).ok(),
            plan: earliest,
        })
    }

    /// Writes the rows of the answer, each with the number of days and the coverage.
    fn write(
        self,
        changes: &[Change],
        days: Option<i64>,
        coverage: f64,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let (client, question) = (self.windows.client, self.windows.question);
        let groups: Vec<Group> = self.groups.into_keys().collect();
        let of = |change: &Change| change.group.and_then(|it| groups.get(it));
        let labels = Labels::new(client, question.by.clone(), changes.iter().filter_map(of))?;
        let unit = if question.asks_times() { MICROS } else { 1 };
        let operation = question.measures.list.first().map_or("", |it| &it.name);
        for (rank, change) in (1i64..).zip(changes) {
            let group = of(change);
            let amount = |amount: i128| decimal(amount, unit).map_err(Error::damaged_value);
            let (before, after) = (amount(change.before)?, amount(change.after)?);
            let changed = amount(change.change())?;
            let value = change.change() as f64 / unit as f64;
            rows.put(|| {
                [
                    group.map(|_| rank).cell(),
                    group
                        .map_or_else(|| OTHERS.to_owned(), |it| labels.name(it, None))
                        .cell(),
                    formatted(Some(value), operation, Quantity::Total).cell(),
                    change.share.map(rounded).cell(),
                    change.share_of_rise.map(rounded).cell(),
                    operation.cell(),
                    before.cell(),
                    after.cell(),
                    changed.cell(),
                    days.cell(),
                    covered(coverage).cell(),
                    match group {
                        Some(group) => labels.labels(group, None),
                        None => others(change.groups),
                    }
                    .cell(),
                ]
            });
        }
        Ok(())
    }
}

/// The number of microseconds in a second.
const MICROS: i128 = 1_000_000;
