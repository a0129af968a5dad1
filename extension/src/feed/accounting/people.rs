//! Collects the users and groups in a text of jobs, to name users and groups without `getent` entries.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jobstats_core::accounting::Job;
use jobstats_core::text::getent::is_name;
use pgrx::spi::SpiClient;

use crate::feed::getent::{self, AccountingName, GROUPS, USERS};
use crate::pg::error::Error;

/// The number of users, or groups, in a batch.
const AT_A_TIME: usize = 10_000;

/// The users and groups of jobs by number. The first name of a number counts.
#[derive(Default)]
pub struct People {
    users: BTreeMap<u32, AccountingName>,
    groups: BTreeMap<u32, AccountingName>,
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

    /// Names the users and groups that are still without a name.
    pub fn store(&mut self, client: &mut SpiClient<'_>) -> Result<(), Error> {
        getent::fill(client, &USERS, &std::mem::take(&mut self.users))?;
        getent::fill(client, &GROUPS, &std::mem::take(&mut self.groups))
    }
}

/// Inserts a name. A scheduler prints the number of a user whom its host does not know, which is not a name.
fn insert(
    named: &mut BTreeMap<u32, AccountingName>,
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
        place.insert(AccountingName {
            name: name.to_owned(),
            gid,
        });
    }
}
