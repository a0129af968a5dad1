//! Checks whether a role can read a store, and says why not.

use postgres::Client;
use postgres::error::SqlState;

use super::{Error, OLDEST};

/// Fails if there is no store that the role may read.
pub fn require(client: &mut Client) -> Result<(), Error> {
    let found = client.query_typed(include_str!("check.sql"), &[])?;
    let Some(found) = found.first() else {
        return Ok(());
    };
    let database = || found.try_get("database");
    if !found.try_get::<_, bool>("has_extension")? {
        return Err(Error::NoExtension(database()?));
    }
    if !found.try_get::<_, bool>("has_store")? {
        return Err(Error::NoStore(database()?));
    }
    if !found.try_get::<_, bool>("is_reader")? {
        return match own_uids(client) {
            Ok(Some(_)) => Ok(()),
            Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                Err(Error::Nobody)
            }
            // An older store knows no such readers.
            Ok(None) | Err(_) => Err(Error::Denied(found.try_get("role")?)),
        };
    }
    let version = client.query_typed("SELECT s.version FROM jobstats.settings s", &[])?;
    let version = version.first();
    let version = version.map(|row| row.try_get::<_, String>("version"));
    match version.transpose()? {
        Some(version) if parts(&version) < parts(OLDEST) => Err(Error::Old(version)),
        _ => Ok(()),
    }
}

/// Returns the users whose work a reader sees who sees no other; `None` of who sees all or nothing.
pub fn own_uids(client: &mut Client) -> Result<Option<Vec<i64>>, postgres::Error> {
    let own = client.query_typed("SELECT jobstats_internal.own_uids() AS uids", &[])?;
    own.first().map_or(Ok(None), |row| row.try_get("uids"))
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
