//! Whole targets: stores what targets count by themselves, and their increments.
//!
//! A reading lies among the readings of its target by its own time, which need not be that of an observation of its entries. A
//! late one is compared with the one before, and the next ones with it, until one carries what it carried before. The caller holds the
//! locks of the targets.

use std::sync::LazyLock;

use jobstats_core::base::instant::{DAY, HOUR, Micros, Span};
use jobstats_core::base::target::TargetName;
use jobstats_core::rules::feed::{Action, Outcome, reason};
use jobstats_core::rules::increment::edge_distance;
use jobstats_core::rules::snapshot::Contents;
use jobstats_core::rules::target_counters::{self, Compared};
use jobstats_core::text::parameter::Problems;
use jobstats_core::text::stats;
use pgrx::spi::SpiClient;
use xxhash_rust::xxh3::xxh3_128;

use crate::feed::ingest::Ingest;
use crate::feed::job_stats::rows::{Piece, insert_pieces};
use crate::feed::neighbours::{self, Around};
use crate::feed::server_parameters::Name;
use crate::feed::targets::Target;
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::plans;
use crate::pg::spi::{Row, Statements, connect_mut};
use crate::pg::time::timestamptz;
use crate::store::rollup;
use crate::text::zstd::{pack, unpack};

/// The number of targets that are placed at once. The readings around each are in memory meanwhile.
const AT_ONCE: usize = 8;

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
        let found = target_counters::read(&contents.others, &mut problems, PAUSE)?;
        let mut readings = Vec::new();
        reserve(&mut readings, found.len())?;
        for whole in found {
            readings.push(Self {
                target: Name::of(whole.target),
                time: stats::time_in(whole.time, ingest.delivery.time),
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
}

/// Stores readings of locked targets, in the order of these, with their increments, as far as they can be placed.
///
/// # Errors
/// Those of PostgreSQL, and of too little memory.
pub fn place(
    ingest: &mut Ingest<'_>,
    readings: &[(Target, Reading)],
) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = Vec::new();
    // Of two readings of one target, the second lies beside the first.
    let distinct = readings.chunk_by(|(one, _), (next, _)| one.id != next.id);
    for some in distinct.flat_map(|distinct| distinct.chunks(AT_ONCE)) {
        pause();
        outcomes.extend(connect_mut(|client| {
            Placing { client, ingest }.place(some)
        })?);
    }
    Ok(outcomes)
}

/// A reading that is stored.
pub struct Stored {
    pub time: Micros,
    /// The time of the reading that it was compared with; `None` for the first one.
    pub since: Option<Micros>,
    pub body: String,
    digest: Vec<u8>,
    server: String,
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
                "SELECT r.\"time\", r.since, r.body, r.digest, r.server FROM jobstats.target_snapshots r \
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
            digest: row.get("digest")?,
            server: row.get("server")?,
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
        let compared =
            target_counters::compare(Some(former.compared()), this.compared(), max_rate, PAUSE)?;
        Ok(Self {
            since: former.time,
            time: this.time,
            compared,
        })
    }

    /// Returns it as it is stored.
    pub fn pieces(&self, target_id: i32) -> Result<Vec<Piece>, Error> {
        pieces(target_id, (self.since, self.time), &self.compared)
    }

    /// Replaces what is stored of it, and returns how many rows were deleted and inserted. The caller holds the lock of the target.
    pub fn replace(
        &self,
        client: &mut SpiClient<'_>,
        target_id: i32,
    ) -> Result<(usize, usize), Error> {
        let span = (self.since, self.time);
        let deleted = delete(client, target_id, span)?;
        let inserted = write(
            client,
            vec![Work::new(target_id, span, &self.compared, true)?],
        )?;
        let body = pack(self.compared.body.as_bytes())?;
        plans::update(
            client,
            "UPDATE jobstats.target_snapshots SET since = $3, body = $4 WHERE target_id = $1 AND \"time\" = $2",
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
    pub fn into_stored(self, this: Stored) -> Stored {
        Stored {
            since: Some(self.since),
            body: self.compared.body,
            ..this
        }
    }
}

/// A reading that can be placed.
struct Placed<'r> {
    target: &'r Target,
    reading: Stored,
    work: Option<Work>,
    /// The reading after a late one.
    next: Option<Stored>,
}

impl Placed<'_> {
    fn outcome(&self) -> Outcome {
        let action = match (&self.next, self.reading.since) {
            (Some(_), _) => Action::Placed,
            (None, None) => Action::Baseline,
            (None, Some(_)) => Action::Stored,
        };
        let rows = self.work.as_ref().map_or(0, |work| work.pieces.len());
        Outcome {
            increments: i32::try_from(rows).unwrap_or(i32::MAX),
            ..Outcome::new(Some(&self.target.name), action)
        }
    }
}

/// The work of a target from one reading to the next.
struct Work {
    target_id: i32,
    span: Span,
    pieces: Vec<Piece>,
    /// Set if the partitions of the sums may be missing.
    is_new_day: bool,
}

impl Work {
    fn new(
        target_id: i32,
        (from, time): Span,
        compared: &Compared,
        is_late: bool,
    ) -> Result<Self, Error> {
        Ok(Self {
            target_id,
            span: (from, time),
            pieces: pieces(target_id, (from, time), compared)?,
            is_new_day: is_late || from.div_euclid(DAY) != time.div_euclid(DAY),
        })
    }
}

struct Placing<'p, 'c, 'i> {
    client: &'p mut SpiClient<'c>,
    ingest: &'p mut Ingest<'i>,
}

impl Placing<'_, '_, '_> {
    fn place(mut self, readings: &[(Target, Reading)]) -> Result<Vec<Outcome>, Error> {
        let keys = readings.iter().map(|(target, it)| (target.id, it.time));
        let around = self.around(keys.collect())?;
        let (mut outcomes, mut all_placed) = (Vec::new(), Vec::new());
        for ((target, reading), around) in readings.iter().zip(around) {
            pause();
            match self.place_one(target, reading, around)? {
                Ok(placed) => {
                    outcomes.push(placed.outcome());
                    all_placed.push(placed);
                }
                Err(outcome) => outcomes.push(outcome),
            }
        }
        if all_placed.is_empty() {
            return Ok(outcomes);
        }
        self.insert(&all_placed)?;
        for late in &all_placed {
            if let Some(next) = &late.next {
                let from = late.reading.since.unwrap_or(late.reading.time);
                delete(self.client, late.target.id, (from, next.time))?;
            }
        }
        let works = all_placed.iter_mut().filter_map(|it| it.work.take());
        let works = works.collect();
        write(self.client, works)?;
        for placed in all_placed {
            if let Some(next) = placed.next {
                self.follow(placed.target, placed.reading, next)?;
            }
        }
        Ok(outcomes)
    }

    /// Finds the place of a reading and what its target has done, or its outcome if it has no place.
    fn place_one<'r>(
        &mut self,
        target: &'r Target,
        reading: &Reading,
        around: Around<Stored>,
    ) -> Result<Result<Placed<'r>, Outcome>, Error> {
        let (time, Around { before, same, next }) = (reading.time, around);
        let digest = xxh3_128(reading.body.as_bytes()).to_be_bytes().to_vec();
        let limits = self.ingest.limits();
        let from = before.as_ref().map(|it| it.time);
        let since = next.as_ref().map(|next| next.since);
        let reason = match (limits.why_not_at(time), same) {
            (Some(reason), _) => Some(reason),
            (None, Some(same)) if same.digest == digest => {
                return Ok(Err(Outcome::new(Some(&target.name), Action::Repeated)));
            }
            (None, Some(_)) => Some(reason::DIFFERENT),
            (None, None) => limits.why_not_between(time, from, since),
        };
        if let Some(reason) = reason {
            return Ok(Err(self.reject(target, reading, reason)));
        }
        let this = (time, reading.body.as_str());
        let former = before.as_ref().map(Stored::compared);
        let max_rate = self.ingest.settings.max_rate;
        let compared = target_counters::compare(former, this, max_rate, PAUSE)?;
        // Another server may have said what it liked, and the true one would lack it.
        let server = &self.ingest.delivery.server;
        let is_same_server = before.as_ref().is_some_and(|it| it.server == *server);
        let lacks = |from| compared.lacks_exports(&reading.ended, time - from);
        if is_same_server && from.is_some_and(lacks) {
            return Ok(Err(self.reject(target, reading, reason::NO_EXPORTS)));
        }
        if let Some(next) = &next
            && !target_counters::can_be_older(this, former, next.compared(), PAUSE)?
        {
            return Ok(Err(self.reject(target, reading, reason::CLOCK)));
        }
        let is_late = next.is_some();
        let work = from.map(|from| {
            self.reject_problems(target, &compared);
            Work::new(target.id, (from, time), &compared, is_late)
        });
        Ok(Ok(Placed {
            target,
            reading: Stored {
                time,
                since: from,
                body: compared.body,
                digest,
                server: self.ingest.delivery.server.clone(),
            },
            work: work.transpose()?,
            next,
        }))
    }

    /// Compares the readings after a late one anew, until one carries what it carried before.
    fn follow(&mut self, target: &Target, mut former: Stored, next: Stored) -> Result<(), Error> {
        let mut next = Some(next);
        while let Some(this) = next {
            pause();
            let reread = Reread::new(&former, &this, self.ingest.settings.max_rate)?;
            self.reject_problems(target, &reread.compared);
            reread.replace(self.client, target.id)?;
            let is_last = reread.compared.body == this.body;
            former = reread.into_stored(this);
            let since = former.time;
            next = match is_last {
                true => None,
                false => self
                    .around(vec![(target.id, since)])?
                    .pop()
                    .and_then(|it| it.next),
            };
            // The next reading follows this one, unless it was the first after a gap.
            next = next.filter(|next| next.since == Some(since));
        }
        Ok(())
    }

    /// Rejects growth that cannot be true.
    fn reject_problems(&mut self, target: &Target, compared: &Compared) {
        for (code, text) in &compared.problems {
            let (name, text) = (Some(target.name.as_str()), Some(text.as_bytes()));
            self.ingest.rejects.add(name, None, code, text);
        }
    }

    /// Returns the readings around times of targets.
    fn around(&mut self, keys: Vec<(i32, Micros)>) -> Result<Vec<Around<Stored>>, Error> {
        static AROUND: LazyLock<String> = LazyLock::new(|| {
            let columns = "near.server, near.body, near.digest";
            neighbours::statement("target_snapshots", "r.target_id", "integer", columns)
        });
        let (targets, times): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
        let gap = self.ingest.settings.raw_retention;
        let keys = vec![targets.into()];
        neighbours::find(self.client, &AROUND, keys, &times, gap, Stored::of)
    }

    fn insert(&mut self, all: &[Placed<'_>]) -> Result<(), Error> {
        let Ingest { delivery, now, .. } = *self.ingest;
        let (mut targets, mut times, mut since) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bodies, mut digests) = (Vec::new(), Vec::new());
        for Placed {
            target, reading, ..
        } in all
        {
            targets.push(target.id);
            times.push(timestamptz(reading.time)?);
            since.push(reading.since.map(timestamptz).transpose()?);
            bodies.push(pack(reading.body.as_bytes())?);
            digests.push(reading.digest.clone());
        }
        plans::update(
            self.client,
            "INSERT INTO jobstats.target_snapshots (received, server, target_id, \"time\", since, body, digest) \
             SELECT $1, $2, said.* FROM unnest($3::integer[], $4::timestamptz[], $5::timestamptz[], $6::bytea[], $7::bytea[]) said",
            &[
                timestamptz(now)?.into(),
                delivery.server.as_str().into(),
                targets.into(),
                times.into(),
                since.into(),
                bodies.into(),
                digests.into(),
            ],
        )?;
        Ok(())
    }

    fn reject(&mut self, target: &Target, reading: &Reading, reason: &'static str) -> Outcome {
        let body = Some(reading.body.as_bytes());
        self.ingest.reject(Some(&target.name), reason, body)
    }
}

/// Stores what targets did, sums it up, and returns the number of rows.
fn write(client: &mut SpiClient<'_>, works: Vec<Work>) -> Result<usize, Error> {
    for (from, time) in works.iter().map(|work| work.span) {
        let distance = edge_distance(from, time);
        let coarse = rollup::COARSE.iter().find(|(width, _)| *width == distance);
        if let Some((_, width)) = coarse {
            rollup::coarse(client, (from, time), width)?;
        }
    }
    let spans = works
        .iter()
        .map(|it| (it.target_id, it.span, it.is_new_day));
    let spans: Vec<_> = spans.collect();
    let pieces: Vec<_> = works.into_iter().flat_map(|work| work.pieces).collect();
    let rows = pieces.len();
    insert_pieces(client, pieces)?;
    // The sums of a target are not those of the long gap of another one.
    for some in spans.chunk_by(|(_, one, _), (_, next, _)| (one.0 - next.0).abs() < HOUR) {
        let targets: Vec<_> = some.iter().map(|(target_id, ..)| *target_id).collect();
        let from = some.iter().map(|(_, (from, _), _)| *from).min();
        let time = some.iter().map(|(_, (_, time), _)| *time).max();
        let is_new_day = some.iter().any(|(.., is_new_day)| *is_new_day);
        if let Some(span) = from.zip(time) {
            rollup::sum_wholes(client, &targets, span, is_new_day)?;
        }
    }
    Ok(rows)
}

/// Deletes the increments of a span, which one reading ended, and returns their number.
fn delete(client: &mut SpiClient<'_>, target_id: i32, (from, to): Span) -> Result<usize, Error> {
    let (from, to) = (timestamptz(from)?, timestamptz(to)?);
    let arguments = [target_id.into(), from.into(), to.into()];
    let statement = "DELETE FROM jobstats.target_increments i WHERE i.target_id = $1 AND i.\"time\" > $2 AND i.\"time\" <= $3";
    // With a plan that does not know the times, TimescaleDB would unpack the target's rows of all days.
    client.execute(statement, &arguments)
}

/// Returns the rows of what a target did from one reading to the next.
fn pieces(target_id: i32, (from, time): Span, compared: &Compared) -> Result<Vec<Piece>, Error> {
    let piece = |increment| Piece {
        target_id,
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
