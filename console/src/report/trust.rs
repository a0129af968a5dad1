//! The trust that the numbers deserve: the state of each target now, and the quality of the data of the window.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Health, HealthRow, Quality, QualityRow};

use super::Scope;
use super::load::Load;
use crate::html::{Block, Cell, Table};
use crate::inquiry::Error;
use crate::number::Number;
use crate::store::Store;
use crate::text::shown;
use crate::when::Clock;

/// The longest window whose quality is asked for, hour by hour.
const LONGEST: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The number of targets that need care of which the remedy is shown.
const CARE: usize = 6;

/// Says how much was observed, and which targets need care.
pub fn health(
    store: &mut Store,
    scope: &Scope,
    load: &Load,
    clock: &Clock,
) -> Result<Vec<Block>, Error> {
    let health = store.ask(&Health::default())?;
    let is_own = |row: &&HealthRow| match (&row.target, &row.cluster) {
        (Some(target), cluster) => scope.has(target, cluster.as_deref().unwrap_or_default()),
        (None, _) => row.status == "maintenance",
    };
    let rows: Vec<_> = health.rows.iter().filter(is_own).collect();
    let mut statuses: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.target.is_some()) {
        *statuses.entry(row.status.as_str()).or_default() += 1;
    }
    let statuses = statuses
        .iter()
        .map(|(status, count)| format!("{count} {status}"));
    let statuses: Vec<_> = statuses.collect();
    let coverage = Number::percent(Some(load.coverage)).text();
    let text = format!(
        "{coverage} of the time of all targets in the window was observed. When this page was made, the targets were: {}.",
        statuses.join(", ")
    );
    let cells = rows
        .iter()
        .filter(|row| row.status != "ok" || row.remedy.is_some());
    let cells = cells.map(|row| {
        let last = row.last_observation.map(|time| clock.minute(time));
        vec![
            Cell::text(row.target.as_deref().unwrap_or("–")),
            Cell::text(&row.status),
            Cell::text(last.as_deref().unwrap_or("–")),
            Cell::sentences(row.remedy.as_deref().unwrap_or("")),
        ]
    });
    let columns = ["Target", "Status", "Last reading", "What to do"];
    let mut table = Table::new("Targets that need care", &columns);
    table.rows = cells.collect();
    table.more = table.rows.len().saturating_sub(CARE);
    table.rows.truncate(CARE);
    let mut blocks = vec![Block::Text(text)];
    if !table.rows.is_empty() {
        blocks.push(Block::Tables(vec![table]));
    }
    blocks.push(Block::Statements(vec![(
        "State of the targets".to_owned(),
        health.statement,
    )]));
    Ok(blocks)
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
        Block::Tables(vec![table.largest(rows.collect())]),
        Block::Statements(vec![(
            "Each hour of each target".to_owned(),
            quality.statement,
        )]),
    ])
}
