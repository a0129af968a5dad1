//! A cache of the snapshots of the last texts of this session. A session that feeds a target again then need not unpack
//! and scan the previous text, which is half of the work of a feed.
//!
//! A snapshot follows from its text alone, and the key is the digest that is stored with the text. So other feeds of
//! the target in between do no harm, nor does a rollback of the transaction that brought the text. The packed text need
//! not be fetched either: 7.5 MB for a text of 111 MB.

use std::cell::RefCell;
use std::collections::VecDeque;

use jobstats_core::rules::snapshot::Snapshot;

/// The key of a text: its digest and its packed size. The size is different if somebody has replaced the stored text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub digest: [u8; 16],
    pub packed: usize,
}

/// The memory of the cache in bytes: enough for a text of 150 MB, or for hundreds of usual ones.
const LIMIT: usize = 64 << 20;

struct Cached {
    key: Key,
    snapshot: Snapshot<'static>,
    memory: usize,
}

thread_local! {
    /// The cached snapshots, the oldest first.
    static CACHE: RefCell<VecDeque<Cached>> = const { RefCell::new(VecDeque::new()) };
}

/// Registers the thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    CACHE.with(|_| ());
}

/// Caches the snapshot of a text and drops the oldest ones that exceed [`LIMIT`].
pub fn put(key: Key, snapshot: Snapshot<'_>) {
    let memory = snapshot.memory();
    if memory > LIMIT {
        return;
    }
    let Some(snapshot) = snapshot.keep() else {
        return;
    };
    CACHE.with_borrow_mut(|cache| {
        cache.retain(|other| other.key != key);
        let mut total = memory + cache.iter().map(|other| other.memory).sum::<usize>();
        while total > LIMIT
            && let Some(oldest) = cache.pop_front()
        {
            total -= oldest.memory;
        }
        cache.push_back(Cached {
            key,
            snapshot,
            memory,
        });
    });
}

/// Removes the snapshot of a text from the cache and returns it, if it is there. The next text of the target takes its
/// place.
pub fn take(key: Key) -> Option<Snapshot<'static>> {
    CACHE.with_borrow_mut(|cache| {
        let position = cache.iter().position(|other| other.key == key)?;
        cache.remove(position).map(|found| found.snapshot)
    })
}
