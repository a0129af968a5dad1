//! Personal data: the secrets of keys and pseudonyms, and the stored data of a user and its deletion.

use jobstats_core::identity::entry_id::{
    FIRST_PSEUDONYM, Secret, Secrets, pseudonym, pseudonym_of_user,
};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{SqlResult, Statements};
use crate::store::rights::owner::{Rights, owner_of_store};

/// Returns the secrets of the store, which only its owner may read.
pub fn secrets(client: &SpiClient<'_>) -> Result<Secrets, Error> {
    let rights = Rights::of(owner_of_store(client)?);
    let row = plans::query_opt(
        client,
        "SELECT s.keys, s.mask, s.pseudonyms FROM jobstats.secrets s",
    )?;
    let row = row.ok_or(Error::NoRow("secrets"))?;
    drop(rights);
    Ok(Secrets {
        keys: secret(&row.get::<Vec<u8>>("keys")?)?,
        mask: row.get("mask")?,
        pseudonyms: secret(&row.get::<Vec<u8>>("pseudonyms")?)?,
    })
}

fn secret(bytes: &[u8]) -> Result<Secret, Error> {
    let wrong = || {
        let hint = "Use a secret from jobstats.secrets.";
        Error::argument("a secret must have 16 bytes".to_owned(), hint)
    };
    bytes.try_into().map_err(|_| wrong())
}

/// Replaces users and jobs by pseudonyms.
#[derive(Debug, Clone, Copy)]
pub struct Pseudonyms {
    secret: Secret,
    /// The limit of system uids, which get no pseudonym.
    system_uids_below: i64,
}

impl Pseudonyms {
    /// Returns the pseudonyms of the store.
    pub fn read(client: &SpiClient<'_>) -> Result<Self, Error> {
        let limit = "SELECT s.system_uids_below FROM jobstats.settings s";
        let limit: Option<i64> = client.query_value(limit, &[])?;
        Ok(Self {
            secret: secrets(client)?.pseudonyms,
            system_uids_below: limit.ok_or(Error::NoRow("settings"))?,
        })
    }

    /// Returns the pseudonym of a user.
    pub fn of_user(self, uid: i64) -> i64 {
        match (self.system_uids_below..FIRST_PSEUDONYM).contains(&uid) {
            true => pseudonym_of_user(&self.secret, &uid.to_string()),
            false => uid,
        }
    }

    /// Returns the pseudonym of a job.
    pub fn of_job(self, job: &str) -> String {
        pseudonym(&self.secret, job)
    }
}

#[pg_extern(sql = false)]
fn jobstats_pseudonym(of: &[u8], text: &str) -> SqlResult<String> {
    Ok(pseudonym(&secret(of)?, text))
}

#[pg_extern(sql = false)]
fn jobstats_pseudonym_of_user(of: &[u8], user: &str) -> SqlResult<i64> {
    Ok(pseudonym_of_user(&secret(of)?, user))
}
