//! Stores the target counters of targets, and their increments.
//!
//! A snapshot is ordered by its own time, which may differ from the time of observations. A late snapshot is compared with its
//! predecessor; its successors are recomputed in order until the carried state no longer changes. The caller holds the locks of
//! the targets.

use std::sync::LazyLock;

use jobstats_core::base::instant::{DAY, HOUR, Micros, Span};
use jobstats_core::base::target::TargetName;
use jobstats_core::rules::feed::{Action, Outcome, reason};
use jobstats_core::rules::increment::edge_distance;
use jobstats_core::rules::snapshot::Contents;
use jobstats_core::rules::target_counters::{self, Comparison};
use jobstats_core::text::additional_parameters::Problems;
use jobstats_core::text::stats;
use pgrx::spi::SpiClient;
use xxhash_rust::xxh3::xxh3_128;

use crate::feed::ingest::Ingest;
use crate::feed::job_stats::rows::{TargetIncrement, insert_pieces};
use crate::feed::neighbours::{self, Neighbours};
use crate::feed::server_parameters::OwnedTargetName;
use crate::feed::targets::Target;
use crate::pg::error::Error;
use crate::pg::memory::reserve;
use crate::pg::pause::{PAUSE, pause};
use crate::pg::plans;
use crate::pg::spi::{Row, Statements, connect_mut, values};
use crate::pg::time::timestamptz;
use crate::store::rollup;
use crate::text::zstd::{pack, unpack};

/// The number of targets in a batch, with the neighbours of their snapshots.
const AT_ONCE: usize = 8;

/// A new snapshot of the counters of a target.
pub struct CounterSnapshot {
    target: OwnedTargetName,
    /// The time of the snapshot, or else of the whole text.
    time: Micros,
    body: String,
    /// The exports that do not, or no longer, belong to a metadata server.
    not_of_servers: Vec<String>,
}

impl CounterSnapshot {
    /// Reads the snapshots of a text, and rejects unusable ones.
    pub fn all(contents: &Contents<'_>, ingest: &mut Ingest<'_>) -> Result<Vec<Self>, Error> {
        let mut problems = Problems::default();
        let found = target_counters::read(&contents.others, &mut problems, PAUSE)?;
        let mut snapshots = Vec::new();
        reserve(&mut snapshots, found.len())?;
        for snapshot in found {
            snapshots.push(Self {
                target: OwnedTargetName::of(snapshot.target),
                time: stats::time_in(snapshot.time, ingest.delivery.time),
                body: snapshot.body,
                not_of_servers: snapshot.not_of_servers,
            });
        }
        ingest.rejects.add_values(&problems);
        Ok(snapshots)
    }

    pub fn target(&self) -> TargetName<'_> {
        self.target.target()
    }
}

/// Stores the snapshots of locked targets, in this order, with their increments.
///
/// # Errors
/// Errors of PostgreSQL, or too little memory.
pub fn place(
    ingest: &mut Ingest<'_>,
    snapshots: &[(Target, CounterSnapshot)],
) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = Vec::new();
    // A second snapshot of a target is placed next to the first.
    let distinct = snapshots.chunk_by(|(one, _), (next, _)| one.id != next.id);
    for some in distinct.flat_map(|distinct| distinct.chunks(AT_ONCE)) {
        pause();
        outcomes.extend(connect_mut(|client| {
            Placing { client, ingest }.place(some)
        })?);
    }
    Ok(outcomes)
}

/// A stored snapshot.
pub struct StoredCounters {
    pub time: Micros,
    /// The time of its predecessor; `None` for the first one.
    pub since: Option<Micros>,
    pub body: String,
    digest: Vec<u8>,
    server: String,
}

impl StoredCounters {
    /// The sides of [`Self::next_to`]: the last snapshot up to a time, and the first one after it.
    pub const UNTIL: &str = "<= $2 ORDER BY r.\"time\" DESC";
    pub const AFTER: &str = "> $2 ORDER BY r.\"time\"";

    /// Returns the snapshot next to a time on a side.
    pub fn next_to(
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
            &values![target_id, timestamptz(time)?],
        )?;
        row.as_ref().map(Self::of).transpose()
    }

    fn of(row: &Row<'_>) -> Result<Self, Error> {
        let body = unpack(row.get("body")?)?;
        Ok(Self {
            time: row.time("time")?,
            since: row.time_opt("since")?,
            body: String::from_utf8(body)
                .map_err(|_| Error::Damaged("a snapshot of a target is not text".to_owned()))?,
            digest: row.get("digest")?,
            server: row.get("server")?,
        })
    }

    fn compared(&self) -> (Micros, &str) {
        (self.time, &self.body)
    }
}

/// The recomputed increments between two stored snapshots.
pub struct Recomputation {
    pub since: Micros,
    pub time: Micros,
    pub compared: Comparison,
}

impl Recomputation {
    pub fn new(
        former: &StoredCounters,
        this: &StoredCounters,
        max_rate: u64,
    ) -> Result<Self, Error> {
        let compared =
            target_counters::compare(Some(former.compared()), this.compared(), max_rate, PAUSE)?;
        Ok(Self {
            since: former.time,
            time: this.time,
            compared,
        })
    }

    pub fn pieces(&self, target_id: i32) -> Result<Vec<TargetIncrement>, Error> {
        rows(target_id, (self.since, self.time), &self.compared)
    }

    /// Replaces the stored increments. Returns the numbers of deleted and inserted rows. The caller holds the lock of the
    /// target.
    pub fn replace(
        &self,
        client: &mut SpiClient<'_>,
        target_id: i32,
    ) -> Result<(usize, usize), Error> {
        let span = (self.since, self.time);
        let deleted = delete(client, target_id, span)?;
        let increments = NewIncrements::of(target_id, span, &self.compared, true)?;
        let inserted = write(client, vec![increments])?;
        let body = pack(self.compared.body.as_bytes())?;
        plans::update(
            client,
            "UPDATE jobstats.target_snapshots SET since = $3, body = $4 WHERE target_id = $1 AND \"time\" = $2",
            &values![
                target_id,
                timestamptz(self.time)?,
                timestamptz(self.since)?,
                body
            ],
        )?;
        Ok((deleted, inserted))
    }

    /// Returns the later snapshot with its new carried state.
    pub fn into_stored(self, this: StoredCounters) -> StoredCounters {
        StoredCounters {
            since: Some(self.since),
            body: self.compared.body,
            ..this
        }
    }
}

/// A snapshot that can be placed.
struct PlacedSnapshot<'r> {
    target: &'r Target,
    snapshot: StoredCounters,
    increments: Option<NewIncrements>,
    /// The successor of a late snapshot.
    next: Option<StoredCounters>,
}

impl PlacedSnapshot<'_> {
    fn outcome(&self) -> Outcome {
        let action = match (&self.next, self.snapshot.since) {
            (Some(_), _) => Action::Placed,
            (None, None) => Action::Baseline,
            (None, Some(_)) => Action::Stored,
        };
        let rows = self.increments.as_ref().map_or(0, |it| it.pieces.len());
        Outcome {
            increments: i32::try_from(rows).unwrap_or(i32::MAX),
            ..Outcome::new(Some(&self.target.name), action)
        }
    }
}

/// The increments between two snapshots of a target.
struct NewIncrements {
    target_id: i32,
    span: Span,
    pieces: Vec<TargetIncrement>,
    /// Set if partitions of sums may be missing.
    is_new_day: bool,
}

impl NewIncrements {
    fn of(target_id: i32, span: Span, compared: &Comparison, is_late: bool) -> Result<Self, Error> {
        Ok(Self {
            target_id,
            span,
            pieces: rows(target_id, span, compared)?,
            is_new_day: is_late || span.0.div_euclid(DAY) != span.1.div_euclid(DAY),
        })
    }
}

struct Placing<'p, 'c, 'i> {
    client: &'p mut SpiClient<'c>,
    ingest: &'p mut Ingest<'i>,
}

impl Placing<'_, '_, '_> {
    fn place(mut self, snapshots: &[(Target, CounterSnapshot)]) -> Result<Vec<Outcome>, Error> {
        let keys = snapshots.iter().map(|(target, it)| (target.id, it.time));
        let around = self.neighbours_of(keys.collect())?;
        let (mut outcomes, mut all_placed) = (Vec::new(), Vec::new());
        for ((target, snapshot), around) in snapshots.iter().zip(around) {
            pause();
            match self.place_one(target, snapshot, around)? {
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
                let from = late.snapshot.since.unwrap_or(late.snapshot.time);
                delete(self.client, late.target.id, (from, next.time))?;
            }
        }
        let increments = all_placed.iter_mut().filter_map(|it| it.increments.take());
        write(self.client, increments.collect())?;
        for placed in all_placed {
            if let Some(next) = placed.next {
                self.follow(placed.target, placed.snapshot, next)?;
            }
        }
        Ok(outcomes)
    }

    /// Places a snapshot and computes its increments, or returns the outcome of a rejected one.
    fn place_one<'r>(
        &mut self,
        target: &'r Target,
        snapshot: &CounterSnapshot,
        around: Neighbours<StoredCounters>,
    ) -> Result<Result<PlacedSnapshot<'r>, Outcome>, Error> {
        let (time, Neighbours { before, same, next }) = (snapshot.time, around);
        let digest = xxh3_128(snapshot.body.as_bytes()).to_be_bytes().to_vec();
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
            return Ok(Err(self.reject(target, snapshot, reason)));
        }
        let this = (time, snapshot.body.as_str());
        let former = before.as_ref().map(StoredCounters::compared);
        let max_rate = self.ingest.settings.max_rate;
        let compared = target_counters::compare(former, this, max_rate, PAUSE)?;
        // Another server may have sent invented exports, which the true one would lack.
        let server = &self.ingest.delivery.server;
        let is_same_server = before.as_ref().is_some_and(|it| it.server == *server);
        let lacks = |from| compared.lacks_exports(&snapshot.not_of_servers, time - from);
        if is_same_server && from.is_some_and(lacks) {
            return Ok(Err(self.reject(target, snapshot, reason::NO_EXPORTS)));
        }
        if let Some(next) = &next
            && !target_counters::can_be_older(this, former, next.compared(), PAUSE)?
        {
            return Ok(Err(self.reject(target, snapshot, reason::CLOCK)));
        }
        let is_late = next.is_some();
        let increments = from.map(|from| {
            self.reject_problems(target, &compared);
            NewIncrements::of(target.id, (from, time), &compared, is_late)
        });
        Ok(Ok(PlacedSnapshot {
            target,
            snapshot: StoredCounters {
                time,
                since: from,
                body: compared.body,
                digest,
                server: self.ingest.delivery.server.clone(),
            },
            increments: increments.transpose()?,
            next,
        }))
    }

    /// Recomputes the successors of a late snapshot in order, until the carried state no longer changes.
    fn follow(
        &mut self,
        target: &Target,
        mut former: StoredCounters,
        next: StoredCounters,
    ) -> Result<(), Error> {
        let mut next = Some(next);
        while let Some(this) = next {
            pause();
            let recomputation = Recomputation::new(&former, &this, self.ingest.settings.max_rate)?;
            self.reject_problems(target, &recomputation.compared);
            recomputation.replace(self.client, target.id)?;
            let is_last = recomputation.compared.body == this.body;
            former = recomputation.into_stored(this);
            let since = former.time;
            next = match is_last {
                true => None,
                false => self
                    .neighbours_of(vec![(target.id, since)])?
                    .pop()
                    .and_then(|it| it.next),
            };
            // The first snapshot after a gap has no predecessor.
            next = next.filter(|next| next.since == Some(since));
        }
        Ok(())
    }

    /// Rejects impossible growth.
    fn reject_problems(&mut self, target: &Target, compared: &Comparison) {
        for (code, text) in &compared.problems {
            let (name, text) = (Some(target.name.as_str()), Some(text.as_bytes()));
            self.ingest.rejects.add(name, None, code, text);
        }
    }

    /// Returns the neighbours of times of targets.
    fn neighbours_of(
        &mut self,
        keys: Vec<(i32, Micros)>,
    ) -> Result<Vec<Neighbours<StoredCounters>>, Error> {
        static AROUND: LazyLock<String> = LazyLock::new(|| {
            let columns = "near.server, near.body, near.digest";
            neighbours::statement("target_snapshots", "r.target_id", "integer", columns)
        });
        let (targets, times): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
        let gap = self.ingest.settings.raw_retention;
        let keys = vec![targets.into()];
        neighbours::find(self.client, &AROUND, keys, &times, gap, StoredCounters::of)
    }

    fn insert(&mut self, all: &[PlacedSnapshot<'_>]) -> Result<(), Error> {
        let Ingest { delivery, now, .. } = *self.ingest;
        let (mut targets, mut times, mut since) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bodies, mut digests) = (Vec::new(), Vec::new());
        for placed in all {
            let snapshot = &placed.snapshot;
            targets.push(placed.target.id);
            times.push(timestamptz(snapshot.time)?);
            since.push(snapshot.since.map(timestamptz).transpose()?);
            bodies.push(pack(snapshot.body.as_bytes())?);
            digests.push(snapshot.digest.clone());
        }
        plans::run(
            self.client,
            "INSERT INTO jobstats.target_snapshots (received, server, target_id, \"time\", since, body, digest) \
             SELECT $1, $2, said.* FROM unnest($3::integer[], $4::timestamptz[], $5::timestamptz[], $6::bytea[], $7::bytea[]) said",
            &values![
                timestamptz(now)?,
                delivery.server.as_str(),
                targets,
                times,
                since,
                bodies,
                digests
            ],
        )
    }

    fn reject(&mut self, target: &Target, it: &CounterSnapshot, reason: &'static str) -> Outcome {
        let body = Some(it.body.as_bytes());
        self.ingest.reject(Some(&target.name), reason, body)
    }
}

/// Stores increments, updates the sums, and returns the number of rows.
fn write(client: &mut SpiClient<'_>, all: Vec<NewIncrements>) -> Result<usize, Error> {
    for (from, time) in all.iter().map(|it| it.span) {
        let distance = edge_distance(from, time);
        let coarse = rollup::COARSE.iter().find(|(width, _)| *width == distance);
        if let Some((_, width)) = coarse {
            rollup::coarse(client, (from, time), width)?;
        }
    }
    let spans = all.iter().map(|it| (it.target_id, it.span, it.is_new_day));
    let spans: Vec<_> = spans.collect();
    let pieces: Vec<_> = all.into_iter().flat_map(|it| it.pieces).collect();
    let rows = pieces.len();
    insert_pieces(client, pieces)?;
    // The long gap of one target must not widen the sums of another.
    for some in spans.chunk_by(|(_, one, _), (_, next, _)| (one.0 - next.0).abs() < HOUR) {
        let targets: Vec<_> = some.iter().map(|(target_id, ..)| *target_id).collect();
        let from = some.iter().map(|(_, (from, _), _)| *from).min();
        let time = some.iter().map(|(_, (_, time), _)| *time).max();
        let is_new_day = some.iter().any(|(.., is_new_day)| *is_new_day);
        if let Some(span) = from.zip(time) {
            rollup::sum_target_counters(client, &targets, span, is_new_day)?;
        }
    }
    Ok(rows)
}

/// Deletes the increments of a span between two snapshots, and returns their number.
fn delete(client: &mut SpiClient<'_>, target_id: i32, (from, to): Span) -> Result<usize, Error> {
    let (from, to) = (timestamptz(from)?, timestamptz(to)?);
    let arguments = values![target_id, from, to];
    let statement = "DELETE FROM jobstats.target_increments i WHERE i.target_id = $1 AND i.\"time\" > $2 AND i.\"time\" <= $3";
    // A generic plan would make TimescaleDB unpack the rows of all days.
    client.execute(statement, &arguments)
}

/// Returns the increments between two snapshots as rows.
fn rows(target_id: i32, span: Span, compared: &Comparison) -> Result<Vec<TargetIncrement>, Error> {
    let row = |increment| TargetIncrement {
        target_id,
        exports: compared.exports,
        observed: span.1,
        increment,
    };
    let pieces = compared.pieces(span.0, span.1)?.into_iter();
    Ok(pieces.map(row).collect())
}
