//! What the last texts of this session said, so that a session which feeds a target again need not unpack and read the
//! text before: half of the work of a feed.
//!
//! What a text says follows from the text alone, and it is looked for by the digest that is stored of it: who else has fed
//! the target since, and whether the transaction was committed that brought the text, does not matter. The text itself need
//! not even be fetched, which is 7.5 MB of one of 111 MB.

use std::cell::RefCell;
use std::collections::VecDeque;

use jobstats_core::snapshot::Snapshot;

/// By what a text is known: its digest, and how large it is packed, which is another size where somebody replaced it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub digest: [u8; 16],
    pub packed: usize,
}

/// Memory for all of them: enough for a text of 150 MB, or for hundreds of usual ones.
const LIMIT: usize = 64 << 20;

struct Kept {
    key: Key,
    snapshot: Snapshot<'static>,
    memory: usize,
}

thread_local! {
    /// The oldest first.
    static KEPT: RefCell<VecDeque<Kept>> = const { RefCell::new(VecDeque::new()) };
}

/// Registers the thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    KEPT.with(|_| ());
}

/// Keeps what a text says, and forgets the oldest where that becomes too much.
pub fn keep(key: Key, snapshot: Snapshot<'_>) {
    let memory = snapshot.memory();
    if memory > LIMIT {
        return;
    }
    let Some(snapshot) = snapshot.keep() else {
        return;
    };
    KEPT.with_borrow_mut(|kept| {
        kept.retain(|other| other.key != key);
        let mut total = memory + kept.iter().map(|other| other.memory).sum::<usize>();
        while total > LIMIT
            && let Some(oldest) = kept.pop_front()
        {
            total -= oldest.memory;
        }
        kept.push_back(Kept {
            key,
            snapshot,
            memory,
        });
    });
}

/// What a text says, if it is kept; then it is kept no longer, as the next text of its target follows.
pub fn take(key: Key) -> Option<Snapshot<'static>> {
    KEPT.with_borrow_mut(|kept| {
        let place = kept.iter().position(|other| other.key == key)?;
        kept.remove(place).map(|found| found.snapshot)
    })
}
