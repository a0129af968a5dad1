//! The parts of a text of lctl that are neither job_stats nor counters of whole targets: queues of services, gauges, and used space.
//!
//! What is wrong in one of them is rejected and never costs the others. The caller holds the locks of the targets.

use std::collections::{HashMap, HashSet};

use jobstats_core::base::target::{TargetKind, TargetName};
use jobstats_core::rules::feed::{Outcome, reason};
use jobstats_core::rules::snapshot::Contents;
use pgrx::spi::SpiClient;
use serde::Serialize;

use crate::feed::ingest::Ingest;
use crate::feed::samples::{self, SERIES_MAX, Sample};
use crate::feed::services::{self, Reading};
use crate::feed::sources::show;
use crate::feed::targets::Target;
use crate::feed::used::{self, List};
use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::connect_mut;

/// The name of a target, which outlives the text.
#[derive(Debug, Clone)]
pub struct Name {
    kind: TargetKind,
    name: Vec<u8>,
}

impl Name {
    pub fn of(target: TargetName<'_>) -> Self {
        Self {
            kind: target.kind,
            name: target.name.to_vec(),
        }
    }

    pub fn target(&self) -> TargetName<'_> {
        TargetName {
            kind: self.kind,
            name: &self.name,
        }
    }

    pub fn shown(&self) -> String {
        self.target().shown()
    }
}

/// The values of a text.
pub struct Beside {
    services: Vec<Reading>,
    samples: Vec<Sample>,
    used: Vec<List>,
}

impl Beside {
    /// Takes the values out of a text, and rejects those that cannot be used.
    pub fn read(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Self, Error> {
        Ok(Self {
            services: services::read(contents, ingest)?,
            samples: samples::read(contents, ingest)?,
            used: used::read(contents, ingest)?,
        })
    }

    /// Returns the targets that have values here. Each is named as often as it has some.
    pub fn targets(&self) -> impl Iterator<Item = TargetName<'_>> + Clone {
        let samples = self.samples.iter().filter_map(|it| it.target.as_ref());
        let used = self.used.iter().map(|it| &it.target);
        samples.chain(used).map(Name::target)
    }

    fn is_of_server(&self) -> bool {
        !self.services.is_empty() || self.samples.iter().any(|it| it.target.is_none())
    }

    /// Leaves out the values of targets that the sender may not feed, and those of the server if the sender is not bound to it: they
    /// tell of all its targets. Returns the outcome of the latter, if there are any.
    pub fn retain(&mut self, own: &HashSet<String>, ingest: &mut Ingest<'_>) -> Option<Outcome> {
        let own_server = ingest.delivery.own_server;
        let shown = Some(&b"services and health of the server"[..]);
        let rejected = self.is_of_server() && !own_server;
        let rejected = rejected.then(|| ingest.reject(None, reason::NOT_YOURS, shown));
        self.services.retain(|_| own_server);
        self.samples.retain(|it| own_server || it.target.is_some());
        self.keep(own);
        rejected
    }

    /// Leaves out the values of targets that are not among these.
    pub fn keep(&mut self, targets: &HashSet<String>) {
        let is_kept = |target: &Name| targets.contains(&target.shown());
        self.samples
            .retain(|it| it.target.as_ref().is_none_or(is_kept));
        self.used.retain(|it| is_kept(&it.target));
    }

    /// Stores the values. Returns an outcome for each part whose time is none at which it can be placed.
    ///
    /// # Errors
    /// Those of PostgreSQL, and of too little memory.
    pub fn store(
        self,
        ingest: &mut Ingest<'_>,
        targets: &HashMap<String, Target>,
    ) -> Result<Vec<Outcome>, Error> {
        if self.is_of_server() {
            connect_mut(|client| lock_server(client, ingest))?;
        }
        connect_mut(|client| services::store(client, ingest, self.services))?;
        if self.samples.is_empty() && self.used.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(reason) = ingest.limits().why_not_at(ingest.delivery.time) {
            return Ok(vec![ingest.reject(None, reason, None)]);
        }
        connect_mut(|client| samples::store(client, ingest, targets, self.samples, SERIES_MAX))?;
        let lists = self.used.iter();
        let stored =
            lists.map(|list| connect_mut(|client| used::store(client, ingest, targets, list)));
        stored.filter_map(Result::transpose).collect()
    }
}

/// Makes feeds of a server wait for each other: two that read the state before would each miss what the other one says. Maintenance
/// may delete the row, which this statement makes again and locks at once.
pub fn lock_server(client: &mut SpiClient<'_>, ingest: &Ingest<'_>) -> Result<(), Error> {
    show(client)?;
    let delivery = ingest.delivery;
    plans::update(
        client,
        "INSERT INTO jobstats.locks AS l (name) VALUES (format('server %L/%L', $1, $2)) \
         ON CONFLICT (name) DO UPDATE SET name = l.name WHERE false",
        &[
            delivery.cluster.as_str().into(),
            delivery.server.as_str().into(),
        ],
    )?;
    Ok(())
}

/// Returns values as JSON, in which a statement takes them.
pub fn json(values: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    serde_json::to_string(values).map_err(|error| Error::Damaged(error.to_string()))
}
