//! The secrets of a store: without them, a key or a pseudonym does not reveal its identifier or user, not even by trying all
//! likely ones.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

/// The bytes of a secret.
pub type Secret = [u8; 16];

/// The beginning of the pseudonym of a job or an identifier; 16 hexadecimal digits follow.
const PSEUDONYM: &str = "pseudonym:";

/// The first number that no system gives to a user.
pub const FIRST_PSEUDONYM: i64 = 1 << 32;

/// The secrets of a store.
#[derive(Debug, Clone, Copy, Default)]
pub struct Secrets {
    /// The secret of the keys of entries.
    pub keys: Secret,
    /// The bits of keys that are inverted, so that a copy of a store has other keys.
    pub mask: i64,
    /// The secret of pseudonyms.
    pub pseudonyms: Secret,
}

impl Secrets {
    /// Returns the key of a name; with another seed, another one.
    pub(super) fn key(&self, name: &str, seed: u64) -> i64 {
        let hash = hash(&self.keys, &[&seed.to_le_bytes(), name.as_bytes()]);
        hash.cast_signed() ^ self.mask
    }

    /// Returns whether an entry stored under one name belongs to an identifier, even if the identifier was forgotten since.
    pub fn is_of(&self, stored: &str, identifier: &str) -> bool {
        stored == identifier
            || stored.starts_with(PSEUDONYM) && stored == pseudonym(&self.pseudonyms, identifier)
    }
}

/// Returns the pseudonym of a job or an identifier: the same each time, but different under another secret. A pseudonym stays the same.
pub fn pseudonym(secret: &Secret, text: &str) -> String {
    if is_pseudonym(text) {
        return text.to_owned();
    }
    let hash = hash(secret, &[text.as_bytes()]);
    format!("{PSEUDONYM}{hash:016x}")
}

/// Returns whether a text is a pseudonym.
fn is_pseudonym(text: &str) -> bool {
    let is_digit = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    let hash = text.strip_prefix(PSEUDONYM);
    hash.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(is_digit))
}

/// Returns the pseudonym of a user, who is known by number or only by name. A byte that no identifier begins with keeps users and
/// identifiers apart.
pub fn pseudonym_of_user(secret: &Secret, user: &str) -> i64 {
    let hash = hash(secret, &[&[1], user.as_bytes()]);
    FIRST_PSEUDONYM + (hash >> 16).cast_signed()
}

fn hash(secret: &Secret, parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher24::new_with_key(secret);
    for part in parts {
        hasher.write(part);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: Secrets = Secrets {
        keys: [1; 16],
        mask: 0,
        pseudonyms: [2; 16],
    };

    #[test]
    fn keys_depend_on_the_secret_and_the_seed() {
        let others = Secrets {
            keys: [3; 16],
            ..SECRETS
        };
        let masked = Secrets { mask: 5, ..SECRETS };
        let keys = [
            SECRETS.key("cp.1001", 0),
            SECRETS.key("cp.1001", 1),
            SECRETS.key("cp.1002", 0),
            others.key("cp.1001", 0),
            Secrets::default().key("cp.1001", 0),
        ];
        for (position, key) in keys.iter().enumerate() {
            assert!(!keys[..position].contains(key), "{keys:?}");
        }
        assert_eq!(keys[0], SECRETS.key("cp.1001", 0));
        assert_eq!(keys[0] ^ 5, masked.key("cp.1001", 0));
    }

    /// The test vector of the authors of SipHash: the bytes 0 to 14 under the key of the bytes 0 to 15. Stores depend on it.
    #[test]
    fn pseudonyms_are_siphash_2_4() {
        let secret = std::array::from_fn(|it| u8::try_from(it).unwrap());
        let text: String = (0..15_u8).map(char::from).collect();
        assert_eq!(pseudonym(&secret, &text), "pseudonym:a129ca6149be45e5");
    }

    #[test]
    fn pseudonyms_of_users_are_numbers_that_no_system_gives() {
        for user in ["0", "1001", "ada", ""] {
            let pseudonym = pseudonym_of_user(&SECRETS.pseudonyms, user);
            assert!((FIRST_PSEUDONYM..FIRST_PSEUDONYM + (1 << 48)).contains(&pseudonym));
            assert_ne!(pseudonym, pseudonym_of_user(&[3; 16], user));
        }
    }

    #[test]
    fn a_forgotten_identifier_has_the_entry_that_it_had() {
        let stored = pseudonym(&SECRETS.pseudonyms, "cp.1001");
        assert!(SECRETS.is_of(&stored, "cp.1001"));
        assert_eq!(pseudonym(&SECRETS.pseudonyms, &stored), stored);
        assert!(SECRETS.is_of("cp.1001", "cp.1001"));
        assert!(!SECRETS.is_of(&stored, "cp.1002"));
        assert!(!SECRETS.is_of("cp.1002", "cp.1001"));
        assert!(!Secrets::default().is_of(&stored, "cp.1001"));
    }
}
