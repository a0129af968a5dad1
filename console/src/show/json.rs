//! A table as JSON. Numbers are in base units: seconds, bytes, requests; per second where they are rates. A value that is not
//! known is null.

use jobstats_core::base::instant::Micros;
use jobstats_core::base::operation::OPERATIONS;
use serde::Serialize;

use crate::live::history::{self, History};
use crate::live::interval;
use crate::live::rows::{Row, Table};
use crate::live::sums::Sums;
use crate::live::view::View;
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
    total: &'a Sums,
    rows: Vec<RankedGroup<'a>>,
    more: usize,
    more_share: Option<f64>,
    without_share: Option<f64>,
    untracked: Option<Untracked<'a>>,
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
struct RankedGroup<'a> {
    rank: usize,
    name: String,
    late: bool,
    share: Option<f64>,
    times_usual: Option<f64>,
    user: Option<String>,
    uid: Option<u32>,
    users: usize,
    account: Option<&'a str>,
    accounts: usize,
    jobs: usize,
    nodes: usize,
    target: Option<&'a str>,
    operation: Option<&'static str>,
    #[serde(flatten)]
    sums: Option<&'a Sums>,
}

#[derive(Serialize)]
struct Untracked<'a> {
    late: bool,
    share: Option<f64>,
    #[serde(flatten)]
    sums: &'a Sums,
}

/// Returns the table as one line. Names are as Lustre has them; characters that a terminal could obey are escaped.
pub fn line(history: &History, table: &Table, view: &View) -> Result<String, serde_json::Error> {
    let document = Document {
        version: VERSION,
        time: time(history.time),
        by: view.by.name(),
        sort: table.sort.field(),
        targets: history.targets().map(target).collect(),
        failures: history.silent.values().map(failure).collect(),
        total: &table.total,
        rows: table.rows.iter().map(|it| row(it, history, view)).collect(),
        more: table.more,
        more_share: table.more_share,
        without_share: table.without_share,
        untracked: table.untracked.as_ref().map(untracked),
    };
    Ok(escaped(&serde_json::to_string(&document)?))
}

fn untracked(row: &Row) -> Untracked<'_> {
    Untracked {
        late: row.is_late,
        share: row.share,
        sums: &row.sums,
    }
}

fn failure(failure: &interval::Failure) -> Failure<'_> {
    Failure {
        server: &failure.server,
        since: failure.since.map(time),
        reason: &failure.reason,
    }
}

fn target(target: &history::Target) -> Target<'_> {
    let (text, last) = (&target.text, target.last());
    Target {
        target: &text.target,
        kind: text.kind.as_str(),
        server: &text.server,
        state: target.status.name(),
        time: time(text.time),
        interval: last.map(|last| last.length() as f64 / 1e6),
        entries: text.entries,
        problems: text.problems,
        added: last.map(|last| last.added),
        resets: last.map(|last| last.resets),
        removed: last.map(|last| last.removed),
    }
}

fn row<'a>(row: &'a Row, history: &History, view: &'a View) -> RankedGroup<'a> {
    let users = &view.users;
    RankedGroup {
        rank: row.rank,
        name: row.key.name(),
        late: row.is_late,
        share: row.share,
        times_usual: row.times_usual(history, view),
        user: row.user.map(|user| users.known(user)),
        uid: row.user,
        users: row.users,
        account: row.account.as_deref(),
        accounts: row.accounts,
        jobs: row.jobs,
        nodes: row.nodes,
        target: row.target.as_deref(),
        operation: row.operation.map(|index| OPERATIONS[index].name),
        sums: (!row.is_unknown).then_some(&row.sums),
    }
}

/// Escapes characters that a terminal could obey. Outside of texts, JSON has plain ASCII only.
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
