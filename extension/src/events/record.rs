//! Stores detected events in `jobstats.events`.

use std::collections::BTreeMap;

use jobstats_core::base::instant::{HOUR, MINUTE, Micros, Span};
use jobstats_core::judgement::event::Episode;
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;
use serde_json::Value;

use crate::events::culprits::compared_until;
use crate::events::detectors::DetectedEvent;
use crate::events::readings::FileSystem;
use crate::pg::error::Error;
use crate::pg::spi::{Statements, values};
use crate::pg::time::timestamptz;

/// The longest time between two descriptions of one event.
const APART: Micros = 5 * MINUTE;

/// An event that is stored.
#[derive(Debug)]
struct StoredEvent {
    id: i64,
    /// Its times and values, as far as they are known.
    episode: Episode,
    targets: Vec<String>,
    slow: Vec<String>,
    /// Set if the episode is known to be this event.
    is_found: bool,
}

/// The stored events, by kind and file system.
#[derive(Debug, Default)]
pub struct Events(BTreeMap<(String, FileSystem), Vec<StoredEvent>>);

/// The time that is judged.
#[derive(Debug, Clone, Copy)]
pub struct Judgement {
    pub span: Span,
    /// Up to when readings had been judged before.
    pub watched: Micros,
    /// True if readings judged before have changed.
    pub is_again: bool,
}

/// The stored row of a detected event, if there is one.
pub struct EventRow {
    pub id: i64,
    /// True if anything is new.
    pub is_changed: bool,
    /// True if the time in which culprits are searched is new.
    pub is_new: bool,
}

impl Events {
    /// Reads the events that readings of a span, and of an hour before it, may show.
    pub fn read(client: &SpiClient<'_>, span: Span) -> Result<Self, Error> {
        let rows = client.query(
            "SELECT e.event_id, e.kind, e.cluster, e.filesystem, e.began, e.until, e.ended IS NOT NULL AS is_over, e.targets, e.found, e.confirmed, e.value, e.usual, \
                 ARRAY(SELECT jsonb_array_elements_text(e.details -> 'slow')) AS slow \
             FROM jobstats.events e WHERE e.began <= $2 AND (e.until >= $1 OR e.ended IS NULL) ORDER BY e.began",
            &values![timestamptz(span.0 - HOUR)?, timestamptz(span.1)?],
        )?;
        let mut events = Self::default();
        for row in rows {
            let key = (
                row.get("kind")?,
                (row.get("cluster")?, row.get("filesystem")?),
            );
            events.0.entry(key).or_default().push(StoredEvent {
                id: row.get("event_id")?,
                episode: Episode {
                    subject: 0,
                    began: row.time("began")?,
                    until: row.time("until")?,
                    found: row.time("found")?,
                    confirmed: row.time_opt("confirmed")?,
                    over: row.get("is_over")?,
                    rate: 1.0,
                    value: row.get::<Option<f64>>("value")?.unwrap_or(0.0),
                    usual: row.get::<Option<f64>>("usual")?.unwrap_or(0.0),
                },
                targets: row.get("targets")?,
                slow: row.get("slow")?,
                is_found: false,
            });
        }
        Ok(events)
    }

    /// Returns the targets of a file system with an event that goes on since before a time, each with that event.
    pub fn open_since(
        &self,
        kind: &str,
        filesystem: &FileSystem,
        before: Micros,
    ) -> BTreeMap<String, Episode> {
        let events = self.0.get(&(kind.to_owned(), filesystem.clone()));
        let events = events.into_iter().flatten();
        let open = events.filter(|it| !it.episode.over && it.episode.began < before);
        let episodes = open.flat_map(|event| {
            let targets = event.targets.iter().cloned();
            targets.map(|target| (target, event.episode))
        });
        episodes.collect()
    }

    /// Stores a detected event, or its changes. Returns `None` if this run does not judge such events.
    pub fn record(
        &mut self,
        client: &mut SpiClient<'_>,
        filesystem: &FileSystem,
        judgement: Judgement,
        found: &mut DetectedEvent,
    ) -> Result<Option<EventRow>, Error> {
        let key = (found.kind.to_owned(), filesystem.clone());
        let stored = self.0.entry(key).or_default();
        let same = |it: &StoredEvent| !it.is_found && it.episode.began == found.span.0;
        // Since when a target is full is known by the hour, whatever else is read.
        let near = |it: &StoredEvent| {
            found.kind != "full"
                && !it.is_found
                && it.episode.began <= found.span.1 + APART
                && found.span.0 <= it.episode.until + APART
        };
        let position = stored.iter().position(same);
        let Some(position) = position.or_else(|| stored.iter().position(near)) else {
            // A target may have been full for long when it is first watched.
            let is_full = found.kind == "full" && !found.over;
            let is_new =
                is_full || found.span.0 >= judgement.span.0 || found.found > judgement.watched;
            return is_new
                .then(|| insert(client, filesystem, found))
                .transpose();
        };
        let event = &mut stored[position];
        event.is_found = true;
        // The readings do not cover the time before an earlier event, so its detection time and baseline come from the stored row. The fill level of
        // a target comes from the event.
        let known = event.episode;
        let is_earlier = known.began < judgement.span.0 && found.kind != "full";
        if is_earlier {
            // What goes on ends before its last reading, where the low ones began that end it.
            let is_known = match known.over {
                true => found.span.1 <= known.until,
                false => found.span.1 < known.until && !found.over,
            };
            if is_known {
                return Ok(None);
            }
            found.span.0 = known.began;
        }
        // It is changed if anything about it is new; of an earlier one only its end.
        let mut all = parameters(found)?;
        all.extend(values![event.id, is_earlier]);
        let is_changed = client.execute(include_str!("record/update.sql"), &all)? > 0;
        let is_new = known.began != found.span.0
            || compared_until(known.span()) != compared_until(found.span)
            || event.targets != found.targets
            || event.slow != found.slow;
        Ok(Some(EventRow {
            id: event.id,
            is_changed,
            is_new: is_new && !is_earlier,
        }))
    }

    /// Withdraws the events of the judged time that were not detected again, and ends those that are over. Returns their number.
    pub fn take_back(
        self,
        client: &mut SpiClient<'_>,
        judgement: Judgement,
    ) -> Result<usize, Error> {
        let (mut wrong, mut ended): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        let stored = self.0.into_values().flatten();
        for event in stored.filter(|it| !it.is_found) {
            let Episode {
                began, until, over, ..
            } = event.episode;
            if began >= judgement.span.0 {
                wrong.push(event.id);
            } else if !over && until <= judgement.span.1 {
                ended.push(event.id);
            }
        }
        if wrong.is_empty() && ended.is_empty() {
            return Ok(0);
        }
        let parameters = values![wrong, ended];
        let deleted = client.execute(
            "DELETE FROM jobstats.events e WHERE e.event_id = ANY ($1) AND e.notified IS NULL AND e.verdict IS NULL",
            &parameters[..1],
        )?;
        let changed = client.execute(
            "UPDATE jobstats.events e SET withdrawn = now(), updated = now(), ended = coalesce(e.ended, e.until) \
             WHERE e.event_id = ANY ($1) AND e.withdrawn IS NULL",
            &parameters[..1],
        )?;
        let over = client.execute(
            "UPDATE jobstats.events e SET ended = e.until, updated = now() WHERE e.event_id = ANY ($1)",
            &parameters[1..],
        )?;
        Ok(deleted + changed + over)
    }
}

/// Returns an event as parameters of statements, from $1 on.
fn parameters(found: &DetectedEvent) -> Result<Vec<DatumWithOid<'static>>, Error> {
    Ok(vec![
        timestamptz(found.span.0)?.into(),
        timestamptz(found.found)?.into(),
        timestamptz(found.span.1)?.into(),
        found.over.into(),
        found.targets.clone().into(),
        found.servers.clone().into(),
        found.value.into(),
        found.usual.into(),
        found.rate.into(),
        found.details.to_string().into(),
        found.confirmed.map(timestamptz).transpose()?.into(),
    ])
}

fn insert(
    client: &mut SpiClient<'_>,
    (cluster, filesystem): &FileSystem,
    found: &DetectedEvent,
) -> Result<EventRow, Error> {
    let mut all = parameters(found)?;
    all.extend([found.kind, cluster, filesystem].map(|it| it.to_owned().into()));
    let id = client.execute_value(include_str!("record/insert.sql"), &all)?;
    Ok(EventRow {
        id,
        is_changed: true,
        is_new: true,
    })
}

/// Stores whose work an event was, and how many times the usual load there was. Returns whether that is new.
pub fn store_culprits(
    client: &mut SpiClient<'_>,
    id: i64,
    culprits: &Value,
    times: Option<f64>,
) -> Result<bool, Error> {
    let changed = client.execute(
        "UPDATE jobstats.events e SET culprits = $2::jsonb, load_times = $3, updated = now() \
         WHERE e.event_id = $1 AND (e.culprits, e.load_times) IS DISTINCT FROM ($2::jsonb, $3)",
        &values![id, culprits.to_string(), times],
    )?;
    Ok(changed > 0)
}
