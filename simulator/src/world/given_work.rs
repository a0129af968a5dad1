//! Work that is given instead of drawn: a table of jobs, operations, targets and times, so that anybody can count it.

use std::path::Path;

use serde::{Deserialize, Deserializer};

use crate::failure::Failure;
use crate::lustre::operation::{READ, WRITE, plain};
use crate::lustre::{Calls, Op, Request, identifier};
use crate::time::{Clock, HOUR, Nanos, SECOND, Span};
use crate::world::workload::{Event, Traffic};
use crate::world::{Cluster, TargetIndex};

/// The longest work that a row may describe. The traffic that a target's text is made of then includes such work from
/// its start.
const LONGEST: Nanos = 12 * HOUR;

/// Work that job `job` of user `uid` did on a node, evenly from one time to another.
#[derive(Debug, Clone, Deserialize)]
pub struct GivenWork {
    job: String,
    uid: u32,
    node: String,
    target: String,
    /// The operation as in `job_stats`, such as `open` or `write`.
    operation: String,
    calls: u64,
    /// The number of bytes that all calls together moved.
    bytes: u64,
    /// The microseconds that the server spent on each call.
    usecs: u32,
    #[serde(deserialize_with = "instant")]
    from: Nanos,
    #[serde(deserialize_with = "instant")]
    until: Nanos,
}

fn instant<'de, D: Deserializer<'de>>(text: D) -> Result<Nanos, D::Error> {
    Clock::parse(&String::deserialize(text)?)
        .map(|time| time.0)
        .map_err(serde::de::Error::custom)
}

/// Reads a table of work: CSV with the names of the columns in its first line.
pub fn read(path: &Path) -> Result<Vec<GivenWork>, Failure> {
    let unreadable = |error| Failure::file(path, error);
    let mut csv = csv::Reader::from_path(path).map_err(unreadable)?;
    let mut all = Vec::new();
    for (index, work) in csv.deserialize::<GivenWork>().enumerate() {
        let work = work.map_err(unreadable)?;
        if let Some(problem) = work.problem() {
            return Err(Failure::file(
                path,
                format!("work {}: {problem}", index + 1),
            ));
        }
        all.push(work);
    }
    Ok(all)
}

/// Adds the calls to a target in a span.
pub fn add(
    work: &[GivenWork],
    cluster: &Cluster,
    target: TargetIndex,
    span: Span,
    traffic: &mut Traffic,
) {
    let target = &cluster.targets[target];
    for work in work.iter().filter(|work| work.target == target.name) {
        let Some(request) = work.request() else {
            continue;
        };
        if !cluster.layout.hears(target.kind, request) {
            continue;
        }
        let entry = traffic.entry(&identifier::of_job(&work.job, work.uid, &work.node));
        let events = work.events(request, entry);
        traffic
            .events
            .extend(events.filter(|event| span.contains(event.time)));
    }
}

impl GivenWork {
    fn problem(&self) -> Option<&'static str> {
        let each = self.bytes.checked_div(self.calls).unwrap_or(0);
        if self.request().is_none() {
            Some("unknown operation")
        } else if self.calls == 0 || u32::try_from(self.calls).is_err() {
            Some("no calls, or too many")
        } else if each * self.calls != self.bytes || u32::try_from(each).is_err() {
            Some("the bytes differ between calls, or are too many")
        } else if !(SECOND..=LONGEST).contains(&(self.until - self.from)) {
            Some("it lasts less than a second, or more than twelve hours")
        } else {
            None
        }
    }

    fn request(&self) -> Option<Request> {
        match self.operation.parse().ok()? {
            Op::Read => Some(READ),
            Op::Write => Some(WRITE),
            // Bytes are counted with the requests that move them.
            op if op.is_bytes() => None,
            op => Some(plain(op)),
        }
    }

    /// Returns the calls of each second that has any, in the first half of the second.
    fn events(&self, request: Request, entry: u32) -> impl Iterator<Item = Event> {
        let seconds = (self.until - self.from).div_euclid(SECOND).unsigned_abs();
        let (from, calls) = (self.from.div_euclid(SECOND) * SECOND, self.calls);
        let each = Calls::new(request, 0, (self.bytes / calls) as u32, self.usecs);
        let until = move |second: u64| calls * second / seconds;
        (0..seconds).filter_map(move |second| {
            let count = (until(second + 1) - until(second)) as u32;
            (count > 0).then_some(Event {
                time: from + second as Nanos * SECOND + SECOND / 10,
                entry,
                calls: Calls { count, ..each },
            })
        })
    }
}
