//! Checks whether a role can read a store, and says why not.

use jobstats_client::Kind;
use postgres::Client;

use super::Error;

/// The oldest version of a store that can be read.
const OLDEST: &str = "0.2.0";

/// Why a store cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The database has no extension.
    #[error(
        "the database {0} has no extension jobstats: is it the right one? CREATE EXTENSION jobstats adds it"
    )]
    NoExtension(String),
    /// The extension has no store yet.
    #[error("the database {0} has no store yet: its owner makes one by SELECT jobstats_setup()")]
    NoStore(String),
    /// The role may not read the store.
    #[error(
        "the role {0} may not read the store: its owner allows that by SELECT jobstats_grant_reader('{0}')"
    )]
    Denied(String),
    /// The store is of a version that the console cannot read.
    #[error(
        "the store is of version {0}, and this program reads {OLDEST} and later: the owner of the store runs ALTER EXTENSION \
         jobstats UPDATE, and SELECT jobstats_setup()"
    )]
    Old(String),
}

impl Unreadable {
    /// Returns the kind of the error.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::NoExtension(_) | Self::NoStore(_) | Self::Old(_) => Kind::Setup,
            Self::Denied(_) => Kind::Denied,
        }
    }
}

/// Looks whether there is a store that the role may read.
///
/// # Errors
///
/// Fails if there is none, or if the question fails.
pub fn require(client: &mut Client) -> Result<(), Error> {
    let found = client.query_typed(include_str!("check.sql"), &[])?;
    let Some(found) = found.first() else {
        return Ok(());
    };
    let database = || found.try_get("database");
    if !found.try_get::<_, bool>("has_extension")? {
        return Err(Unreadable::NoExtension(database()?).into());
    }
    if !found.try_get::<_, bool>("has_store")? {
        return Err(Unreadable::NoStore(database()?).into());
    }
    if !found.try_get::<_, bool>("is_reader")? {
        return Err(Unreadable::Denied(found.try_get("role")?).into());
    }
    let version = client.query_typed("SELECT s.version FROM jobstats.settings s", &[])?;
    let version = version
        .first()
        .map(|row| row.try_get::<_, String>("version"));
    match version.transpose()? {
        Some(version) if parts(&version) < parts(OLDEST) => Err(Unreadable::Old(version).into()),
        _ => Ok(()),
    }
}

/// Returns the numbers of a version.
fn parts(version: &str) -> Vec<u64> {
    let parts = version.split(['.', '-', '+']).take(3);
    parts.map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        for (older, newer) in [
            ("0.1.0", "0.2.0"),
            ("0.9.0", "0.10.0"),
            ("0.2.0", "1.0.0-rc1"),
        ] {
            assert!(parts(older) < parts(newer), "{older} {newer}");
        }
    }
}
