//! Passes the readings of a file system to the detectors of core.

use std::collections::{BTreeMap, BTreeSet};

use jobstats_core::base::instant::{DAY, HOUR, Micros, Span};
use jobstats_core::judgement::event::probe::{self, Probe};
use jobstats_core::judgement::event::waiting::{self, Waits};
use jobstats_core::judgement::event::{
    Episode, Event, Reading, full, join, moved, overlap, rule, slow, stalled,
};
use serde_json::{Value, json};

use crate::events::baseline::{Baseline, day_of};
use crate::events::readings::{FileSystem, Readings, Service, Target};
use crate::events::rules::Rule;

/// The time without readings after which an episode ends.
const SILENT: Micros = HOUR;
/// The time without gauges of space, which have a value for each hour, after which the last value does not count as going on.
const SILENT_GAUGE: Micros = DAY;

/// An event that was found.
#[derive(Debug, Clone)]
pub struct DetectedEvent {
    pub kind: &'static str,
    pub span: Span,
    /// The time at which the readings sufficed to detect it.
    pub found: Micros,
    /// The time at which it had lasted long enough for an alert.
    pub confirmed: Option<Micros>,
    pub over: bool,
    pub targets: Vec<String>,
    pub servers: Vec<String>,
    /// The targets that are slow on servers that let requests wait.
    pub slow: Vec<String>,
    pub value: Option<f64>,
    pub usual: Option<f64>,
    /// The value, divided by the floor of its kind.
    pub rate: f64,
    pub details: Value,
    /// The user, account or job that broke a rule, in the form of culprits; null for all other kinds.
    pub culprits: Value,
}

impl DetectedEvent {
    /// Returns the values of the worst episode, without targets and servers.
    fn new(kind: &'static str, event: &Event) -> Self {
        let worst = event.worst();
        Self {
            kind,
            span: event.span(),
            found: event.found,
            confirmed: event.confirmed,
            over: event.over,
            targets: Vec::new(),
            servers: Vec::new(),
            slow: Vec::new(),
            value: worst.map(|it| it.value),
            usual: worst.map(|it| it.usual),
            rate: event.rate,
            details: json!({}),
            culprits: Value::Null,
        }
    }
}

/// The targets of a file system, their readings, and the end of these.
pub struct WatchedFileSystem<'a> {
    pub readings: &'a Readings,
    pub baseline: &'a Baseline,
    pub filesystem: &'a FileSystem,
    pub targets: &'a [Target],
    pub rules: &'a [Rule],
    /// The span that is judged, without the time before it that is only read.
    pub span: Span,
    /// The targets that were full before anything of their space was read.
    pub full: BTreeMap<String, Episode>,
    /// The targets that were stalled before the span that is judged.
    pub stalled: BTreeMap<String, Episode>,
}

impl WatchedFileSystem<'_> {
    /// Finds the events.
    pub fn events(&self) -> Vec<DetectedEvent> {
        let mut all = self.waiting();
        let mut alone = Vec::new();
        for episode in self.slow() {
            let target = &self.targets[episode.subject];
            let span = episode.span();
            let servers = self.names(target.servers(span));
            let explains =
                |it: &&mut DetectedEvent| slow::belongs((span, &servers), (it.span, &it.servers));
            match all.iter_mut().find(explains) {
                Some(event) => event.slow.push(target.name.clone()),
                None => alone.push(episode),
            }
        }
        for event in &mut all {
            event.slow.dedup();
            event.details["slow"] = json!(event.slow);
        }
        let osts = self.targets.iter().filter(|it| it.is_ost).count();
        all.extend(join(alone).iter().map(|event| DetectedEvent {
            details: json!({ "peers": osts.saturating_sub(event.episodes.len()) }),
            ..self.of_targets("slow_target", event)
        }));
        all.extend(self.stalled());
        all.extend(self.probed(&all));
        all.extend(self.filling());
        all.extend(self.broken());
        all.extend(self.moved());
        all
    }

    fn names(&self, servers: impl Iterator<Item = usize>) -> Vec<String> {
        let names: BTreeSet<&String> = servers.map(|it| &self.readings.servers[it].1).collect();
        names.into_iter().cloned().collect()
    }

    /// Returns the episodes of each day, judged by the baseline of the day on which they begin, so that other spans give the same result.
    fn by_day(&self, mut episodes: impl FnMut(Micros) -> Vec<Episode>) -> Vec<Episode> {
        let days = self.baseline.days();
        let all = days.flat_map(|day| {
            let mut found = episodes(day);
            found.retain(|it| day_of(it.began) == day);
            found
        });
        all.map(|it| self.ended(it, SILENT)).collect()
    }

    /// Ends an episode whose subject has had no reading for long.
    fn ended(&self, mut episode: Episode, silent: Micros) -> Episode {
        episode.over |= episode.until + silent < self.span.1;
        episode
    }

    fn waiting(&self) -> Vec<DetectedEvent> {
        let served = self.targets.iter().flat_map(|it| &it.served);
        let has = |number: usize| served.clone().any(|it| it.value == number);
        let services = self.readings.services.iter();
        let services: Vec<&Service> = services.filter(|it| has(it.server)).collect();
        let given = services.iter().map(|service| waiting::Service {
            // Services of one name have the number of the first of them.
            name: services
                .iter()
                .position(|it| it.name == service.name)
                .unwrap_or(0),
            usual: None,
            readings: service.readings.clone(),
        });
        let mut given: Vec<_> = given.collect();
        let episodes = self.by_day(|day| {
            for (given, service) in given.iter_mut().zip(&services) {
                let server = &self.readings.servers[service.server];
                given.usual = self.baseline.wait(day, server, &service.name);
            }
            waiting::episodes(&given)
        });
        let events = join(episodes).into_iter();
        events
            .filter_map(|it| self.of_services(it, &services))
            .collect()
    }

    fn of_services(&self, mut event: Event, services: &[&Service]) -> Option<DetectedEvent> {
        let times = |it: &Episode| it.value / waiting::threshold(it.usual);
        let all = event.episodes.iter();
        let worst = all.max_by(|one, other| times(one).total_cmp(&times(other)))?;
        let (value, usual, name) = (worst.value, worst.usual, &services[worst.subject].name);
        let span = event.span();
        let waiting = event.episodes.iter().map(|it| services[it.subject]);
        let servers: BTreeSet<usize> = waiting.clone().map(|it| it.server).collect();
        let names: BTreeSet<&String> = waiting.map(|it| &it.name).collect();
        let peers = services.iter();
        let peers = peers.filter(|it| it.name == *name && !servers.contains(&it.server));
        let during = peers.clone().flat_map(|it| &it.readings);
        let during = during.filter(|it| it.span.1 > span.0 && it.span.0 < span.1);
        let of_peers = during.fold(Waits::default(), |sum, it| sum.plus(it.value));
        let targets = self.targets.iter();
        let targets = targets.filter(|it| it.servers(span).any(|it| servers.contains(&it)));
        let probe = self.confirm(&mut event, targets.clone());
        Some(DetectedEvent {
            targets: targets.map(|it| it.name.clone()).collect(),
            servers: self.names(servers.iter().copied()),
            value: Some(value),
            usual: Some(usual),
            details: json!({ "services": names, "service": name, "peers": peers.count(),
                "wait_of_peers": of_peers.mean(), "probe": probe }),
            ..DetectedEvent::new("waiting", &event)
        })
    }

    fn slow(&self) -> Vec<Episode> {
        let given = self.targets.iter().map(|target| slow::Target {
            peers: 0,
            usual: [None; slow::CLASSES],
            readings: target.by_class.clone(),
        });
        let mut given: Vec<_> = given.collect();
        self.by_day(|day| {
            for (given, target) in given.iter_mut().zip(self.targets) {
                given.usual = self.baseline.seconds_per_call(day, target.id);
            }
            slow::episodes(&given)
        })
    }

    fn stalled(&self) -> Vec<DetectedEvent> {
        let given = self.targets.iter().map(|target| {
            let mut readings = target.calls.clone();
            // A target that stopped long ago did work before.
            if let (Some(first), true) = (readings.first(), self.stalled.contains_key(&target.name))
            {
                let span = (first.span.0 - HOUR, first.span.0);
                readings.insert(0, Reading { span, value: 1 });
            }
            stalled::Target {
                peers: usize::from(target.is_ost),
                readings,
            }
        });
        let given: Vec<_> = given.collect();
        let episodes = stalled::episodes(&given).into_iter();
        let events = join(episodes.map(|it| self.ended(it, SILENT)).collect());
        let of_event = |event: &Event| DetectedEvent {
            usual: event.episodes.iter().map(|it| it.usual).reduce(f64::max),
            ..self.of_targets("stalled", event)
        };
        events.iter().map(of_event).collect()
    }

    fn probe(&self, day: Micros, target: &Target) -> Probe {
        Probe {
            usual: self.baseline.probe(day, target.id),
            hours: target.probed.clone(),
        }
    }

    /// Lets probes of the event's targets confirm it. Returns the slowest probe relative to its baseline.
    fn confirm<'a>(&self, event: &mut Event, targets: impl Iterator<Item = &'a Target>) -> Value {
        let day = day_of(event.began);
        let mut worst = (0.0, Value::Null);
        for target in targets {
            let probe = self.probe(day, target);
            probe.confirm(event);
            if let Some((seconds, usual)) = probe.seconds_at(event.began).zip(probe.usual)
                && seconds / usual > worst.0
            {
                let words = json!({ "target": target.name, "seconds": seconds, "usual": usual });
                worst = (seconds / usual, words);
            }
        }
        worst.1
    }

    /// Finds the hours in which probes of targets were slow and no other event explains it.
    fn probed(&self, others: &[DetectedEvent]) -> Vec<DetectedEvent> {
        let mut episodes = self.by_day(|day| {
            let given: Vec<Probe> = self.targets.iter().map(|it| self.probe(day, it)).collect();
            probe::episodes(&given)
        });
        episodes.retain(|it| {
            let is_reason = |event: &DetectedEvent| {
                overlap(event.span, it.span())
                    && (event.kind == "waiting"
                        || event.targets.contains(&self.targets[it.subject].name))
            };
            !others.iter().any(is_reason)
        });
        let of_event = |mut event: Event| {
            let subjects = event.episodes.clone().into_iter();
            let probe = self.confirm(&mut event, subjects.map(|it| &self.targets[it.subject]));
            DetectedEvent {
                details: json!({ "services": [], "probe": probe }),
                ..self.of_targets("waiting", &event)
            }
        };
        join(episodes).into_iter().map(of_event).collect()
    }

    /// Finds targets that are full or soon will be. A target may be full for weeks, so each target has an event.
    fn filling(&self) -> Vec<DetectedEvent> {
        let mut given = Vec::new();
        for target in self.targets {
            for used in &target.used {
                let mut used = used.clone();
                // A target that was full before the first value stays full until usage is clearly lower.
                if let (Some(first), true) =
                    (used.first().copied(), self.full.contains_key(&target.name))
                {
                    used.insert(0, (first.0 - 1, first.1.max(full::FULL)));
                }
                given.push(used);
            }
        }
        let mut events: BTreeMap<Micros, Vec<Episode>> = BTreeMap::new();
        for episode in full::episodes(&given) {
            let mut episode = self.ended(episode, SILENT_GAUGE);
            let before = self.full.get(&self.targets[episode.subject / 2].name);
            let is_first = given[episode.subject]
                .first()
                .is_some_and(|it| it.0 == episode.began);
            if let Some(before) = before.filter(|_| is_first) {
                episode.began = before.began;
                episode.found = before.found;
                episode.usual = before.usual;
                episode.value = episode.value.max(before.value);
            }
            events.entry(episode.began).or_default().push(episode);
        }
        let events = events.into_values().flat_map(join);
        events.filter_map(|event| self.full(event)).collect()
    }

    /// Returns the event of targets that have been full since the same hour.
    fn full(&self, mut event: Event) -> Option<DetectedEvent> {
        let episodes = event.episodes.iter();
        let worst = *episodes.max_by(|one, other| one.value.total_cmp(&other.value))?;
        let mut what = BTreeSet::new();
        for episode in &mut event.episodes {
            what.insert(["space", "inodes"][episode.subject % 2]);
            episode.subject /= 2;
        }
        Some(DetectedEvent {
            value: Some(worst.value),
            usual: Some(worst.usual),
            rate: worst.value / full::FULL,
            details: json!({ "of": what }),
            ..self.of_targets("full", &event)
        })
    }

    /// Finds the spans in which rules were broken. Several rules broken at once are one event, described by the rule exceeded most.
    fn broken(&self) -> Vec<DetectedEvent> {
        let episodes = self.by_day(|day| {
            let given = self.rules.iter().map(|it| it.given(self.filesystem, day));
            rule::episodes(&given.collect::<Vec<_>>())
        });
        let of_event = |mut event: Event| {
            let rates = event.episodes.iter();
            let worst = *rates.max_by(|one, other| one.rate.total_cmp(&other.rate))?;
            let rule = &self.rules[worst.subject];
            let broken = event.episodes.iter().map(|it| &self.rules[it.subject].name);
            let mut details = rule.details();
            details["rules"] = json!(broken.collect::<BTreeSet<_>>());
            // A rule is about all targets.
            event.episodes = (0..self.targets.len())
                .map(|subject| Episode { subject, ..worst })
                .collect();
            Some(DetectedEvent {
                rate: worst.rate,
                details,
                culprits: rule.culprits(self.filesystem, &worst),
                ..self.of_targets("rule", &event)
            })
        };
        join(episodes).into_iter().filter_map(of_event).collect()
    }

    fn moved(&self) -> Vec<DetectedEvent> {
        let given: Vec<_> = self.targets.iter().map(|it| it.served.clone()).collect();
        let hours = self.targets.iter().map(|it| it.recovering.clone());
        let mut episodes = moved::episodes(&given);
        episodes.extend(moved::recoveries(&hours.collect::<Vec<_>>(), &episodes));
        let of_event = |event: &Event| {
            let (moves, recoveries): (Vec<&Episode>, Vec<&Episode>) =
                event.episodes.iter().partition(|it| it.value != it.usual);
            let name = |number: f64| self.readings.servers[number as usize].1.as_str();
            let of_moves = moves.iter().flat_map(|it| [it.usual, it.value]);
            let of_moves = of_moves.map(|it| it as usize);
            let moves = moves.iter().map(|it| {
                json!({ "target": self.targets[it.subject].name, "from": name(it.usual), "to": name(it.value) })
            });
            let recovered = recoveries.iter().map(|it| &self.targets[it.subject].name);
            let details = json!({ "moves": moves.collect::<Vec<_>>(), "recovered": recovered.collect::<Vec<_>>() });
            DetectedEvent {
                servers: self.names(self.servers(event).chain(of_moves)),
                value: None,
                usual: None,
                details,
                ..self.of_targets("failover", event)
            }
        };
        join(episodes).iter().map(of_event).collect()
    }

    /// Returns the servers that had the targets of an event while it lasted.
    fn servers(&self, event: &Event) -> impl Iterator<Item = usize> {
        let targets = event.episodes.iter().map(|it| &self.targets[it.subject]);
        targets.flat_map(|it| it.servers(event.span()))
    }

    /// Returns an event of targets.
    fn of_targets(&self, kind: &'static str, event: &Event) -> DetectedEvent {
        let subjects: BTreeSet<usize> = event.episodes.iter().map(|it| it.subject).collect();
        let targets = subjects.into_iter().map(|it| self.targets[it].name.clone());
        DetectedEvent {
            targets: targets.collect(),
            servers: self.names(self.servers(event)),
            ..DetectedEvent::new(kind, event)
        }
    }
}
