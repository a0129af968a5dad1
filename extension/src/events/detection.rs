//! `jobstats_detect()` judges the readings since its last call.

use jobstats_core::base::instant::{DAY, HOUR, Micros, Span};
use jobstats_core::judgement::event::MEASURED;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use serde_json::json;

use crate::events::baseline::Baseline;
use crate::events::culprits;
use crate::events::detectors::WatchedFileSystem;
use crate::events::readings::Readings;
use crate::events::record::{Events, Judgement, store_culprits};
use crate::events::rules::Rule;
use crate::events::severity::alert;
use crate::pg::error::Error;
use crate::pg::guc::Pinned;
use crate::pg::spi::{SqlResult, Statements, connect_mut, values};
use crate::pg::time::timestamptz;

/// The time before the judged span that detectors also read.
const BEFORE: Micros = HOUR;
/// The longest time that is judged at once.
const AT_ONCE: Micros = DAY;
/// The age up to which an event is judged again from its start. Of an older one only the end is looked for: a disk may be slow for days.
const GOES_ON: Micros = MEASURED;

#[pg_extern(sql = false)]
fn jobstats_internal_watch() -> SqlResult<Option<i64>> {
    // Queries raise notices about missing data, which are of no use here.
    let settings = [(c"client_min_messages", c"warning"), (c"timezone", c"UTC")];
    let _pinned = Pinned::new(settings);
    Ok(connect_mut(watch)?)
}

fn watch(client: &mut SpiClient<'_>) -> Result<Option<i64>, Error> {
    let Some(state) = State::lock(client)? else {
        return Ok(None);
    };
    let mut changed = 0;
    if let Some(judgement) = state.judgement(client)? {
        changed = judge(client, judgement)?;
        state.advance(client, judgement.span.1)?;
    }
    Ok(i64::try_from(changed).ok())
}

/// The row of `jobstats.watch`.
struct State {
    newest: Option<Micros>,
    watched: Option<Micros>,
    rejudge: Option<Micros>,
    /// The time before which everything was dropped.
    dropped: Micros,
}

impl State {
    /// Locks the row; `None` if another call has locked it.
    fn lock(client: &mut SpiClient<'_>) -> Result<Option<Self>, Error> {
        let state = client.execute_opt(
            "SELECT w.watched_until, w.rejudge_from, (SELECT max(t.last_observation) FROM jobstats.targets t WHERE t.retired IS NULL) AS newest, \
                 (SELECT f.dropped FROM jobstats.refresh f) AS dropped \
             FROM jobstats.watch w FOR UPDATE OF w SKIP LOCKED",
            &[],
        )?;
        let Some(state) = state else {
            // Another call has locked it, unless somebody has deleted it.
            client.query_only("SELECT w.ran FROM jobstats.watch w", &[], "watch")?;
            return Ok(None);
        };
        Ok(Some(Self {
            newest: state.time_opt("newest")?,
            watched: state.time_opt("watched_until")?,
            rejudge: state.time_opt("rejudge_from")?,
            dropped: state.time_opt("dropped")?.unwrap_or(0),
        }))
    }

    /// Returns the judgement that is due, if any.
    fn judgement(&self, client: &SpiClient<'_>) -> Result<Option<Judgement>, Error> {
        let Some(newest) = self.newest else {
            return Ok(None);
        };
        let watched = self.watched.unwrap_or(newest - DAY);
        let rejudge = self.rejudge.unwrap_or(Micros::MAX);
        let until = newest.min(watched.min(rejudge).saturating_add(AT_ONCE));
        let mut since = rejudge.min(watched - HOUR).max(self.dropped);
        let touched = client.query_time(
            "SELECT min(e.began) FROM jobstats.events e WHERE (e.ended IS NULL OR e.until >= $2) AND e.kind IN ('waiting', 'slow_target', 'stalled', 'rule') \
                 AND e.began BETWEEN $1 AND $2",
            &values![timestamptz(since - GOES_ON)?, timestamptz(since)?],
        )?;
        since = touched.unwrap_or(since);
        Ok((since < until).then_some(Judgement {
            span: (since, until),
            watched,
            is_again: self.rejudge.is_some(),
        }))
    }

    /// Notes up to when everything is judged.
    fn advance(&self, client: &mut SpiClient<'_>, until: Micros) -> Result<(), Error> {
        let watched = self.watched.map_or(until, |it| it.max(until));
        let rejudge = self.rejudge.filter(|_| until < watched).map(|_| until);
        client.execute(
            "UPDATE jobstats.watch w SET watched_until = $1, rejudge_from = $2, ran = now()",
            &values![timestamptz(watched)?, rejudge.map(timestamptz).transpose()?],
        )?;
        Ok(())
    }
}

fn judge(client: &mut SpiClient<'_>, judgement: Judgement) -> Result<usize, Error> {
    let (since, until): Span = judgement.span;
    let readings = Readings::read(client, (since - BEFORE, until))?;
    let baseline = Baseline::read(client, (since - BEFORE, until))?;
    let rules = Rule::read_all(client, (since - BEFORE, until))?;
    let mut events = Events::read(client, judgement.span)?;
    let (mut found, mut changed) = (Vec::new(), 0);
    for (filesystem, targets) in &readings.filesystems {
        let judged = WatchedFileSystem {
            readings: &readings,
            baseline: &baseline,
            rules: &rules,
            filesystem,
            targets,
            span: judgement.span,
            full: events.open_since("full", filesystem, since - BEFORE - DAY),
            stalled: events.open_since("stalled", filesystem, since),
        };
        for mut event in judged.events() {
            let Some(row) = events.record(client, filesystem, judgement, &mut event)? else {
                continue;
            };
            let mut is_changed = row.is_changed;
            if row.is_new || judgement.is_again {
                let culprits = match event.kind {
                    "rule" => Some((event.culprits, None)),
                    // Not if only probes took long.
                    "waiting" if event.details["services"] != json!([]) => {
                        Some(culprits::find(client, &filesystem.0, &event)?)
                    }
                    _ => None,
                };
                if let Some((culprits, times)) = culprits {
                    is_changed |= store_culprits(client, row.id, &culprits, times)?;
                }
            }
            changed += usize::from(is_changed);
            found.push(row.id);
        }
    }
    changed += events.take_back(client, judgement)?;
    alert(client, &found)?;
    Ok(changed)
}
