//! Hashes of identifiers, computed while a text is read: later the identifiers are scattered all over memory, and
//! hashing them takes ten times as long.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The seed of the hashes. Constructing hash collisions requires the seed.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));

/// Returns the hash of an identifier, which is another one in every process.
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

/// A map from identifiers to values.
pub(crate) type ByKey<'a, V> = HashMap<Key<'a>, V, BuildHasherDefault<Hashed>>;

/// A set of identifiers.
pub(crate) type Keys<'a> = HashSet<Key<'a>, BuildHasherDefault<Hashed>>;

/// The hasher of keys that have been hashed before.
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    /// A user who chooses names of jobs cannot make the tables of identifiers slow by hash collisions.
    #[test]
    fn identifiers_chosen_to_collide_do_not() {
        let place = |hash: u64| hash % 4096;
        let ids = (0..2_000_000_u32).map(|job| format!("{job}:1000:r01c01"));
        let chosen: Vec<_> = ids
            .filter(|id| place(xxh3_64(id.as_bytes())) == 0)
            .collect();
        assert!(chosen.len() > 300);
        let places: HashSet<_> = chosen.iter().map(|id| place(hash(id))).collect();
        assert!(places.len() > chosen.len() * 3 / 4);
    }
}
