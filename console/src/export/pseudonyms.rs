//! Pseudonyms: keyed hashes in place of names and numbers of people, jobs and nodes.
//!
//! Files written with one key can be joined: a value of a column has the same pseudonym in all of them. Without the key, the pseudonym of
//! a guessed name cannot be computed.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use jobstats_client::files::file::{FileError, directory_of};
use jobstats_client::files::trust::{self, TrustError};
use jobstats_client::program::exit;
use ring::hmac::{self, HMAC_SHA256, Key, Tag};
use ring::rand::{SecureRandom, SystemRandom};
use tempfile::NamedTempFile;

use crate::ask::error::Error;

/// The number of random bytes of a key.
const RANDOM: usize = 32;

/// The fewest characters that a key may have.
const LEAST: usize = 32;

/// The number of bytes of the pseudonym of a text, which has two digits for each.
const LENGTH: usize = 10;

/// The number of bits of the pseudonym of a number, which programs with floating-point numbers keep exactly.
const BITS: u32 = 53;

/// A key.
pub struct Pseudonyms {
    key: Key,
}

impl Pseudonyms {
    /// Reads the key of a file. If the file does not exist, it is made with a random key. This fails if others can read it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let text = match trust::secret(path) {
            Err(TrustError::Unreadable(error)) if error.cause.kind() == ErrorKind::NotFound => {
                return make(path);
            }
            text => text?,
        };
        match text.trim() {
            key if key.len() < LEAST => Err(unusable(format!(
                "{} has no key: it needs {LEAST} characters or more; name a file that does not exist, and one is made",
                path.display()
            ))),
            key => Ok(Self::new(key.as_bytes())),
        }
    }

    fn new(text: &[u8]) -> Self {
        Self {
            key: Key::new(HMAC_SHA256, text),
        }
    }

    /// Returns the pseudonym of a text of a column, in hexadecimal digits.
    pub fn text(&self, column: &str, text: &[u8]) -> String {
        hexadecimal(&self.hash(column, text).as_ref()[..LENGTH])
    }

    /// Returns the pseudonym of a number of a column, which is not negative.
    pub fn number(&self, column: &str, number: i64) -> i64 {
        let hash = self.hash(column, number.to_string().as_bytes());
        let first = hash.as_ref().first_chunk().copied().unwrap_or_default();
        (u64::from_be_bytes(first) >> (u64::BITS - BITS)).cast_signed()
    }

    /// Returns a word that differs for each key without revealing it.
    pub fn fingerprint(&self) -> String {
        self.text("", b"fingerprint")
    }

    /// Returns a number that differs for each key without revealing it, for the order of rows.
    pub fn seed(&self) -> i64 {
        self.number("", 0)
    }

    fn hash(&self, column: &str, value: &[u8]) -> Tag {
        // No name of a column has a zero, so that no two columns and values are signed alike.
        hmac::sign(&self.key, &[column.as_bytes(), &[0], value].concat())
    }
}

fn unusable(message: impl ToString) -> Error {
    Error::other(exit::SETUP, message)
}

/// Makes a file with a random key, which only its owner may read.
fn make(path: &Path) -> Result<Pseudonyms, Error> {
    let keep = || {
        let mut random = [0; RANDOM];
        let filled = SystemRandom::new().fill(&mut random);
        filled.map_err(|_| io::Error::other("the system gives no random numbers for a key"))?;
        let key = hexadecimal(&random);
        let mut file = NamedTempFile::new_in(directory_of(path))?;
        writeln!(file, "{key}")?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        Ok::<_, io::Error>(Pseudonyms::new(key.as_bytes()))
    };
    keep().map_err(|error| unusable(FileError::at(path)(error)))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let first = Pseudonyms::open(&path).unwrap();
        let second = Pseudonyms::open(&path).unwrap();
        assert_eq!(first.text("job", b"1"), second.text("job", b"1"));
        assert_eq!(first.fingerprint(), second.fingerprint());
        let other = Pseudonyms::open(&directory.path().join("other")).unwrap();
        assert_ne!(first.text("job", b"1"), other.text("job", b"1"));
        assert_ne!(first.fingerprint(), other.fingerprint());
    }

    #[test]
    fn a_key_that_others_read_and_one_that_is_guessed_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let _made = Pseudonyms::open(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(
            Pseudonyms::open(&path),
            Err(Error::Trust(TrustError::Exposed(_)))
        ));
        fs::write(&path, "secret\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let short = Pseudonyms::open(&path).err();
        assert_eq!(short.map(|it| it.code()), Some(exit::SETUP));
        let nowhere = directory.path().join("none/key");
        let unmade = Pseudonyms::open(&nowhere).err();
        assert_eq!(unmade.map(|it| it.code()), Some(exit::SETUP));
    }

    #[test]
    fn pseudonyms_are_those_of_hmac() {
        // printf 'user_name\0ada' | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef
        let key = Pseudonyms::new(b"0123456789abcdef0123456789abcdef");
        assert_eq!(key.text("user_name", b"ada"), EXPECTED);
    }

    /// The first bytes of the output of openssl.
    const EXPECTED: &str = "05d3683dd387aa1a8a40";

    proptest! {
        #[test]
        fn values_and_columns_have_pseudonyms_of_their_own(one: String, other: String, number: i64) {
            let key = Pseudonyms::new(&[7; 32]);
            prop_assert_eq!(key.text("job", one.as_bytes()) == key.text("job", other.as_bytes()), one == other);
            prop_assert_ne!(key.text("job", one.as_bytes()), key.text("node", one.as_bytes()));
            prop_assert!((0..1 << 53).contains(&key.number("uid", number)));
            prop_assert_ne!(key.number("uid", number), key.number("gid", number));
        }
    }
}
