//! Queries how long requests were queued, and computes the expected answer.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jobstats_client::Error;

use crate::store::database::{Amounts, Key, Store};
use crate::time::{HOUR, MINUTE, timestamp};
use crate::truth::Cell;
use crate::truth::queues::{ByService, QueueGrowth};
use crate::world::Cluster;

/// The amounts of each row: the reported fields of `Waits`, and the observed microseconds.
const NAMES: [&str; 4] = ["requests", "wait", "depth", "observed"];

/// The work of a service in a span of microseconds of the clock outside.
struct Row {
    from: i64,
    until: i64,
    amounts: [i128; 4],
}

impl Row {
    /// Divides a reading at the edges of rows: ten minutes, or hours after a long gap.
    fn of(grown: &QueueGrowth) -> Vec<Self> {
        let [from, until, began] = [grown.span.from, grown.span.until, grown.began]
            .map(|time| timestamp(time).as_microsecond());
        let is_long = grown.span.until - grown.span.from > 6 * HOUR;
        let width = if is_long { HOUR } else { 10 * MINUTE } / 1000;
        let edges = (from.div_euclid(width) + 1..).map(|edge| (edge * width).min(until));
        let mut since = from;
        let mut rows = Vec::new();
        for edge in edges {
            let observed = i128::from(edge - since);
            let mut amounts = [0, 0, 0, observed];
            for (amount, all) in amounts[..3].iter_mut().zip(grown.waits.amounts()) {
                *amount = part(all.into(), (began, until), (since, edge));
            }
            rows.push(Self {
                from: since,
                until: edge,
                amounts,
            });
            since = edge;
            if edge == until {
                break;
            }
        }
        rows
    }
}

/// Returns the part of an amount, which came evenly in a span, that came in another one.
fn part(amount: i128, (from, until): (i64, i64), (since, edge): (i64, i64)) -> i128 {
    let at = |time: i64| match time.clamp(from, until) {
        time if time == until => amount,
        time => amount * i128::from(time - from) / i128::from(until - from),
    };
    at(edge) - at(since)
}

/// Returns the hours of a window.
pub fn hours((since, until): (Timestamp, Timestamp)) -> Vec<(Timestamp, Timestamp)> {
    let (width, mut since) = (HOUR / 1000, since.as_microsecond());
    let mut hours = Vec::new();
    while since < until.as_microsecond() {
        let end = ((since.div_euclid(width) + 1) * width).min(until.as_microsecond());
        let time = |time| Timestamp::from_microsecond(time).unwrap_or_default();
        hours.push((time(since), time(end)));
        since = end;
    }
    hours
}

/// Returns what the database should answer about windows.
pub fn cells(
    cluster: &Cluster,
    truth: &ByService,
    windows: &[(Timestamp, Timestamp)],
) -> BTreeMap<Key, Cell> {
    let mut cells = BTreeMap::new();
    for ((server, service), grown) in truth {
        let rows: Vec<_> = grown.iter().flat_map(Row::of).collect();
        for window in windows {
            let (since, until) = (window.0.as_microsecond(), window.1.as_microsecond());
            let mut sums = [0; 4];
            for row in rows.iter().filter(|it| it.from < until && it.until > since) {
                for (sum, amount) in sums.iter_mut().zip(row.amounts) {
                    *sum += part(amount, (row.from, row.until), (since, until));
                }
            }
            let server = &cluster.servers[*server].name;
            for (key, amount) in amounts(server, service.short(), window.0, sums) {
                cells.insert(key, Cell::known(amount));
            }
        }
    }
    cells
}

/// Returns the nonzero amounts of a service in a window that begins at a time. Means over requests are undefined without requests. If
/// the queue was empty, the observed time cannot be computed from the mean number of queued requests.
fn amounts(
    server: &str,
    service: &str,
    since: Timestamp,
    mut amounts: [i128; 4],
) -> impl Iterator<Item = (Key, i128)> {
    if amounts[0] == 0 {
        amounts.fill(0);
    }
    if amounts[1] == 0 {
        amounts[3] = 0;
    }
    let amounts = NAMES.into_iter().zip(amounts);
    let amounts = amounts.filter(|(_, amount)| *amount != 0);
    amounts.map(move |(name, amount)| {
        let service = format!("{service} from {since}");
        ((server.to_owned(), service, name.to_owned()), amount)
    })
}

/// Queries windows, or the hours of one.
pub fn ask(
    store: &mut Store,
    windows: &[(Timestamp, Timestamp)],
    by_hour: bool,
) -> Result<Amounts, Error> {
    // Means multiplied by their weights are integers.
    const STATEMENT: &str = r#"
        SELECT "time", server, service, ARRAY[done.requests, done.usecs, coalesce(round(depth * done.requests), 0), coalesce(round(done.usecs / nullif(waiting, 0)), 0)]
        FROM jobstats_queues($1, $2, CASE WHEN $3::boolean THEN interval '1 hour' END, jsonb_build_object('cluster', $4::text)) queue,
            LATERAL (SELECT queue.requests::double precision, coalesce(round(queue.wait * queue.requests::double precision * 1e6), 0)) done (requests, usecs)"#;
    let cluster = &store.cluster.name;
    let statement = store.client.prepare(STATEMENT)?;
    let mut all = Amounts::new();
    for (since, until) in windows {
        for row in store
            .client
            .query(&statement, &[since, until, &by_hour, &cluster])?
        {
            let (time, server): (Timestamp, &str) = (row.get(0), row.get(1));
            let values: Vec<f64> = row.get(3);
            let mut sums = [0; 4];
            for (sum, value) in sums.iter_mut().zip(&values) {
                *sum = *value as i128;
            }
            all.extend(amounts(server, row.get(2), time, sums));
        }
    }
    Ok(all)
}
