//! `jobstats_changes()` reports who made the difference between two windows.

use std::collections::BTreeMap;

use jobstats_core::base::instant::Span;
use jobstats_core::judgement::change::{Amounts, Change, Scale, changes};
use jobstats_core::output::quantity::Quantity;
use jobstats_core::series::typical::LEAST_COVERAGE;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use serde_json::json;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::SqlResult;
use crate::pg::time::window;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{ask, number};
use crate::query::compare_windows::{GroupRates, Windows};
use crate::query::explain_empty;
use crate::query::filters::Filters;
use crate::query::labels::{Group, Labels, OTHERS, covered, formatted, held, rounded};
use crate::query::notice::hinted;
use crate::query::plan::Plan;
use crate::query::question::{DEFAULT_N, Period, Question, number_of_rows};
use crate::query::window::{Window, clamped};

/// The number of days that a window is compared with.
const DAYS: i64 = 7;

#[pg_extern(sql = false)]
fn jobstats_changes(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let baseline = baseline(arguments.take()?, arguments.take()?)?;
    let n = number_of_rows(arguments.take()?, DEFAULT_N)?;
    let filters = Filters::take(&mut arguments)?;
    let question = Question::of_one(period, operation, by, filters)?;
    ask(question, &[], |client, question, plan| {
        let mut windows = Windows::new(client, question);
        let mut groups: BTreeMap<Group, Amounts> = BTreeMap::new();
        let coverage = windows.read(plan, 0.0, |group, done| {
            held(&mut groups, group)?.after = done.amount;
            Ok(())
        })?;
        let add = |group, done: GroupRates| {
            let before = &mut held(&mut groups, group)?.before;
            *before = before.saturating_add(done.amount);
            Ok(())
        };
        let before = match baseline {
            Some(span) => Baseline::of_span(plan, span, &mut windows, add)?,
            None => {
                let (observed, plan) = windows.read_days_before(plan, DAYS, add)?;
                Baseline {
                    scale: Scale::mean_of(observed),
                    days: i64::try_from(observed).ok(),
                    plan,
                }
            }
        };
        plan.note()?;
        let Some(scale) = before.scale else {
            if coverage == 0.0 {
                return explain_empty::explain_window(client, &plan.window, question);
            }
            hinted(
                "no day of the seven before was observed for 80 % of this window",
                "Name a baseline: baseline_since and baseline_until.",
            );
            return Ok(());
        };
        let (groups, amounts): (Vec<Group>, Vec<Amounts>) = groups.into_iter().unzip();
        let changes = changes(&amounts, scale, n);
        write(
            client,
            question,
            &groups,
            &changes,
            coverage,
            before.days,
            &mut rows,
        )?;
        if changes.is_empty() {
            explain_empty::explain_window(client, &plan.window, question)?;
        }
        // The age of the earliest window applies to all.
        before.plan.as_ref().unwrap_or(plan).note_age();
        Ok(())
    })
}

/// Returns the requested span of the baseline.
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
            "a baseline needs both ends",
            "Give both baseline_since and baseline_until, or neither.",
        )),
    }
}

/// A baseline, and how it is compared.
struct Baseline {
    /// The scale that makes its amounts comparable; `None` without observations.
    scale: Option<Scale>,
    /// The number of days that were observed, if it consists of days.
    days: Option<i64>,
    /// The plan of its earliest window.
    plan: Option<Plan>,
}

impl Baseline {
    /// Passes the groups of a span to `add`, and raises a notice if much of it was not observed.
    fn of_span(
        plan: &Plan,
        span: Span,
        windows: &mut Windows<'_>,
        add: impl FnMut(Group, GroupRates) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let (since, until) = clamped(&plan.state, span);
        let before = windows.plan(plan, Window::whole(since, until))?;
        let coverage = windows.read(&before, 0.0, add)?;
        if coverage < LEAST_COVERAGE {
            hinted(
                format!("{:.0} % of the baseline was observed", coverage * 100.0),
                "Unobserved usage counts as 0: compare with a time that was observed.",
            );
        }
        let length = plan.window.until() - plan.window.since();
        Ok(Self {
            scale: Scale::of_lengths(length, until - since),
            days: None,
            plan: Some(before),
        })
    }
}

/// Writes what changed of these groups. `days` is the number of days that the window is compared with, if it is with days.
fn write(
    client: &SpiClient<'_>,
    question: &Question,
    groups: &[Group],
    changes: &[Change],
    coverage: f64,
    days: Option<i64>,
    rows: &mut Rows,
) -> Result<(), Error> {
    let of = |change: &Change| groups.get(change.group?);
    let labels = Labels::new(client, question.by.clone(), changes.iter().filter_map(of))?;
    let measure = &question.measures.list[0];
    for (rank, change) in (1i64..).zip(changes) {
        let group = of(change);
        let before = number(measure, Some(change.before))?;
        let after = number(measure, Some(change.after))?;
        let changed = number(measure, Some(change.change()))?;
        let value = change.change() as f64 / measure.unit() as f64;
        rows.put(|| {
            let (name, labels) = match group {
                Some(group) => (labels.name(group, None), labels.labels(group, None)),
                None => (
                    OTHERS.to_owned(),
                    Jsonb::of(&json!({ OTHERS: change.groups })),
                ),
            };
            [
                group.map(|_| rank).cell(),
                name.cell(),
                formatted(Some(value), &measure.name, Quantity::Total).cell(),
                change.share.map(rounded).cell(),
                change.share_of_rise.map(rounded).cell(),
                measure.name.as_str().cell(),
                before.cell(),
                after.cell(),
                changed.cell(),
                days.cell(),
                covered(coverage).cell(),
                labels.cell(),
            ]
        });
    }
    Ok(())
}
