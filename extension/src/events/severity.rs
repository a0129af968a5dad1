//! Decides how severe an event is, and whether to send an alert.

use jobstats_core::base::instant::{DAY, HOUR, Micros};
use jobstats_core::judgement::event::budget::{self, Rated};
use jobstats_core::judgement::event::full;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::spi::{Row, Statements, values};
use crate::pg::time::{now, timestamptz};

/// The age from which an alert is useless.
const LATE: Micros = 6 * HOUR;

/// Sets the severity of events, the earliest first, and sends alerts.
pub fn alert(client: &mut SpiClient<'_>, events: &[i64]) -> Result<(), Error> {
    let rows = client.query(
        "SELECT e.event_id, e.kind, e.cluster, e.filesystem, e.began, e.confirmed, e.until, e.ended IS NOT NULL AS is_over, e.value, e.rate \
         FROM jobstats.events e \
         WHERE e.event_id = ANY ($1) ORDER BY e.began, e.event_id",
        &values![events.to_vec()],
    )?;
    for event in rows {
        let id: i64 = event.get("event_id")?;
        let (severity, reason) = (severity(&event)?, reason(client, &event)?);
        client.execute(
            include_str!("severity/alert.sql"),
            &values![id, severity, reason],
        )?;
    }
    Ok(())
}

/// Returns the severity of an event by itself.
fn severity(event: &Row<'_>) -> Result<&'static str, Error> {
    let value: Option<f64> = event.get("value")?;
    Ok(match event.get("kind")? {
        "stalled" => "critical",
        "full" if value.is_some_and(|used| used >= full::FULL) => "critical",
        "failover" => "info",
        _ => "warning",
    })
}

/// Returns why no alert is sent for an event; `None` if one is sent.
fn reason(client: &SpiClient<'_>, event: &Row<'_>) -> Result<Option<String>, Error> {
    let kind: &str = event.get("kind")?;
    if kind == "failover" {
        return Ok(Some(
            "Moves and recoveries of targets are only recorded.".to_owned(),
        ));
    }
    let Some(mut confirmed) = event.time_opt("confirmed")? else {
        return Ok(Some("It has not lasted for ten minutes.".to_owned()));
    };
    let until = event.time("until")?;
    let parameters = values![
        timestamptz(confirmed)?,
        event.get::<&str>("cluster")?,
        event.get::<&str>("filesystem")?
    ];
    if let Some(window) = client.query_opt(include_str!("severity/window.sql"), &parameters)? {
        let silent_until = window.time("until")?;
        if silent_until >= until {
            return Ok(Some(window.get("reason")?));
        }
        confirmed = silent_until;
    }
    // The weekly limit of these alerts leaves out the weakest.
    if matches!(kind, "waiting" | "slow_target" | "rule")
        && let Some(reason) = over_budget(client, event)?
    {
        return Ok(Some(reason));
    }
    // What goes on is news as long as it does.
    let is_over: bool = event.get("is_over")?;
    let shown = if is_over { confirmed } else { until };
    let is_late = now()? - shown >= LATE;
    Ok(is_late.then(|| "It was detected more than six hours late.".to_owned()))
}

/// Returns that the budget of alerts is used up, if it is.
fn over_budget(client: &SpiClient<'_>, event: &Row<'_>) -> Result<Option<String>, Error> {
    let settings = client.query_only(
        "SELECT s.alerts_per_week, format('Events at least as strong have used up the budget of %s alerts a week (settings.alerts_per_week).', \
             s.alerts_per_week) AS reason \
         FROM jobstats.settings s",
        &[],
        "settings",
    )?;
    let began = event.time("began")?;
    let text = |name| event.get::<&str>(name);
    let before = client.query(
        "SELECT e.began, e.rate FROM jobstats.events e \
         WHERE e.began < $1 AND e.began > $2 AND e.cluster = $3 AND e.filesystem = $4 AND e.kind IN ('waiting', 'slow_target', 'rule') \
             AND e.withdrawn IS NULL AND e.confirmed IS NOT NULL AND (e.notified IS NOT NULL OR e.reason NOT LIKE 'A maintenance window%')",
        &values![timestamptz(began)?, timestamptz(began - 28 * DAY)?, text("cluster")?, text("filesystem")?],
    )?;
    let before = before.map(|row| Ok((row.time("began")?, row.get("rate")?)));
    let before = before.collect::<Result<Vec<Rated>, Error>>()?;
    let per_week = settings.get("alerts_per_week")?;
    if budget::allows(&before, (began, event.get("rate")?), per_week) {
        return Ok(None);
    }
    Ok(Some(settings.get("reason")?))
}
