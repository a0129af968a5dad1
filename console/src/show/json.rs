//! A table as JSON. Numbers are in base units: seconds, bytes, requests; per second where they are rates. What is not known
//! is null.

use jobstats_core::instant::Micros;
use jobstats_core::operation::OPERATIONS;
use serde::Serialize;

use crate::live::board::Board;
use crate::live::rows::{Amount, Row, Sums, Table};
use crate::live::users::Users;
use crate::live::view::View;
use crate::show::page::sorted;
use crate::values::text;
use crate::values::when::moment;

#[cfg(test)]
mod tests;

/// The version of the format. It is raised if a field changes or goes; a field more does not change it.
const VERSION: u32 = 1;

/// The format of times.
const TIME: &str = "%FT%T%.6fZ";

/// Formats a time.
pub fn time(time: Micros) -> String {
    moment(time, TIME)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    time: String,
    by: &'static str,
    sort: &'static str,
    targets: Vec<Target<'a>>,
    failures: Vec<Failure<'a>>,
    total: Measures,
    rows: Vec<One>,
    more: usize,
    more_share: Option<f64>,
    without_share: Option<f64>,
}

#[derive(Serialize)]
struct Target<'a> {
    target: &'a str,
    kind: &'static str,
    server: &'a str,
    state: &'static str,
    time: String,
    interval: Option<f64>,
    entries: u64,
    problems: u64,
    added: Option<u64>,
    resets: Option<u64>,
    removed: Option<u64>,
}

#[derive(Serialize)]
struct Failure<'a> {
    server: &'a str,
    since: Option<String>,
    reason: &'a str,
}

#[derive(Serialize)]
struct One {
    rank: usize,
    name: String,
    late: bool,
    share: Option<f64>,
    user: Option<u32>,
    user_name: Option<String>,
    users: usize,
    account: Option<Box<str>>,
    accounts: usize,
    jobs: usize,
    nodes: usize,
    target: Option<String>,
    operation: Option<&'static str>,
    #[serde(flatten)]
    measures: Option<Measures>,
}

#[derive(Serialize)]
struct Measures {
    service_time: Option<Value>,
    requests: Value,
    metadata: Value,
    read_bytes: Value,
    write_bytes: Value,
    reads: Value,
    writes: Value,
}

#[derive(Serialize)]
struct Value {
    rate: f64,
    total: f64,
}

impl From<Amount> for Value {
    fn from(amount: Amount) -> Self {
        Self {
            rate: amount.rate,
            total: amount.total,
        }
    }
}

impl From<&Sums> for Measures {
    fn from(sums: &Sums) -> Self {
        Self {
            service_time: sums.service().map(Into::into),
            requests: sums.requests.into(),
            metadata: sums.metadata.into(),
            read_bytes: sums.read.into(),
            write_bytes: sums.write.into(),
            reads: sums.reads.into(),
            writes: sums.writes.into(),
        }
    }
}

/// Returns the table as one line. Names are as Lustre has them; characters that a terminal could obey are escaped.
///
/// # Errors
///
/// Fails if a number cannot be written, which does not happen.
pub fn line(board: &Board, table: &Table, view: &View) -> Result<String, serde_json::Error> {
    let document = Document {
        version: VERSION,
        time: time(board.time),
        by: view.by.name(),
        sort: sorted(table, view).field(),
        targets: board.targets().map(target).collect(),
        failures: board
            .silent
            .iter()
            .map(|(server, silent)| Failure {
                server,
                since: silent.since.map(time),
                reason: &silent.reason,
            })
            .collect(),
        total: (&table.total).into(),
        rows: table.rows.iter().map(|it| row(it, &view.users)).collect(),
        more: table.more,
        more_share: table.more_share,
        without_share: table.without_share,
    };
    Ok(escaped(&serde_json::to_string(&document)?))
}

fn target(target: &crate::live::board::Target) -> Target<'_> {
    let last = target.last();
    Target {
        target: &target.name,
        kind: target.kind.as_str(),
        server: &target.server,
        state: target.status.name(),
        time: time(target.time),
        interval: last.map(|last| last.length() as f64 / 1e6),
        entries: target.entries,
        problems: target.problems,
        added: last.map(|last| last.added),
        resets: last.map(|last| last.resets),
        removed: last.map(|last| last.removed),
    }
}

fn row(row: &Row, users: &Users) -> One {
    One {
        rank: row.rank,
        name: row.key.name(),
        late: row.is_late,
        share: row.share,
        user: row.user,
        user_name: row
            .user
            .and_then(|user| users.name(user))
            .map(str::to_owned),
        users: row.users,
        account: row.account.clone(),
        accounts: row.accounts,
        jobs: row.jobs,
        nodes: row.nodes,
        target: row.target.as_deref().map(str::to_owned),
        operation: row.operation.map(|index| OPERATIONS[index].name),
        measures: (!row.is_unknown).then(|| (&row.sums).into()),
    }
}

/// Escapes what a terminal could obey. Outside of texts, JSON has plain ASCII only.
pub fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if text::is_harmless(character) {
            out.push(character);
            continue;
        }
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}
