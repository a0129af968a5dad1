//! Plays weeks of a file system, and finds events in them as a store does.

use std::collections::BTreeMap;
use std::convert::Infallible;

use jobstats_core::base::instant::{MINUTE, Micros};
use jobstats_core::judgement::event::culprit::{Culprit, Load, find_culprit, search};
use jobstats_core::judgement::event::slow::ByClass;
use jobstats_core::judgement::event::waiting::Waits;
use jobstats_core::judgement::event::{Event, Reading, full, join, moved, slow, stalled, waiting};
use jobstats_simulator::watch::{
    Cluster, DAY, HOUR, Incident, Kind, Layout, Nanos, Player, Preset, Series, ServerIndex,
    Service, Span, TargetIndex, TargetKind, Usage, WIDTH, account_name, draw, main_service, people,
};

use crate::history::{Hours, served};

/// The first week: it begins on a Thursday.
pub const FIRST: i64 = 2_900;

/// A kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    Waiting,
    Slow,
    Stalled,
    Full,
    Moved,
}

/// An event, with those who may have made it.
pub struct Detection {
    pub event: Event,
    pub servers: Vec<ServerIndex>,
    /// The users or accounts that were compared.
    pub subjects: Vec<String>,
    pub blame: Option<Culprit>,
}

/// The events of a week, and the incidents behind them.
pub struct WeekEvents {
    pub from: Nanos,
    /// The incidents with their true sizes.
    pub incidents: Vec<(Incident, IncidentSize)>,
    pub events: Vec<(EventKind, Detection)>,
}

/// The loads of targets in a week, by time and user.
type Loads = Vec<BTreeMap<(Nanos, u32), Usage>>;

/// The true size of an incident.
#[derive(Debug, Clone, Copy)]
pub struct IncidentSize {
    /// The mean wait in it ÷ the baseline wait, or ÷ a third of the smallest wait that raises an alert.
    pub times: f64,
    /// The largest part of the rise in load that one user made, or one account.
    pub share: f64,
    /// The user with most of a general rise.
    pub most: Option<u32>,
}

/// A file system that is watched.
pub struct FileSystem<'a> {
    cluster: &'a Cluster,
    player: Player<'a>,
    waits: Hours<(ServerIndex, Service), Waits>,
    calls: Hours<TargetIndex, ByClass>,
    loads: Vec<Loads>,
}

/// Returns the file system of a seed, with the incidents of all weeks but the first.
pub fn cluster(seed: u64, weeks: i64) -> Cluster {
    let mut cluster = Cluster::new(Preset::Busy, "busy", seed, Layout::V2_16, 1.0);
    cluster.disturbed = false;
    let span = Span {
        from: (FIRST + 1) * 7 * DAY,
        until: (FIRST + weeks) * 7 * DAY,
    };
    cluster.incidents = draw(&cluster, span);
    cluster
}

fn micros(time: Nanos) -> Micros {
    time / 1_000
}

impl<'a> FileSystem<'a> {
    pub fn new(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            player: Player::new(cluster),
            waits: Hours::default(),
            calls: Hours::default(),
            loads: Vec::new(),
        }
    }

    /// Plays and judges a week. Returns also what its readings show.
    pub fn week(&mut self, number: i64) -> (WeekEvents, Series) {
        let span = Span::new((FIRST + number) * 7 * DAY, 7 * DAY);
        let mut series = self.player.play(span);
        let within = |it: &&Incident| span.contains(it.from);
        let incidents = self.cluster.incidents.iter().filter(within);
        let incidents = incidents
            .map(|it| (it.clone(), self.measure(it, span, &series)))
            .collect();
        self.loads.push(std::mem::take(&mut series.loads));
        if self.loads.len() > 2 {
            self.loads.remove(0);
        }
        let mut events = Vec::new();
        let waits = self.waiting(span, &series);
        let mut slow = slow::episodes(&self.targets(span, &series));
        slow.retain(|it| {
            let on = [self.cluster.targets[it.subject].home];
            let of = |wait: &Detection| {
                slow::belongs(
                    ((it.began, it.until), &on),
                    (wait.event.span(), &wait.servers),
                )
            };
            !waits.iter().any(of)
        });
        events.extend(waits.into_iter().map(|it| (EventKind::Waiting, it)));
        for (what, episodes) in [
            (EventKind::Slow, slow),
            (EventKind::Stalled, stalled::episodes(&self.work(&series))),
            (EventKind::Full, full::episodes(&space(&series))),
            (EventKind::Moved, moved::episodes(&homes(&series))),
        ] {
            let found = join(episodes).into_iter();
            events.extend(found.map(|event| (what, self.of_targets(event))));
        }
        self.remember(&series);
        (
            WeekEvents {
                from: span.from,
                incidents,
                events,
            },
            series,
        )
    }

    /// Measures how long requests waited in an incident, and who made the rise.
    fn measure(&self, incident: &Incident, week: Span, series: &Series) -> IncidentSize {
        let kind = match incident.kind {
            Kind::Storm | Kind::Jobs => TargetKind::Mdt,
            _ => TargetKind::Ost,
        };
        let service = main_service(kind);
        let is_hit = |name: &String| incident.targets.is_empty() || incident.targets.contains(name);
        let hit = self
            .cluster
            .targets
            .iter()
            .filter(|it| it.kind == kind && is_hit(&it.name));
        let mut servers: Vec<_> = hit.map(|it| it.home).collect();
        if incident.kind == Kind::Failover {
            servers = servers
                .iter()
                .map(|it| self.cluster.servers[*it].partner)
                .collect();
        }
        let times = series
            .services
            .iter()
            .filter(|(key, _)| key.1 == service && servers.contains(&key.0));
        let times = times.map(|(key, readings)| {
            let within = readings
                .iter()
                .filter(|(span, _)| span.overlap(incident.span()).is_some());
            let sum = within.fold(Waits::default(), |sum, (_, it)| sum.plus(of(*it)));
            let usual = self.waits.wait(*key, micros(week.from)).unwrap_or(0.0);
            sum.mean().unwrap_or(0.0) / usual.max(waiting::LEAST_WAIT / waiting::TIMES_USUAL)
        });
        let day = |shift: i64| Span {
            from: incident.from - shift * DAY,
            until: incident.until - shift * DAY,
        };
        let during = self.sums(kind, &servers, day(0), std::slice::from_ref(&series.loads));
        let all: f64 = during.values().sum();
        let before = (1..=7).map(|it| {
            self.sums(kind, &servers, day(it), &self.loads)
                .values()
                .sum::<f64>()
                / 7.0
        });
        let of = |uid: &u32| during.get(uid).copied().unwrap_or(0.0);
        let own: f64 = incident.users.iter().map(of).sum();
        let rise = (all - before.sum::<f64>()).max(own);
        let share = match incident.kind {
            Kind::GeneralRise => during.values().copied().fold(0.0, f64::max) / all,
            Kind::Jobs => own / rise,
            Kind::Storm | Kind::UnstripedFile | Kind::OverloadedOst => {
                incident.users.iter().map(of).fold(0.0, f64::max) / rise
            }
            _ => 0.0,
        };
        let most = during
            .iter()
            .max_by(|one, other| one.1.total_cmp(other.1))
            .map(|(uid, _)| *uid);
        let is_general = incident.kind == Kind::GeneralRise;
        IncidentSize {
            times: times.fold(0.0, f64::max),
            share,
            most: most.filter(|_| is_general),
        }
    }

    /// Returns the microseconds that servers spent for each user in a span.
    fn sums(
        &self,
        kind: TargetKind,
        servers: &[ServerIndex],
        span: Span,
        weeks: &[Loads],
    ) -> BTreeMap<u32, f64> {
        let mut sums = BTreeMap::new();
        let here = self.cluster.targets.iter().enumerate();
        for (target, _) in here.filter(|(_, it)| it.kind == kind && servers.contains(&it.home)) {
            for ((_, uid), done) in weeks
                .iter()
                .flat_map(|it| it[target].range((span.from, 0)..(span.until, 0)))
            {
                *sums.entry(*uid).or_insert(0.0) += done.usecs as f64;
            }
        }
        sums
    }

    fn waiting(&self, span: Span, series: &Series) -> Vec<Detection> {
        let keys: Vec<_> = series.services.keys().copied().collect();
        let services: Vec<_> = series
            .services
            .iter()
            .map(|(key, readings)| waiting::Service {
                name: key.1 as usize,
                usual: self.waits.wait(*key, micros(span.from)),
                readings: readings
                    .iter()
                    .map(|(span, waits)| reading(*span, of(*waits)))
                    .collect(),
            })
            .collect();
        let found = join(waiting::episodes(&services)).into_iter();
        found
            .map(|event| {
                let mut servers: Vec<_> =
                    event.episodes.iter().map(|it| keys[it.subject].0).collect();
                servers.sort_unstable();
                servers.dedup();
                let (subjects, blame) = self.blame(&event, &servers);
                Detection {
                    event,
                    servers,
                    subjects,
                    blame: Some(blame),
                }
            })
            .collect()
    }

    /// Searches the user or account that caused the load of servers to rise.
    fn blame(&self, event: &Event, servers: &[ServerIndex]) -> (Vec<String>, Culprit) {
        let users = self.loads_of(event, servers);
        let found = search([false, true], |is_by_account| {
            let (names, loads): (Vec<String>, Vec<Load>) = match is_by_account {
                true => self.by_account(&users).into_iter().unzip(),
                false => users
                    .iter()
                    .map(|(uid, load)| (uid.to_string(), *load))
                    .unzip(),
            };
            let blame = find_culprit(&loads);
            Ok::<_, Infallible>((names, blame))
        });
        let Ok(found) = found;
        found.unwrap_or_else(|| (Vec::new(), find_culprit(&[])))
    }

    fn by_account(&self, users: &BTreeMap<u32, Load>) -> BTreeMap<String, Load> {
        let of: BTreeMap<u32, String> = people(self.cluster)
            .map(|it| (it.uid, account_name(it.account)))
            .collect();
        let mut accounts: BTreeMap<String, Load> = BTreeMap::new();
        for (uid, load) in users {
            let to = accounts
                .entry(of.get(uid).cloned().unwrap_or_default())
                .or_default();
            for (to, from) in [
                (&mut to.time, load.time),
                (&mut to.calls, load.calls),
                (&mut to.bytes, load.bytes),
            ] {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
        }
        accounts
    }

    /// Returns the loads of users in the first half hour of an event, in the hour before, and in the mean of the seven days before.
    fn loads_of(&self, event: &Event, servers: &[ServerIndex]) -> BTreeMap<u32, Load> {
        let until = event
            .until
            .min(event.began + 30 * MINUTE)
            .max(event.began + MINUTE);
        let window = Span {
            from: event.began * 1_000,
            until: until * 1_000,
        };
        let length = (window.until - window.from) as f64;
        let hour = Span {
            from: window.from - HOUR,
            until: window.from,
        };
        let days = (1..=7).map(|day| {
            (
                0,
                1.0 / 7.0,
                Span {
                    from: window.from - day * DAY,
                    until: window.until - day * DAY,
                },
            )
        });
        let spans: Vec<_> = days
            .chain([(1, length / HOUR as f64, hour), (2, 1.0, window)])
            .collect();
        let mut users: BTreeMap<u32, Load> = BTreeMap::new();
        for (target, _) in self
            .cluster
            .targets
            .iter()
            .enumerate()
            .filter(|(_, it)| servers.contains(&it.home))
        {
            for (at, scale, span) in &spans {
                let first = span.from.div_euclid(WIDTH) * WIDTH;
                for loads in &self.loads {
                    for ((time, uid), done) in loads[target].range((first, 0)..(span.until, 0)) {
                        let both = Span::new(*time, WIDTH).overlap(*span);
                        let part = scale
                            * both.map_or(0.0, |it| (it.until - it.from) as f64 / WIDTH as f64);
                        let load = users.entry(*uid).or_default();
                        load.time[*at] += part * done.usecs as f64;
                        load.calls[*at] += part * done.calls as f64;
                        load.bytes[*at] += part * done.bytes as f64;
                    }
                }
            }
        }
        users
    }

    fn targets(&self, span: Span, series: &Series) -> Vec<slow::Target> {
        let of_target = |(target, readings): (TargetIndex, &Vec<_>)| slow::Target {
            peers: self.cluster.targets[target].kind as usize,
            usual: self.calls.per_call(target, micros(span.from)),
            readings: Vec::from_iter(readings.iter().map(
                |it: &jobstats_simulator::watch::Growth| {
                    let mut value = ByClass::default();
                    served(
                        &mut value,
                        false,
                        it.reads.calls,
                        it.reads.usecs,
                        it.reads.bytes,
                    );
                    served(
                        &mut value,
                        true,
                        it.writes.calls,
                        it.writes.usecs,
                        it.writes.bytes,
                    );
                    reading(it.span, value)
                },
            )),
        };
        series.targets.iter().enumerate().map(of_target).collect()
    }

    fn work(&self, series: &Series) -> Vec<stalled::Target> {
        let targets = series.targets.iter().zip(&self.cluster.targets);
        targets
            .map(|(readings, target)| stalled::Target {
                peers: target.kind as usize,
                readings: readings
                    .iter()
                    .map(|it| reading(it.span, it.all.calls))
                    .collect(),
            })
            .collect()
    }

    fn of_targets(&self, event: Event) -> Detection {
        let mut servers: Vec<_> = event
            .episodes
            .iter()
            .map(|it| self.cluster.targets[it.subject].home)
            .collect();
        servers.sort_unstable();
        servers.dedup();
        Detection {
            event,
            servers,
            subjects: Vec::new(),
            blame: None,
        }
    }

    fn remember(&mut self, series: &Series) {
        for (key, readings) in &series.services {
            for (span, waits) in readings {
                let hour = self.waits.at(*key, micros(span.from));
                hour.requests += waits.requests;
                hour.usecs += waits.usecs;
            }
        }
        for (target, readings) in series.targets.iter().enumerate() {
            let mut hours: BTreeMap<Micros, [Usage; 2]> = BTreeMap::new();
            for it in readings {
                let hour = hours
                    .entry(micros(it.span.from).div_euclid(60 * MINUTE))
                    .or_default();
                for (sum, part) in hour.iter_mut().zip([it.reads, it.writes]) {
                    sum.calls += part.calls;
                    sum.usecs += part.usecs;
                    sum.bytes += part.bytes;
                }
            }
            for (hour, sums) in hours {
                let to = self.calls.at(target, hour * 60 * MINUTE);
                for (sum, is_write) in sums.into_iter().zip([false, true]) {
                    served(to, is_write, sum.calls, sum.usecs, sum.bytes);
                }
            }
        }
    }
}

fn reading<T>(span: Span, value: T) -> Reading<T> {
    Reading {
        span: (micros(span.from), micros(span.until)),
        value,
    }
}

fn of(waits: jobstats_simulator::watch::Waits) -> Waits {
    Waits {
        requests: waits.requests,
        usecs: waits.usecs,
    }
}

fn space(series: &Series) -> Vec<Vec<full::Used>> {
    let all = series.used.iter();
    all.map(|used| {
        used.iter()
            .map(|(time, part)| (micros(*time), *part))
            .collect()
    })
    .collect()
}

fn homes(series: &Series) -> Vec<Vec<Reading<usize>>> {
    let all = series.targets.iter();
    all.map(|readings| {
        readings
            .iter()
            .map(|it| reading(it.span, it.server))
            .collect()
    })
    .collect()
}
