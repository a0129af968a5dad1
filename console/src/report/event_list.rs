//! The list of events and the explanation of one, as text and JSON.

use jobstats_client::answers::{EventRow, Events, Explain, ExplainRow, Filters, Window, words};
use serde_json::{Value, json};

use super::vocabulary::*;
use crate::show::json::escaped;
use crate::show::text::{Fit, aligned};
use crate::subject::events::{ALERTED, lasted, measured, owner, place};
use crate::values::text::left;

/// The selected events.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The number of an event to explain.
    pub event: Option<i64>,
    /// Set for events without an alert, too.
    pub all: bool,
    /// The file systems, or patterns of their names; empty for all.
    pub filesystems: Vec<String>,
    /// Set for JSON, else text.
    pub is_json: bool,
}

/// Returns the events of a window, or the explanation of one event.
pub fn written(
    store: &mut Store,
    wanted: &Wanted,
    window: Span,
    clock: &Clock,
) -> Result<String, Error> {
    if let Some(event_id) = wanted.event {
        return explain(store, event_id, wanted.is_json, clock);
    }
    let severity = if wanted.all { None } else { words(ALERTED) };
    let window = Window::new(window.0, window.1);
    let rows = ask(store, &wanted.filesystems, window, severity)?;
    if wanted.is_json {
        return Ok(document(rows.iter().map(to_json)));
    }
    if rows.is_empty() {
        let text = match wanted.all {
            true => "No events in this window.\n",
            false => "No alerts in this window. --all also lists events without an alert.\n",
        };
        return Ok(text.to_owned());
    }
    let rows = rows.iter().map(|row| cells(row, clock));
    let lines = aligned(&Table::new("Events", rows), usize::MAX, Fit::default());
    Ok(format!("{}\n{}\n", lines.join("\n"), clock.note()))
}

/// Loads the events of file systems, or of all without names.
pub fn ask(
    store: &mut Store,
    names: &[String],
    window: Window,
    severity: Option<String>,
) -> Result<Vec<EventRow>, Error> {
    let events = store.ask(&Events {
        window,
        filter: Filters {
            filesystem: (!names.is_empty()).then(|| names.to_vec()),
            ..Filters::default()
        },
        severity,
    })?;
    Ok(events.rows)
}

/// Explains an event. The commands of an admin are left out for a limited reader.
fn explain(
    store: &mut Store,
    event_id: i64,
    is_json: bool,
    clock: &Clock,
) -> Result<String, Error> {
    let mut lines = store.ask(&Explain { event_id })?.rows;
    if store.own().is_some() {
        lines.retain(|line| line.topic != "next");
    }
    if is_json {
        let line =
            |it: &ExplainRow| json!({ "topic": it.topic, "text": it.text, "details": it.details });
        return Ok(document(lines.iter().map(line)));
    }
    let lines = lines.iter();
    let lines = lines.map(|line| format!("{}{}\n", left(&line.topic, 10), shown(&line.text)));
    Ok(lines.collect::<String>() + &clock.note() + "\n")
}

fn document(values: impl Iterator<Item = Value>) -> String {
    escaped(&Value::Array(values.collect()).to_string()) + "\n"
}

/// Returns the cells of a line, each with the title of its column.
fn cells(row: &EventRow, clock: &Clock) -> [(&'static str, Cell); 9] {
    let text = |text: &str| Cell::sentences(text);
    [
        ("Number", text(&row.event_id.to_string())),
        ("Began", text(&clock.minute(row.began))),
        ("Lasted", text(&lasted(row))),
        ("Severity", text(&row.severity)),
        ("Event", text(&row.event)),
        ("File system", text(&row.filesystem)),
        ("Where", text(&place(row))),
        ("Value", text(&measured(row))),
        ("Who", text(&owner(row))),
    ]
}

fn to_json(row: &EventRow) -> Value {
    json!({
        "event_id": row.event_id, "event": row.event, "severity": row.severity, "name": row.name,
        "cluster": row.cluster, "filesystem": row.filesystem, "began": row.began.to_string(),
        "detected_at": row.detected_at.to_string(), "ended": row.ended.map(|it| it.to_string()),
        "targets": row.targets, "servers": row.servers, "value": row.value, "usual": row.usual,
        "load_times": row.load_times, "culprits": row.culprits, "reason": row.reason,
        "notified": row.notified.map(|it| it.to_string()), "verdict": row.verdict, "note": row.note,
    })
}
