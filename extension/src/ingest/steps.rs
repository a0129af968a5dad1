//! Where the time of a feed goes, for who asks with `SET client_min_messages = debug1`.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A part of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Unpacking texts.
    Unpack,
    /// Packing a text that came unpacked, or with others.
    Pack,
    /// The digest of the new text.
    Digest,
    /// Text → snapshot, of the new text and of the one before.
    Scan,
    /// Two snapshots → increments.
    Compare,
    /// Identifiers: finding their keys, storing new ones.
    Entries,
    /// Storing increments.
    Increments,
    /// Storing the text and its observation.
    Text,
}

const STEPS: [(Step, &str); 8] = [
    (Step::Unpack, "unpack"),
    (Step::Pack, "pack"),
    (Step::Digest, "digest"),
    (Step::Scan, "scan"),
    (Step::Compare, "compare"),
    (Step::Entries, "entries"),
    (Step::Increments, "increments"),
    (Step::Text, "text"),
];

thread_local! {
    static SPENT: Cell<[Duration; STEPS.len()]> = const { Cell::new([Duration::ZERO; STEPS.len()]) };
}

/// Does a part of the work. Parts do not contain one another.
pub fn timed<T>(step: Step, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = work();
    let mut spent = SPENT.get();
    spent[step as usize] += began.elapsed();
    SPENT.set(spent);
    result
}

/// Does the whole work and says how long its parts took.
pub fn told<T>(work: impl FnOnce() -> T) -> T {
    SPENT.take();
    let began = Instant::now();
    let result = work();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let parts = STEPS
        .iter()
        .zip(SPENT.get())
        .map(|((_, name), spent)| format!("{name} {:.1}", milliseconds(spent)));
    pgrx::debug1!(
        "the feed took {:.1} ms: {}",
        milliseconds(began.elapsed()),
        parts.collect::<Vec<_>>().join(", ")
    );
    result
}
