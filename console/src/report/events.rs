//! Events with an alert: their culprits, and the precision of past alerts.

use std::collections::BTreeMap;

use jobstats_client::answers::{self, EventRow, Explain, statement};

use super::vocabulary::*;
use crate::subject::events::{ALERTED, lasted, measured, owner, place};

/// The number of events that have a row.
const ROWS: usize = 20;

/// The number of events that are explained, or whose explanation is a statement to copy.
const EXPLAINED: usize = 5;

/// The seconds of a day.
const DAY: f64 = 86_400.0;

/// The events of a file system in a window, or of all of them.
pub struct Events {
    /// The events with an alert, newest first.
    alerts: Vec<EventRow>,
    /// All others.
    others: Vec<EventRow>,
    notes: Vec<String>,
    statement: String,
}

impl Events {
    /// Loads events; in a user's report, only events of targets that the user used, if known.
    pub fn ask(store: &mut Store, scope: &Scope) -> Result<Self, Error> {
        let work = scope.work();
        let mut asked = store.try_ask(&answers::Events {
            window: work.window(),
            filter: answers::Filters {
                cluster: work.filters.cluster,
                filesystem: work.filters.filesystem,
                ..answers::Filters::default()
            },
            ..answers::Events::default()
        })?;
        let is_near = |row: &EventRow| row.targets.iter().any(|name| scope.targets.contains(name));
        if scope.is_own() && !scope.targets.is_empty() {
            asked.rows.retain(is_near);
        }
        let is_alert = |row: &EventRow| ALERTED.contains(&row.severity.as_str());
        let (alerts, others) = asked.rows.into_iter().partition(is_alert);
        Ok(Self {
            alerts,
            others,
            notes: asked.notes,
            statement: asked.statement,
        })
    }

    /// Returns a sentence about the worst alert without the verdict `false` or `known`.
    pub fn lead(&self, scope: &Scope) -> Option<String> {
        let alerts = self.alerts.iter();
        let alerts = alerts.filter(|row| row.verdict.as_deref().is_none_or(|it| it == "real"));
        let by_weight = |one: &&EventRow, other: &&EventRow| {
            let weight = |row: &EventRow| row.severity == "critical";
            (weight(one).cmp(&weight(other))).then(one.rate.total_cmp(&other.rate))
        };
        let worst = alerts.clone().max_by(by_weight)?;
        let count = match alerts.count() {
            1 => "1 alert: ".to_owned(),
            count => format!("{count} alerts, the worst: "),
        };
        let since = moment(scope, worst);
        let when = match worst.ended {
            Some(ended) => format!("from {since} to {}", scope.moment(ended)),
            None => format!("since {since}"),
        };
        Some(format!("{count}{} {when}.", shown(&what(worst))))
    }

    /// Returns the number of events, the table of alerts, and the statements.
    pub fn blocks(&self, scope: &Scope) -> Vec<Block> {
        let mut blocks = vec![Block::Text(self.said()), self.table(scope).into()];
        blocks.extend(Block::notes(&self.notes));
        let explained = self.alerts.iter().take(EXPLAINED).map(|row| {
            let event_id = row.event_id;
            let title = format!("Event {event_id}, and what to do next");
            (title, statement(&Explain { event_id }, &["topic", "text"]))
        });
        let all = [("Events".to_owned(), self.statement.clone())].into_iter();
        blocks.push(Block::Statements(all.chain(explained).collect()));
        blocks
    }

    /// Returns the number of events in words.
    fn said(&self) -> String {
        let others = counted(self.others.iter().map(|row| spoken(&row.event)));
        match (self.alerts.len(), others.as_deref()) {
            _ if !self.notes.is_empty() && self.alerts.is_empty() => {
                "Events are not available.".to_owned()
            }
            (0, None) => "No events were found.".to_owned(),
            (0, Some(others)) => {
                format!("No alerts. Events without an alert: {others}.")
            }
            (_, None) => "All events had alerts.".to_owned(),
            (_, Some(others)) => format!("Events without an alert: {others}."),
        }
    }

    fn table(&self, scope: &Scope) -> Table {
        let rows = self.alerts.iter().take(ROWS).map(|row| {
            [
                ("Began", Cell::text(&moment(scope, row))),
                ("Lasted", Cell::text(&lasted(row))),
                ("Severity", Cell::level(&row.severity)),
                ("What", Cell::sentences(&what(row))),
                ("Measured", Cell::sentences(&measured(row))),
                ("Who", Cell::sentences(&owner(row))),
                ("Verdict", Cell::name(row.verdict.as_ref())),
                ("Event", Cell::number(row.event_id)),
            ]
        });
        Table {
            more: self.alerts.len().saturating_sub(ROWS),
            note: self.precision(),
            ..Table::new("Alerts, newest first", rows)
        }
    }

    /// Returns the share of judged events that were real or known, in words.
    fn precision(&self) -> Option<String> {
        let all = self.alerts.iter();
        let judged = all.filter_map(|row| Some((row.event.as_str(), (row.judged, row.precision?))));
        let judged: BTreeMap<_, _> = judged.collect();
        let said = judged.into_iter().map(|(kind, (judged, part))| {
            format!("{} {:.0} of {judged}", spoken(kind), part * judged as f64)
        });
        joined(said)
            .map(|said| format!("Of all events with a verdict here, real or known: {said}."))
    }

    /// Loads the explanations of the first events, without the next steps of an admin.
    fn explanations(&self, store: &mut Store) -> Result<Vec<Block>, Error> {
        let alerts = self.alerts.iter().take(EXPLAINED);
        let explained = alerts.map(|row| {
            let lines = store.ask(&Explain {
                event_id: row.event_id,
            })?;
            let lines = lines.rows.iter().filter(|line| line.topic != "next");
            let rows = lines.map(|line| {
                [
                    ("Topic", Cell::text(&line.topic)),
                    ("Details", Cell::sentences(&line.text)),
                ]
            });
            let title = format!("Event {}: {}", row.event_id, what(row));
            Ok(Block::from(Table::new(&shown(&title), rows)))
        });
        explained.collect()
    }
}

/// Returns the page of events alone, of a file system or of all of them.
pub fn page(store: &mut Store, scope: &Scope) -> Result<Page, Error> {
    let events = Events::ask(store, scope)?;
    let what = match scope.filesystem.as_str() {
        "" => "Events".to_owned(),
        name => format!("Events on {}", shown(name)),
    };
    let blocks = events.blocks(scope);
    let sections = vec![
        Section::new("events", "Alerts", blocks),
        Section::new("explained", "Details", events.explanations(store)?),
    ];
    let lead = events.lead(scope).unwrap_or_else(|| events.said());
    Ok(page_of(scope, ("Lustre", &what), lead, None, sections))
}

/// Returns the kind and the place of an event.
fn what(row: &EventRow) -> String {
    format!("{} on {}", spoken(&row.event), place(row))
}

/// Returns a kind of events in words.
fn spoken(kind: &str) -> String {
    kind.replace('_', " ")
}

/// Prints the start of an event: with its day, if that could be another than one might think.
fn moment(scope: &Scope, row: &EventRow) -> String {
    match row.began < scope.window.0 || when::seconds(scope.window) > DAY {
        true => scope.clock.minute(row.began),
        false => scope.moment(row.began),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, scope, time};

    fn events(alerts: Vec<EventRow>, others: Vec<EventRow>) -> Events {
        Events {
            alerts,
            others,
            notes: Vec::new(),
            statement: String::new(),
        }
    }

    #[test]
    fn others_are_counted_and_nothing_is_said_in_one_line() {
        let one = || vec![event("waiting", "warning")];
        let others = || {
            ["waiting", "failover", "waiting"]
                .map(|kind| event(kind, "info"))
                .to_vec()
        };
        let said = |alerts, others| events(alerts, others).said();
        assert_eq!(said(vec![], vec![]), "No events were found.");
        assert_eq!(
            said(vec![], others()),
            "No alerts. Events without an alert: 1 failover, 2 waiting."
        );
        assert_eq!(
            said(one(), others()),
            "Events without an alert: 1 failover, 2 waiting."
        );
        let unknown = Events {
            notes: vec!["there is no such function".to_owned()],
            ..events(vec![], vec![])
        };
        assert_eq!(unknown.said(), "Events are not available.");
    }

    #[test]
    fn the_worst_event_leads() {
        let scope = scope(3600);
        let lead = |alerts| events(alerts, vec![]).lead(&scope);
        assert_eq!(lead(vec![]), None);
        let waiting = EventRow {
            rate: 50.0,
            ..event("waiting", "warning")
        };
        assert_eq!(
            lead(vec![waiting.clone()]).unwrap(),
            "1 alert: waiting on mds1 from 00:00 to 00:10."
        );
        let full = EventRow {
            began: time(-600),
            ended: None,
            targets: vec!["scratch-OST0001".to_owned()],
            ..event("full", "critical")
        };
        let known = EventRow {
            verdict: Some("known".to_owned()),
            ..full.clone()
        };
        assert_eq!(lead(vec![known]), None);
        assert_eq!(
            lead(vec![waiting, full]).unwrap(),
            "2 alerts, the worst: full on scratch-OST0001 since 1969-12-31 23:50."
        );
    }

    #[test]
    fn precision_is_that_of_kinds_which_were_judged() {
        let judged = EventRow {
            judged: 5,
            precision: Some(0.8),
            ..event("waiting", "warning")
        };
        let events = events(vec![judged, event("full", "critical")], vec![]);
        let note = "Of all events with a verdict here, real or known: waiting 4 of 5.";
        assert_eq!(events.precision().as_deref(), Some(note));
    }
}
