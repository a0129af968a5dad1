//! The ledger: what became of each reading.

use std::collections::HashMap;
use std::io::Write as _;
use std::ops::{AddAssign, Range};
use std::path::Path;

use jiff::Timestamp;
use jobstats_client::spool::Losses;

use crate::database::{Database, Row};
use crate::place::{Call, Mode, SECOND, time_of};
use crate::server::Server;

/// The longest time between the time that the clock shows when a reading begins and the label of a text.
const LONGEST: i64 = 55 * SECOND;

/// The beginning of the shipper's message about a reading that took too long, as it may on a busy machine.
const LATE: &str = "lctl did not finish within";

/// Counts of readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls of lctl.
    pub calls: u64,
    /// Readings that reached the spool.
    pub spooled: u64,
    /// Readings whose texts are all stored.
    pub stored: u64,
    /// Readings that were stored although they never reached the spool.
    pub direct: u64,
    /// Readings of the spool that the database rejected because of their time.
    pub rejected: u64,
    /// Readings that were dropped, by limits or a full disk.
    pub dropped: u64,
    /// Readings that the shipper reported as dropped.
    pub said_dropped: u64,
    /// Readings of the spool that are gone for no reason that the shipper gave.
    pub lost: u64,
    /// Texts that are stored twice.
    pub doubled: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Self) {
        self.calls += more.calls;
        self.spooled += more.spooled;
        self.stored += more.stored;
        self.direct += more.direct;
        self.rejected += more.rejected;
        self.dropped += more.dropped;
        self.said_dropped += more.said_dropped;
        self.lost += more.lost;
        self.doubled += more.doubled;
    }
}

impl Counts {
    /// Returns true if all is as it should be.
    pub fn is_right(&self, may_drop: bool) -> bool {
        let is_said = self.dropped == self.said_dropped && (may_drop || self.dropped == 0);
        self.lost == 0 && self.doubled == 0 && is_said
    }
}

/// The texts of the database that came with a fault, by server and call.
#[derive(Default)]
struct Texts(HashMap<(String, usize), Vec<Row>>);

impl Texts {
    /// Takes the rows that are not known yet, and finds the call of each among those since the fault began.
    fn new(
        rows: Vec<Row>,
        known: &mut HashMap<Row, usize>,
        calls: &HashMap<String, (usize, Vec<Call>)>,
    ) -> Self {
        let mut texts = Self::default();
        for row in rows {
            if known.contains_key(&row) {
                continue;
            }
            let (since, calls) = &calls[&row.server];
            let call = call_of(calls, *since, row.label);
            let call = call.unwrap_or_else(|| panic!("nobody has read {row:?}"));
            known.insert(row.clone(), call);
            let rows = texts.0.entry((row.server.clone(), call)).or_default();
            rows.push(row);
        }
        texts
    }

    /// Returns the number of targets that have a text of this call, and the number of texts beyond one for each.
    fn count(&self, server: &str, call: usize) -> (usize, usize) {
        let mut targets: Vec<&str> = self
            .0
            .get(&(server.to_owned(), call))
            .map(|rows| rows.iter().map(|row| row.target.as_str()).collect())
            .unwrap_or_default();
        let all = targets.len();
        targets.sort_unstable();
        targets.dedup();
        (targets.len(), all - targets.len())
    }
}

/// Finds the call whose text has this label: the right time, the time that the clock showed, or the right time plus an error
/// that the clock had before.
fn call_of(calls: &[Call], since: usize, label: Timestamp) -> Option<usize> {
    let label = label.as_nanosecond() as i64;
    // The database keeps microseconds.
    let is_from = |begin: i64| (begin - 1000..begin + LONGEST).contains(&label);
    // A call that was killed before it moved the clock on makes the next one look wrong by an interval.
    let error = |number: usize| calls[number].shown - time_of(number as u64);
    let is_wrong = |number: &usize| error(*number) % (120 * SECOND) != 0;
    let wrong = (since..calls.len()).find(is_wrong).map_or(0, error);
    (since..calls.len()).rev().find(|&number| {
        let right = time_of(number as u64);
        is_from(calls[number].shown) || is_from(right) || is_from(right + wrong)
    })
}

/// The state of a server before a fault.
pub struct Before {
    /// The number of calls of lctl.
    calls: usize,
    /// The losses that the shipper reported.
    losses: Losses,
    /// The number of readings that took too long.
    late: usize,
}

impl Before {
    /// Notes the state of a server.
    pub fn new(server: &Server) -> Self {
        Self {
            calls: server.place.calls().len(),
            losses: server.losses(),
            late: server.count_said(LATE),
        }
    }
}

/// The texts that are known, with the calls that they come from.
#[derive(Default)]
pub struct Ledger {
    stored: HashMap<Row, usize>,
    rejected: HashMap<Row, usize>,
}

impl Ledger {
    /// Judges the calls since the fault began. A shipper that is killed may lose the reading that it has not yet written to the
    /// spool.
    pub fn judge(
        &mut self,
        database: &Database,
        cluster: &str,
        servers: &mut [Server],
        before: &[Before],
        has_kills: bool,
    ) -> Counts {
        let calls: HashMap<String, (usize, Vec<Call>)> = servers
            .iter()
            .zip(before)
            .map(|(server, before)| (server.name.clone(), (before.calls, server.place.calls())))
            .collect();
        let stored = Texts::new(database.stored(cluster), &mut self.stored, &calls);
        let rejected = Texts::new(database.rejected(cluster), &mut self.rejected, &calls);
        let mut counts = Counts::default();
        for (server, before) in servers.iter_mut().zip(before) {
            server.note_spooled();
            let (_, calls) = &calls[&server.name];
            let mut one = of_server(server, calls, before.calls..calls.len(), &stored, &rejected);
            let said = server.losses();
            let (limits, room) = (
                said.limits - before.losses.limits,
                said.room - before.losses.room,
            );
            let late = server.count_said(LATE) - before.late;
            one.counts.said_dropped = limits + room;
            one.counts.dropped = one.missing.min(limits) + one.unspooled.min(room);
            // Any other missing reading is lost.
            one.counts.lost = one.missing.saturating_sub(limits);
            if !has_kills {
                one.counts.lost += one.unspooled.saturating_sub(room + late as u64);
            }
            counts += one.counts;
        }
        counts
    }

    /// Writes the true times of all texts, for the simulator.
    pub fn write_labels(&self, path: &Path) {
        let mut file = std::fs::File::create(path).unwrap();
        writeln!(file, "server,label,time").unwrap();
        for (row, call) in &self.stored {
            let time = Timestamp::from_nanosecond(time_of(*call as u64).into()).unwrap();
            writeln!(file, "{},{},{time}", row.server, row.label).unwrap();
        }
    }
}

/// The fate of the readings of one server.
#[derive(Default)]
struct OfServer {
    counts: Counts,
    /// Readings of the spool that the database has neither stored nor rejected.
    missing: u64,
    /// Whole readings that neither reached the spool nor the database.
    unspooled: u64,
}

/// Counts the calls of a server.
fn of_server(
    server: &Server,
    calls: &[Call],
    range: Range<usize>,
    stored: &Texts,
    rejected: &Texts,
) -> OfServer {
    let mut one = OfServer::default();
    let counts = &mut one.counts;
    for call in range {
        let number = number(server, calls, call);
        let is_spooled = number.is_some_and(|number| server.spooled.contains(&number));
        let (targets, doubled) = stored.count(&server.name, call);
        let (refused, _) = rejected.count(&server.name, call);
        assert!(
            targets == 0 || calls[call].mode == Mode::Whole,
            "a reading that failed is stored"
        );
        counts.calls += 1;
        counts.doubled += doubled as u64;
        counts.spooled += u64::from(is_spooled);
        let is_stored = targets == server.targets;
        counts.stored += u64::from(is_stored);
        counts.direct += u64::from(is_stored && !is_spooled);
        if is_spooled && !is_stored {
            let is_rejected = targets + refused == server.targets;
            counts.rejected += u64::from(is_rejected);
            one.missing += u64::from(!is_rejected);
        }
        let is_whole = calls[call].mode == Mode::Whole;
        one.unspooled += u64::from(is_whole && !is_spooled && targets == 0);
    }
    one
}

/// Returns the number that a reading got in the spool.
fn number(server: &Server, calls: &[Call], call: usize) -> Option<u64> {
    let after = calls
        .get(call + 1)
        .map_or_else(|| server.place.sequence(), |next| next.sequence);
    (after > calls[call].sequence).then_some(after)
}
