//! The quality of the data of the window, hour by hour.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{Quality, QualityRow};

use super::vocabulary::*;

/// The longest window with hourly quality.
const LONGEST: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The number of seconds in an hour.
const HOUR: i64 = 3600;

/// The name of a target, and its hours.
type Hours<'r> = (&'r str, Vec<&'r QualityRow>);

/// Loads the quality of the data.
pub fn ask(store: &mut Store, scope: &Scope) -> Result<Vec<Block>, Error> {
    let (since, until) = scope.window;
    let start = since.max(until.checked_sub(LONGEST).unwrap_or(since));
    let hour = start.as_second().div_euclid(HOUR) * HOUR;
    let start = Timestamp::from_second(hour).unwrap_or(start);
    let quality = store.ask(&Quality {
        since: start,
        until,
    })?;
    let mut targets: BTreeMap<&str, Vec<&QualityRow>> = BTreeMap::new();
    let rows = quality.rows.iter();
    for row in rows.filter(|row| scope.has(&row.target, &row.cluster)) {
        targets.entry(&row.target).or_default().push(row);
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
fn by_target(targets: &[Hours<'_>]) -> Table {
    let bad = |(_, hours): &Hours<'_>| {
        let bad = |row: &&QualityRow| row.missed.unwrap_or(0) + row.gaps + row.problems;
        Some(hours.iter().map(bad).sum::<i64>() as f64)
    };
    let cells = |(name, hours): &Hours<'_>| {
        let sum = |of: fn(&QualityRow) -> i64| hours.iter().map(|row| of(row)).sum::<i64>();
        let share = |of: fn(&QualityRow) -> Option<f64>| {
            let known = hours.iter().filter_map(|row| of(row));
            Cell::percent(mean(known))
        };
        let others =
            |row: &QualityRow| row.missing_job + row.truncated + row.malformed + row.partial;
        let (identified, others) = (sum(|row| row.ok), sum(others));
        let entries = identified + others;
        let identified = (entries > 0).then(|| identified as f64 / entries as f64);
        let missed = hours.iter().any(|row| row.missed.is_some());
        let missed = missed.then(|| sum(|row| row.missed.unwrap_or(0)).to_string());
        [
            ("Target", Cell::text(name)),
            ("Readings", Cell::count(sum(|row| row.observations))),
            ("Missing", Cell::count(missed.as_deref().unwrap_or("–"))),
            ("Gaps", Cell::count(sum(|row| row.gaps))),
            ("Resets", Cell::count(sum(|row| row.resets))),
            ("Unknown", Cell::count(sum(|row| row.unknown))),
            ("Problems", Cell::count(sum(|row| row.problems))),
            ("Identified", Cell::percent(identified)),
            ("No job", share(|row| row.operations_without_job)),
            ("No user", share(|row| row.operations_without_user)),
        ]
    };
    let caption = "Quality by target, those with most gaps and problems first";
    Table::largest(caption, targets, bad, cells)
}
