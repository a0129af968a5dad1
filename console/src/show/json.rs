//! A table as JSON. Numbers are in base units: seconds, bytes, requests; per second where they are rates. A value that is not
//! known is null.

// `object!` names the type of a field like the field.
#![allow(non_camel_case_types)]

use jobstats_core::base::instant::Micros;
use jobstats_core::base::operation::OPERATIONS;
use serde::Serialize;

use crate::live::history::{Target, TargetStates};
use crate::live::interval::Failure;
use crate::live::rows::{Row, Table};
use crate::live::view::View;
use crate::values::text;
use crate::values::when::timestamp;

#[cfg(test)]
mod tests;

/// The version of the format. It is raised if a field changes or goes; a field more does not change it.
const VERSION: u32 = 1;

/// Formats a time.
pub fn time(time: Micros) -> String {
    timestamp(time).strftime("%FT%T%.6fZ").to_string()
}

/// Makes a value that is an object in JSON, with these fields in this order.
macro_rules! object {
    ($($(#[$attribute:meta])* $field:ident: $value:expr,)*) => {{
        #[derive(Serialize)]
        struct Object<$($field),*> { $($(#[$attribute])* $field: $field),* }
        Object { $($field: $value),* }
    }};
}

/// Returns the table as one line. Names are as Lustre has them; characters that a terminal could obey are escaped.
pub fn line(history: &TargetStates, table: &Table, view: &View) -> serde_json::Result<String> {
    let untracked = table.untracked.as_ref();
    let document = object! {
        version: VERSION,
        time: time(history.time),
        by: view.by.name(),
        sort: table.sort.field(),
        targets: history.targets().map(target).collect::<Vec<_>>(),
        failures: history.silent.values().map(failure).collect::<Vec<_>>(),
        notes: &history.notes,
        total: &table.total,
        rows: table.rows.iter().map(|it| row(it, history, view)).collect::<Vec<_>>(),
        more: table.more,
        more_share: table.more_share,
        without_share: table.without_share,
        untracked: untracked.map(|row| object! {
            late: row.is_late,
            share: row.share,
            #[serde(flatten)] sums: &row.sums,
        }),
    };
    Ok(escaped(&serde_json::to_string(&document)?))
}

fn failure(failure: &Failure) -> impl Serialize {
    object! {
        server: &*failure.server,
        since: failure.since.map(time),
        reason: &failure.reason,
    }
}

fn target(target: &Target) -> impl Serialize {
    let (snapshot, last) = (&target.snapshot, target.last());
    object! {
        target: &*snapshot.target,
        kind: snapshot.kind.as_str(),
        server: &*snapshot.server,
        state: target.status.name(),
        time: time(snapshot.time),
        interval: last.map(|last| last.length() as f64 / 1e6),
        entries: snapshot.entries,
        problems: snapshot.problems,
        added: last.map(|last| last.added),
        resets: last.map(|last| last.resets),
        removed: last.map(|last| last.removed),
    }
}

fn row(row: &Row, history: &TargetStates, view: &View) -> impl Serialize {
    object! {
        rank: row.rank,
        name: row.key.name(),
        late: row.is_late,
        share: row.share,
        times_usual: row.times_usual(history, view),
        user: row.user.map(|user| {
            let name = view.users.name(user);
            name.map_or_else(|| user.to_string(), str::to_owned)
        }),
        uid: row.user,
        users: row.users,
        account: row.account.as_deref(),
        accounts: row.accounts,
        jobs: row.jobs,
        nodes: row.nodes,
        target: row.target.as_deref(),
        operation: row.operation.map(|index| OPERATIONS[index].name),
        #[serde(flatten)] sums: (!row.is_unknown).then_some(&row.sums),
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
