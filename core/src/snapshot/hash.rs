//! Hashes of identifiers, made while a text is read: later the identifiers lie all over memory, and hashing them takes ten
//! times as long.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Nobody can find identifiers that share a hash without knowing this.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));

/// The hash of an identifier; another one in every process.
pub(super) fn hash(id: &str) -> u64 {
    xxh3_64_with_seed(id.as_bytes(), *SEED)
}

/// An identifier as a key, with its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    pub(super) hash: u64,
    pub(super) id: &'a str,
}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// For keys that have been hashed.
#[derive(Debug, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
