//! The trust that the numbers deserve: the state of each target now, and the quality of the data of the window.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{self, HealthRow, Quality, QualityRow};

use super::load::Load;
use super::{Scope, after};
use crate::ask::error::Error;
use crate::ask::store::Store;
use crate::show::html::{Block, Cell, Table};
use crate::values::number::Number;
use crate::values::text::shown;
use crate::values::when::{self, Clock};

/// The longest window whose quality is asked for, hour by hour.
const LONGEST: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The number of problems of which the remedy is shown.
const CARE: usize = 6;

/// The number of targets of a problem that are listed.
const LISTED: usize = 8;

/// The time without any reading at the end of a window from which on a report says so first, unless readings are so rare
/// that two of them are farther apart.
const SILENCE: SignedDuration = SignedDuration::from_mins(10);

/// The state of the targets when the page was made.
pub struct Health {
    rows: Vec<HealthRow>,
    statement: String,
}

/// A problem, with the targets that have it.
#[derive(Debug, Clone, PartialEq)]
struct Problem {
    status: String,
    remedy: Option<String>,
    /// The targets; none for a problem of the store itself.
    targets: Vec<String>,
    last: Option<Timestamp>,
}

impl Health {
    /// Asks for the state of the targets of a file system, and of the store.
    pub fn ask(store: &mut Store, scope: &Scope) -> Result<Self, Error> {
        let health = store.ask(&answers::Health::default())?;
        let is_own = |row: &HealthRow| match (&row.target, &row.cluster) {
            (Some(target), cluster) => scope.has(target, cluster.as_deref().unwrap_or_default()),
            (None, _) => row.status == "maintenance",
        };
        Ok(Self {
            rows: health.rows.into_iter().filter(is_own).collect(),
            statement: health.statement,
        })
    }

    /// Says that the end of the window is not known, if no target was read then.
    pub fn silence(&self, scope: &Scope, load: &Load, clock: &Clock) -> Option<Block> {
        let end = scope.window.1.min(Timestamp::now());
        let last = self.last_reading(load, end)?;
        let silence = end.duration_since(last);
        let usual = self
            .rows
            .iter()
            .filter_map(|row| Some(row.usual_interval?.0));
        let usual = usual.max().unwrap_or_default();
        (silence > SILENCE.max(usual.saturating_mul(2))).then(|| {
            Block::Text(format!(
                "No target was read after {}: nothing is known of the last {} of this window.",
                clock.minute(last),
                when::length(silence.as_secs_f64())
            ))
        })
    }

    /// Returns the time of the last reading of any target before an end.
    fn last_reading(&self, load: &Load, end: Timestamp) -> Option<Timestamp> {
        let last = self
            .rows
            .iter()
            .filter_map(|row| row.last_observation)
            .max();
        // If there are later readings, the steps tell when readings stopped.
        last.filter(|last| *last < end).or_else(|| {
            let known = load.now.iter().filter(|point| point.rate.is_some());
            known.map(|point| after(point.time, point.seconds)).max()
        })
    }

    /// Says how much was observed, and which targets need care.
    pub fn blocks(&self, load: &Load, clock: &Clock) -> Vec<Block> {
        let mut statuses: BTreeMap<&str, usize> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.target.is_some()) {
            *statuses.entry(row.status.as_str()).or_default() += 1;
        }
        let statuses = statuses
            .iter()
            .map(|(status, count)| format!("{count} {status}"));
        let statuses: Vec<_> = statuses.collect();
        let coverage = Number::percent(Some(load.coverage)).text();
        let mut text = format!("{coverage} of the time of all targets in the window was observed.");
        if !statuses.is_empty() {
            text.push_str(&format!(
                " When this page was made, the targets were: {}.",
                statuses.join(", ")
            ));
        }
        let mut blocks = vec![Block::Text(text)];
        let problems = self.problems();
        if !problems.is_empty() {
            blocks.push(Block::Tables(vec![care(&problems, clock)]));
        }
        blocks.push(Block::Statements(vec![(
            "State of the targets".to_owned(),
            self.statement.clone(),
        )]));
        blocks
    }

    /// Returns the problems, each once: those of the store first, then those with most targets.
    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let rows = self.rows.iter();
        for row in rows.filter(|row| row.status != "ok" || row.remedy.is_some()) {
            let is_same = |problem: &&mut Problem| {
                problem.status == row.status && problem.remedy == row.remedy
            };
            match problems.iter_mut().find(is_same) {
                Some(problem) => {
                    problem.targets.extend(row.target.clone());
                    problem.last = problem.last.max(row.last_observation);
                }
                None => problems.push(Problem {
                    status: row.status.clone(),
                    remedy: row.remedy.clone(),
                    targets: row.target.clone().into_iter().collect(),
                    last: row.last_observation,
                }),
            }
        }
        for problem in &mut problems {
            problem.targets.sort();
        }
        problems.sort_by_key(|problem| match problem.targets.len() {
            0 => (0, 0),
            count => (1, usize::MAX - count),
        });
        problems
    }
}

/// Returns the table of problems.
fn care(problems: &[Problem], clock: &Clock) -> Table {
    let rows = problems.iter().take(CARE).map(|problem| {
        let last = problem.last.map(|time| clock.minute(time));
        vec![
            Cell::text(&problem.status),
            Cell::sentences(&listed(&problem.targets)),
            Cell::sentences(problem.remedy.as_deref().unwrap_or("–")),
            Cell::text(last.as_deref().unwrap_or("–")),
        ]
    });
    let columns = ["Status", "Targets", "What to do", "Last reading"];
    let mut table = Table::new("What needs care", &columns);
    table.rows = rows.collect();
    let left_out: usize = problems
        .iter()
        .skip(CARE)
        .map(|problem| problem.targets.len())
        .sum();
    if left_out > 0 {
        table.note = Some(format!(
            "{} more problems, with {left_out} targets, are left out.",
            problems.len() - CARE
        ));
    }
    table
}

/// Lists targets by the ends of their names, which tell them apart within a file system.
fn listed(targets: &[String]) -> String {
    let end = |target: &String| target.rsplit('-').next().unwrap_or(target).to_owned();
    let mut ends: Vec<_> = targets.iter().take(LISTED).map(end).collect();
    match targets.len() {
        0 => return "the store".to_owned(),
        1 => return targets[0].clone(),
        count if count > LISTED => ends.push(format!("and {} more", count - LISTED)),
        _ => {}
    }
    format!("{} targets: {}", targets.len(), ends.join(", "))
}

/// The sums of the hours of a target.
#[derive(Debug, Clone, PartialEq, Default)]
struct Sums {
    observations: i64,
    missed: Option<i64>,
    gaps: i64,
    resets: i64,
    unknown: i64,
    problems: i64,
    identified: i64,
    entries: i64,
    without_job: Vec<f64>,
    without_user: Vec<f64>,
}

impl Sums {
    fn add(&mut self, row: &QualityRow) {
        self.observations += row.observations;
        if let Some(missed) = row.missed {
            *self.missed.get_or_insert(0) += missed;
        }
        self.gaps += row.gaps;
        self.resets += row.resets;
        self.unknown += row.unknown;
        self.problems += row.problems;
        self.identified += row.ok;
        self.entries += row.ok + row.missing_job + row.truncated + row.malformed + row.partial;
        self.without_job.extend(row.operations_without_job);
        self.without_user.extend(row.operations_without_user);
    }
}

fn mean(parts: &[f64]) -> Option<f64> {
    (!parts.is_empty()).then(|| parts.iter().sum::<f64>() / parts.len() as f64)
}

/// Shows the quality of the data.
pub fn quality(store: &mut Store, scope: &Scope, clock: &Clock) -> Result<Vec<Block>, Error> {
    let hour = |time: Timestamp| {
        let seconds = time.as_second().div_euclid(3600) * 3600;
        Timestamp::from_second(seconds).unwrap_or(time)
    };
    let (since, until) = scope.window;
    let start = hour(since.max(until.checked_sub(LONGEST).unwrap_or(since)));
    let quality = store.ask(&Quality {
        since: start,
        until,
    })?;
    let mut targets: BTreeMap<&str, Sums> = BTreeMap::new();
    for row in quality
        .rows
        .iter()
        .filter(|row| scope.has(&row.target, &row.cluster))
    {
        targets.entry(&row.target).or_default().add(row);
    }
    let mut text = "A missing reading loses no work: the rates are then means over a longer time. Unknown counts entries whose first \
                    value may be older than the reading, so that it is not counted. Problems counts parts of the text that could \
                    not be used. Identified is the share of entries whose identifier was read; the last two columns are shares of \
                    all calls, averaged over the hours."
        .to_owned();
    if start > since {
        text.push_str(&format!(" Shown from {} on.", clock.minute(start)));
    }
    if targets.is_empty() {
        text = format!(
            "No hour of {} is known in this window.",
            shown(&scope.filesystem)
        );
    }
    Ok(vec![
        Block::Text(text),
        Block::Tables(vec![by_target(&targets)]),
        Block::Statements(vec![(
            "Each hour of each target".to_owned(),
            quality.statement,
        )]),
    ])
}

/// Returns the table of the sums of each target.
fn by_target(targets: &BTreeMap<&str, Sums>) -> Table {
    let count = |count: i64| Cell::number(count.to_string());
    let rows = targets.iter().map(|(name, sums)| {
        let identified = (sums.entries > 0).then(|| sums.identified as f64 / sums.entries as f64);
        let percent = |part| Cell::number(Number::percent(part).text());
        let cells = vec![
            Cell::text(name),
            count(sums.observations),
            Cell::number(
                sums.missed
                    .map_or_else(|| "–".to_owned(), |missed| missed.to_string()),
            ),
            count(sums.gaps),
            count(sums.resets),
            count(sums.unknown),
            count(sums.problems),
            percent(identified),
            percent(mean(&sums.without_job)),
            percent(mean(&sums.without_user)),
        ];
        let bad = sums.missed.unwrap_or(0) + sums.gaps + sums.problems;
        (bad as f64, cells)
    });
    let columns = [
        "Target",
        "#Readings",
        "#Missing",
        "#Gaps",
        "#Resets",
        "#Unknown",
        "#Problems",
        "#Identified",
        "#No job",
        "#No user",
    ];
    let table = Table::new(
        "Quality by target, those with most gaps and problems first",
        &columns,
    );
    table.largest(rows.collect())
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use jobstats_client::answers::Interval;

    use super::*;
    use crate::show::chart::line::Point;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn row(target: Option<&str>, status: &str, remedy: &str) -> HealthRow {
        HealthRow {
            cluster: None,
            target: target.map(str::to_owned),
            kind: None,
            server: None,
            status: status.to_owned(),
            last_observation: target.map(|_| time(60)),
            delay: None,
            usual_interval: None,
            cleanup_interval: None,
            cleanup_too_short: None,
            remedy: (!remedy.is_empty()).then(|| remedy.to_owned()),
            missed: None,
        }
    }

    fn health(rows: Vec<HealthRow>) -> Health {
        Health {
            rows,
            statement: String::new(),
        }
    }

    fn load(points: &[(i64, Option<f64>)]) -> Load {
        let point = |(second, rate): &(i64, Option<f64>)| Point {
            time: time(*second),
            seconds: 600.0,
            rate: *rate,
        };
        Load {
            step: 600,
            now: points.iter().map(point).collect(),
            before: Vec::new(),
            coverage: 0.999,
            mean: Some(1.0),
            mean_before: None,
            notes: Vec::new(),
            statements: Vec::new(),
        }
    }

    #[test]
    fn a_problem_is_one_row_and_those_of_the_store_come_first() {
        let names: Vec<_> = (0..11)
            .map(|number| format!("scratch-OST{number:04x}"))
            .collect();
        let mut rows = vec![row(Some("scratch-MDT0000"), "ok", "")];
        rows.extend(
            (0..8).map(|number| row(Some("scratch-MDT0001"), "late", &format!("Fault {number}."))),
        );
        rows.extend(
            names
                .iter()
                .map(|name| row(Some(name), "silent", "No texts arrive.")),
        );
        rows.push(row(None, "maintenance", "Maintenance has not finished."));
        let clock = Clock::new(TimeZone::UTC);
        let problems = health(rows).problems();
        assert_eq!(problems.len(), 10);
        let table = care(&problems, &clock);
        let texts = |row: usize| {
            table.rows[row]
                .iter()
                .map(|cell| cell.text.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            texts(0),
            [
                "maintenance",
                "the store",
                "Maintenance has not finished.",
                "–"
            ]
        );
        assert_eq!(
            texts(1)[..3],
            [
                "silent",
                "11 targets: OST0000, OST0001, OST0002, OST0003, OST0004, OST0005, OST0006, OST0007, and 3 more",
                "No texts arrive."
            ]
        );
        assert_eq!(texts(2)[1], "scratch-MDT0001");
        assert_eq!(table.rows.len(), CARE);
        assert_eq!(
            table.note.as_deref(),
            Some("4 more problems, with 4 targets, are left out.")
        );
    }

    #[test]
    fn silence_at_the_end_of_the_window_is_said_first() {
        let clock = Clock::new(TimeZone::UTC);
        let scope = Scope {
            filesystem: "scratch".to_owned(),
            cluster: None,
            window: (time(0), time(7200)),
            targets: Vec::new(),
            measure: "service_time",
        };
        let observed = load(&[(0, Some(1.0)), (600, Some(1.0)), (1200, None)]);
        let said = |health: &Health, load: &Load| match health.silence(&scope, load, &clock) {
            Some(Block::Text(text)) => text,
            _ => String::new(),
        };
        let silent = health(vec![row(Some("scratch-OST0000"), "silent", "")]);
        assert_eq!(
            said(&silent, &observed),
            "No target was read after 1970-01-01 00:01: nothing is known of the last 01:59:00 of this window."
        );
        // Readings once an hour are not late.
        let mut rare = row(Some("scratch-OST0000"), "ok", "");
        rare.usual_interval = Some(Interval(SignedDuration::from_hours(1)));
        assert_eq!(said(&health(vec![rare]), &observed), "");
        // Readings came back after the window.
        let mut back = row(Some("scratch-OST0000"), "ok", "");
        back.last_observation = Some(time(90_000));
        let back = health(vec![back]);
        assert!(
            said(&back, &observed)
                .contains("after 1970-01-01 00:20: nothing is known of the last 01:40:00")
        );
        assert_eq!(said(&back, &load(&[(0, Some(1.0)), (6600, Some(1.0))])), "");
    }

    #[test]
    fn a_gap_leaves_less_than_all_of_the_time() {
        let clock = Clock::new(TimeZone::UTC);
        let blocks = health(Vec::new()).blocks(&load(&[]), &clock);
        assert!(
            matches!(&blocks[0], Block::Text(text) if text.starts_with(">99 % of the time")),
            "{blocks:?}"
        );
    }
}
