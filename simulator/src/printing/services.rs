//! The texts of a server's services: queues and calls.

use crate::lustre::service::{Service, call};
use crate::lustre::{Counter, TargetKind};
use crate::printing::stats::{Numbers, Stats};
use crate::time::{HOUR, Nanos};
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
    stats.text
}

/// Returns the name of the parameter with the requests of a nodemap's clients to targets of a kind.
pub fn of_nodemaps(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Mdt => "md_stats",
        TargetKind::Ost => "dt_stats",
    }
}

/// Returns the text of the default nodemap's requests to a server's targets of one kind: those are the requests of all clients.
pub fn nodemap(cluster: &Cluster, server: ServerIndex, services: &Services, time: Nanos) -> String {
    Stats::new(cluster, server, services.since, time)
        .operations(&services.counters, services.kind, 0)
        .text
}

/// The number of parts of the processors of a server.
const PARTITIONS: u64 = 2;

/// Returns true if a token bucket filter lets the requests of a service through. All others are worked on in the order of their arrival.
fn is_filtered(cluster: &Cluster, service: Service) -> bool {
    cluster.layout.has_token_buckets() && service == Service::OstIo
}

/// Returns the text of a service's policies.
pub fn policies(cluster: &Cluster, service: Service, queue: Option<&Queue>) -> String {
    let policy = |name: &str, state: &str, fallback: &str, (queued, active): (u64, u64)| {
        format!(
            "  - name: {name}\n    state: {state}\n    fallback: {fallback}\n    \
             queued: {queued:<20}\n    active: {active:<20}\n\n"
        )
    };
    let none = (0, 0);
    let requests = |held| {
        if is_filtered(cluster, service) {
            policy("fifo", "started", "yes", none) + &policy("tbf", "started", "no", held)
        } else if cluster.layout.has_token_buckets() {
            policy("fifo", "started", "yes", held) + &policy("tbf", "stopped", "no", none)
        } else {
            policy("fifo", "started", "yes", held)
        }
    };
    let regular = requests(queue.map(|queue| queue.now).unwrap_or_default());
    let urgent = requests(none);
    format!("\nregular_requests:\n{regular}high_priority_requests:\n{urgent}")
}

/// Returns the text of the rules of a service: programs on login nodes, whose identifiers are `%e.%u`, may do less than jobs. Each part of
/// the processors holds those who were active in the hour.
pub fn rules(cluster: &Cluster, server: ServerIndex, service: Service, time: Nanos) -> String {
    let seed = cluster
        .seed
        .of("rules", &[server as i64, time.div_euclid(HOUR)]);
    let lines = |is_urgent: bool| -> String {
        let parts = 0..if is_filtered(cluster, service) {
            PARTITIONS
        } else {
            0
        };
        let part = |part| {
            let clients = |rule: &str, most: u64| match is_urgent {
                true => 0,
                false => seed.of(rule, &[part as i64]).below(most + 1),
            };
            let [login, default] = [
                clients("login", cluster.users),
                clients("default", cluster.nodes),
            ];
            format!(
                "CPT {part}:\nlogin {{*.*}} 500, ref {login}\ndefault {{*}} 10000, ref {default}\n"
            )
        };
        parts.map(part).collect()
    };
    let [regular, urgent] = [false, true].map(lines);
    format!("regular_requests:\n{regular}high_priority_requests:\n{urgent}")
}
