//! `jobstats_findings()` and `jobstats_verdict()` judge how something used Lustre.

use jobstats_core::judgement::event::probe;
use jobstats_core::judgement::finding::{
    Calls, Finding, Level, Rule, Thresholds, Work, is_enough, judge,
};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{ask, note, with_settings};
use crate::query::dimension::{By, words};
use crate::query::filters::Filters;
use crate::query::labels::{Group, Labels, rounded};
use crate::query::plan::Plan;
use crate::query::question::Period;

mod work;

/// The levels of findings that are shown by default.
const SHOWN: [Level; 2] = [Level::Fair, Level::Bad];

/// The advice for the probe of jobstats.
const OF_PROBE: &str = "This is the probe of jobstats, which writes, syncs, reads and removes a file in each directory on purpose.";

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
    Ok(with_settings(|client| {
        let question = work::question(period, &by, Filters::default())?;
        let found = match Plan::find(client, &question)? {
            Some(plan) => work::find(client, &question, &plan, &by, Some(&entries))?,
            None => Vec::new(),
        };
        let works = found.iter().map(|(_, work)| work);
        let works: Vec<&Work> = works.filter(|work| is_enough(work)).collect();
        for rule in Rule::ALL {
            let values = works.iter().filter_map(|it| rule.value(it));
            let values: Vec<f64> = values.collect();
            rows.put(|| [rule.name().cell(), values.cell()]);
        }
        Ok(())
    })?)
}

/// Judges all groups, and writes the findings. Raises a notice without groups.
fn answer(
    period: Period,
    by: &By,
    filters: Filters,
    levels: &[Level],
    write: impl FnOnce(&SpiClient<'_>, &[JudgedGroup<'_>]) -> Result<(), Error>,
) -> SqlResult<()> {
    let question = work::question(period, by, filters)?;
    ask(question, &[], |client, question, plan| {
        let rules = rules(client)?;
        let found = work::find(client, question, plan, by, None)?;
        let judged = found.iter();
        let judged = judged.map(|(group, work)| JudgedGroup::new(group, work, &rules, levels));
        let judged: Vec<JudgedGroup<'_>> = judged.collect();
        write(client, &judged)?;
        note(client, question, plan, judged.len())?;
        plan.note_age();
        Ok(())
    })
}

/// Returns the requested levels.
fn levels(names: Option<String>) -> Result<Vec<Level>, Error> {
    let Some(names) = names else {
        return Ok(SHOWN.to_vec());
    };
    let of_name = |name: &str| {
        let level = Level::find(&name.to_lowercase());
        level.ok_or_else(|| Error::unknown("level", name, "good, fair, bad".to_owned()))
    };
    words(&names).map(of_name).collect()
}

/// A rule that is in use.
struct EnabledRule {
    rule: Rule,
    thresholds: Thresholds,
    advice: Option<String>,
}

/// Returns the rules that are in use. A rule that is not known is left out.
fn rules(client: &SpiClient<'_>) -> Result<Vec<EnabledRule>, Error> {
    let known = client.query(
        "SELECT r.finding, r.fair, r.bad, r.absolute, r.fair_of_site, r.bad_of_site, r.advice FROM jobstats.finding_rules r WHERE r.enabled ORDER BY r.finding",
        &[],
    )?;
    let mut rules = Vec::new();
    for row in known {
        let of_site: Option<f64> = row.get("fair_of_site")?;
        if let Some(rule) = Rule::find(row.get("finding")?) {
            let thresholds = Thresholds {
                floors: [row.get("fair")?, row.get("bad")?],
                site: of_site
                    .zip(row.get("bad_of_site")?)
                    .map(|(few, fewest)| [few, fewest]),
                absolute: row.get("absolute")?,
            };
            rules.push(EnabledRule {
                rule,
                thresholds,
                advice: row.get("advice")?,
            });
        }
    }
    Ok(rules)
}

/// A group and its findings.
struct JudgedGroup<'r> {
    group: &'r Group,
    all: Calls,
    /// Set if it did enough to be judged.
    is_enough: bool,
    /// The findings of the requested levels, each with the advice of its rule.
    findings: Vec<(Finding<'r>, Option<&'r str>)>,
}

impl<'r> JudgedGroup<'r> {
    fn new(group: &'r Group, work: &'r Work, rules: &'r [EnabledRule], levels: &[Level]) -> Self {
        let is_enough = is_enough(work);
        let findings = rules.iter().filter(|_| is_enough).filter_map(|it| {
            let finding = judge(it.rule, &it.thresholds, work)?;
            Some((finding, it.advice.as_deref()))
        });
        Self {
            group,
            all: work.all,
            is_enough,
            findings: findings.filter(|it| levels.contains(&it.0.level)).collect(),
        }
    }

    /// Returns the worst level, if bad and fair findings were requested.
    fn level(&self) -> Option<Level> {
        let levels = self.findings.iter().map(|it| it.0.level);
        self.is_enough.then(|| levels.max().unwrap_or(Level::Good))
    }

    /// Returns advice that does not come from a rule.
    fn advice(&self) -> Option<&'static str> {
        let is_probe = self.group.iter().flatten().any(|it| probe::is_work(it));
        is_probe.then_some(OF_PROBE)
    }
}

/// Writes all findings, the worst first.
fn write_findings(
    client: &SpiClient<'_>,
    by: &By,
    judged: &[JudgedGroup<'_>],
    rows: &mut Rows,
) -> Result<(), Error> {
    let of_groups = judged.iter().flat_map(|of| {
        let findings = of.findings.iter();
        findings.map(move |(finding, advice)| (of, finding, *advice))
    });
    let mut shown: Vec<_> = of_groups.collect();
    shown.sort_by(|one, other| {
        let by_cost = one.1.worst_first(other.1);
        by_cost.then_with(|| one.0.group.cmp(other.0.group))
    });
    let labels = Labels::new(client, by.clone(), shown.iter().map(|it| it.0.group))?;
    for (judged, finding, advice) in shown {
        rows.put(|| {
            [
                finding.rule.name().cell(),
                finding.level.name().cell(),
                labels.name(judged.group, None).cell(),
                finding.share().map(rounded).cell(),
                finding.time().cell(),
                finding.to_string().cell(),
                finding.value.cell(),
                finding.threshold.cell(),
                judged.advice().or(advice).cell(),
                labels.labels(judged.group, None).cell(),
            ]
        });
    }
    Ok(())
}

/// The levels of a verdict, in the order of their rows; `None`: groups did too little to be judged.
const LEVELS: [Option<Level>; 4] = [Some(Level::Bad), Some(Level::Fair), Some(Level::Good), None];

/// Writes how many groups each level has, and their cost: time, or calls if no server reports times.
fn write_verdict(judged: &[JudgedGroup<'_>], rows: &mut Rows) {
    if judged.is_empty() {
        return;
    }
    // Sums of microseconds are whole numbers, whose order does not matter.
    let micros = |it: &JudgedGroup<'_>| it.all.time.map(|time| (time * 1e6).round());
    let all_time: f64 = judged.iter().filter_map(micros).sum();
    let all_calls: f64 = judged.iter().map(|it| it.all.count).sum();
    let has_times = judged.iter().any(|it| it.all.time.is_some());
    for level in LEVELS {
        let of = || judged.iter().filter(|it| it.level() == level);
        // If others have times, a level without groups costs 0.
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
                level.map_or("not judged", Level::name).cell(),
                groups.cell(),
                time.map(|it| it / 1e6).cell(),
                share.map(rounded).cell(),
            ]
        });
    }
}
