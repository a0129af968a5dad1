//! The texts of a server's services: what waited, and what was called.

use crate::lustre::Counter;
use crate::lustre::service::{Service, call};
use crate::printing::stats::{Numbers, Stats};
use crate::time::Nanos;
use crate::world::queue::{Queue, Services};
use crate::world::{Cluster, ServerIndex};

/// Returns the text of a service's statistics.
pub fn stats(
    cluster: &Cluster,
    server: ServerIndex,
    services: &Services,
    service: Service,
    time: Nanos,
) -> String {
    let plural = cluster.layout.plural_of_times();
    let mut stats = Stats::new(cluster, server, services.since, time);
    let mut line = |name: &str, unit: &str, counter: &Counter| {
        stats.line(name, unit, counter, Numbers::Squares);
    };
    if let Some(queue) = services.queues.get(&service) {
        let calls = queue.waits.samples;
        line("req_waittime", &format!("usec{plural}"), &queue.waits);
        line("req_qdepth", "reqs", &queue.depths);
        line("req_active", "reqs", &queue.active);
        line(
            "req_timeout",
            &format!("sec{plural}"),
            &Counter::of(calls, 10),
        );
        line("reqbuf_avail", "bufs", &Counter::of(calls, 64));
    }
    let calls = services.opcodes.iter();
    for (opcode, counter) in calls.filter(|((of, _), _)| *of == service) {
        match call(*opcode) {
            (name, true) => line(&name, &format!("usec{plural}"), counter),
            (name, false) => line(&name, "reqs", &Counter::of(counter.samples, 1)),
        }
    }
    stats.into_text()
}

/// Returns the text of a service's policies. All requests are worked on in the order of their arrival.
pub fn policies(queue: Option<&Queue>) -> String {
    let (queued, active) = queue.map(|queue| queue.now).unwrap_or_default();
    let policy = |name: &str, state: &str, fallback: &str, queued: u64, active: u64| {
        format!(
            "  - name: {name}\n    state: {state}\n    fallback: {fallback}\n    \
             queued: {queued:<20}\n    active: {active:<20}\n\n"
        )
    };
    let requests = |queued, active| {
        policy("fifo", "started", "yes", queued, active) + &policy("tbf", "stopped", "no", 0, 0)
    };
    let (regular, urgent) = (requests(queued, active), requests(0, 0));
    format!("\nregular_requests:\n{regular}high_priority_requests:\n{urgent}")
}
