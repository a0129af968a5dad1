//! Collects the users and groups that a text of jobs names, to name those whom no text of `getent` knows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jobstats_core::accounting::Job;
use jobstats_core::text::getent::is_name;
use pgrx::spi::SpiClient;

use crate::feed::getent::{self, GROUPS, Named, USERS};
use crate::pg::error::Error;

/// The number of users, and of groups, that are collected until they are stored.
const AT_A_TIME: usize = 10_000;

/// The users and groups of some jobs by their numbers. The first name of a number counts.
#[derive(Default)]
pub struct People {
    users: BTreeMap<u32, Named>,
    groups: BTreeMap<u32, Named>,
}

impl People {
    /// Adds the user and the group of a job.
    pub fn add(&mut self, job: &Job<'_>) {
        insert(&mut self.users, job.uid, job.user_name.as_deref(), job.gid);
        insert(&mut self.groups, job.gid, job.group_name.as_deref(), None);
    }

    /// Returns whether they should be stored before more are added.
    pub fn are_many(&self) -> bool {
        self.users.len().max(self.groups.len()) >= AT_A_TIME
    }

    /// Stores those that have no name yet.
    pub fn store(&mut self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        getent::fill(client, &USERS, &std::mem::take(&mut self.users))?;
        getent::fill(client, &GROUPS, &std::mem::take(&mut self.groups))
    }
}

/// Inserts a name if there is one. A scheduler may print the number of a user whom its host does not know, which is no name.
fn insert(
    named: &mut BTreeMap<u32, Named>,
    number: Option<u32>,
    name: Option<&str>,
    gid: Option<u32>,
) {
    let (Some(number), Some(name)) = (number, name) else {
        return;
    };
    if let Entry::Vacant(place) = named.entry(number)
        && is_name(name)
        && name.parse() != Ok(number)
    {
        place.insert(Named {
            name: name.to_owned(),
            gid,
        });
    }
}
