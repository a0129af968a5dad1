//! A cache of the latest snapshots of this session. A session that feeds a target again need not unpack and scan the previous
//! text, which is half of the work of a feed.
//!
//! The key is the stored digest of the text, which determines the snapshot. So neither other feeds nor a rollback make an entry
//! wrong. The packed text is not fetched either: 7.5 MB for a text of 111 MB.

use std::cell::RefCell;
use std::collections::VecDeque;

use jobstats_core::rules::snapshot::Snapshot;

/// The key of a text: its digest and its packed size, which detects a replaced text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub digest: [u8; 16],
    pub packed: usize,
}

/// The memory of the cache in bytes: a text of 150 MB, or hundreds of ordinary ones.
const LIMIT: usize = 64 << 20;

struct CacheEntry {
    key: Key,
    snapshot: Snapshot<'static>,
    memory: usize,
}

thread_local! {
    /// The cached snapshots, the oldest first.
    static CACHE: RefCell<VecDeque<CacheEntry>> = const { RefCell::new(VecDeque::new()) };
}

/// Registers thread-local memory with the C library, which aborts the process if that fails on first use.
pub fn register_memory() {
    CACHE.with(|_| ());
}

/// Caches the snapshot of a text, and drops the oldest beyond [`LIMIT`].
pub fn put(key: Key, snapshot: Snapshot<'static>) {
    let memory = snapshot.memory();
    if memory > LIMIT {
        return;
    }
    CACHE.with_borrow_mut(|cache| {
        cache.retain(|other| other.key != key);
        let mut total = memory + cache.iter().map(|other| other.memory).sum::<usize>();
        while total > LIMIT
            && let Some(oldest) = cache.pop_front()
        {
            total -= oldest.memory;
        }
        cache.push_back(CacheEntry {
            key,
            snapshot,
            memory,
        });
    });
}

/// Removes and returns the snapshot of a text. The next snapshot of the target replaces it.
pub fn take(key: Key) -> Option<Snapshot<'static>> {
    CACHE.with_borrow_mut(|cache| {
        let position = cache.iter().position(|other| other.key == key)?;
        cache.remove(position).map(|found| found.snapshot)
    })
}
