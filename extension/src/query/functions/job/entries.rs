//! The entries of a job.

use std::collections::HashMap;
use std::rc::Rc;

use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::memory::require_room;
use crate::pg::spi::Statements;
use crate::query::functions::job::accounting::Accounting;
use crate::query::functions::job::named::Named;
use crate::query::notice::hinted;
use crate::query::state::State;
use crate::store::rights::caller::{Own, own_parameters, seen_entries};

/// The memory that an entry takes, with the name of its node.
const ENTRY_BYTES: usize = 256;

/// The entries with some numbers that were matched with jobs of a scheduler.
const OF_SCHEDULER: &str = "e.job = ANY ($3) AND EXISTS (SELECT FROM jobstats.entry_jobs m \
     JOIN jobstats.job_ids i ON i.job_no = m.job_no WHERE m.entry_id = e.entry_id AND i.scheduler = $4)";

/// The condition on an entry that all of its work is a reader's own: that of these users or, where the identifier names none, of jobs that are
/// theirs; or of jobs of these accounts.
const IS_OWN: &str = "(e.uid = ANY ($1) OR ( \
        SELECT bool_and((e.uid IS NULL AND i.uid = ANY ($1) OR i.account = ANY ($2)) IS TRUE) \
        FROM jobstats.entry_jobs m LEFT JOIN jobstats.job_ids i ON i.job_no = m.job_no WHERE m.entry_id = e.entry_id))";

/// The entries of a job, each with the number of its node.
pub struct Entries {
    nodes: HashMap<i64, Option<i64>>,
    /// The names of the nodes, in order. Nodes are counted from 1.
    names: Vec<String>,
    /// The state of the store when they were read.
    pub state: Rc<State>,
    /// Set if an identifier names no user, and the reader sees their own work alone. It is theirs only while an own job ran: before and
    /// after it, the number may be that of another's job, which accounting does not know.
    pub are_unnamed: bool,
}

impl Entries {
    /// Returns all entries of the job that were ever seen; if other schedulers have jobs with its number, those that were matched with a
    /// job of its scheduler.
    pub fn of_job(client: &SpiClient<'_>, job: &Named) -> Result<Self, Error> {
        let [uids, accounts] = own_parameters(job.own.as_ref());
        let mut parameters = vec![uids, accounts, job.numbers.clone().into()];
        let mut condition = "e.job = ANY ($3)";
        if let Some(scheduler) = job.scheduler.as_deref().filter(|_| job.is_shared) {
            parameters.push(scheduler.into());
            condition = OF_SCHEDULER;
        }
        let mut entries = Self::read(client, condition, job.own.as_ref(), &parameters)?;
        entries.are_unnamed &= job.own.is_some();
        Ok(entries)
    }

    /// Returns the entries of a job whose runs are known; none if their work is the reader's own only during these.
    pub fn during(self, runs: Option<&Accounting>) -> Self {
        match self.are_unnamed && runs.and_then(Accounting::started).is_none() {
            true => Self {
                nodes: HashMap::new(),
                ..self
            },
            false => self,
        }
    }

    /// Returns the entries with these keys.
    pub fn of(client: &SpiClient<'_>, ids: &[i64]) -> Result<Self, Error> {
        let [uids, accounts] = own_parameters(None);
        let parameters = [uids, accounts, ids.to_vec().into()];
        Self::read(client, "e.entry_id = ANY ($3)", None, &parameters)
    }

    /// Returns the entries that meet a condition. The first two parameters are the uids and the accounts of the reader's own work.
    fn read(
        client: &SpiClient<'_>,
        condition: &str,
        own: Option<&Own>,
        parameters: &[DatumWithOid<'_>],
    ) -> Result<Self, Error> {
        let statement = format!(
            "SELECT e.entry_id, CASE WHEN e.node IS NOT NULL THEN dense_rank() OVER (ORDER BY e.node) END AS number, e.node, e.uid IS NULL \
             FROM {} e WHERE {condition} AND ($1::bigint[] IS NULL OR {IS_OWN}) ORDER BY e.node",
            seen_entries(own, ["$1", "$2"])
        );
        let entries = client.query(&statement, parameters)?;
        require_room(entries.len(), ENTRY_BYTES)?;
        let (mut nodes, mut names, mut are_unnamed) = (HashMap::new(), Vec::new(), false);
        for entry in entries {
            are_unnamed |= entry.at::<bool>(4)?;
            let node: Option<i64> = entry.at(2)?;
            nodes.insert(entry.at(1)?, node);
            if node.and_then(|node| usize::try_from(node).ok()) > Some(names.len()) {
                names.push(entry.at(3)?);
            }
        }
        Ok(Self {
            nodes,
            names,
            state: Rc::new(State::read(client)?),
            are_unnamed,
        })
    }

    /// Returns whether the job was never seen.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the keys of the entries.
    pub fn ids(&self) -> Vec<i64> {
        self.nodes.keys().copied().collect()
    }

    /// Returns the number of the node of an entry, if its identifier names one.
    pub fn node(&self, entry: i64) -> Option<i64> {
        self.nodes.get(&entry).copied().flatten()
    }

    /// Returns the name of a node.
    pub fn node_name(&self, node: i64) -> Option<&str> {
        let position = usize::try_from(node - 1).ok()?;
        self.names.get(position).map(String::as_str)
    }
}

/// Raises a notice if identifiers with a number that several schedulers use were matched with no job.
pub fn note_unmatched(client: &SpiClient<'_>, job: &Named) -> Result<(), Error> {
    let unmatched: i64 = client.query_value(
        "SELECT count(*) FROM jobstats.entries e WHERE e.job = ANY ($1) \
         AND NOT EXISTS (SELECT FROM jobstats.entry_jobs m WHERE m.entry_id = e.entry_id AND m.job_no IS NOT NULL)",
        &[job.numbers.clone().into()],
    )?;
    if unmatched > 0 {
        hinted(
            format!(
                "work of the number {} that was matched with no job is left out (identifiers: {unmatched})",
                shown(&job.number)
            ),
            "Maintenance matches new identifiers. jobstats.job_quality says why it matches others with none.".to_owned(),
        );
    }
    Ok(())
}
