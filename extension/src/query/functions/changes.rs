//! `jobstats_changes()` reports who made the difference between two windows.

use std::collections::BTreeMap;

use jobstats_core::change::{Amounts, Change, Scale, changes};
use jobstats_core::instant::Micros;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::time::window;
use crate::pg::tuplestore::Rows;
use crate::query::answer::{ask, write_rows};
use crate::query::dimension::By;
use crate::query::empty;
use crate::query::filters::Filters;
use crate::query::functions::top::rows_wanted;
use crate::query::groups::{Group, Unnested};
use crate::query::measure::{Measures, SECONDS};
use crate::query::notice::hinted;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::window::{ROW_LIMIT, Window};
use crate::query::windows::{Done, LEAST_COVERAGE, Windows, days_before};

/// The number of days that a window is compared with.
const DAYS: i32 = 7;

#[pg_extern(sql = false)]
fn jobstats_changes(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let baseline = baseline(arguments.take()?, arguments.take()?)?;
    let n = rows_wanted(arguments.take()?)?;
    let filters = Filters::take(&mut arguments)?.excluding(arguments.take()?)?;
    let operation = operation.as_deref().unwrap_or("service_time");
    let question = Question {
        period,
        by: By::parse(by, &["uid", "user_name"])?,
        measures: Measures::parse_one(operation, None)?,
        filters,
        wanted: Wanted::Totals,
    };
    ask(question, |client, question| {
        let Some(plan) = Plan::find(client, question)? else {
            return empty::explain(client, &question.period, &question.filters);
        };
        let mut found = Found::default();
        let coverage = found.add(client, question, &plan, Side::After, 0.0)?;
        let before = match baseline {
            Some(span) => found.before(client, question, &plan, span)?,
            None => found.days_before(client, question, &plan)?,
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
        found.write(
            client,
            question,
            &changes,
            (before.days, coverage),
            &mut rows,
        )?;
        if changes.is_empty() {
            empty::explain_window(client, &plan.window, question)?;
        }
        // What is known of the earliest window is known of all.
        before.plan.as_ref().unwrap_or(&plan).note_age();
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
) -> Result<Option<(Micros, Micros)>, Error> {
    match (since, until) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => window(since, until).map(Some),
        _ => Err(Error::argument(
            "a baseline has two ends",
            "Give both baseline_since and baseline_until, or neither.",
        )),
    }
}

/// The window that an amount is of.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
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
#[derive(Default)]
struct Found {
    groups: BTreeMap<Group, Amounts>,
    windows: Windows,
}

impl Found {
    /// Adds the total of each group in the window of a plan if at least this part of it was observed. Returns the part that was.
    fn add(
        &mut self,
        client: &SpiClient<'_>,
        question: &Question,
        plan: &Plan,
        side: Side,
        least: f64,
    ) -> Result<f64, Error> {
        let held = self.groups.len();
        let groups = &mut self.groups;
        let add = |group, done: Done| {
            let amounts: &mut Amounts = groups.entry(group).or_default();
            match side {
                Side::Before => amounts.before = amounts.before.saturating_add(done.amount),
                Side::After => amounts.after = done.amount,
            }
            match groups.len() {
                ..=ROW_LIMIT => Ok(()),
                _ => Err(Error::TooManyRows),
            }
        };
        self.windows.read(client, question, plan, least, held, add)
    }

    /// Adds the totals of a baseline, and says so if much of it was not observed.
    fn before(
        &mut self,
        client: &SpiClient<'_>,
        question: &Question,
        plan: &Plan,
        (since, until): (Micros, Micros),
    ) -> Result<Baseline, Error> {
        let before = Plan::over(client, question, Window::whole(since, until))?;
        if let Some(plan) = &before {
            let coverage = self.add(client, question, plan, Side::Before, 0.0)?;
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
    fn days_before(
        &mut self,
        client: &SpiClient<'_>,
        question: &Question,
        plan: &Plan,
    ) -> Result<Baseline, Error> {
        let (mut observed, mut earliest) = (0, None);
        for window in days_before(client, &plan.window, DAYS)? {
            let Some(plan) = Plan::over(client, question, window)? else {
                continue;
            };
            let coverage = self.add(client, question, &plan, Side::Before, LEAST_COVERAGE)?;
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
        client: &SpiClient<'_>,
        question: &Question,
        changes: &[Change],
        (days, coverage): (Option<i64>, f64),
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let groups: Vec<_> = self.groups.into_keys().collect();
        let unit = if question.asks_times() { SECONDS } else { "1" };
        let measure = question.measures.list.first().map(|it| it.name.clone());
        let number =
            |of: fn(&Change) -> i128| changes.iter().map(|it| of(it).to_string()).collect();
        let [before, after]: [Vec<String>; 2] = [number(|it| it.before), number(|it| it.after)];
        let ranks = (1..).zip(changes);
        let ranks = ranks.map(|(rank, it)| it.group.map(|_| rank));
        let counts = changes
            .iter()
            .map(|it| i64::try_from(it.groups).unwrap_or(i64::MAX));
        let mut params: Vec<pgrx::datum::DatumWithOid<'_>> = vec![
            measure.into(),
            days.into(),
            coverage.into(),
            ranks.collect::<Vec<Option<i64>>>().into(),
            before.into(),
            after.into(),
            changes.iter().map(|it| it.share).collect::<Vec<_>>().into(),
            changes
                .iter()
                .map(|it| it.share_of_rise)
                .collect::<Vec<_>>()
                .into(),
            counts.collect::<Vec<_>>().into(),
        ];
        let of_changes = changes.iter().map(|it| groups.get(it.group?));
        let Unnested {
            columns,
            arrays,
            values,
        } = Unnested::new(&question.by, "change", of_changes, &mut params);
        let sql = format!(
            "SELECT change.rank{columns}, $1::text AS operation, trim_scale(change.before * {unit}) AS before, \
             trim_scale(change.after * {unit}) AS after, trim_scale((change.after - change.before) * {unit}) AS change, change.share, \
             change.share_of_rise, change.groups, $2::bigint AS days, $3::double precision AS coverage \
             FROM unnest($4::bigint[], $5::numeric[], $6::numeric[], $7::double precision[], $8::double precision[], $9::bigint[]{arrays}) \
                 AS change (rank, before, after, share, share_of_rise, groups{values})"
        );
        write_rows(client, &sql, &params, rows)?;
        Ok(())
    }
}
