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
    steps: f64,
    waiting: f64,
}

impl Service {
    /// Returns the mean seconds that a request waited.
    pub fn wait(&self) -> f64 {
        self.waited / self.requests
    }

    /// Returns the mean number of requests that waited, over the steps that were read.
    pub fn waiting(&self) -> f64 {
        self.waiting / self.steps
    }
}

/// Adds up the steps of each service that took requests.
pub fn services(steps: &[QueueRow]) -> Vec<Service> {
    let mut services: BTreeMap<(&String, &String), Service> = BTreeMap::new();
    for step in steps {
        let service = services.entry((&step.server, &step.service));
        let service = service.or_insert_with(|| Service {
            worst: step.clone(),
            requests: 0.0,
            waited: 0.0,
            steps: 0.0,
            waiting: 0.0,
        });
        let requests = number(step.requests);
        service.requests += requests;
        service.waited += requests * step.wait.unwrap_or(0.0);
        service.steps += 1.0;
        service.waiting += step.waiting;
        if step.waiting > service.worst.waiting {
            service.worst = step.clone();
        }
    }
    let services = services.into_values();
    services.filter(|it| it.requests > 0.0).collect()
}
