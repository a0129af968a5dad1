//! Compares events with the incidents that were planted.

use jobstats_core::base::instant::MINUTE;
use jobstats_core::judgement::event::budget;
use jobstats_simulator::watch::{Cluster, DAY, Incident, Kind, SECOND, ServerIndex};

use crate::weeks::{Detection, EventKind, IncidentSize, WeekEvents};

/// The outcome of an incident.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub kind: Kind,
    /// Its length in minutes.
    pub minutes: f64,
    /// The mean wait in it ÷ the baseline wait, or ÷ a third of the smallest wait that raises an alert.
    pub times: f64,
    /// True if it must be found.
    pub large: bool,
    /// The minutes until any event found it, and until an alert.
    pub found: Option<f64>,
    pub alerted: bool,
    /// Observations from the first that lies in it until it was found.
    pub observations: Option<usize>,
    /// The number of events that are due to it.
    pub events: usize,
    /// True if its users, or its account, made at least half of the rise.
    pub half: bool,
    /// True if no user made 30 % of the rise.
    pub nobody: bool,
    /// True if the culprit was named, false if another user was; `None` without a name.
    pub named: Option<bool>,
}

/// The outcome of a week.
#[derive(Debug, Clone, Default)]
pub struct Week {
    pub outcomes: Vec<Outcome>,
    /// The false events, and the false alerts.
    pub false_events: usize,
    pub false_alerts: usize,
    pub alerted: usize,
    pub falses: Vec<String>,
    /// All events but the facts.
    pub events: usize,
}

/// Returns whether requests waited so long and so much longer that an incident must be found.
pub fn is_large(incident: &Incident, measured: &IncidentSize) -> bool {
    let causes = !matches!(
        incident.kind,
        Kind::FullOst | Kind::Stalled | Kind::Failover
    ) && !incident.kind.is_harmless();
    causes && measured.times >= 3.0 && incident.until - incident.from >= 600 * SECOND
}

/// Judges weeks one after the other: the budget of alarms looks back.
pub struct Judge<'a> {
    cluster: &'a Cluster,
    rated: Vec<budget::Rated>,
}

impl<'a> Judge<'a> {
    pub fn new(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            rated: Vec::new(),
        }
    }

    pub fn week(&mut self, judged: &WeekEvents) -> Week {
        let mut week = Week::default();
        let alerted: Vec<bool> = judged
            .events
            .iter()
            .map(|(what, found)| self.is_alerted(*what, found))
            .collect();
        let mut due = vec![None; judged.events.len()];
        for (number, (what, found)) in judged.events.iter().enumerate() {
            due[number] = judged
                .incidents
                .iter()
                .position(|(it, _)| !it.kind.is_harmless() && self.explains(it, *what, found));
        }
        for (index, (incident, measured)) in judged.incidents.iter().enumerate() {
            if incident.kind.is_harmless() {
                continue;
            }
            let mut of: Vec<_> = (0..due.len())
                .filter(|it| due[*it] == Some(index))
                .collect();
            of.sort_by_key(|it| judged.events[*it].1.event.found);
            week.outcomes
                .push(self.outcome((incident, measured), judged, &of, &alerted));
        }
        for (number, (what, found)) in judged.events.iter().enumerate() {
            if *what == EventKind::Moved {
                continue;
            }
            week.events += 1;
            week.alerted += usize::from(alerted[number]);
            if due[number].is_none() {
                week.false_events += 1;
                week.false_alerts += usize::from(alerted[number]);
                week.falses.push(describe(*what, found, judged));
            }
        }
        week
    }

    fn is_alerted(&mut self, what: EventKind, found: &Detection) -> bool {
        if !matches!(what, EventKind::Waiting | EventKind::Slow) {
            return what != EventKind::Moved;
        }
        let Some(confirmed) = found.event.confirmed else {
            return false;
        };
        let event = (confirmed, found.event.rate);
        let allowed = budget::allows(&self.rated, event, 2.0);
        self.rated.push(event);
        allowed
    }

    /// Returns whether an incident explains an event: it began while the incident lasted, on servers that the incident is on.
    pub fn explains(&self, incident: &Incident, what: EventKind, found: &Detection) -> bool {
        let (from, until) = (incident.from / 1_000, incident.until / 1_000);
        let overlaps = found.event.began <= until + 15 * MINUTE && found.event.until >= from;
        let fits = match what {
            EventKind::Stalled => incident.kind == Kind::Stalled,
            EventKind::Full => incident.kind == Kind::FullOst,
            EventKind::Moved => incident.kind == Kind::Failover,
            _ => !matches!(incident.kind, Kind::FullOst),
        };
        let servers = self.servers(incident);
        overlaps
            && fits
            && (servers.is_empty() || found.servers.iter().any(|it| servers.contains(it)))
    }

    /// Returns the servers of an incident; an empty list stands for all.
    fn servers(&self, incident: &Incident) -> Vec<ServerIndex> {
        let hit = self
            .cluster
            .targets
            .iter()
            .filter(|it| incident.targets.contains(&it.name));
        let both = hit.flat_map(|it| {
            let partner = self.cluster.servers[it.home].partner;
            let fails = incident.kind == Kind::Failover;
            [Some(it.home), fails.then_some(partner)]
                .into_iter()
                .flatten()
        });
        both.collect()
    }

    fn outcome(
        &self,
        (incident, measured): (&Incident, &IncidentSize),
        judged: &WeekEvents,
        of: &[usize],
        alerted: &[bool],
    ) -> Outcome {
        let from = incident.from / 1_000;
        let first = of.first().map(|it| &judged.events[*it].1);
        let named = of.iter().find_map(|it| {
            let found = &judged.events[*it].1;
            found.blame.as_ref().map(|blame| (found, blame))
        });
        let own = |name: &String| incident.users.iter().any(|it| it.to_string() == *name);
        let named = named.and_then(|(found, blame)| {
            let name = blame.named.map(|it| &found.subjects[it]);
            let most = measured.most.map(|it| it.to_string());
            name.map(|it| own(it) || [&incident.account, &most].contains(&&Some(it.clone())))
        });
        let interval = self.cluster.interval;
        Outcome {
            kind: incident.kind,
            minutes: (incident.until - incident.from) as f64 / (60 * SECOND) as f64,
            times: measured.times,
            large: is_large(incident, measured),
            found: first.map(|it| (it.event.found - from) as f64 / MINUTE as f64),
            alerted: of.iter().any(|it| alerted[*it]),
            observations: first
                .map(|it| ((it.event.found - from) * 1_000 / interval).max(0) as usize),
            events: of.len(),
            half: measured.share >= 0.5,
            nobody: measured.share < 0.3,
            named,
        }
    }
}

/// Describes an event for whoever tunes the detectors.
fn describe(what: EventKind, found: &Detection, judged: &WeekEvents) -> String {
    let day = (found.event.began * 1_000 - judged.from) as f64 / DAY as f64;
    let minutes = (found.event.until - found.event.began) / MINUTE;
    let named = found
        .blame
        .as_ref()
        .and_then(|it| it.named.map(|it| &found.subjects[it]));
    let worst = found.event.worst().map(|it| (it.value, it.usual));
    format!("{what:?} at day {day:.3} for {minutes} min, {worst:?}, named {named:?}")
}

impl Outcome {
    /// Returns whether it is not as it should be.
    pub fn is_odd(&self) -> bool {
        let late = self.large && self.observations.is_none_or(|it| it > 3);
        let named = self.found.is_some()
            && (self.nobody && self.named.is_some() || self.half && self.named != Some(true));
        late || named || self.events > 1 && self.kind != Kind::Failover
    }
}
