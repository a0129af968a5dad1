//! Plays incidents: adds their calls, makes others slower, or takes them away.

use super::{Incident, Kind};
use crate::lustre::identifier::{Id, of_job, of_program};
use crate::lustre::operation::{OPEN_CREATE, Op, READ, Request, WRITE, plain};
use crate::lustre::{Calls, TargetKind};
use crate::random::Seed;
use crate::time::{MINUTE, Nanos, SECOND, Span};
use crate::world::busy::Busy;
use crate::world::queue::INTERVAL;
use crate::world::workload::{Event, Traffic};
use crate::world::{TargetIndex, Workload};

/// The lengths of the many jobs.
const SHORT: Nanos = 2 * MINUTE;

impl Incident {
    /// Returns the request that the users of an incident make, its microseconds on a file system that is not busy, and its bytes.
    pub(super) fn request(&self) -> (TargetKind, Request, f64, u32) {
        match self.kind {
            Kind::Storm => match self.from / SECOND % 3 {
                0 => (TargetKind::Mdt, plain(Op::Getattr), 60.0, 0),
                1 => (TargetKind::Mdt, plain(Op::Setattr), 120.0, 0),
                _ => (TargetKind::Mdt, plain(Op::Unlink), 250.0, 0),
            },
            Kind::Jobs => (TargetKind::Mdt, OPEN_CREATE, 250.0, 0),
            Kind::OverloadedOst => (TargetKind::Ost, WRITE, 1_000.0, 1 << 20),
            _ => (TargetKind::Ost, READ, 900.0, 1 << 20),
        }
    }

    /// Returns the identifier of one of the users at a time.
    fn id(&self, uid: u32, time: Nanos) -> Id {
        let job = |number: Nanos| {
            of_job(
                &(90_000_000 + number.rem_euclid(9_000_000)).to_string(),
                uid,
                "c0001",
            )
        };
        match self.kind {
            Kind::Storm if self.from / SECOND % 2 == 0 => of_program(b"find", uid),
            Kind::Jobs => job(time / SHORT * 64 + Nanos::from(uid % 64)),
            _ => job(self.from / MINUTE),
        }
    }

    fn add(&self, busy: Busy, seed: Seed, span: Span, traffic: &mut Traffic) {
        let (kind, request, usecs, bytes) = self.request();
        let usecs = busy.usecs(kind, usecs).round() as u32;
        for slot in span.from.div_euclid(INTERVAL)..=span.until.div_euclid(INTERVAL) {
            let all = self.amount(slot * INTERVAL).unwrap_or(0.0);
            let each = all / (self.users.len() * self.targets.len()) as f64;
            for &uid in &self.users {
                let seed = seed.of("call", &[slot, i64::from(uid)]);
                let time = slot * INTERVAL + seed.below(10) as Nanos * SECOND + SECOND / 4;
                let count =
                    each.floor() as u32 + u32::from(seed.of("more", &[]).chance(each.fract()));
                if count > 0 && span.contains(time) {
                    let calls = Calls::new(request, count, bytes, usecs);
                    let entry = traffic.entry(&self.id(uid, time));
                    traffic.events.push(Event { time, entry, calls });
                }
            }
        }
    }
}

/// Changes the calls to a target in a span as all incidents do.
pub fn apply(workload: &Workload, target: TargetIndex, span: Span, traffic: &mut Traffic) {
    let name = &workload.cluster.targets[target].name;
    let busy = workload.cluster.busy.unwrap_or_default();
    for incident in workload.cluster.incidents.iter().filter(|it| it.hits(name)) {
        let Some(both) = incident.span().overlap(span) else {
            continue;
        };
        match incident.kind {
            Kind::Stalled | Kind::Upgrade => {
                traffic.events.retain(|event| !both.contains(event.time))
            }
            Kind::SlowOst | Kind::SlowServer => {
                let slow = traffic
                    .events
                    .iter_mut()
                    .filter(|event| both.contains(event.time));
                slow.for_each(|event| {
                    let factor = incident.amount(event.time).unwrap_or(1.0);
                    event.calls.usecs = (f64::from(event.calls.usecs) * factor) as u32;
                });
            }
            _ if incident.has_users() => {
                let seed = workload
                    .seed
                    .of("incident", &[incident.from, target as i64]);
                incident.add(busy, seed, both, traffic);
            }
            _ => (),
        }
    }
}
