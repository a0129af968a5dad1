//! Timings of the phases of a feed, shown with `SET client_min_messages = debug1`.

use std::cell::RefCell;
use std::fmt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// A phase of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Unpacking texts.
    Unpack,
    /// Packing the text of a target, unless it came packed and alone.
    Pack,
    /// Computing the digest of the new text.
    Digest,
    /// Scanning the new text and the one before into snapshots.
    Scan,
    /// Comparing two snapshots, which gives the increments.
    Compare,
    /// Looking up the keys of identifiers and storing new identifiers.
    Entries,
    /// Storing increments.
    Increments,
    /// Storing the text and its observation.
    Text,
    /// Storing the names of users or groups.
    Names,
    /// Merging jobs into the stored ones.
    Jobs,
    /// Storing queues, gauges and used space.
    Parameters,
}

/// Elapsed time, and the CPU time in it. The rest was spent waiting, for the disk or for the processor.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    time: Duration,
    work: Duration,
}

impl Spent {
    fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let (began, worked) = (Instant::now(), processor_time());
        let result = work();
        let spent = Self {
            time: began.elapsed(),
            work: processor_time().saturating_sub(worked),
        };
        (result, spent)
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (time, work) = (milliseconds(self.time), milliseconds(self.work));
        write!(f, "{time:.1}/{work:.1}")
    }
}

/// Returns the CPU time of the only thread of this backend.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

thread_local! {
    /// The phases of the running feed, in the order of their first use.
    static SPENT: RefCell<Vec<(Phase, Spent)>> = const { RefCell::new(Vec::new()) };
}

/// Registers thread-local memory.
pub fn register_memory() {
    SPENT.with(|_| ());
}

/// Runs a phase and adds its time. Phases do not contain one another.
pub fn timed<T>(phase: Phase, work: impl FnOnce() -> T) -> T {
    let (result, took) = Spent::of(work);
    SPENT.with_borrow_mut(|all| match all.iter_mut().find(|it| it.0 == phase) {
        Some((_, spent)) => {
            spent.time += took.time;
            spent.work += took.work;
        }
        None => all.push((phase, took)),
    });
    result
}

/// Runs the whole feed and reports how long its phases took.
pub fn reported<T>(work: impl FnOnce() -> T) -> T {
    SPENT.take();
    let (result, all) = Spent::of(work);
    let parts = SPENT.take().into_iter();
    let parts = parts.map(|(phase, spent)| format!("{phase:?} {spent}").to_lowercase());
    pgrx::debug1!(
        "the feed took {all} ms (elapsed, then CPU time): {}",
        parts.collect::<Vec<_>>().join(", ")
    );
    result
}
