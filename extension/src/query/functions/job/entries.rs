//! The entries of a job.

use std::collections::HashMap;
use std::rc::Rc;

use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::memory::require_room;
use crate::pg::spi::{Statements, values};
use crate::query::functions::job::named::NamedJob;
use crate::query::state::State;
use crate::store::rights::caller::{OWN_FIRST, OwnUsage, after_own, seen_entries};

/// The memory that an entry takes, with the name of its node.
const ENTRY_BYTES: usize = 256;

/// The entries with some numbers, and the entries matched with jobs of a scheduler.
const OF_ANY: &str = "e.job = ANY ($3)";
const OF_SCHEDULER: &str = "e.job = ANY ($3) AND EXISTS (SELECT FROM jobstats.entry_jobs m \
     JOIN jobstats.job_ids i ON i.job_no = m.job_no WHERE m.entry_id = e.entry_id AND i.scheduler = $4)";

/// The condition that a reader may see an entry: it is an entry of these users or, if the identifier has no user, of their jobs; or of jobs of these
/// accounts.
const IS_OWN: &str = "(e.uid = ANY ($1) OR ( \
        SELECT bool_and((e.uid IS NULL AND i.uid = ANY ($1) OR i.account = ANY ($2)) IS TRUE) \
        FROM jobstats.entry_jobs m LEFT JOIN jobstats.job_ids i ON i.job_no = m.job_no WHERE m.entry_id = e.entry_id))";

/// The entries of a job, each with the number of its node.
pub struct Entries {
    pub nodes: HashMap<i64, Option<u32>>,
    /// The names of the nodes, in order. Nodes are counted from 1.
    names: Vec<String>,
    /// The state of the store when they were read.
    pub state: Rc<State>,
    /// Set for a restricted reader if an identifier names no user. The usage is only the reader's while one of their jobs ran: before and after, the
    /// number may have had a job unknown to accounting.
    pub are_unnamed: bool,
}

impl Entries {
    /// Returns all entries of the job; if other schedulers have jobs with its number, only entries matched with a job of its scheduler.
    pub fn of_job(client: &SpiClient<'_>, job: &NamedJob) -> Result<Self, Error> {
        let condition = if job.is_shared { OF_SCHEDULER } else { OF_ANY };
        let further = values![job.numbers.clone(), job.scheduler.as_deref()];
        Self::read(client, condition, job.own.as_ref(), further)
    }

    /// Returns the entries with these keys.
    pub fn of(client: &SpiClient<'_>, ids: Vec<i64>) -> Result<Self, Error> {
        Self::read(client, "e.entry_id = ANY ($3)", None, values![ids])
    }

    /// Returns the entries of a reader that meet a condition, which has further parameters from the third on.
    fn read<const N: usize>(
        client: &SpiClient<'_>,
        condition: &str,
        own: Option<&OwnUsage>,
        further: [DatumWithOid<'_>; N],
    ) -> Result<Self, Error> {
        let statement = format!(
            "SELECT e.entry_id, e.node, e.uid IS NULL FROM {} e \
             WHERE {condition} AND ($1::bigint[] IS NULL OR {IS_OWN}) ORDER BY e.node",
            seen_entries(own, OWN_FIRST)
        );
        let found = client.query(&statement, &after_own(own, further))?;
        require_room(found.len(), ENTRY_BYTES)?;
        let mut entries = Self {
            nodes: HashMap::new(),
            names: Vec::new(),
            state: Rc::new(State::read(client)?),
            are_unnamed: false,
        };
        for entry in found {
            let node: Option<String> = entry.at(2)?;
            let is_named = node.is_some();
            if node.is_some() && node.as_ref() != entries.names.last() {
                entries.names.extend(node);
            }
            let number = is_named.then_some(entries.names.len() as u32);
            entries.nodes.insert(entry.at(1)?, number);
            entries.are_unnamed |= own.is_some() && entry.at(3)?;
        }
        Ok(entries)
    }

    /// Returns whether the job was never seen.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the keys of the entries.
    pub fn ids(&self) -> Vec<i64> {
        self.nodes.keys().copied().collect()
    }

    /// Returns the number of the node of an entry, if its identifier names one.
    pub fn node(&self, entry: i64) -> Option<u32> {
        self.nodes.get(&entry).copied().flatten()
    }

    /// Returns the name of a node.
    pub fn node_name(&self, node: i64) -> Option<&str> {
        let position = usize::try_from(node - 1).ok()?;
        self.names.get(position).map(String::as_str)
    }
}
