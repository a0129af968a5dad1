//! `jobstats_baseline()` compares what is done now with what is usual.

use std::collections::BTreeMap;

use jobstats_core::instant::{DAY, HOUR, Micros};
use jobstats_core::quantity::Quantity;
use jobstats_core::usual::Usual;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::ask;
use crate::query::empty;
use crate::query::filters::Filters;
use crate::query::groups::Group;
use crate::query::labels::{Labels, covered, formatted};
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, rows_wanted};
use crate::query::window::ROW_LIMIT;
use crate::query::windows::{Done, LEAST_COVERAGE, Windows, days_before};

/// The longest window: a day, also where that has an hour more.
const LONGEST: Micros = DAY + HOUR;

/// The number of days that a window is compared with.
const DAYS: i32 = 30;

#[pg_extern(sql = false)]
fn jobstats_baseline(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let n = rows_wanted(arguments.take()?)?;
    let filters = Filters::take(&mut arguments)?;
    let question = Question::of_one(period, operation, by, filters)?;
    ask(question, |client, question, plan| {
        if plan.window.until() - plan.window.since() > LONGEST {
            return Err(Error::argument(
                "the window is longer than a day".to_owned(),
                "It would be compared with windows that have parts of it: ask for a day, or an hour.",
            ));
        }
        let found = Found::find(client, question, plan)?;
        plan.note_behind()?;
        plan.jobs.note_arrays();
        if found.groups.is_empty() || found.coverage == 0.0 {
            return empty::explain_window(client, &plan.window, question);
        }
        let n = usize::try_from(n).unwrap_or(0);
        found.write(client, question, n, &mut rows)
    })
}

/// The rates of groups in the window, and on the days before.
#[derive(Default)]
struct Found {
    groups: BTreeMap<Group, Rates>,
    /// The number of days before.
    days: usize,
    /// The part of the window that was observed of all targets in scope.
    coverage: f64,
}

/// The rates of a group per second for which its targets were observed.
struct Rates {
    now: f64,
    /// The part of the window for which its targets were observed.
    coverage: f64,
    /// The rates of the days on which it did anything.
    before: Vec<f64>,
}

impl Found {
    fn find(client: &SpiClient<'_>, question: &Question, plan: &Plan) -> Result<Self, Error> {
        let (mut windows, mut found) = (Windows::new(client, question), Self::default());
        let groups = &mut found.groups;
        let add = |group, done: Done| {
            if groups.len() >= ROW_LIMIT {
                return Err(Error::TooManyRows);
            }
            let rates = |now| Rates {
                now,
                coverage: done.coverage,
                before: Vec::new(),
            };
            groups.extend(done.rate.map(|now| (group, rates(now))));
            Ok(())
        };
        found.coverage = windows.read(plan, 0.0, 0, add)?;
        for window in days_before(client, &plan.window, DAYS)? {
            let Some(plan) = plan.again(client, question, window)? else {
                continue;
            };
            let held = groups.len();
            let add = |group: Group, done: Done| {
                // What did nothing now is not compared.
                if let Some(rates) = groups.get_mut(&group) {
                    rates.before.extend(done.rate);
                }
                Ok(())
            };
            if windows.read(&plan, LEAST_COVERAGE, held, add)? >= LEAST_COVERAGE {
                found.days += 1;
            }
        }
        Ok(found)
    }

    /// Writes the groups that are most above what is usual.
    fn write(
        self,
        client: &SpiClient<'_>,
        question: &Question,
        n: usize,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let days = self.days;
        let compared = self.groups.into_iter().map(|(group, mut rates)| {
            rates.before.resize(days, 0.0);
            let usual = Usual::of(rates.now, &mut rates.before);
            (group, rates, usual)
        });
        let mut compared: Vec<(Group, Rates, Option<Usual>)> = compared.collect();
        let excess = |(_, rates, usual): &(Group, Rates, Option<Usual>)| {
            usual.map_or(rates.now, |usual| usual.excess(rates.now))
        };
        compared.sort_by(|one, other| excess(other).total_cmp(&excess(one)));
        compared.truncate(n);
        let groups = compared.iter().map(|it| &it.0);
        let labels = Labels::new(client, question.by.clone(), groups)?;
        let operation = question.measures.list.first().map_or("", |it| &it.name);
        for (rank, (group, rates, usual)) in (1i64..).zip(&compared) {
            let quartile = |n: usize| usual.map(|it| it.quartiles[n]);
            rows.put(|| {
                [
                    rank.cell(),
                    labels.name(group, None).cell(),
                    operation.cell(),
                    formatted(Some(rates.now), operation, Quantity::Rate).cell(),
                    usual.and_then(|it| it.times_usual).cell(),
                    usual.map(|it| it.percentile).cell(),
                    quartile(1).cell(),
                    quartile(0).cell(),
                    quartile(2).cell(),
                    rates.now.cell(),
                    (days as i64).cell(),
                    covered(rates.coverage).cell(),
                    labels.labels(group, None).cell(),
                ]
            });
        }
        Ok(())
    }
}
