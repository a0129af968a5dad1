//! The state of each target now, and the problems that need care.

use jiff::{SignedDuration, Timestamp};
use jobstats_client::answers::{self, HealthRow};

use super::load::Load;
use super::vocabulary::*;

/// The number of problems shown with a remedy.
const CARE: usize = 6;

/// The number of targets of a problem that are listed.
const LISTED: usize = 8;

/// The time without scrapes at the end of a window that makes a report warn first, unless the scrape interval is longer.
const SILENCE: SignedDuration = SignedDuration::from_mins(10);

/// The state of the targets when the page was made.
pub struct Health {
    rows: Vec<HealthRow>,
    statement: String,
}

/// A problem, with the targets that have it.
#[derive(Debug, Clone, PartialEq)]
struct Problem {
    states: Vec<String>,
    remedy: Option<String>,
    /// The targets; empty for a problem of the store.
    targets: Vec<String>,
    last: Option<Timestamp>,
}

impl Health {
    /// Loads the health of the targets of a file system, and of the store.
    pub fn ask(store: &mut Store, scope: &Scope) -> Result<Self, Error> {
        let health = store.ask(&answers::Health::default())?;
        let is_near = |row: &HealthRow| row.cluster.as_deref().unwrap_or_default() == scope.home;
        let is_own = |row: &HealthRow| match &row.target {
            Some(target) => is_near(row) && scope.targets.contains(target),
            None => row.states == ["maintenance"],
        };
        Ok(Self {
            rows: health.rows.into_iter().filter(is_own).collect(),
            statement: health.statement,
        })
    }

    /// Warns if no target was observed at the end of the window.
    pub fn silence(&self, scope: &Scope, load: &Load) -> Option<Block> {
        let end = scope.window.1.min(Timestamp::now());
        let last = self.last_reading(load, end)?;
        let silence = end.duration_since(last);
        let usual = self.rows.iter().filter_map(|row| row.usual_interval);
        let usual = usual.map(|usual| usual.0).max().unwrap_or_default();
        (silence > SILENCE.max(usual.saturating_mul(2))).then(|| {
            Block::text(format!(
                "No data after {}: the last {} of this window is missing.",
                scope.clock.minute(last),
                when::length(silence.as_secs_f64())
            ))
        })
    }

    /// Returns the time of the last reading of any target before an end.
    fn last_reading(&self, load: &Load, end: Timestamp) -> Option<Timestamp> {
        let last = self.rows.iter().filter_map(|row| row.last_observation);
        // If there are later scrapes, the steps show when scrapes stopped.
        last.max().filter(|last| *last < end).or_else(|| {
            let known = load.now.iter().filter(|point| point.value.is_some());
            known.map(Point::end).max()
        })
    }

    /// Returns the coverage and the targets with problems.
    pub fn section(&self, scope: &Scope, load: &Load) -> Section {
        let targets = self.rows.iter().filter(|row| row.target.is_some());
        let coverage = percent(load.coverage);
        let mut text = format!("On average, targets were observed for {coverage} of the window.");
        if let Some(states) = counted(targets.flat_map(|row| row.states.clone())) {
            text.push_str(&format!(
                " State of the targets when this page was created: {states}."
            ));
        }
        let blocks = vec![
            Block::Text(text),
            care(&self.problems(), &scope.clock).into(),
            Block::statement("State of the targets", self.statement.clone()),
        ];
        Section::new("health", "Health of the targets", blocks)
    }

    /// Returns the distinct problems: of the store first, then by number of targets and name.
    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let rows = self.rows.iter();
        for row in rows.filter(|row| row.states != ["ok"] || row.remedy.is_some()) {
            let is_same = |problem: &&mut Problem| {
                problem.states == row.states && problem.remedy == row.remedy
            };
            match problems.iter_mut().find(is_same) {
                Some(problem) => {
                    problem.targets.extend(row.target.clone());
                    problem.last = problem.last.max(row.last_observation);
                }
                None => problems.push(Problem {
                    states: row.states.clone(),
                    remedy: row.remedy.clone(),
                    targets: row.target.clone().into_iter().collect(),
                    last: row.last_observation,
                }),
            }
        }
        for problem in &mut problems {
            problem.targets.sort();
        }
        problems.sort_by_cached_key(|problem| match problem.targets.len() {
            0 => (0, 0, Vec::new()),
            count => (1, usize::MAX - count, problem.targets.clone()),
        });
        problems
    }
}

/// Returns the table of problems.
fn care(problems: &[Problem], clock: &Clock) -> Table {
    let rows = problems.iter().take(CARE).map(|problem| {
        let last = problem.last.map(|time| clock.minute(time));
        let remedy = problem.remedy.as_deref().unwrap_or("–");
        [
            ("State", Cell::text(&problem.states.join(", "))),
            ("Targets", Cell::sentences(&listed(&problem.targets))),
            ("What to do", Cell::sentences(remedy)),
            ("Last snapshot", Cell::name(last)),
        ]
    });
    let mut table = Table::new("Problems", rows);
    let others = problems.iter().skip(CARE);
    let left_out: usize = others.map(|problem| problem.targets.len()).sum();
    if left_out > 0 {
        let more = problems.len() - CARE;
        table.note = Some(format!(
            "{more} more problems, with {left_out} targets, are left out."
        ));
    }
    table
}

/// Lists targets by the ends of their names, which differ within a file system.
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

#[cfg(test)]
mod tests {
    use jobstats_client::answers::Interval;

    use super::*;
    use crate::testing::{load, scope, time};

    fn row(target: Option<&str>, state: &str, remedy: &str) -> HealthRow {
        HealthRow {
            cluster: None,
            target: target.map(str::to_owned),
            kind: None,
            server: None,
            states: vec![state.to_owned()],
            last_observation: target.map(|_| time(60)),
            delay: None,
            usual_interval: None,
            cleanup_interval: None,
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
        let problems = health(rows).problems();
        assert_eq!(problems.len(), 10);
        let table = care(&problems, &scope(0).clock);
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
        let scope = scope(7200);
        let observed = load(&[(0, Some(1.0)), (600, Some(1.0)), (1200, None)]);
        let said = |health: &Health, load: &Load| match health.silence(&scope, load) {
            Some(Block::Text(text)) => text,
            _ => String::new(),
        };
        let silent = health(vec![row(Some("scratch-OST0000"), "silent", "")]);
        assert_eq!(
            said(&silent, &observed),
            "No data after 1970-01-01 00:01: the last 01:59:00 of this window is missing."
        );
        // Readings once an hour are not late.
        let mut rare = row(Some("scratch-OST0000"), "ok", "");
        rare.usual_interval = Some(Interval(SignedDuration::from_hours(1)));
        assert_eq!(said(&health(vec![rare]), &observed), "");
        // Readings came back after the window.
        let mut back = row(Some("scratch-OST0000"), "ok", "");
        back.last_observation = Some(time(90_000));
        let back = health(vec![back]);
        assert!(said(&back, &observed).contains("after 1970-01-01 00:20: the last 01:40:00"));
        assert_eq!(said(&back, &load(&[(0, Some(1.0)), (6600, Some(1.0))])), "");
    }

    #[test]
    fn a_gap_leaves_less_than_all_of_the_time() {
        let load = Load {
            coverage: 0.999,
            ..load(&[])
        };
        let blocks = health(Vec::new()).section(&scope(0), &load).blocks;
        assert!(
            matches!(&blocks[0], Block::Text(text) if text == "On average, targets were observed for >99 % of the window."),
            "{blocks:?}"
        );
    }
}
