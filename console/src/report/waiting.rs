//! The services that let requests wait for a thread, of the servers of the file system.

use jobstats_client::answers::{Filters, QueueRow, Queues};
use jobstats_core::base::pattern::exactly;
use jobstats_core::output::quantity::Quantity;

use super::vocabulary::*;

/// The number of services that are shown.
const ROWS: usize = 8;

/// The seconds that a request must have waited on average, in a step, for a service to be shown.
const LEAST: f64 = 0.001;

/// A service over the window, and in the step in which most requests waited at a time.
type Service = (QueueRow, QueueRow);

/// Loads the queues in steps of the load; empty without service statistics.
pub fn ask(store: &mut Store, scope: &Scope, load: &Load) -> Result<Vec<Block>, Error> {
    let question = Queues {
        window: scope.work().window(),
        filter: Filters {
            server: Some(scope.servers.iter().map(|name| exactly(name)).collect()),
            cluster: Some(vec![exactly(&scope.home)]),
            ..Filters::default()
        },
        ..Queues::default()
    };
    let whole = store.ask(&question)?;
    if whole.rows.is_empty() {
        return Ok(Vec::new());
    }
    let steps = store.ask(&Queues {
        step: Some(when::interval(load.step)),
        ..question
    })?;
    let services = services(whole.rows, &steps.rows);
    let mut blocks = vec![Block::Text(said(scope, load, &services))];
    blocks.extend((!services.is_empty()).then(|| table(scope, load, &services).into()));
    blocks.push(Block::Statements(vec![
        ("Waiting in the window".to_owned(), whole.statement),
        ("Waiting over time".to_owned(), steps.statement),
    ]));
    Ok(blocks)
}

/// Returns the services that let requests wait, those with most waiting first.
fn services(whole: Vec<QueueRow>, steps: &[QueueRow]) -> Vec<Service> {
    let worst = |service: QueueRow| {
        let is_same =
            |step: &&QueueRow| step.server == service.server && step.service == service.service;
        let steps = steps.iter().filter(is_same);
        let worst = steps.max_by(|one, other| one.waiting.total_cmp(&other.waiting));
        let worst = worst.filter(|step| step.wait >= Some(LEAST)).cloned();
        Some((service, worst?))
    };
    let mut services: Vec<_> = whole.into_iter().filter_map(worst).collect();
    services.sort_by(|(one, _), (other, _)| other.waiting.total_cmp(&one.waiting));
    services
}

/// Names the service with the longest queue.
fn said(scope: &Scope, load: &Load, services: &[Service]) -> String {
    let step = when::width(load.step);
    let by_wait = |one: &&Service, other: &&Service| one.1.waiting.total_cmp(&other.1.waiting);
    match services.iter().max_by(by_wait) {
        None => format!(
            "Requests hardly waited for a thread of a server: in no step of {step} longer than {} on average.",
            per_call(LEAST, "service_time")
        ),
        Some((_, worst)) => format!(
            "Requests waited for a thread of a server, which is no part of the load. Most waited at {}, for {} of {}: {} at a \
             time, each for {} on average.",
            scope.moment(worst.time),
            shown(&worst.service),
            shown(&worst.server),
            ratio(worst.waiting),
            per_call(worst.wait, "service_time")
        ),
    }
}

fn table(scope: &Scope, load: &Load, services: &[Service]) -> Table {
    let wait = |row: &QueueRow| Cell::value(row.wait, "service_time", Quantity::PerCall);
    let waiting = |row: &QueueRow| Cell::rate(row.waiting, "service_time");
    let rows = services.iter().take(ROWS).map(|(service, worst)| {
        [
            ("Server", Cell::text(&service.server)),
            ("Service", Cell::text(&service.service)),
            (
                "Requests",
                Cell::value(number(service.requests), "open", Quantity::Total),
            ),
            ("Mean wait", wait(service)),
            ("Waiting", waiting(service)),
            ("Worst at", Cell::text(&scope.moment(worst.time))),
            ("Wait then", wait(worst)),
            ("Waiting then", waiting(worst)),
        ]
    });
    let step = when::width(load.step);
    Table {
        more: services.len().saturating_sub(ROWS),
        note: Some(format!(
            "Waiting: the mean number of requests in the queue. Worst: the step of {step} with most of them. A service is that of the \
             server and of all its targets."
        )),
        ..Table::new("Waiting", rows)
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
        let whole = vec![
            row("mdt_readpage", 0, 0.0001, 0.3),
            row("mdt", 0, 0.004, 3.0),
        ];
        let steps = [
            row("mdt", 0, 0.5, 0.2),
            row("mdt", 600, 0.02, 30.0),
            row("mdt", 1200, 0.001, 1.0),
            row("mdt_readpage", 0, 0.0009, 9.0),
        ];
        let (scope, load) = (scope(1800), load(&[]));
        let found = services(whole.clone(), &steps);
        assert_eq!(
            said(&scope, &load, &found),
            "Requests waited for a thread of a server, which is no part of the load. Most waited at 00:10, for mdt of mds1: \
             30 at a time, each for 20 ms on average."
        );
        let table = table(&scope, &load, &found).filled();
        let texts: Vec<_> = table.rows[0]
            .iter()
            .map(|cell| cell.text.as_str())
            .collect();
        let expected = [
            "mds1", "mdt", "1.20 k", "4.00 ms", "3.00", "00:10", "20.0 ms", "30.0",
        ];
        assert_eq!((texts.as_slice(), table.rows.len()), (&expected[..], 1));
        let quiet = services(whole, &steps[3..]);
        assert_eq!(
            said(&scope, &load, &quiet),
            "Requests hardly waited for a thread of a server: in no step of 10 min longer than 1 ms on average."
        );
    }
}
