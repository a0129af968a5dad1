//! What the last texts of this session said, so that a session which feeds a target again need not unpack and read the
//! text before: half of the work of a feed.
//!
//! What a text says follows from the text alone, and it is looked for by what is stored of it: who else has fed the target
//! since, and whether the transaction was committed that brought the text, does not matter.

use std::cell::RefCell;
use std::collections::VecDeque;

use jobstats_core::snapshot::Snapshot;
use xxhash_rust::xxh3::xxh3_128;

/// Memory for all of them: enough for a text of 150 MB, or for hundreds of usual ones.
const LIMIT: usize = 64 << 20;

struct Kept {
    /// Digest of the packed text.
    digest: u128,
    snapshot: Snapshot<'static>,
    memory: usize,
}

thread_local! {
    /// The oldest first.
    static KEPT: RefCell<VecDeque<Kept>> = const { RefCell::new(VecDeque::new()) };
}

/// Keeps what a packed text says, and forgets the oldest where that becomes too much.
pub fn keep(packed: &[u8], snapshot: Snapshot<'_>) {
    let digest = xxh3_128(packed);
    let memory = snapshot.memory();
    if memory > LIMIT {
        return;
    }
    let Some(snapshot) = snapshot.keep() else {
        return;
    };
    KEPT.with_borrow_mut(|kept| {
        kept.retain(|other| other.digest != digest);
        let mut total = memory + kept.iter().map(|other| other.memory).sum::<usize>();
        while total > LIMIT
            && let Some(oldest) = kept.pop_front()
        {
            total -= oldest.memory;
        }
        kept.push_back(Kept {
            digest,
            snapshot,
            memory,
        });
    });
}

/// What a packed text says, if it is kept; then it is kept no longer, as the next text of its target follows.
pub fn take(packed: &[u8]) -> Option<Snapshot<'static>> {
    let digest = xxh3_128(packed);
    KEPT.with_borrow_mut(|kept| {
        let place = kept.iter().position(|other| other.digest == digest)?;
        kept.remove(place).map(|found| found.snapshot)
    })
}
