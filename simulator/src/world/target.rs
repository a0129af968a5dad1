//! One target as time goes by: entries are born, count calls, and are removed.

use std::collections::HashMap;
use std::iter::Peekable;
use std::rc::Rc;
use std::vec::IntoIter;

use crate::lustre::identifier::Id;
use crate::lustre::operation::{READ, WRITE, plain};
use crate::lustre::{Calls, Counters, Op, TargetKind, Times};
use crate::time::{MINUTE, Nanos, Span};
use crate::world::disturbances::RETURN;
use crate::world::workload::{Event, LONGEST_EPOCH};
use crate::world::{Cluster, Plan, ServerIndex, TargetIndex, Upheaval, Workload, service};

/// An entry from its birth to its removal. An entry that comes back begins another epoch.
#[derive(Debug, Clone)]
pub struct Epoch {
    /// The number of the epoch. Epochs are numbered in the order of birth, which is the order of records in a text.
    pub number: u64,
    /// The entry, as a position in [`TargetState::ids`].
    pub entry: u32,
    pub born: Nanos,
    pub last: Nanos,
    /// The times of birth and of the last call by the server's clock.
    pub stamps: (Nanos, Nanos),
    pub counters: Counters,
}

/// A change to an epoch as time goes by.
pub enum Change<'a> {
    /// An epoch counts calls.
    Calls(&'a Epoch, &'a Calls),
    /// An epoch is over.
    End(Rc<Epoch>),
}

/// The state of a target at a time that only moves forward.
pub struct TargetState<'a> {
    pub cluster: &'a Cluster,
    pub plan: Plan<'a>,
    pub target: TargetIndex,
    /// The identifiers of all entries that ever occur.
    pub ids: Vec<Id>,
    /// The epochs at this time, in the order of birth.
    pub alive: Vec<Rc<Epoch>>,
    /// The number of the epoch that last returned after a single removal.
    pub returned: Option<u64>,
    by_entry: HashMap<u32, u64>,
    events: Peekable<IntoIter<Event>>,
    upheavals: Peekable<IntoIter<(Nanos, Upheaval)>>,
    /// The call that recreates a removed entry.
    pending: Option<Event>,
    born: u64,
}

impl<'a> TargetState<'a> {
    /// Creates a target whose state can be followed from one time to another.
    pub fn new(workload: &Workload<'a>, target: TargetIndex, span: Span) -> Self {
        let cluster = workload.cluster;
        let plan = Plan::new(cluster);
        let span = Span {
            from: span.from - LONGEST_EPOCH,
            ..span
        };
        let traffic = workload.traffic(target, span);
        Self {
            cluster,
            plan,
            target,
            ids: traffic.ids,
            alive: Vec::new(),
            returned: None,
            by_entry: HashMap::new(),
            events: traffic.events.into_iter().peekable(),
            upheavals: plan.upheavals(target, span).into_iter().peekable(),
            pending: None,
            born: 0,
        }
    }

    /// Returns the kind of the target.
    pub fn kind(&self) -> TargetKind {
        self.cluster.targets[self.target].kind
    }

    /// Moves the state on to a time. Everything up to and including that time has happened then.
    pub fn advance(&mut self, time: Nanos, mut changed: impl FnMut(Change)) {
        loop {
            let event = self.events.peek().map_or(Nanos::MAX, |event| event.time);
            let pending = self.pending.map_or(Nanos::MAX, |event| event.time);
            let upheaval = self.upheavals.peek().map_or(Nanos::MAX, |(time, _)| *time);
            let next = event.min(pending).min(upheaval);
            if next > time || next == Nanos::MAX {
                return;
            }
            if upheaval == next {
                if let Some((time, upheaval)) = self.upheavals.next() {
                    self.upheave(time, upheaval, &mut changed);
                }
            } else if pending == next {
                if let Some(event) = self.pending.take() {
                    self.count(&event, &mut changed);
                    self.returned = self.by_entry.get(&event.entry).copied();
                }
            } else if let Some(event) = self.events.next() {
                self.count(&event, &mut changed);
            }
        }
    }

    fn count(&mut self, event: &Event, changed: &mut impl FnMut(Change)) {
        let owner = self.plan.owner(self.target, event.time);
        let stamp = event.time + self.clock_error(owner, event.time);
        let number = *self.by_entry.entry(event.entry).or_insert_with(|| {
            self.born += 1;
            let epoch = Epoch::new(self.born, event.entry, event.time, stamp);
            self.alive.push(Rc::new(epoch));
            self.born
        });
        if let Ok(position) = self
            .alive
            .binary_search_by_key(&number, |epoch| epoch.number)
        {
            let epoch = Rc::make_mut(&mut self.alive[position]);
            epoch.count(&event.calls, event.time, stamp);
            changed(Change::Calls(epoch, &event.calls));
        }
    }

    /// Returns the error of the server's clock. A clock that starts at boot never steps.
    fn clock_error(&self, server: ServerIndex, time: Nanos) -> Nanos {
        match self.cluster.layout.times() {
            Times::Boot => 0,
            _ => self.plan.clock_error(server, time),
        }
    }

    fn upheave(&mut self, time: Nanos, upheaval: Upheaval, changed: &mut impl FnMut(Change)) {
        let idle = self.cluster.cleanup_interval;
        let spares_active = self.cluster.layout.clear_spares_active();
        match upheaval {
            Upheaval::Restart => self.end(|_| true, changed),
            Upheaval::Clear if !spares_active => self.end(|_| true, changed),
            Upheaval::Clear | Upheaval::Scan => self.end(|epoch| time - epoch.last > idle, changed),
            Upheaval::Removal => {
                if let Some(epoch) = self.removable(time) {
                    self.pending = epoch.returns(self.kind(), self.cluster, time + RETURN);
                    let number = epoch.number;
                    self.end(|epoch| epoch.number == number, changed);
                }
            }
        }
    }

    fn end(&mut self, over: impl Fn(&Epoch) -> bool, changed: &mut impl FnMut(Change)) {
        for epoch in self.alive.extract_if(.., |epoch| over(epoch)) {
            self.by_entry.remove(&epoch.entry);
            changed(Change::End(epoch));
        }
    }

    /// Returns the entry that a single removal hits: of the entries in use that a reading has shown, the one whose largest counter has the
    /// most calls.
    fn removable(&self, time: Nanos) -> Option<Rc<Epoch>> {
        let counters = self.cluster.layout.counters(self.kind());
        let most_samples = |epoch: &Epoch| {
            let samples = counters.iter().map(|op| epoch.counters.get(*op).samples);
            samples.max().unwrap_or(0)
        };
        self.alive
            .iter()
            .filter(|epoch| epoch.is_settled(time, self.cluster))
            .filter(|epoch| time - epoch.last < 10 * MINUTE)
            .max_by_key(|epoch| (most_samples(epoch), epoch.number))
            .cloned()
    }

    /// Returns true if a scan for idle entries at this time ends the epoch.
    pub fn expires(&self, epoch: &Epoch, scan: Nanos) -> bool {
        scan - epoch.last > self.cluster.cleanup_interval
    }
}

impl Epoch {
    /// Creates an epoch that begins at a time when the server's clock shows `stamp`.
    pub fn new(number: u64, entry: u32, born: Nanos, stamp: Nanos) -> Self {
        Self {
            number,
            entry,
            born,
            last: born,
            stamps: (stamp, stamp),
            counters: Counters::default(),
        }
    }

    /// Counts calls.
    pub fn count(&mut self, calls: &Calls, time: Nanos, stamp: Nanos) {
        self.counters.add(calls);
        self.last = time;
        self.stamps.1 = stamp;
    }

    /// Returns true if the epoch began so long ago that the reading before the one at this time has shown it.
    pub fn is_settled(&self, time: Nanos, cluster: &Cluster) -> bool {
        self.born < time - 2 * cluster.interval
    }

    /// Returns the single call that recreates the entry, of a kind that the previous epoch has counted.
    fn returns(&self, kind: TargetKind, cluster: &Cluster, time: Nanos) -> Option<Event> {
        let layout = cluster.layout;
        let made = |op: &Op| layout.counts(kind, *op) && self.counters.get(*op).samples > 0;
        let op = *layout.counters(kind).iter().find(|op| made(op))?;
        let calls = Calls {
            request: match op {
                Op::ReadBytes => READ,
                Op::WriteBytes => WRITE,
                op => plain(op),
            },
            count: 1,
            bytes: 4096,
            usecs: service::RETURNING,
        };
        Some(Event {
            time,
            entry: self.entry,
            calls,
        })
    }
}
