//! `jobstats_usual()` compares what is done now with what is usual.

use std::collections::BTreeMap;

use jobstats_core::instant::{DAY, HOUR, Micros};
use jobstats_core::usual::Usual;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::Rows;
use crate::query::answer::{ask, write_rows};
use crate::query::dimension::By;
use crate::query::empty;
use crate::query::filters::Filters;
use crate::query::functions::top::rows_wanted;
use crate::query::groups::{Group, Unnested};
use crate::query::measure::Measures;
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::window::ROW_LIMIT;
use crate::query::windows::{Done, LEAST_COVERAGE, Windows, days_before};

/// The longest window: a day, also where that has an hour more.
const LONGEST: Micros = DAY + HOUR;

/// The number of days that a window is compared with.
const DAYS: i32 = 30;

#[pg_extern(sql = false)]
fn jobstats_usual(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
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
        if plan.window.until() - plan.window.since() > LONGEST {
            return Err(Error::argument(
                "the window is longer than a day".to_owned(),
                "It would be compared with windows that have parts of it: ask for a day, or an hour.",
            ));
        }
        let found = Found::find(client, question, &plan)?;
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
        let (mut windows, mut found) = (Windows::default(), Self::default());
        let groups = &mut found.groups;
        let add = |group, done: Done| {
            if groups.len() >= ROW_LIMIT {
                return Err(Error::TooManyRows);
            }
            if let Some(now) = done.rate {
                let (coverage, before) = (done.coverage, Vec::new());
                groups.insert(
                    group,
                    Rates {
                        now,
                        coverage,
                        before,
                    },
                );
            }
            Ok(())
        };
        found.coverage = windows.read(client, question, plan, 0.0, 0, add)?;
        for window in days_before(client, &plan.window, DAYS)? {
            let Some(plan) = Plan::over(client, question, window)? else {
                continue;
            };
            let mut of_day = Vec::new();
            let add = |group: Group, done: Done| {
                // What did nothing now is not compared.
                if groups.contains_key(&group) {
                    of_day.extend(done.rate.map(|rate| (group, rate)));
                }
                Ok(())
            };
            let held = groups.len();
            let coverage = windows.read(client, question, &plan, LEAST_COVERAGE, held, add)?;
            if coverage >= LEAST_COVERAGE {
                found.days += 1;
                for (group, rate) in of_day {
                    if let Some(rates) = groups.get_mut(&group) {
                        rates.before.push(rate);
                    }
                }
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
        let of = |value: fn(&Usual) -> Option<f64>| {
            let values = compared.iter().map(|it| value(it.2.as_ref()?));
            values.collect::<Vec<Option<f64>>>().into()
        };
        let measure = question.measures.list.first().map(|it| it.name.clone());
        let days = i64::try_from(days).ok();
        let rates: Vec<f64> = compared.iter().map(|it| it.1.now).collect();
        let coverage: Vec<f64> = compared.iter().map(|it| it.1.coverage).collect();
        let mut params: Vec<DatumWithOid<'_>> = vec![
            measure.into(),
            days.into(),
            coverage.into(),
            rates.into(),
            of(|it| Some(it.quartiles[0])),
            of(|it| Some(it.quartiles[1])),
            of(|it| Some(it.quartiles[2])),
            of(|it| Some(it.mean)),
            of(|it| it.times_usual),
            of(|it| it.times_mean),
            of(|it| Some(it.percentile)),
        ];
        let groups = compared.iter().map(|it| Some(&it.0));
        let Unnested {
            columns,
            arrays,
            values,
        } = Unnested::new(&question.by, "usual", groups, &mut params);
        let sql = format!(
            "SELECT usual.rank{columns}, $1::text AS operation, usual.rate, usual.lower AS lower_quartile, usual.median, \
             usual.upper AS upper_quartile, usual.mean, usual.times_usual, usual.times_mean, usual.percentile, $2::bigint AS days, usual.coverage \
             FROM unnest($3::double precision[], $4::double precision[], $5::double precision[], $6::double precision[], $7::double precision[], \
                 $8::double precision[], $9::double precision[], $10::double precision[], $11::double precision[]{arrays}) WITH ORDINALITY \
                 AS usual (coverage, rate, lower, median, upper, mean, times_usual, times_mean, percentile{values}, rank) \
             ORDER BY usual.rank"
        );
        write_rows(client, &sql, &params, rows)?;
        Ok(())
    }
}
