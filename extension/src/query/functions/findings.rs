//! `jobstats_findings()` and `jobstats_verdict()` judge how something used Lustre.

use std::collections::HashMap;

use jobstats_core::event::probe;
use jobstats_core::finding::{Calls, Finding, Level, Rule, Thresholds, Work, is_enough, judge};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{SETTINGS, ask, note};
use crate::query::dimension::{By, words};
use crate::query::filters::Filters;
use crate::query::groups::Group;
use crate::query::labels::{Labels, rounded};
use crate::query::plan::Plan;
use crate::query::question::Period;

mod work;

/// The levels of findings that are shown if none are named.
const SHOWN: [Level; 2] = [Level::Fair, Level::Bad];

/// The advice for the probe of jobstats.
const OF_PROBE: &str = "This is the probe of jobstats, which writes, syncs, reads and removes a file in each directory on purpose.";

/// The level of groups that did too little to be judged.
const NOT_JUDGED: &str = "not judged";

#[pg_extern(sql = false)]
fn jobstats_findings(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let by = By::parse(arguments.take()?, "job")?;
    let levels = levels(arguments.take()?)?;
    let filters = Filters::take(&mut arguments)?;
    answer(period, &by, filters, &levels, |client, judged| {
        write_findings(client, &by, judged, &mut rows)
    })
}

#[pg_extern(sql = false)]
fn jobstats_verdict(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let by = By::parse(arguments.take()?, "job")?;
    let filters = Filters::take(&mut arguments)?;
    answer(period, &by, filters, &SHOWN, |_, judged| {
        write_verdict(judged, &mut rows);
        Ok(())
    })
}

#[pg_extern(sql = false)]
fn jobstats_finding_values(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period {
        fixed: true,
        ..Period::take(&mut arguments)?
    };
    let entries: Vec<Option<i64>> = arguments.take()?.unwrap_or_default();
    let entries: Vec<i64> = entries.into_iter().flatten().collect();
    let by = By::these(&["job"]);
    let _pinned = Pinned::new(SETTINGS);
    Ok(connect_as_of_call(|client| {
        let question = work::question(period, &by, Filters::default())?;
        let found = match Plan::find(client, &question)? {
            Some(plan) => work::find(client, &question, &plan, &by, Some(&entries))?,
            None => Vec::new(),
        };
        let works = found.iter().map(|(_, work)| work);
        let works: Vec<&Work> = works.filter(|work| is_enough(work)).collect();
        for rule in Rule::ALL {
            let values = works.iter().filter_map(|it| rule.value(it));
            let values: Vec<f64> = values.map(|it| it.value).collect();
            rows.put(|| [rule.name().cell(), values.cell()]);
        }
        Ok(())
    })?)
}

#[pg_extern(sql = false)]
fn jobstats_sized(sizes: Array<'_, i64>, first: i32) -> i64 {
    let first = usize::try_from(first).unwrap_or(0);
    let counts = sizes.iter().take(first).flatten();
    counts.fold(0, i64::saturating_add)
}

/// Judges all groups, and writes what is said of them. Raises a notice if there are none.
fn answer(
    period: Period,
    by: &By,
    filters: Filters,
    levels: &[Level],
    write: impl FnOnce(&SpiClient<'_>, &[Judged]) -> Result<(), Error>,
) -> SqlResult<()> {
    let question = work::question(period, by, filters)?;
    ask(question, |client, question, plan| {
        let rules = rules(client)?;
        let found = work::find(client, question, plan, by, None)?;
        let judged = found.into_iter();
        let judged = judged.map(|(group, work)| Judged::new(group, &work, &rules, levels));
        let judged: Vec<Judged> = judged.collect();
        write(client, &judged)?;
        note(client, question, plan, judged.len())?;
        plan.note_age();
        Ok(())
    })
}

/// Returns the levels that are asked for.
fn levels(names: Option<String>) -> Result<Vec<Level>, Error> {
    let Some(names) = names else {
        return Ok(SHOWN.to_vec());
    };
    let of_name = |name: &str| {
        let level = Level::ALL
            .into_iter()
            .find(|it| it.name() == name.to_lowercase());
        level.ok_or_else(|| Error::unknown("level", name, "good, fair, bad".to_owned()))
    };
    words(&names).map(of_name).collect()
}

/// Returns the rules that are in use, with their thresholds. A rule that is not known is left out.
fn rules(client: &SpiClient<'_>) -> Result<Vec<(Rule, Thresholds)>, Error> {
    let known = client.query(
        "SELECT r.finding, r.fair, r.bad, r.fair_of_site, r.bad_of_site FROM jobstats.finding_rules r WHERE r.enabled ORDER BY r.finding",
        &[],
    )?;
    let mut rules = Vec::new();
    for row in known {
        let name: String = row.get("finding")?;
        let of_site: Option<f64> = row.get("fair_of_site")?;
        if let Some(rule) = Rule::find(&name) {
            let thresholds = Thresholds {
                floors: [row.get("fair")?, row.get("bad")?],
                site: of_site
                    .zip(row.get("bad_of_site")?)
                    .map(|(few, fewest)| [few, fewest]),
            };
            rules.push((rule, thresholds));
        }
    }
    Ok(rules)
}

/// A group, and what the rules say of it.
struct Judged {
    group: Group,
    all: Calls,
    /// Set if it did enough to be judged.
    is_enough: bool,
    /// The findings of the levels that are asked for, each with the seconds that servers spent on what it is about.
    findings: Vec<(Finding, Option<f64>)>,
}

impl Judged {
    fn new(group: Group, work: &Work, rules: &[(Rule, Thresholds)], levels: &[Level]) -> Self {
        let is_enough = is_enough(work);
        let judged = rules.iter().filter(|_| is_enough);
        let findings = judged
            .filter_map(|(rule, thresholds)| judge(*rule, thresholds, work))
            .filter(|it| levels.contains(&it.level))
            .map(|it| (it, it.rule.time(work)));
        Self {
            group,
            all: work.all,
            is_enough,
            findings: findings.collect(),
        }
    }

    /// Returns the worst level, if bad and fair findings were asked for.
    fn level(&self) -> Option<Level> {
        let levels = self.findings.iter().map(|it| it.0.level);
        self.is_enough.then(|| levels.max().unwrap_or(Level::Good))
    }

    /// Returns the advice where it is none of the rule.
    fn advice(&self) -> Option<String> {
        let is_probe = self.group.iter().flatten().any(|it| probe::is_work(it));
        is_probe.then(|| OF_PROBE.to_owned())
    }
}

/// Returns all findings with their groups and the seconds that servers spent on what they are about: the bad ones first, then those
/// that cost most.
fn worst_first(judged: &[Judged]) -> Vec<(&Judged, &Finding, Option<f64>)> {
    let mut shown: Vec<(&Judged, &Finding, Option<f64>)> = judged
        .iter()
        .flat_map(|it| {
            let findings = it.findings.iter();
            findings.map(move |(finding, time)| (it, finding, *time))
        })
        .collect();
    let cost = |(judged, finding, time): &(&Judged, &Finding, Option<f64>)| {
        let share = finding.share.unwrap_or(0.0);
        let all = judged.all;
        (
            time.unwrap_or(share * all.time.unwrap_or(0.0)),
            share * all.count,
        )
    };
    shown.sort_by(|one, other| {
        let ((time, calls), (other_time, other_calls)) = (cost(one), cost(other));
        let by_level = other.1.level.cmp(&one.1.level);
        by_level
            .then_with(|| other_time.total_cmp(&time))
            .then_with(|| other_calls.total_cmp(&calls))
            .then_with(|| one.0.group.cmp(&other.0.group))
    });
    shown
}

fn write_findings(
    client: &SpiClient<'_>,
    by: &By,
    judged: &[Judged],
    rows: &mut Rows,
) -> Result<(), Error> {
    let shown = worst_first(judged);
    let labels = Labels::new(client, by.clone(), shown.iter().map(|it| &it.0.group))?;
    let advice = "SELECT r.finding, r.advice FROM jobstats.finding_rules r";
    let advice = client.query(advice, &[])?;
    let advice = advice.map(|row| Ok((row.get("finding")?, row.get("advice")?)));
    let advice: HashMap<String, Option<String>> = advice.collect::<Result<_, Error>>()?;
    for (judged, finding, time) in shown {
        let name = finding.rule.name();
        let of_rule = || advice.get(name).cloned().flatten();
        rows.put(|| {
            [
                name.cell(),
                finding.level.name().cell(),
                labels.name(&judged.group, None).cell(),
                finding.share.map(rounded).cell(),
                time.cell(),
                finding.to_string().cell(),
                finding.value.value.cell(),
                finding.threshold.cell(),
                judged.advice().or_else(of_rule).cell(),
                labels.labels(&judged.group, None).cell(),
            ]
        });
    }
    Ok(())
}

/// The levels of a verdict, in the order of their rows; `None`: not judged.
const LEVELS: [Option<Level>; 4] = [Some(Level::Bad), Some(Level::Fair), Some(Level::Good), None];

/// Writes how many groups each level has, and what they cost: their time, or their calls where no server reports times.
fn write_verdict(judged: &[Judged], rows: &mut Rows) {
    if judged.is_empty() {
        return;
    }
    // Sums of microseconds are whole numbers, whose order does not matter.
    let micros = |it: &Judged| it.all.time.map(|time| (time * 1e6).round());
    let all_time: f64 = judged.iter().filter_map(micros).sum();
    let all_calls: f64 = judged.iter().map(|it| it.all.count).sum();
    let has_times = judged.iter().any(|it| it.all.time.is_some());
    for level in LEVELS {
        let of = || judged.iter().filter(|it| it.level() == level);
        // Where others have times, no group has none.
        let none = (has_times && of().next().is_none()).then_some(0.0);
        let times = of().filter_map(micros);
        let time = times.fold(none, |sum, time| Some(sum.unwrap_or(0.0) + time));
        let calls: f64 = of().map(|it| it.all.count).sum();
        let share = match all_time > 0.0 {
            true => time.map(|time| time / all_time),
            false => (all_calls > 0.0).then(|| calls / all_calls),
        };
        let groups = i64::try_from(of().count()).unwrap_or(i64::MAX);
        rows.put(|| {
            [
                level.map_or(NOT_JUDGED, Level::name).cell(),
                groups.cell(),
                time.map(|it| it / 1e6).cell(),
                share.map(rounded).cell(),
            ]
        });
    }
}
