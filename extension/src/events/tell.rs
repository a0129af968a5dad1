//! Decides how severe an event is, and whether anybody is told.

use jobstats_core::event::budget::{self, Rated};
use jobstats_core::event::full;
use jobstats_core::instant::{DAY, HOUR, Micros};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::Statements;
use crate::pg::time::{now, timestamptz};

/// The age from which on it helps nobody to be told of an event.
const LATE: Micros = 6 * HOUR;

/// An event that nobody has been told of yet.
struct Event {
    id: i64,
    kind: String,
    cluster: String,
    filesystem: String,
    began: Micros,
    confirmed: Option<Micros>,
    until: Micros,
    is_over: bool,
    value: Option<f64>,
    rate: f64,
}

impl Event {
    /// Returns the severity of the event by itself.
    fn severity(&self) -> &'static str {
        match self.kind.as_str() {
            "stalled" => "critical",
            "full" if self.value.is_some_and(|used| used >= full::FULL) => "critical",
            "failover" => "info",
            _ => "warning",
        }
    }
}

/// Sets the severity of events, the earliest first, and tells those that are worth it.
pub fn tell(client: &mut SpiClient<'_>, events: &[i64]) -> Result<(), Error> {
    let rows = client.execute_rows(
        "SELECT e.event_id, e.kind, e.cluster, e.filesystem, e.began, e.confirmed, e.until, e.ended IS NOT NULL AS is_over, e.value, e.rate \
         FROM jobstats.events e \
         WHERE e.event_id = ANY ($1) ORDER BY e.began, e.event_id",
        &[events.to_vec().into()],
    )?;
    let events = rows.map(|row| {
        Ok(Event {
            id: row.get("event_id")?,
            kind: row.get("kind")?,
            cluster: row.get("cluster")?,
            filesystem: row.get("filesystem")?,
            began: row.time("began")?,
            confirmed: row.time_opt("confirmed")?,
            until: row.time("until")?,
            is_over: row.get("is_over")?,
            value: row.get("value")?,
            rate: row.get("rate")?,
        })
    });
    for event in events.collect::<Result<Vec<_>, Error>>()? {
        let reason = reason(client, &event)?;
        client.execute(
            include_str!("tell/tell.sql"),
            &[event.id.into(), event.severity().into(), reason.into()],
        )?;
    }
    Ok(())
}

/// Returns why nobody is told of an event; `None` if somebody is.
fn reason(client: &mut SpiClient<'_>, event: &Event) -> Result<Option<String>, Error> {
    if event.kind == "failover" {
        return Ok(Some(
            "Moves and recoveries of targets are only recorded.".to_owned(),
        ));
    }
    let Some(mut confirmed) = event.confirmed else {
        return Ok(Some("It has not lasted for ten minutes.".to_owned()));
    };
    let parameters: [DatumWithOid<'_>; 3] = [
        timestamptz(confirmed)?.into(),
        event.cluster.as_str().into(),
        event.filesystem.as_str().into(),
    ];
    let window = client.execute_opt(include_str!("tell/window.sql"), &parameters)?;
    if let Some(window) = window {
        let until = window.time("until")?;
        if until >= event.until {
            return Ok(Some(window.get("reason")?));
        }
        confirmed = until;
    }
    // So few of these are told in a week that the weakest are not.
    let is_limited = matches!(event.kind.as_str(), "waiting" | "slow_target" | "rule");
    if is_limited && !has_budget(client, event)? {
        let text = "SELECT format('The budget of %s alerts a week (settings.alerts_per_week) is used up by events as strong as this one.', s.alerts_per_week) \
             FROM jobstats.settings s";
        return Ok(Some(client.query_value(text, &[])?));
    }
    // What goes on is news as long as it does.
    let shown = if event.is_over {
        confirmed
    } else {
        event.until
    };
    let is_late = now()? - shown >= LATE;
    Ok(is_late.then(|| "It was found more than six hours after it began to show.".to_owned()))
}

fn has_budget(client: &mut SpiClient<'_>, event: &Event) -> Result<bool, Error> {
    let per_week: Option<f64> =
        client.query_value("SELECT s.alerts_per_week FROM jobstats.settings s", &[])?;
    let parameters: [DatumWithOid<'_>; 4] = [
        timestamptz(event.began)?.into(),
        timestamptz(event.began - 28 * DAY)?.into(),
        event.cluster.as_str().into(),
        event.filesystem.as_str().into(),
    ];
    let rows = client.execute_rows(
        "SELECT e.began, e.rate FROM jobstats.events e \
         WHERE e.began < $1 AND e.began > $2 AND e.cluster = $3 AND e.filesystem = $4 AND e.kind IN ('waiting', 'slow_target', 'rule') \
             AND e.withdrawn IS NULL AND e.confirmed IS NOT NULL AND (e.told IS NOT NULL OR e.reason NOT LIKE 'A maintenance window%')",
        &parameters,
    )?;
    let before: Result<Vec<Rated>, Error> = rows
        .map(|row| Ok((row.time("began")?, row.get("rate")?)))
        .collect();
    let per_week = per_week.ok_or(Error::NoRow("settings"))?;
    Ok(budget::allows(
        &before?,
        (event.began, event.rate),
        per_week,
    ))
}
