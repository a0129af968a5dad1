//! Whole targets: stores what targets count by themselves, and their increments.
//!
//! A reading lies among the readings of its target by its own time, which need not be that of an observation of its entries. A
//! late one is compared with the one before, and the next ones with it, until one carries what it carried before. The caller holds the
//! locks of the targets.

use std::cmp::Ordering;

use jobstats_core::feed::{Action, Outcome, reason};
use jobstats_core::increment::edge_distance;
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
use crate::pg::plans;
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
    /// The connections that are none of a metadata server.
    ended: Vec<String>,
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
                ended: whole.ended,
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
    pub body: String,
}

impl Stored {
    /// Returns the last reading up to a time.
    pub fn until(
        client: &SpiClient<'_>,
        target_id: i32,
        time: Micros,
    ) -> Result<Option<Self>, Error> {
        Self::beside(client, target_id, time, "<= $2 ORDER BY r.\"time\" DESC")
    }

    /// Returns the first reading after a time.
    pub fn after(
        client: &SpiClient<'_>,
        target_id: i32,
        time: Micros,
    ) -> Result<Option<Self>, Error> {
        Self::beside(client, target_id, time, "> $2 ORDER BY r.\"time\"")
    }

    fn beside(
        client: &SpiClient<'_>,
        target_id: i32,
        time: Micros,
        side: &str,
    ) -> Result<Option<Self>, Error> {
        let row = client.query_opt(
            &format!(
                "SELECT r.\"time\", r.since, r.body FROM jobstats.target_readings r \
                 WHERE r.target_id = $1 AND r.\"time\" {side} LIMIT 1"
            ),
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
    pub compared: Compared,
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

    /// Replaces what is stored of it, and returns how many rows were deleted and inserted. The caller holds the lock of the target.
    pub fn replace(
        &self,
        client: &mut SpiClient<'_>,
        target_id: i32,
    ) -> Result<(usize, usize), Error> {
        let span = (self.since, self.time);
        let deleted = delete(client, target_id, span)?;
        let inserted = write(client, target_id, span, &self.compared, true)?;
        let body = pack(self.compared.body.as_bytes())?;
        plans::update(
            client,
            "UPDATE jobstats.target_readings SET since = $3, body = $4 WHERE target_id = $1 AND \"time\" = $2",
            &[
                target_id.into(),
                timestamptz(self.time)?.into(),
                timestamptz(self.since)?.into(),
                body.into(),
            ],
        )?;
        Ok((deleted, inserted))
    }

    /// Returns the later reading as it is stored then.
    pub fn into_stored(self) -> Stored {
        Stored {
            time: self.time,
            since: Some(self.since),
            body: self.compared.body,
        }
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
        let limits = self.ingest.limits();
        if let Some(reason) = limits.why_not_at(time) {
            return Ok(self.reject(reason));
        }
        let oldest = time.saturating_sub(limits.raw_retention).max(0);
        let (mut before, mut next) = (None, None);
        let mut is_same_server = false;
        for (stored, known, server) in self.around(time, oldest)? {
            match stored.time.cmp(&time) {
                Ordering::Less => {
                    is_same_server = server == self.ingest.delivery.server;
                    before = Some(stored);
                }
                Ordering::Equal if known == digest => return Ok(self.outcome(Action::Repeated)),
                Ordering::Equal => return Ok(self.reject(reason::DIFFERENT)),
                Ordering::Greater => next = next.or(Some(stored)),
            }
        }
        let from = before.as_ref().map(|it| it.time);
        let is_far = limits.is_old(time) && (before.is_none() || next.is_some());
        // The reading with which the next one was compared can be gone.
        if is_far || next.as_ref().is_some_and(|next| next.since != from) {
            return Ok(self.reject(reason::TOO_LATE));
        }
        let this = (time, self.reading.body.as_str());
        let compared = self.compare(before.as_ref(), this)?;
        // Another server may have said what it liked, and the true one would lack it.
        let lacks = |from| compared.lacks_exports(&self.reading.ended, time - from);
        if is_same_server && from.is_some_and(lacks) {
            return Ok(self.reject(reason::NO_EXPORTS));
        }
        if let Some(next) = &next {
            let former = before.as_ref().map(Stored::compared);
            if !whole::can_be_older(this, former, next.compared(), PAUSE)? {
                return Ok(self.reject(reason::CLOCK));
            }
        }
        let is_late = next.is_some();
        self.insert(from, &compared.body, &digest)?;
        if let Some(next) = &next {
            let span = (from.unwrap_or(time), next.time);
            delete(self.client, self.target.id, span)?;
        }
        let increments = match from {
            Some(from) => self.write((from, time), &compared, is_late)?,
            None => 0,
        };
        if let Some(next) = next {
            self.follow(time, compared.body, next)?;
        }
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

    /// Compares the readings after a late one anew, until one carries what it carried before.
    fn follow(&mut self, time: Micros, body: String, next: Stored) -> Result<(), Error> {
        let mut former = Stored {
            time,
            since: None,
            body,
        };
        let mut next = Some(next);
        while let Some(this) = next {
            pause();
            let reread = Reread::new(&former, &this, self.ingest.settings.max_rate)?;
            self.reject_problems(&reread.compared);
            reread.replace(self.client, self.target.id)?;
            let is_last = reread.compared.body == this.body;
            former = reread.into_stored();
            let since = former.time;
            next = match is_last {
                true => None,
                false => self.around(since, since)?.pop().map(|(stored, ..)| stored),
            };
            // The next reading follows this one, unless it was the first after a gap.
            next = next.filter(|next| next.since == Some(since));
        }
        Ok(())
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

    /// Stores what the target did in a span, and returns the number of rows.
    fn write(
        &mut self,
        span: (Micros, Micros),
        compared: &Compared,
        is_late: bool,
    ) -> Result<i32, Error> {
        self.reject_problems(compared);
        let rows = write(self.client, self.target.id, span, compared, is_late)?;
        Ok(i32::try_from(rows).unwrap_or(i32::MAX))
    }

    fn reject_problems(&mut self, compared: &Compared) {
        for (code, text) in &compared.problems {
            let target = Some(self.target.name.as_str());
            let rejects = &mut self.ingest.rejects;
            rejects.add(target, None, code, Some(text.as_bytes()));
        }
    }

    /// Returns the readings before, at and after a time, in order, with their digests and servers.
    fn around(
        &mut self,
        time: Micros,
        oldest: Micros,
    ) -> Result<Vec<(Stored, Vec<u8>, String)>, Error> {
        let [time, oldest] = [timestamptz(time)?, timestamptz(oldest)?];
        let arguments = [self.target.id.into(), time.into(), oldest.into()];
        let rows = plans::rows(self.client, include_str!("wholes/around.sql"), &arguments)?;
        rows.map(|row| Ok((Stored::of(&row)?, row.get("digest")?, row.get("server")?)))
            .collect()
    }

    fn insert(&mut self, since: Option<Micros>, body: &str, digest: &[u8]) -> Result<(), Error> {
        let Ingest { delivery, now, .. } = *self.ingest;
        plans::update(
            self.client,
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

    fn reject(&mut self, reason: &'static str) -> Outcome {
        let target = Some(self.target.name.as_str());
        let body = Some(self.reading.body.as_bytes());
        self.ingest.reject(target, reason, body)
    }

    fn outcome(&self, action: Action) -> Outcome {
        Outcome::new(Some(&self.target.name), action)
    }
}

/// Stores what a target did from one reading to the next, and returns the number of rows.
fn write(
    client: &mut SpiClient<'_>,
    target_id: i32,
    (from, time): (Micros, Micros),
    compared: &Compared,
    is_late: bool,
) -> Result<usize, Error> {
    let distance = edge_distance(from, time);
    let coarse = rollup::COARSE.iter().find(|(width, _)| *width == distance);
    if let Some((_, width)) = coarse {
        rollup::coarse(client, (from, time), width)?;
    }
    let rows = insert_pieces(client, target_id, pieces(from, time, compared)?)?;
    let is_new_day = is_late || from.div_euclid(DAY) != time.div_euclid(DAY);
    rollup::sum_wholes(client, target_id, (from, time), is_new_day)?;
    Ok(rows)
}

/// Deletes the increments of a span, which one reading ended, and returns their number.
fn delete(
    client: &mut SpiClient<'_>,
    target_id: i32,
    (from, to): (Micros, Micros),
) -> Result<usize, Error> {
    let (from, to) = (timestamptz(from)?, timestamptz(to)?);
    let arguments = [target_id.into(), from.into(), to.into()];
    let statement = "DELETE FROM jobstats.target_increments i WHERE i.target_id = $1 AND i.\"time\" > $2 AND i.\"time\" <= $3";
    // With a plan that does not know the times, TimescaleDB would unpack the target's rows of all days.
    client.execute(statement, &arguments)
}

/// Returns the rows of what a target did from one reading to the next.
fn pieces(from: Micros, time: Micros, compared: &Compared) -> Result<Vec<Piece>, Error> {
    let piece = |increment| Piece {
        exports: compared.exports,
        observed: time,
        increment,
    };
    Ok(compared
        .pieces(from, time)?
        .into_iter()
        .map(piece)
        .collect())
}
