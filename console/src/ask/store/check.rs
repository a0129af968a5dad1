//! Checks whether a role can read a store, and explains why not.

use postgres::Client;
use postgres::error::SqlState;

use super::Error;

/// Returns the users whose usage a limited reader can read; `None` for a reader of everything. Fails if there is no store that the role may
/// read.
pub fn require(client: &mut Client) -> Result<Option<Vec<i64>>, Error> {
    let found = client.query_typed(include_str!("check.sql"), &[])?;
    let Some(found) = found.first() else {
        return Ok(None);
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
            Ok(Some(own)) => Ok(Some(own)),
            Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                Err(Error::ForbiddenUser)
            }
            Ok(None) | Err(_) => Err(Error::Denied(found.try_get("role")?)),
        };
    }
    let version = client.query_typed("SELECT s.version FROM jobstats.settings s", &[])?;
    let version = version.first();
    let version = version.map(|row| row.try_get::<_, String>("version"));
    match version.transpose()? {
        Some(version) if version != env!("CARGO_PKG_VERSION") => Err(Error::Version(version)),
        _ => Ok(None),
    }
}

/// Returns the users; `None` for a role that can read everything or no rows at all.
fn own_uids(client: &mut Client) -> Result<Option<Vec<i64>>, postgres::Error> {
    let own = client.query_typed("SELECT jobstats_internal.own_uids() AS uids", &[])?;
    own.first().map_or(Ok(None), |row| row.try_get("uids"))
}
