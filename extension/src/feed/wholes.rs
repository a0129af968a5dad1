//! Whole targets: stores what targets count by themselves, and their increments.
//!
//! A reading lies among the readings of its target by its own time, which need not be that of an observation of its entries. A
//! late one is compared with the one before, and the next one with it. The caller holds the locks of the targets.

use jobstats_core::feed::{Action, Outcome, reason};
use jobstats_core::increment::{Column, Increment, edge_distance, share, spans};
use jobstats_core::instant::{DAY, Micros};
use jobstats_core::parameter::Problems;
use jobstats_core::snapshot::Contents;
use jobstats_core::target::TargetName;
use jobstats_core::whole::{self, Compared};
use pgrx::spi::SpiClient;
use xxhash_rust::xxh3::xxh3_128;

use crate::feed::beside::Name;
use crate::feed::ingest::Ingest;
use crate::feed::job_stats::rows::{Piece, insert_pieces};
use crate::feed::targets::Target;
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::spi::{Row, Statements, connect_mut};
use crate::pg::time::timestamptz;
use crate::store::rollup;
use crate::text::zstd::{pack, unpack};

/// The own counters of a target in a text.
pub struct Reading {
    target: Name,
    /// The time of the reading, unless that of the text holds.
    time: Micros,
    body: String,
}

impl Reading {
    /// Takes the readings out of a text, and rejects what of them cannot be used.
    pub fn all(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Vec<Self>, Error> {
        let mut problems = Problems::default();
        let found = whole::read(&contents.others, &mut problems, PAUSE)?;
        let mut readings = Vec::new();
        reserve(&mut readings, found.len())?;
        for whole in found {
            readings.push(Self {
                target: Name::of(whole.target),
                time: whole.time_in(ingest.delivery.time),
                body: whole.body,
            });
        }
        ingest.rejects.add_values(&problems);
        Ok(readings)
    }

    pub fn target(&self) -> TargetName<'_> {
        self.target.target()
    }

    /// Stores the reading of a locked target with its increments, if it can be placed.
    ///
    /// # Errors
    /// Those of PostgreSQL, and of too little memory.
    pub fn place(&self, ingest: &mut Ingest<'_>, target: &Target) -> Result<Outcome, Error> {
        pause();
        connect_mut(|client| {
            Placing {
                client,
                ingest,
                target,
                reading: self,
            }
            .place()
        })
    }
}

/// A reading that is stored.
pub struct Stored {
    pub time: Micros,
    /// The time of the reading that it was compared with; `None` for the first one.
    pub since: Option<Micros>,
    body: String,
}

impl Stored {
    /// Returns the reading of exactly this time.
    pub fn at(client: &SpiClient<'_>, target_id: i32, time: Micros) -> Result<Option<Self>, Error> {
        let row = client.query_opt(
            "SELECT r.\"time\", r.since, r.body FROM jobstats.target_readings r WHERE r.target_id = $1 AND r.\"time\" = $2",
            &[target_id.into(), timestamptz(time)?.into()],
        )?;
        row.as_ref().map(Self::of).transpose()
    }

    fn of(row: &Row<'_>) -> Result<Self, Error> {
        let body = unpack(row.get("body")?)?;
        Ok(Self {
            time: row.time("time")?,
            since: row.time_opt("since")?,
            body: String::from_utf8(body)
                .map_err(|_| Error::Damaged("a reading of a target is no text".to_owned()))?,
        })
    }

    fn compared(&self) -> (Micros, &str) {
        (self.time, &self.body)
    }
}

/// The work between two readings that are stored, computed once more.
pub struct Reread {
    pub since: Micros,
    pub time: Micros,
    compared: Compared,
}

impl Reread {
    pub fn new(former: &Stored, this: &Stored, max_rate: u64) -> Result<Self, Error> {
        let compared = whole::compare(Some(former.compared()), this.compared(), max_rate, PAUSE)?;
        Ok(Self {
            since: former.time,
            time: this.time,
            compared,
        })
    }

    /// Returns it as it is stored.
    pub fn pieces(&self) -> Result<Vec<Piece>, Error> {
        pieces(self.since, self.time, &self.compared)
    }
}

struct Placing<'p, 'c, 'i> {
    client: &'p mut SpiClient<'c>,
    ingest: &'p mut Ingest<'i>,
    target: &'p Target,
    reading: &'p Reading,
}

impl Placing<'_, '_, '_> {
    fn place(mut self) -> Result<Outcome, Error> {
        let time = self.reading.time;
        let digest = xxh3_128(self.reading.body.as_bytes()).to_be_bytes();
        if let Some(reason) = self.ingest.limits().why_not_at(time) {
            return Ok(self.reject(reason));
        }
        match self.digest()? {
            Some(known) if known == digest => return Ok(self.outcome(Action::Repeated)),
            Some(_) => return Ok(self.reject(reason::DIFFERENT)),
            None => {}
        }
        let limits = self.ingest.limits();
        let oldest = time.saturating_sub(limits.raw_retention).max(0);
        let before = self.neighbour("< $2 AND r.\"time\" >= $3", "DESC", &[time, oldest])?;
        let next = self.neighbour("> $2", "ASC", &[time])?;
        if limits.is_old(time) && (before.is_none() || next.is_some()) {
            return Ok(self.reject(reason::TOO_LATE));
        }
        let from = before.as_ref().map(|it| it.time);
        let this = (time, self.reading.body.as_str());
        let compared = self.compare(before.as_ref(), this)?;
        let following = match &next {
            // The reading with which the next one was compared is gone.
            Some(next) if next.since != from => {
                return Ok(self.reject(reason::TOO_LATE));
            }
            Some(next) => {
                let body = compared.body.clone();
                let late = Stored {
                    time,
                    since: None,
                    body,
                };
                let former = before.as_ref().map(Stored::compared);
                if !whole::can_be_older(this, former, next.compared(), PAUSE)? {
                    return Ok(self.reject(reason::CLOCK));
                }
                Some(self.compare(Some(&late), next.compared())?)
            }
            None => None,
        };
        self.insert(from, &compared.body, &digest)?;
        if let Some((next, following)) = next.as_ref().zip(following) {
            self.delete(from.unwrap_or(time), next.time)?;
            self.write(time, next.time, following, true)?;
            self.update(next.time, time)?;
        }
        let is_late = next.is_some();
        let increments = match from {
            Some(from) => self.write(from, time, compared, is_late)?,
            None => 0,
        };
        let action = match (is_late, from) {
            (true, _) => Action::Placed,
            (false, None) => Action::Baseline,
            (false, Some(_)) => Action::Stored,
        };
        Ok(Outcome {
            increments,
            ..self.outcome(action)
        })
    }

    fn compare(
        &mut self,
        before: Option<&Stored>,
        after: (Micros, &str),
    ) -> Result<Compared, Error> {
        let before = before.map(Stored::compared);
        let max_rate = self.ingest.settings.max_rate;
        Ok(whole::compare(before, after, max_rate, PAUSE)?)
    }

    /// Stores what the target did from one reading to the next, and returns the number of rows.
    fn write(
        &mut self,
        from: Micros,
        time: Micros,
        compared: Compared,
        is_late: bool,
    ) -> Result<i32, Error> {
        for (code, text) in &compared.problems {
            let target = Some(self.target.name.as_str());
            let rejects = &mut self.ingest.rejects;
            rejects.add(target, None, code, Some(text.as_bytes()));
        }
        let distance = edge_distance(from, time);
        let coarse = rollup::COARSE.iter().find(|(width, _)| *width == distance);
        if let Some((_, width)) = coarse {
            rollup::coarse(self.client, (from, time), width)?;
        }
        let pieces = pieces(from, time, &compared)?;
        let rows = insert_pieces(self.client, self.target.id, pieces)?;
        let is_new_day = is_late || from.div_euclid(DAY) != time.div_euclid(DAY);
        rollup::sum_wholes(self.client, self.target.id, (from, time), is_new_day)?;
        Ok(i32::try_from(rows).unwrap_or(i32::MAX))
    }

    fn digest(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let row = self.client.execute_opt(
            "SELECT r.digest FROM jobstats.target_readings r WHERE r.target_id = $1 AND r.\"time\" = $2",
            &[self.target.id.into(), timestamptz(self.reading.time)?.into()],
        )?;
        row.map(|row| row.get("digest")).transpose()
    }

    fn neighbour(
        &mut self,
        side: &str,
        order: &str,
        times: &[Micros],
    ) -> Result<Option<Stored>, Error> {
        let statement = format!(
            "SELECT r.\"time\", r.since, r.body FROM jobstats.target_readings r \
             WHERE r.target_id = $1 AND r.\"time\" {side} ORDER BY r.\"time\" {order} LIMIT 1"
        );
        let mut values = vec![self.target.id.into()];
        for time in times {
            values.push(timestamptz(*time)?.into());
        }
        let row = self.client.execute_opt(&*statement, &values)?;
        row.as_ref().map(Stored::of).transpose()
    }

    fn insert(&mut self, since: Option<Micros>, body: &str, digest: &[u8]) -> Result<(), Error> {
        let Ingest { delivery, now, .. } = *self.ingest;
        self.client.execute(
            "INSERT INTO jobstats.target_readings (target_id, \"time\", since, received, server, body, digest) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            &[
                self.target.id.into(),
                timestamptz(self.reading.time)?.into(),
                since.map(timestamptz).transpose()?.into(),
                timestamptz(now)?.into(),
                delivery.server.as_str().into(),
                pack(body.as_bytes())?.into(),
                digest.into(),
            ],
        )?;
        Ok(())
    }

    /// Notes that a reading was compared with another one.
    fn update(&mut self, time: Micros, since: Micros) -> Result<(), Error> {
        self.client.execute(
            "UPDATE jobstats.target_readings SET since = $3 WHERE target_id = $1 AND \"time\" = $2",
            &[
                self.target.id.into(),
                timestamptz(time)?.into(),
                timestamptz(since)?.into(),
            ],
        )?;
        Ok(())
    }

    /// Deletes the increments of a span, which one reading ended.
    fn delete(&mut self, from: Micros, to: Micros) -> Result<(), Error> {
        self.client.execute(
            "DELETE FROM jobstats.target_increments i WHERE i.target_id = $1 AND i.\"time\" > $2 AND i.\"time\" <= $3",
            &[
                self.target.id.into(),
                timestamptz(from)?.into(),
                timestamptz(to)?.into(),
            ],
        )?;
        Ok(())
    }

    fn reject(&mut self, reason: &'static str) -> Outcome {
        let target = Some(self.target.name.as_str());
        let body = Some(self.reading.body.as_bytes());
        self.ingest.reject(target, reason, body)
    }

    fn outcome(&self, action: Action) -> Outcome {
        Outcome::new(Some(&self.target.name), action)
    }
}

/// Returns the pieces of what a target did from one reading to the next, between the edges that rows may not cross. Those in
/// which it did nothing are there too: they say that it was read.
fn pieces(from: Micros, time: Micros, compared: &Compared) -> Result<Vec<Piece>, Error> {
    let distance = edge_distance(from, time);
    let mut pieces = Vec::new();
    for (since, end) in spans(from, time, distance) {
        let mut piece = Piece {
            exports: compared.exports,
            observed: time,
            increment: Increment {
                line: 0,
                id: "",
                folded: None,
                since,
                time: end,
                reset: false,
                last_active: None,
                totals: Vec::new(),
                read_histogram: None,
                write_histogram: None,
                detail: None,
            },
        };
        for increment in &compared.increments {
            add(&mut piece.increment, increment);
        }
        reserve(&mut pieces, 1)?;
        pieces.push(piece);
    }
    Ok(pieces)
}

/// Adds the part of an increment that lies in a piece.
fn add(piece: &mut Increment<'_>, increment: &Increment<'_>) {
    let (since, time) = (piece.since, piece.time);
    piece.reset |= increment.reset && (since..time).contains(&increment.since);
    for (column, total) in &increment.totals {
        let part = share(*total, increment.since, increment.time, since, time);
        if part != 0 {
            put(&mut piece.totals, *column, part);
        }
    }
}

fn put(totals: &mut Vec<(Column, i64)>, column: Column, part: i64) {
    match totals.iter_mut().find(|(known, _)| *known == column) {
        Some((_, total)) => *total += part,
        None => totals.push((column, part)),
    }
}
