//! The services that let requests wait for a thread, of the servers of the file system.

use jobstats_client::answers::{Filters, QueueRow, Queues};
use jobstats_core::base::pattern::exactly;
use jobstats_core::judgement::meanwhile::HARDLY;
use jobstats_core::output::quantity::Quantity;

use super::vocabulary::*;
use crate::subject::queues::{Service, services};

/// The number of services that are shown.
const ROWS: usize = 8;

/// Loads the queues in steps of the load; empty without service statistics.
pub fn ask(store: &mut Store, scope: &Scope, load: &Load) -> Result<Vec<Block>, Error> {
    let steps = store.ask(&Queues {
        window: scope.work().window(),
        step: Some(when::interval(load.step)),
        filter: Filters {
            server: Some(scope.servers.iter().map(|name| exactly(name)).collect()),
            cluster: Some(vec![exactly(&scope.home)]),
            ..Filters::default()
        },
    })?;
    if steps.rows.is_empty() {
        return Ok(Vec::new());
    }
    let services = long_queues(&steps.rows);
    let mut blocks = vec![Block::Text(said(scope, load, &services))];
    blocks.extend((!services.is_empty()).then(|| table(scope, load, &services).into()));
    blocks.push(Block::statement("Queues over time", steps.statement));
    Ok(blocks)
}

/// Returns the services that let requests wait, those with most waiting first.
fn long_queues(steps: &[QueueRow]) -> Vec<Service> {
    let mut services = services(steps);
    services.retain(|it| it.worst.wait >= Some(HARDLY));
    services.sort_by(|one, other| other.waited.total_cmp(&one.waited));
    services
}

/// Names the service with the longest queue.
fn said(scope: &Scope, load: &Load, services: &[Service]) -> String {
    let step = when::width(load.step);
    let worst = services.iter().map(|it| &it.worst);
    match worst.max_by(|one, other| one.waiting.total_cmp(&other.waiting)) {
        None => format!(
            "Requests were hardly queued: at most {} on average in any step of {step}.",
            per_call(HARDLY, "service_time")
        ),
        Some(worst) => format!(
            "Queueing, which is not part of the load, was worst at {} for {} of {}: on average {} requests queued, {} each.",
            scope.moment(worst.time),
            shown(&worst.service),
            shown(&worst.server),
            ratio(worst.waiting),
            per_call(worst.wait, "service_time")
        ),
    }
}

fn table(scope: &Scope, load: &Load, services: &[Service]) -> Table {
    let wait = |wait: Option<f64>| Cell::value(wait, "service_time", Quantity::PerCall);
    let waiting = |waiting: f64| Cell::rate(waiting, "service_time");
    let rows = services.iter().take(ROWS).map(|service| {
        let worst = &service.worst;
        [
            ("Server", Cell::text(&worst.server)),
            ("Service", Cell::text(&worst.service)),
            (
                "Requests",
                Cell::value(service.requests, "open", Quantity::Total),
            ),
            ("Mean wait", wait(Some(service.wait()))),
            ("Queued", waiting(service.waiting)),
            ("Worst at", Cell::text(&scope.moment(worst.time))),
            ("Wait then", wait(worst.wait)),
            ("Queued then", waiting(worst.waiting)),
        ]
    });
    let step = when::width(load.step);
    Table {
        more: services.len().saturating_sub(ROWS),
        note: Some(format!(
            "Queued: the mean number of queued requests. Worst: the step of {step} with most of them. A service serves all targets of its \
             server."
        )),
        ..Table::new("Queues", rows)
    }
}

#[cfg(test)]
mod tests {
    use jobstats_client::Decimal;

    use super::*;
    use crate::testing::{load, scope, time};

    fn row(service: &str, at: i64, wait: f64, waiting: f64) -> QueueRow {
        QueueRow {
            time: time(at),
            server: "mds1".to_owned(),
            service: service.to_owned(),
            requests: Decimal::from(1200),
            wait: Some(wait),
            waiting,
        }
    }

    #[test]
    fn the_worst_step_is_that_with_most_requests_waiting() {
        let steps = [
            row("mdt", 0, 0.5, 0.2),
            row("mdt", 600, 0.02, 30.0),
            row("mdt", 1200, 0.001, 1.0),
            row("mdt_readpage", 0, 0.0009, 9.0),
        ];
        let (scope, load) = (scope(1800), load(&[]));
        let found = long_queues(&steps);
        assert_eq!(
            said(&scope, &load, &found),
            "Queueing, which is not part of the load, was worst at 00:10 for mdt of mds1: on average 30 requests queued, 20 ms each."
        );
        let table = table(&scope, &load, &found).filled();
        let texts: Vec<_> = table.rows[0]
            .iter()
            .map(|cell| cell.text.as_str())
            .collect();
        // 3600 requests waited for 625 seconds.
        let expected = [
            "mds1", "mdt", "3.60 k", "174 ms", "10.4", "00:10", "20.0 ms", "30.0",
        ];
        assert_eq!((texts.as_slice(), table.rows.len()), (&expected[..], 1));
        let quiet = long_queues(&steps[3..]);
        assert_eq!(
            said(&scope, &load, &quiet),
            "Requests were hardly queued: at most 1 ms on average in any step of 10 min."
        );
    }
}
