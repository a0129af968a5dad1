//! The queues of the services of servers.

use std::collections::BTreeMap;

use jobstats_client::answers::QueueRow;

use super::number;

/// A service of a server that took requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    /// The step in which most requests waited at a time.
    pub worst: QueueRow,
    pub requests: f64,
    /// The seconds that all requests together waited.
    pub waited: f64,
    /// The mean number of requests that waited, over the steps that were read.
    pub waiting: f64,
}

impl Service {
    /// Returns the mean seconds that a request waited.
    pub fn wait(&self) -> f64 {
        self.waited / self.requests
    }
}

/// Adds up the steps of each service that took requests.
pub fn services(steps: &[QueueRow]) -> Vec<Service> {
    let mut services: BTreeMap<_, Vec<&QueueRow>> = BTreeMap::new();
    for step in steps {
        let service = services.entry((&step.server, &step.service));
        service.or_default().push(step);
    }
    let services = services.into_values().filter_map(|steps| {
        // Of equal steps the first counts.
        let by_waiting =
            |one: &&&QueueRow, other: &&&QueueRow| one.waiting.total_cmp(&other.waiting);
        let worst = *steps.iter().rev().max_by(by_waiting)?;
        let sum = |of: fn(&QueueRow) -> f64| steps.iter().map(|step| of(step)).sum::<f64>();
        Some(Service {
            worst: worst.clone(),
            requests: sum(|it| number(it.requests)),
            waited: sum(|it| number(it.requests) * it.wait.unwrap_or(0.0)),
            waiting: sum(|it| it.waiting) / steps.len() as f64,
        })
    });
    services.filter(|it| it.requests > 0.0).collect()
}
