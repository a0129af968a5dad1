//! Rows of a table: the work of all targets, added up by user, job, node, process, target or operation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jobstats_core::increment::Column;
use jobstats_core::operation::{
    Kind, OPERATIONS, OperationIndex, READ, READ_BYTES, WRITE, WRITE_BYTES,
};
use jobstats_core::target::TargetKind;
use serde::Serialize;
use untracked::Untracked;

use crate::live::board::{Board, Status, Target};
use crate::live::interval::{Interval, Work};
use crate::live::order::steady;
use crate::live::view::{By, Key, Sort, View};
use crate::live::who::Who;

pub mod untracked;

/// An amount, and the same per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Amount {
    /// The amount per second. The rates of targets are added, each for the time for which the target was observed.
    pub rate: f64,
    /// The amount in the time that was looked at.
    pub total: f64,
}

impl Amount {
    fn add(&mut self, total: f64, seconds: f64) {
        self.total += total;
        self.rate += total / seconds;
    }

    fn add_all(&mut self, other: Self) {
        self.total += other.total;
        self.rate += other.rate;
    }
}

/// An amount that is known only if all servers report times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Timed(Option<Amount>);

impl Default for Timed {
    fn default() -> Self {
        Self(Some(Amount::default()))
    }
}

/// The work of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sums {
    /// The seconds that servers spent on requests. The rate is the mean number of requests in service.
    #[serde(rename = "service_time")]
    service: Timed,
    /// Requests of all kinds, each counted once.
    pub requests: Amount,
    pub metadata: Amount,
    #[serde(rename = "read_bytes")]
    pub read: Amount,
    #[serde(rename = "write_bytes")]
    pub write: Amount,
    pub reads: Amount,
    pub writes: Amount,
}

impl Sums {
    /// Returns the time spent on requests, if all servers that did work for the row report it.
    pub const fn service(&self) -> Option<Amount> {
        self.service.0
    }

    /// Returns the bytes per write request, if there was one.
    pub fn per_write(&self) -> Option<f64> {
        (self.writes.total > 0.0).then(|| self.write.total / self.writes.total)
    }

    /// Returns the bytes per read request, if there was one.
    pub fn per_read(&self) -> Option<f64> {
        (self.reads.total > 0.0).then(|| self.read.total / self.reads.total)
    }

    /// Returns the mean time of a request in seconds, if it is known and there was one.
    pub fn per_request(&self) -> Option<f64> {
        let service = self.service()?;
        (self.requests.total > 0.0).then(|| service.total / self.requests.total)
    }

    /// Returns the number by which rows are ranked.
    pub fn rank(&self, sort: Sort) -> Option<f64> {
        match sort {
            Sort::Service => self.service().map(|it| it.rate),
            Sort::Requests => Some(self.requests.rate),
            Sort::Metadata => Some(self.metadata.rate),
            Sort::Read => Some(self.read.rate),
            Sort::Write => Some(self.write.rate),
        }
    }

    fn add(&mut self, part: &TargetWork<'_>, column: Column, total: i64) {
        let (seconds, total) = (part.seconds, total as f64);
        match column {
            Column::Usecs(index) => {
                if let Some(service) = self.service.0.as_mut().filter(|_| part.counts(index)) {
                    service.add(total / 1e6, seconds);
                }
            }
            Column::Total(index) => {
                self.service.0 = self.service.0.filter(|_| !part.is_untimed);
                let operation = &OPERATIONS[index];
                if part.counts(index) {
                    self.requests.add(total, seconds);
                }
                if operation.metadata && part.target.text.kind == TargetKind::Mdt {
                    self.metadata.add(total, seconds);
                }
                self.add_io(index, total, seconds);
            }
        }
    }

    fn add_io(&mut self, index: OperationIndex, total: f64, seconds: f64) {
        match index {
            READ_BYTES => self.read.add(total, seconds),
            WRITE_BYTES => self.write.add(total, seconds),
            READ => self.reads.add(total, seconds),
            WRITE => self.writes.add(total, seconds),
            _ => {}
        }
    }

    fn add_all(&mut self, other: &Self) {
        let (own, more) = (self.service.0.as_mut(), other.service.0);
        match own.zip(more) {
            Some((own, more)) => own.add_all(more),
            None => self.service.0 = None,
        }
        self.requests.add_all(other.requests);
        self.metadata.add_all(other.metadata);
        self.read.add_all(other.read);
        self.write.add_all(other.write);
        self.reads.add_all(other.reads);
        self.writes.add_all(other.writes);
    }
}

/// An interval of a target, as rows are made of it.
#[derive(Clone, Copy)]
struct TargetWork<'a> {
    target: &'a Target,
    /// The place of the target among all.
    place: usize,
    seconds: f64,
    is_untimed: bool,
    /// The operation that a row is made of, if rows are made of operations.
    operation: Option<OperationIndex>,
}

impl TargetWork<'_> {
    /// Returns true if the operation is counted among the requests. An operation that is also counted as another one is
    /// only counted in a row of its own.
    fn counts(&self, index: OperationIndex) -> bool {
        match self.operation {
            Some(own) => own == index && OPERATIONS[index].kind == Kind::Requests,
            None => OPERATIONS[index].in_service_time(),
        }
    }
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The value of the dimension.
    pub key: Key,
    /// The rank by the number that is sorted by, from 1; 0 for work that is in no entry.
    pub rank: usize,
    pub sums: Sums,
    /// The part of all work, by the number that is sorted by.
    pub share: Option<f64>,
    pub users: usize,
    /// The user, if there is only one.
    pub user: Option<u32>,
    pub jobs: usize,
    pub nodes: usize,
    pub accounts: usize,
    /// The account, if there is only one.
    pub account: Option<Box<str>>,
    /// The target that did most of the work.
    pub target: Option<Arc<str>>,
    /// The operation that took most of the time, or of the calls if times are not known.
    pub operation: Option<OperationIndex>,
    /// True if some of the numbers are those of a target that is late.
    pub is_late: bool,
    /// True for a target whose work is not known.
    pub is_unknown: bool,
}

impl Row {
    /// Returns how many times the usual number of requests in service the row has, if both are known. What is usual is known of
    /// all work of a row, not of the part that a limited view has.
    pub fn times_usual(&self, board: &Board, view: &View) -> Option<f64> {
        let is_whole = view.scope.is_empty() && (view.kind.is_none() || view.by == By::Target);
        let service = self
            .sums
            .service()
            .filter(|_| is_whole && !self.is_unknown)?;
        Some(service.rate / board.median(view.by, &self.key)?)
    }
}

/// The rows of all work, by rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The rows that are shown.
    pub rows: Vec<Row>,
    /// The number by which the rows are really ranked: requests per second, if a server does not report times.
    pub sort: Sort,
    /// All work that is not outside of the scope.
    pub total: Sums,
    /// The number of rows that are not shown.
    pub more: usize,
    /// The part of all work that is in rows that are not shown.
    pub more_share: Option<f64>,
    /// The part of all work whose identifiers do not name a value of the dimension.
    pub without_share: Option<f64>,
    /// The work that is in no entry, where it is known. It counts in no sum of the table, and its share is that of all that the
    /// targets did.
    pub untracked: Option<Row>,
}

/// A row under construction.
#[derive(Default)]
struct Group<'a> {
    sums: Sums,
    users: HashSet<u32>,
    jobs: HashSet<&'a str>,
    nodes: HashSet<&'a str>,
    accounts: HashSet<&'a str>,
    /// The weight of the work on each target: its time and its calls.
    targets: HashMap<usize, (f64, f64)>,
    operations: HashMap<OperationIndex, (f64, f64)>,
    is_late: bool,
    is_unknown: bool,
}

impl<'a> Group<'a> {
    fn add(&mut self, part: &TargetWork<'_>, who: &'a Who, column: Column, total: i64) {
        self.sums.add(part, column, total);
        self.is_late |= part.target.is_late();
        self.users.extend(who.user);
        self.jobs.extend(who.job.as_deref());
        self.nodes.extend(who.node.as_deref());
        self.accounts.extend(who.account.as_deref());
        let (Column::Total(index) | Column::Usecs(index)) = column;
        if part.counts(index) {
            let rate = total as f64 / part.seconds;
            let target = self.targets.entry(part.place).or_default();
            let operation = self.operations.entry(index).or_default();
            match column {
                Column::Usecs(_) => (target.0, operation.0) = (target.0 + rate, operation.0 + rate),
                Column::Total(_) => (target.1, operation.1) = (target.1 + rate, operation.1 + rate),
            }
        }
    }

    fn row(self, key: Key, targets: &[&Target]) -> Row {
        let is_timed = self.sums.service().is_some();
        Row {
            key,
            rank: 0,
            share: None,
            users: self.users.len(),
            user: only(&self.users).copied(),
            jobs: self.jobs.len(),
            nodes: self.nodes.len(),
            accounts: self.accounts.len(),
            account: only(&self.accounts).map(|account| (*account).into()),
            target: largest(&self.targets, is_timed).map(|at| Arc::clone(&targets[at].text.target)),
            operation: largest(&self.operations, is_timed),
            is_late: self.is_late,
            is_unknown: self.is_unknown,
            sums: self.sums,
        }
    }
}

/// Returns the value of a set that has only one.
fn only<T>(values: &HashSet<T>) -> Option<&T> {
    values.iter().next().filter(|_| values.len() == 1)
}

/// Returns the key of the largest weight; of equal ones the first.
fn largest(weights: &HashMap<usize, (f64, f64)>, is_timed: bool) -> Option<usize> {
    let weight = |(time, calls): &(f64, f64)| if is_timed { *time } else { *calls };
    let weights = weights.iter().map(|(key, it)| (*key, weight(it)));
    let largest = weights.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    largest.map(|(key, _)| key)
}

/// The work that is added up.
#[derive(Default)]
struct Tally<'a> {
    groups: HashMap<Key, Group<'a>>,
    total: Sums,
    /// The work whose identifiers do not name a value of the dimension.
    without: Sums,
}

/// Adds up the work and ranks it. `before` has the rows as they were shown last, and `most` is the number of rows to show.
pub fn table(board: &Board, view: &View, before: &[Key], most: usize) -> Table {
    let targets: Vec<&Target> = board.targets().collect();
    let mut tally = Tally::default();
    for (place, target) in targets.iter().enumerate() {
        if view.kind.is_some_and(|kind| kind != target.text.kind) {
            continue;
        }
        let length: i64 = target.window(view.window).map(Interval::length).sum();
        for interval in target.window(view.window) {
            let part = TargetWork {
                target,
                place,
                seconds: length as f64 / 1e6,
                is_untimed: !interval.has_times(),
                operation: None,
            };
            let work = interval.work.iter();
            let work = work.filter(|work| is_in_scope(view, &work.who, target));
            work.for_each(|work| tally.add(part, work, view));
        }
        if view.by == By::Target && view.scope.is_empty() {
            // A target without work is a row too, and one that is not known is no zero.
            let group = tally.groups.entry(target_key(target)).or_default();
            group.is_late |= target.is_late();
            group.is_unknown = matches!(target.status, Status::First | Status::Unknown);
        }
    }
    let mut table = tally.ranked(&targets, view, before, most);
    let untracked = Untracked::of(board, view);
    table.untracked = untracked.map(|it| it.row(table.sort));
    table
}

fn target_key(target: &Target) -> Key {
    Key::Name((&*target.text.target).into())
}

impl<'a> Tally<'a> {
    fn add(&mut self, part: TargetWork<'_>, work: &'a Work, view: &View) {
        let is_in_scope = |(column, _): &&(Column, i64)| {
            let (Column::Total(index) | Column::Usecs(index)) = column;
            is_operation_in_scope(view, *index)
        };
        let mut totals = work.totals.iter().filter(is_in_scope).peekable();
        if totals.peek().is_none() {
            return;
        }
        if view.by == By::Operation {
            for (column, amount) in totals {
                self.total.add(&part, *column, *amount);
                // The bytes of a read belong to the row of the reads.
                let (Column::Total(index) | Column::Usecs(index)) = column;
                let own = owner(*index);
                let group = self.groups.entry(Key::Operation(own)).or_default();
                let operation = Some(own);
                group.add(
                    &TargetWork { operation, ..part },
                    &work.who,
                    *column,
                    *amount,
                );
            }
            return;
        }
        let key = match view.by {
            By::Target => Some(target_key(part.target)),
            by => Key::of(by, &work.who),
        };
        let mut group = key.map(|key| self.groups.entry(key).or_default());
        for (column, amount) in totals {
            self.total.add(&part, *column, *amount);
            match &mut group {
                Some(group) => group.add(&part, &work.who, *column, *amount),
                None => self.without.add(&part, *column, *amount),
            }
        }
    }

    /// Ranks the rows and leaves out those that are not to be shown.
    fn ranked(self, targets: &[&Target], view: &View, before: &[Key], most: usize) -> Table {
        let (total, without) = (self.total, self.without);
        let rows = self.groups.into_iter();
        let mut rows: Vec<_> = rows.map(|(key, group)| group.row(key, targets)).collect();
        let sort = match total.rank(view.sort) {
            Some(_) => view.sort,
            None => Sort::Requests,
        };
        let all = total.rank(sort).filter(|all| *all > 0.0);
        let share = |sums: &Sums| Some(sums.rank(sort)? / all?);
        let value = |row: &Row| row.sums.rank(sort).unwrap_or(0.0);
        rows.sort_by(|a, b| {
            let by_requests = || b.sums.requests.rate.total_cmp(&a.sums.requests.rate);
            let by_value = value(b).total_cmp(&value(a)).then_with(by_requests);
            by_value.then_with(|| a.key.cmp(&b.key))
        });
        for (at, row) in rows.iter_mut().enumerate() {
            row.rank = at + 1;
            row.share = share(&row.sums);
        }
        let all_rows = rows.len();
        rows.retain(|row| row.sums.requests.rate >= view.minimum && view.takes(&row.key));
        let keys = rows.iter().map(|row| (row.key.clone(), value(row)));
        let order = steady(&keys.collect::<Vec<_>>(), before)
            .into_iter()
            .take(most);
        let mut slots: Vec<_> = rows.into_iter().map(Some).collect();
        let rows: Vec<_> = order.filter_map(|at| slots[at].take()).collect();
        let mut shown = Sums::default();
        rows.iter().for_each(|row| shown.add_all(&row.sums));
        let rest = || Some((1.0 - share(&shown)? - share(&without)?).max(0.0));
        Table {
            more: all_rows - rows.len(),
            more_share: rest().map(|rest| if rows.len() == all_rows { 0.0 } else { rest }),
            without_share: share(&without),
            untracked: None,
            rows,
            sort,
            total,
        }
    }
}

/// Returns the operation in whose row a column is shown.
fn owner(index: OperationIndex) -> OperationIndex {
    match index {
        READ_BYTES => READ,
        WRITE_BYTES => WRITE,
        _ => index,
    }
}

fn is_in_scope(view: &View, who: &Who, target: &Target) -> bool {
    view.scope.iter().all(|(by, key)| match (by, key) {
        (By::Operation, _) => true,
        (By::Target, Key::Name(name)) => **name == *target.text.target,
        _ => Key::of(*by, who).as_ref() == Some(key),
    })
}

fn is_operation_in_scope(view: &View, index: OperationIndex) -> bool {
    view.scope.iter().all(|(_, key)| match key {
        Key::Operation(operation) => owner(index) == *operation,
        _ => true,
    })
}

#[cfg(test)]
mod tests;
