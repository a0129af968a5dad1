//! The keys under which names of entries are stored.
//!
//! The key is a hash of the name under a [secret](Secrets), so that rows can be written before it is known whether the entry is
//! new. If two names have the same hash, the second one is hashed again with another seed.

use std::collections::{BTreeMap, HashMap};

use crate::identity::entry_id::pseudonyms::Secrets;

/// The keys of the names that have been looked up.
#[derive(Debug, Default)]
pub struct Keys {
    secrets: Secrets,
    ids: HashMap<String, i64>,
    new: BTreeMap<i64, String>,
}

/// Names of entries that are stored, by their keys.
pub type StoredNames = HashMap<i64, String>;

impl Keys {
    /// Returns the keys of a store with these secrets.
    pub fn of(secrets: Secrets) -> Self {
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Returns the key of a name that has been looked up.
    pub fn id(&self, name: &str) -> Option<i64> {
        self.ids.get(name).copied()
    }

    /// Returns whether a name that has been looked up is not stored yet.
    pub fn is_new(&self, name: &str) -> bool {
        self.id(name).is_some_and(|id| self.new.contains_key(&id))
    }

    /// Returns the entries that are not stored yet, in the order of their keys.
    pub const fn new_entries(&self) -> &BTreeMap<i64, String> {
        &self.new
    }

    /// Returns the keys of all names that have been looked up.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = i64> {
        self.ids.values().copied()
    }

    /// Looks up the keys of names. `stored` returns the stored names under some of these keys. Names that are not stored
    /// become new entries.
    ///
    /// # Errors
    /// Returns the errors of `stored`.
    pub fn resolve<'n, E>(
        &mut self,
        names: impl Iterator<Item = &'n str>,
        mut stored: impl FnMut(Vec<i64>) -> Result<StoredNames, E>,
    ) -> Result<(), E> {
        let mut pending: Vec<&str> = names.filter(|name| !self.ids.contains_key(*name)).collect();
        pending.sort_unstable();
        pending.dedup();
        for seed in 0.. {
            if pending.is_empty() {
                break;
            }
            let hashes: Vec<i64> = pending
                .iter()
                .map(|name| self.secrets.key(name, seed))
                .collect();
            let stored = stored(hashes.clone())?;
            pending = self.settle(&pending, hashes, &stored);
        }
        Ok(())
    }

    /// Takes the names whose hash is free or already theirs. Returns the names whose hash is taken.
    fn settle<'n>(
        &mut self,
        names: &[&'n str],
        hashes: Vec<i64>,
        stored: &StoredNames,
    ) -> Vec<&'n str> {
        let mut taken = Vec::new();
        for (name, id) in names.iter().zip(hashes) {
            match stored.get(&id).or_else(|| self.new.get(&id)) {
                Some(owner) if self.secrets.is_of(owner, name) => {}
                Some(_) => {
                    taken.push(*name);
                    continue;
                }
                None => {
                    self.new.insert(id, (*name).to_owned());
                }
            }
            self.ids.insert((*name).to_owned(), id);
        }
        taken
    }

    /// Makes those names new entries again that are not stored any more. Returns false if the key of one of them belongs to
    /// another name by now.
    pub fn find_again(&mut self, stored: &StoredNames) -> bool {
        for (name, id) in &self.ids {
            match stored.get(id) {
                Some(owner) if self.secrets.is_of(owner, name) => {}
                Some(_) => return false,
                None => {
                    self.new.insert(*id, name.clone());
                }
            }
        }
        true
    }

    /// Returns whether an entry that is stored under one name equals another.
    pub fn is_of(&self, stored: &str, name: &str) -> bool {
        self.secrets.is_of(stored, name)
    }

    /// Takes the new entries that were not inserted.
    pub fn take_skipped(
        &mut self,
        inserted: impl IntoIterator<Item = i64>,
    ) -> BTreeMap<i64, String> {
        let mut skipped = std::mem::take(&mut self.new);
        for id in inserted {
            skipped.remove(&id);
        }
        skipped
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn hash(name: &str, seed: u64) -> i64 {
        Secrets::default().key(name, seed)
    }

    /// Looks up names in a store.
    fn resolve(keys: &mut Keys, store: &StoredNames, names: &[&str]) {
        let lookup = |ids: Vec<i64>| {
            let found = ids
                .into_iter()
                .filter_map(|id| Some((id, store.get(&id)?.clone())));
            Ok::<_, Infallible>(found.collect())
        };
        let Ok(()) = keys.resolve(names.iter().copied(), lookup);
    }

    #[test]
    fn a_name_whose_hash_belongs_to_another_is_hashed_again() {
        let store = StoredNames::from([(hash("a", 0), "other".to_owned())]);
        let mut keys = Keys::default();
        resolve(&mut keys, &store, &["a", "other"]);
        assert_eq!(keys.id("a"), Some(hash("a", 1)));
        assert_eq!(keys.id("other"), Some(hash("other", 0)));
        assert!(keys.is_new("a"));
        assert!(!keys.is_new("unknown") && keys.id("unknown").is_none());
    }

    #[test]
    fn of_two_new_names_with_one_hash_the_first_gets_it() {
        let mut keys = Keys::default();
        let taken = keys.settle(&["a", "b", "c"], vec![7, 7, 8], &StoredNames::new());
        assert_eq!(taken, ["b"]);
        assert_eq!(
            (keys.id("a"), keys.id("b"), keys.id("c")),
            (Some(7), None, Some(8))
        );
    }

    #[test]
    fn entries_that_were_deleted_meanwhile_are_new_again() {
        let store = StoredNames::from([(hash("a", 0), "a".to_owned())]);
        let mut keys = Keys::default();
        resolve(&mut keys, &store, &["a"]);
        assert!(keys.new_entries().is_empty());
        assert!(keys.find_again(&store) && keys.new_entries().is_empty());
        assert!(keys.find_again(&StoredNames::new()) && keys.is_new("a"));
        let other = StoredNames::from([(hash("a", 0), "b".to_owned())]);
        assert!(!keys.find_again(&other));
    }

    #[test]
    fn entries_that_were_not_inserted_are_skipped() {
        let mut keys = Keys::default();
        resolve(&mut keys, &StoredNames::new(), &["a", "b"]);
        let skipped = keys.take_skipped([hash("a", 0)]);
        assert_eq!(skipped.into_values().collect::<Vec<_>>(), ["b"]);
        assert!(keys.new_entries().is_empty());
    }

    proptest! {
        /// Each name has one unique key, whatever is stored and in whatever pieces names are looked up.
        #[test]
        fn names_have_keys_of_their_own(
            stored in prop::collection::btree_set("[a-f]{1,2}", 0..6),
            foreign in prop::collection::btree_set("[a-f]{1,2}", 0..6),
            first in prop::collection::vec("[a-f]{1,2}", 0..9),
            second in prop::collection::vec("[a-f]{1,2}", 0..9),
        ) {
            let own = stored.iter().map(|name| (hash(name, 0), name.clone()));
            let taken = foreign.iter().filter(|name| !stored.contains(*name));
            let taken = taken.map(|name| (hash(name, 0), format!("not {name}")));
            let store: StoredNames = own.chain(taken).collect();
            let mut keys = Keys::default();
            for names in [&first, &second] {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                resolve(&mut keys, &store, &names);
            }
            let mut owners = store;
            for name in first.iter().chain(&second) {
                let id = keys.id(name).expect("it was looked up");
                let owner = owners.entry(id).or_insert_with(|| name.clone());
                prop_assert_eq!(&*owner, name);
                prop_assert_eq!(keys.is_new(name), !stored.contains(name));
            }
        }
    }
}
