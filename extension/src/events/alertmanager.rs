//! `jobstats_alerts()` returns events in the form of Alertmanager.

use pgrx::prelude::*;
use serde_json::{Value, json};

use crate::events::describe::Event;
use crate::events::list::read;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::{SqlResult, Statements};

#[pg_extern(sql = false)]
fn jobstats_alerts(names: Option<bool>) -> SqlResult<Option<Jsonb<'static>>> {
    let alerts = read(|client, reader| {
        let mut alerts = Vec::new();
        for row in client.query(include_str!("alertmanager/alerts.sql"), &[])? {
            let event = Event::read(client, row.get("event_id")?, reader)?;
            let text = |name: &str| row.get::<String>(name);
            let kind = text("kind")?;
            let mut alert = json!({
                "labels": { "alertname": format!("jobstats_{kind}"), "event": kind, "severity": text("severity")?,
                    "cluster": text("cluster")?, "filesystem": text("filesystem")? },
                "annotations": { "summary": event.summary(), "description": event.description(names == Some(true)),
                    "event_id": row.get::<i64>("event_id")?.to_string() },
                "startsAt": text("starts")?,
            });
            if let Some(ends) = row.get::<Option<String>>("ends")? {
                alert["endsAt"] = ends.into();
            }
            alerts.push(alert);
        }
        Ok(Value::Array(alerts))
    })?;
    Ok(Jsonb::of(&alerts))
}
