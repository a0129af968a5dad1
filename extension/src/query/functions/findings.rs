//! `jobstats_findings()` and `jobstats_verdict()` judge how something used Lustre.

use jobstats_core::event::probe;
use jobstats_core::finding::{Calls, Finding, Level, Rule, Thresholds, Work, is_enough, judge};
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::{SqlResult, Statements, connect_as_of_call};
use crate::pg::tuplestore::{IntoCell, Rows};
use crate::query::answer::{SETTINGS, ask, write_rows};
use crate::query::dimension::By;
use crate::query::empty;
use crate::query::filters::Filters;
use crate::query::functions::top::rows_wanted;
use crate::query::groups::{Group, Unnested};
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
    let asked = Asked::take(&mut arguments)?;
    let levels = levels(arguments.take()?)?;
    let filters = Filters::take(&mut arguments)?.excluding(arguments.take()?)?;
    asked.answer(filters, &levels, |client, by, judged| {
        write_findings(client, by, judged, &mut rows)
    })
}

#[pg_extern(sql = false)]
fn jobstats_verdict(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let asked = Asked::take(&mut arguments)?;
    let n = rows_wanted(arguments.take()?)?;
    let filters = Filters::take(&mut arguments)?.excluding(arguments.take()?)?;
    asked.answer(filters, &SHOWN, |client, by, judged| {
        write_verdict(
            client,
            by,
            judged,
            usize::try_from(n).unwrap_or(0),
            &mut rows,
        )
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

/// The window and the groups of a question, before its filters.
struct Asked {
    period: Period,
    by: By,
}

impl Asked {
    fn take(arguments: &mut Arguments<'_>) -> Result<Self, Error> {
        Ok(Self {
            period: Period::take(arguments)?,
            by: By::parse(arguments.take()?, &["job"])?,
        })
    }

    /// Judges all groups, and writes what is said of them. Raises a notice if there are none.
    fn answer(
        self,
        filters: Filters,
        levels: &[Level],
        write: impl FnOnce(&SpiClient<'_>, &By, &[Judged]) -> Result<(), Error>,
    ) -> SqlResult<()> {
        let question = work::question(self.period, &self.by, filters)?;
        ask(question, |client, question| {
            let Some(plan) = Plan::find(client, question)? else {
                return empty::explain(client, &question.period, &question.filters);
            };
            let rules = rules(client)?;
            let found = work::find(client, question, &plan, &self.by, None)?;
            let judged: Vec<Judged> = found
                .into_iter()
                .map(|(group, work)| Judged::new(group, &work, &rules, levels))
                .collect();
            write(client, &self.by, &judged)?;
            plan.note_behind()?;
            plan.jobs.note_arrays();
            if judged.is_empty() {
                empty::explain_window(client, &plan.window, question)?;
            }
            plan.note_age();
            Ok(())
        })
    }
}

/// Returns the levels that are asked for.
fn levels(names: Option<Vec<Option<String>>>) -> Result<Vec<Level>, Error> {
    let Some(names) = names else {
        return Ok(SHOWN.to_vec());
    };
    let of_name = |name: Option<String>| {
        let name = name.as_deref().unwrap_or("NULL");
        let level = Level::ALL.into_iter().find(|it| it.name() == name);
        level.ok_or_else(|| Error::unknown("level", name, "good, fair, bad".to_owned()))
    };
    names.into_iter().map(of_name).collect()
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

    /// Returns what it cost: the time of servers, and the number of calls.
    fn cost(&self) -> (f64, f64) {
        (self.all.time.unwrap_or(0.0), self.all.count)
    }
}

/// Compares costs, the largest first.
fn by_cost(one: (f64, f64), other: (f64, f64)) -> std::cmp::Ordering {
    other
        .0
        .total_cmp(&one.0)
        .then_with(|| other.1.total_cmp(&one.1))
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
        let (all_time, calls) = judged.cost();
        (time.unwrap_or(share * all_time), share * calls)
    };
    shown.sort_by(|one, other| {
        let by_level = other.1.level.cmp(&one.1.level);
        by_level
            .then_with(|| by_cost(cost(one), cost(other)))
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
    let texts = |of: fn(&Finding) -> String| shown.iter().map(|it| of(it.1)).collect::<Vec<_>>();
    let mut params: Vec<DatumWithOid<'_>> = vec![
        texts(|it| it.rule.name().to_owned()).into(),
        texts(|it| it.level.name().to_owned()).into(),
        texts(Finding::to_string).into(),
        shown
            .iter()
            .map(|it| it.1.value.value)
            .collect::<Vec<f64>>()
            .into(),
        shown
            .iter()
            .map(|it| it.1.threshold)
            .collect::<Vec<f64>>()
            .into(),
        shown
            .iter()
            .map(|it| it.1.value.is_estimated)
            .collect::<Vec<bool>>()
            .into(),
        shown
            .iter()
            .map(|it| it.2)
            .collect::<Vec<Option<f64>>>()
            .into(),
        shown
            .iter()
            .map(|it| it.1.share)
            .collect::<Vec<Option<f64>>>()
            .into(),
        shown
            .iter()
            .map(|it| it.0.advice())
            .collect::<Vec<Option<String>>>()
            .into(),
    ];
    let groups = shown.iter().map(|it| Some(&it.0.group));
    let Unnested {
        columns,
        arrays,
        values,
    } = Unnested::new(by, "found", groups, &mut params);
    let sql = format!(
        "SELECT found.finding{columns}, found.level, found.value, found.threshold, found.estimated, found.says, found.service_time, \
         found.share, coalesce(found.advice, rule.advice) AS advice, rule.url \
         FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[], $5::double precision[], $6::boolean[], \
             $7::double precision[], $8::double precision[], $9::text[]{arrays}) WITH ORDINALITY \
             AS found (finding, level, says, value, threshold, estimated, service_time, share, advice{values}, place) \
         LEFT JOIN jobstats.finding_rules rule ON rule.finding = found.finding ORDER BY found.place"
    );
    write_rows(client, &sql, &params, rows)?;
    Ok(())
}

/// A row of a verdict.
struct Verdict<'a> {
    group: Option<&'a Group>,
    level: &'static str,
    /// The names of findings, the worst first.
    findings: Option<String>,
    groups: i64,
    calls: f64,
    time: Option<f64>,
}

impl<'a> Verdict<'a> {
    /// Sums up the groups of a level.
    fn of_level(level: Option<Level>, judged: &[Judged]) -> Self {
        let of = || judged.iter().filter(|it| it.level() == level);
        let times = of().filter_map(|it| it.all.time);
        // Where others have times, no group has none.
        let has_times = judged.iter().any(|it| it.all.time.is_some());
        let none = (has_times && of().next().is_none()).then_some(0.0);
        Self {
            group: None,
            level: level.map_or(NOT_JUDGED, Level::name),
            findings: None,
            groups: i64::try_from(of().count()).unwrap_or(i64::MAX),
            calls: of().map(|it| it.all.count).sum(),
            time: times.fold(none, |sum, time| Some(sum.unwrap_or(0.0) + time)),
        }
    }

    fn of_group(judged: &'a Judged) -> Self {
        let findings = judged.findings.iter().map(|(finding, _)| finding);
        let mut findings: Vec<&Finding> = findings.collect();
        findings.sort_by_key(|it| std::cmp::Reverse(it.level));
        let names: Vec<&str> = findings.iter().map(|it| it.rule.name()).collect();
        Self {
            group: Some(&judged.group),
            level: judged.level().map_or(NOT_JUDGED, Level::name),
            findings: Some(names.join(",")),
            groups: 1,
            calls: judged.all.count,
            time: judged.all.time,
        }
    }
}

/// The levels of a verdict, in the order of their rows; `None`: not judged.
const LEVELS: [Option<Level>; 4] = [Some(Level::Bad), Some(Level::Fair), Some(Level::Good), None];

/// Returns the rows of a verdict: the levels, and then the `n` worst groups.
fn verdicts(judged: &[Judged], n: usize) -> Vec<Verdict<'_>> {
    let mut verdicts: Vec<Verdict<'_>> = LEVELS
        .into_iter()
        .map(|level| Verdict::of_level(level, judged))
        .collect();
    let mut worst: Vec<&Judged> = judged
        .iter()
        .filter(|it| it.level() > Some(Level::Good))
        .collect();
    worst.sort_by(|one, other| {
        let by_level = other.level().cmp(&one.level());
        by_level
            .then_with(|| by_cost(one.cost(), other.cost()))
            .then_with(|| one.group.cmp(&other.group))
    });
    verdicts.extend(worst.into_iter().take(n).map(Verdict::of_group));
    verdicts
}

fn write_verdict(
    client: &SpiClient<'_>,
    by: &By,
    judged: &[Judged],
    n: usize,
    rows: &mut Rows,
) -> Result<(), Error> {
    if judged.is_empty() {
        return Ok(());
    }
    let verdicts = verdicts(judged, n);
    // The rows of levels have all groups.
    let all = |of: fn(&Verdict<'_>) -> f64| verdicts[..LEVELS.len()].iter().map(of).sum::<f64>();
    let (all_time, all_calls) = (all(|it| it.time.unwrap_or(0.0)), all(|it| it.calls));
    let share = |it: &Verdict<'_>| match all_time > 0.0 {
        true => it.time.map(|time| time / all_time),
        false => (all_calls > 0.0).then(|| it.calls / all_calls),
    };
    let of_levels = i64::try_from(LEVELS.len()).unwrap_or(i64::MAX);
    let mut params: Vec<DatumWithOid<'_>> = vec![
        of_levels.into(),
        verdicts
            .iter()
            .map(|it| it.level.to_owned())
            .collect::<Vec<String>>()
            .into(),
        verdicts
            .iter()
            .map(|it| it.findings.clone())
            .collect::<Vec<Option<String>>>()
            .into(),
        verdicts
            .iter()
            .map(|it| it.groups)
            .collect::<Vec<i64>>()
            .into(),
        verdicts
            .iter()
            .map(|it| it.calls as i64)
            .collect::<Vec<i64>>()
            .into(),
        verdicts
            .iter()
            .map(|it| it.time)
            .collect::<Vec<Option<f64>>>()
            .into(),
        verdicts
            .iter()
            .map(share)
            .collect::<Vec<Option<f64>>>()
            .into(),
    ];
    let groups = verdicts.iter().map(|it| it.group);
    let Unnested {
        columns,
        arrays,
        values,
    } = Unnested::new(by, "verdict", groups, &mut params);
    let sql = format!(
        "SELECT CASE WHEN verdict.place > $1 THEN verdict.place - $1 END AS rank{columns}, verdict.level, \
         string_to_array(verdict.findings, text ',') AS findings, verdict.groups, verdict.calls, verdict.service_time, verdict.share \
         FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::double precision[], $7::double precision[]{arrays}) WITH ORDINALITY \
             AS verdict (level, findings, groups, calls, service_time, share{values}, place) \
         ORDER BY verdict.place"
    );
    write_rows(client, &sql, &params, rows)?;
    Ok(())
}
