//! `jobstats_baseline()` compares current usage with the baseline.

use std::collections::BTreeMap;

use jobstats_core::base::instant::{DAY, HOUR, Micros};
use jobstats_core::output::quantity::Quantity;
use jobstats_core::series::typical::Typical;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::SqlResult;
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::ask;
use crate::query::compare_windows::Windows;
use crate::query::explain_empty;
use crate::query::filters::Filters;
use crate::query::labels::{Group, Labels, covered, formatted, held};
use crate::query::question::{DEFAULT_N, Period, Question, number_of_rows};

/// The longest window: a day, also where that has an hour more.
const LONGEST: Micros = DAY + HOUR;

/// The number of days that a window is compared with.
const DAYS: i64 = 30;

#[pg_extern(sql = false)]
fn jobstats_baseline(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let (operation, by) = (arguments.take::<String>()?, arguments.take()?);
    let n = number_of_rows(arguments.take()?, DEFAULT_N)?;
    let filters = Filters::take(&mut arguments)?;
    let question = Question::of_one(period, operation, by, filters)?;
    ask(question, &[], |client, question, plan| {
        if plan.window.until() - plan.window.since() > LONGEST {
            return Err(Error::argument(
                "the window is longer than a day".to_owned(),
                "It would overlap the windows that it is compared with: use a day or an hour.",
            ));
        }
        let mut windows = Windows::new(client, question);
        let mut groups: BTreeMap<Group, Rates> = BTreeMap::new();
        let coverage = windows.read(plan, 0.0, |group, done| {
            if let Some(now) = done.rate {
                let rates = held(&mut groups, group)?;
                (rates.now, rates.coverage) = (now, done.coverage);
            }
            Ok(())
        })?;
        let (days, _) = windows.read_days_before(plan, DAYS, |group, done| {
            // Groups without current usage are not compared.
            if let Some(rates) = groups.get_mut(&group) {
                rates.before.extend(done.rate);
            }
            Ok(())
        })?;
        plan.note()?;
        if groups.is_empty() || coverage == 0.0 {
            return explain_empty::explain_window(client, &plan.window, question);
        }
        let mut compared = compared(groups, days);
        compared.truncate(n);
        write(client, question, &compared, days, &mut rows)
    })
}

/// The rates of a group per observed second of its targets.
#[derive(Default)]
struct Rates {
    now: f64,
    /// The share of the window in which its targets were observed.
    coverage: f64,
    /// The rates of the days on which it did anything.
    before: Vec<f64>,
}

/// A group with its rates, and its usual rate.
type Comparison = (Group, Rates, Option<Typical>);

/// Compares groups with this number of days before; those most above their baseline come first.
fn compared(groups: BTreeMap<Group, Rates>, days: usize) -> Vec<Comparison> {
    let compared = groups.into_iter().map(|(group, mut rates)| {
        rates.before.resize(days, 0.0);
        let typical = Typical::of(rates.now, &mut rates.before);
        (group, rates, typical)
    });
    let mut compared: Vec<Comparison> = compared.collect();
    let excess = |(_, rates, typical): &Comparison| {
        typical.map_or(rates.now, |typical| typical.excess(rates.now))
    };
    compared.sort_by(|one, other| excess(other).total_cmp(&excess(one)));
    compared
}

fn write(
    client: &SpiClient<'_>,
    question: &Question,
    compared: &[Comparison],
    days: usize,
    rows: &mut Rows,
) -> Result<(), Error> {
    let groups = compared.iter().map(|it| &it.0);
    let labels = Labels::new(client, question.by.clone(), groups)?;
    let operation = question.measures.list[0].name.as_str();
    for (rank, (group, rates, typical)) in (1i64..).zip(compared) {
        let quartile = |n: usize| typical.map(|it| it.quartiles[n]);
        rows.put(|| {
            [
                rank.cell(),
                labels.name(group, None).cell(),
                operation.cell(),
                formatted(Some(rates.now), operation, Quantity::Rate).cell(),
                typical.and_then(|it| it.times_usual).cell(),
                typical.map(|it| it.percentile).cell(),
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
