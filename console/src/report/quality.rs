//! The quality of the data of the window, hour by hour.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Quality, QualityRow};

use super::vocabulary::*;

/// The longest window whose quality is asked for, hour by hour.
const LONGEST: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The number of seconds in an hour.
const HOUR: i64 = 3600;

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

/// Asks for the quality of the data.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let (since, until) = scope.window;
    let start = since.max(until.checked_sub(LONGEST).unwrap_or(since));
    let hour = start.as_second().div_euclid(HOUR) * HOUR;
    let start = Timestamp::from_second(hour).unwrap_or(start);
    let quality = store.ask(&Quality {
        since: start,
        until,
    })?;
    let mut targets: BTreeMap<&str, Sums> = BTreeMap::new();
    let rows = quality.rows.iter();
    for row in rows.filter(|row| scope.has(&row.target, &row.cluster)) {
        targets.entry(&row.target).or_default().add(row);
    }
    let mut text = "A missing reading loses no work: the rates are then means over a longer time. Unknown counts entries whose first \
                    value may be older than the reading, so that it is not counted. Problems counts parts of the text that could \
                    not be used. Identified is the share of entries whose identifier was read; the last two columns are shares of \
                    all calls, averaged over the hours."
        .to_owned();
    if start > since {
        text.push_str(&format!(" Shown from {} on.", scope.clock.minute(start)));
    }
    if targets.is_empty() {
        let name = shown(&scope.filesystem);
        text = format!("No hour of {name} is known in this window.");
    }
    let targets: Vec<_> = targets.into_iter().collect();
    Ok(vec![
        Block::Text(text),
        by_target(&targets).into(),
        Block::statement("Each hour of each target", quality.statement),
    ])
}

/// Returns the table of the sums of each target.
fn by_target(targets: &[(&str, Sums)]) -> Table {
    let bad = |(_, sums): &(&str, Sums)| {
        let bad = sums.missed.unwrap_or(0) + sums.gaps + sums.problems;
        Some(bad as f64)
    };
    let cells = |(name, sums): &(&str, Sums)| {
        let missed = sums.missed.map(|missed| missed.to_string());
        let identified = (sums.entries > 0).then(|| sums.identified as f64 / sums.entries as f64);
        let mean = |shares: &[f64]| mean(shares.iter().copied());
        [
            ("Target", Cell::text(name)),
            ("Readings", Cell::count(sums.observations)),
            ("Missing", Cell::count(missed.as_deref().unwrap_or("–"))),
            ("Gaps", Cell::count(sums.gaps)),
            ("Resets", Cell::count(sums.resets)),
            ("Unknown", Cell::count(sums.unknown)),
            ("Problems", Cell::count(sums.problems)),
            ("Identified", Cell::percent(identified)),
            ("No job", Cell::percent(mean(&sums.without_job))),
            ("No user", Cell::percent(mean(&sums.without_user))),
        ]
    };
    let caption = "Quality by target, those with most gaps and problems first";
    Table::largest(caption, targets, bad, cells)
}
