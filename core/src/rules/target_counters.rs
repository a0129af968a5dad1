//! The counters of whole targets, which count the work of all clients, with an identifier or without.
//!
//! The counters of a target are stored as text that [`snapshot::print`](crate::rules::snapshot::print()) prints: a record without an
//! identifier, and a record for each connection of a metadata server, whose requests do not come from clients. So
//! [`increment::compare`](compare()) compares targets by the rules for entries.

mod body;
mod pieces;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, TryReserveError};

use self::body::Body;
use crate::base::escape::escape;
use crate::base::instant::{HOUR, Micros};
use crate::base::pause::Pause;
use crate::base::target::TargetName;
use crate::base::try_vec::push;
use crate::rules::increment::{self, Column, Increment, LateReason, Observation, wall};
use crate::rules::snapshot::ReadError;
use crate::text::additional_parameters::{Other, Parameter, Problems, Reason};
use crate::text::stats::{self, Stats};

/// The part of the name of a connection that identifies a metadata server.
const OF_METADATA_SERVER: &[u8] = b"-mdtlov_UUID";

/// The largest number of connections of metadata servers to a target.
const EXPORTS_MAX: usize = 1_000;

/// The time for which a target is not read without a connection that it had. A longer absence is not caused by a
/// damaged text.
const MISSED_FOR: Micros = HOUR;

/// A target in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetCounters<'o> {
    /// The target.
    pub target: TargetName<'o>,
    /// The line on which the target's value begins, counted from 1.
    pub line: u32,
    /// The time at which the value was read, if it is on the wall clock.
    pub time: Option<Micros>,
    /// The counters, for [`compare`].
    pub body: String,
    /// The identifiers of connections that, by the text, do not or no longer belong to a metadata server.
    pub not_of_servers: Vec<String>,
}

/// The work of a target between two readings.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The increments of the target without the work of metadata servers. They have no identifier and no detail.
    pub increments: Vec<Increment<'static>>,
    /// The number of connections of metadata servers whose work is left out.
    pub exports: u32,
    /// The body of the later reading to keep: with the counters that were known before and that are missing by damage.
    pub body: String,
    /// The codes and texts of the problems.
    pub problems: Vec<(&'static str, String)>,
    /// The records whose counters are missing in the later text, though the target was not reset.
    missing: Vec<String>,
}

impl Comparison {
    /// Returns true if the later text is unusable, because requests of metadata servers cannot be separated from those by
    /// clients, as in a cut text: it lacks counters that a recent text had, though their connections are not in
    /// `not_of_servers`.
    pub fn lacks_exports(&self, not_of_servers: &[String], after: Micros) -> bool {
        after < MISSED_FOR && self.missing.iter().any(|id| !not_of_servers.contains(id))
    }
}

/// Reads the targets of a text, each once.
///
/// # Errors
/// [`ReadError::OutOfMemory`].
pub fn read<'o>(
    others: &'o [Other<'_>],
    problems: &mut Problems<'o>,
    pause: Pause<'_>,
) -> Result<Vec<TargetCounters<'o>>, ReadError> {
    let (exports, mut not_of_servers) = connections(others, problems, pause)?;
    let mut found = Vec::new();
    for other in pause.among(others) {
        let Parameter::TargetStats(target) = other.parameter else {
            continue;
        };
        let own = stats::read(other, problems, pause)?;
        let of_target = exports.get(&target).map_or(&[][..], Vec::as_slice);
        push(
            &mut found,
            TargetCounters {
                target,
                line: other.line,
                time: own.snapshot_time,
                body: body::print(target.kind, &own, of_target, pause)?,
                not_of_servers: not_of_servers.remove(&target).unwrap_or_default(),
            },
        )?;
    }
    Ok(found)
}

/// The counters of connections by target, each with its network identifier.
type Exports<'o> = BTreeMap<TargetName<'o>, Vec<(&'o [u8], Stats<'o>)>>;

/// Returns the counters of the connections of metadata servers, and the identifiers of others by target.
fn connections<'o>(
    others: &'o [Other<'_>],
    problems: &mut Problems<'o>,
    pause: Pause<'_>,
) -> Result<(Exports<'o>, BTreeMap<TargetName<'o>, Vec<String>>), TryReserveError> {
    let mut servers = BTreeSet::new();
    let mut not_of_servers = BTreeMap::<_, Vec<_>>::new();
    for other in pause.among(others) {
        let Parameter::ExportUuid(target, nid) = other.parameter else {
            continue;
        };
        if memchr::memmem::find(&other.value, OF_METADATA_SERVER).is_some() {
            servers.insert((target, nid));
        } else if other.cut().is_none() {
            let of_target = not_of_servers.entry(target).or_default();
            if of_target.len() < EXPORTS_MAX {
                of_target.push(escape(nid).into_owned());
            }
        }
    }
    let mut exports = BTreeMap::<_, Vec<_>>::new();
    for other in pause.among(others) {
        if let Parameter::ExportStats(target, nid) = other.parameter
            && servers.contains(&(target, nid))
        {
            let of_target = exports.entry(target).or_default();
            if of_target.len() == EXPORTS_MAX {
                problems.report(other, (other.line, nid), Reason::TooManyLines)?;
                continue;
            }
            of_target.push((nid, stats::read(other, problems, pause)?));
        }
    }
    Ok((exports, not_of_servers))
}

/// Compares a reading with an earlier one, each with its time.
///
/// The sum of a column over all increments is limited to `max_rate` per second, as [`increment::Comparison::limit`] does.
/// Without a reading before there are no increments.
///
/// # Errors
/// [`ReadError`] if a body is too long, or if there is not enough memory.
pub fn compare(
    before: Option<(Micros, &str)>,
    (time, after): (Micros, &str),
    max_rate: u64,
    pause: Pause<'_>,
) -> Result<Comparison, ReadError> {
    let mut after = Body::read(after, pause)?;
    let Some((since, before)) = before else {
        return Ok(Comparison {
            body: after.print(),
            ..Comparison::default()
        });
    };
    let before = body::without_methods(before, &after, pause)?;
    let mut before = Body::read(&before, pause)?;
    let printed = after.print();
    body::fill_in(&mut before, &mut after);
    let exports = after.snapshot.records.iter().filter(|record| {
        let (id, start) = (after.snapshot.id(record), wall(record.start_time));
        !id.is_empty() && (before.has(id) || start.is_some_and(|start| start > since))
    });
    let exports = exports.count() as u32;
    let previous = before.observed(since);
    let next = Observation {
        carried: None,
        ..after.observed(time)
    };
    // A target keeps its counters however long it is idle.
    let mut compared = increment::compare(Some(&previous), &next, 0, pause)?;
    compared.limit(time.saturating_sub(since), max_rate)?;
    let problems = compared.problems.iter().map(|problem| {
        let text = problem.to_string();
        (
            problem.reason.code(),
            text.trim_start_matches(": ").to_owned(),
        )
    });
    let is_new = |increment: &Increment<'_>| increment.id.is_empty() && increment.reset;
    let carried = compared.carried.records.iter();
    let carried = carried.filter(|record| record.last_seen == Some(since));
    let missing = carried.map(|record| compared.carried.id(record));
    // If all requests came from clients, a missing counter affects no difference.
    let missing = missing.filter(|id| !id.is_empty() || exports > 0);
    let missing = match compared.increments.iter().any(is_new) {
        true => Vec::new(),
        false => missing.map(str::to_owned).collect(),
    };
    Ok(Comparison {
        exports,
        body: body::carry(printed, &compared.carried),
        problems: problems.collect(),
        missing,
        increments: own_work(compared.increments),
    })
}

/// Returns true if a late reading can have been read between the one before it and the next one, by the rule for late text: start times do
/// not go back, counters that go on do not fall, and those without start times do not begin anew only because of this reading. A target that
/// moved meanwhile to another server and back is no contradiction.
///
/// # Errors
/// [`ReadError`] if a body is too long, or if there is not enough memory.
pub fn can_be_older(
    (time, late): (Micros, &str),
    before: Option<(Micros, &str)>,
    (end, next): (Micros, &str),
    pause: Pause<'_>,
) -> Result<bool, ReadError> {
    let (mut late, mut next) = (Body::read(late, pause)?, Body::read(next, pause)?);
    let mut before = match before {
        Some((since, before)) => Some((since, Body::read(before, pause)?)),
        None => None,
    };
    if let Some((_, before)) = &mut before {
        body::fill_in(before, &mut late);
    }
    body::fill_in(&mut late, &mut next);
    let before = before
        .as_ref()
        .map(|(since, before)| before.observed(*since));
    match increment::can_be_older(
        &late.observed(time),
        before.as_ref(),
        &next.observed(end),
        pause,
    ) {
        Ok(()) => Ok(true),
        Err(LateReason::OutOfMemory(error)) => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// Returns the increments of the target minus the increments of the connections. Counters are read one after the other, so
/// that a connection can have counted more than its target: then the difference is zero.
fn own_work(increments: Vec<Increment<'_>>) -> Vec<Increment<'static>> {
    let mut others = BTreeMap::<Column, i64>::new();
    let (own, exports): (Vec<_>, Vec<_>) = increments
        .into_iter()
        .partition(|increment| increment.id.is_empty());
    for (column, growth) in exports.into_iter().flat_map(|export| export.totals) {
        let sum = others.entry(column).or_default();
        *sum = sum.saturating_add(growth);
    }
    let mut left = Vec::with_capacity(own.len());
    for mut increment in own {
        for (column, growth) in &mut increment.totals {
            let other = others.entry(*column).or_default();
            let taken = (*growth).min(*other);
            *growth -= taken;
            *other -= taken;
        }
        increment.totals.retain(|(_, growth)| *growth > 0);
        if !increment.totals.is_empty() {
            left.push(Increment {
                id: "",
                detail: None,
                last_active: None,
                ..increment
            });
        }
    }
    left
}
