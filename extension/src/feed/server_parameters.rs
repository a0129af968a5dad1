//! The additional parameters of a text of lctl: queues of services, gauges, and used space.
//!
//! An unusable parameter is rejected and never costs another one. The caller holds the locks of the targets.

use std::collections::{HashMap, HashSet};

use jobstats_core::base::target::{TargetKind, TargetName};
use jobstats_core::rules::feed::{Outcome, reason};
use jobstats_core::rules::snapshot::Contents;
use pgrx::spi::SpiClient;
use serde::Serialize;

use crate::feed::ingest::Ingest;
use crate::feed::samples::{self, SERIES_MAX, Sample};
use crate::feed::services::{self, ServiceSnapshot};
use crate::feed::sources::show;
use crate::feed::targets::Target;
use crate::feed::used::{self, UsedSpace};
use crate::pg::error::Error;
use crate::pg::plans;
use crate::pg::spi::{connect_mut, values};

/// The name of a target, independent of the text.
#[derive(Debug, Clone)]
pub struct OwnedTargetName {
    kind: TargetKind,
    name: Vec<u8>,
}

impl OwnedTargetName {
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

/// The additional parameters of a text.
pub struct ServerParameters {
    services: Vec<ServiceSnapshot>,
    samples: Vec<Sample>,
    used: Vec<UsedSpace>,
}

impl ServerParameters {
    /// Reads the values of a text, and rejects unusable ones.
    pub fn read(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Self, Error> {
        Ok(Self {
            services: services::read(contents, ingest)?,
            samples: samples::read(contents, ingest)?,
            used: used::read(contents, ingest)?,
        })
    }

    /// Returns the targets of values, each as often as it occurs.
    pub fn targets(&self) -> impl Iterator<Item = TargetName<'_>> + Clone {
        let samples = self.samples.iter().filter_map(|it| it.target.as_ref());
        let used = self.used.iter().map(|it| &it.target);
        samples.chain(used).map(OwnedTargetName::target)
    }

    fn is_of_server(&self) -> bool {
        !self.services.is_empty() || self.samples.iter().any(|it| it.target.is_none())
    }

    /// Drops values of targets that the sender may not feed. Also drops values of the server, which cover all of its targets,
    /// unless the sender is bound to it; their outcome is returned.
    pub fn retain(&mut self, own: &HashSet<String>, ingest: &mut Ingest<'_>) -> Option<Outcome> {
        let own_server = ingest.delivery.bounds.server;
        let shown = Some(&b"services and health of the server"[..]);
        let rejected = self.is_of_server() && !own_server;
        let rejected = rejected.then(|| ingest.reject(None, reason::NOT_YOURS, shown));
        self.services.retain(|_| own_server);
        self.samples.retain(|it| own_server || it.target.is_some());
        self.retain_targets(own);
        rejected
    }

    /// Drops the values of other targets.
    pub fn retain_targets(&mut self, targets: &HashSet<String>) {
        let is_retained = |target: &OwnedTargetName| targets.contains(&target.shown());
        self.samples
            .retain(|it| it.target.as_ref().is_none_or(is_retained));
        self.used.retain(|it| is_retained(&it.target));
    }

    /// Stores the values. Returns an outcome for each part whose time is rejected.
    ///
    /// # Errors
    /// Errors of PostgreSQL, or too little memory.
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

/// Serializes feeds of a server, which read its previous state. Maintenance may delete the row: the statement inserts and locks
/// it at once.
pub fn lock_server(client: &mut SpiClient<'_>, ingest: &Ingest<'_>) -> Result<(), Error> {
    show(client)?;
    let delivery = ingest.delivery;
    plans::run(
        client,
        "INSERT INTO jobstats.locks AS l (name) VALUES (format('server %L/%L', $1, $2)) \
         ON CONFLICT (name) DO UPDATE SET name = l.name WHERE false",
        &values![delivery.cluster.as_str(), delivery.server.as_str()],
    )
}

/// Encodes values as a JSON parameter.
pub fn json(values: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    serde_json::to_string(values).map_err(|error| Error::Damaged(error.to_string()))
}
