//! `jobstats_alerts()` returns events in the form of Alertmanager.

use pgrx::prelude::*;
use serde_json::{Map, Value, json};

use crate::events::explain::Event;
use crate::events::list::read;
use crate::pg::jsonb::Jsonb;
use crate::pg::spi::{SqlResult, Statements};

#[pg_extern(sql = false)]
fn jobstats_alerts(names: Option<bool>) -> SqlResult<Option<Jsonb<'static>>> {
    let alerts = read(|client, reader| {
        let mut alerts = Vec::new();
        for row in client.query(include_str!("alerts/alerts.sql"), &[])? {
            let event = Event::read(client, row.get("event_id")?, reader)?;
            let texts = |name: &str| row.get::<String>(name);
            let [kind, cluster, filesystem] =
                [texts("kind")?, texts("cluster")?, texts("filesystem")?];
            let mut alert = Map::new();
            let labels = json!({ "alertname": format!("jobstats_{kind}"), "event": kind, "severity": texts("severity")?,
                "cluster": cluster, "filesystem": filesystem });
            let annotations = json!({ "summary": event.summary(), "description": event.description(names == Some(true)),
                "event_id": row.get::<i64>("event_id")?.to_string() });
            alert.insert("labels".to_owned(), labels);
            alert.insert("annotations".to_owned(), annotations);
            alert.insert("startsAt".to_owned(), texts("starts")?.into());
            let ends: Option<String> = row.get("ends")?;
            alert.extend(ends.map(|it| ("endsAt".to_owned(), it.into())));
            alerts.push(Value::Object(alert));
        }
        Ok(Value::Array(alerts))
    })?;
    Ok(Jsonb::of(&alerts))
}
