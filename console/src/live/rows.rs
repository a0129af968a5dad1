//! Rows of a table: the work of all targets, added up by user, job, node, process, target or operation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jobstats_core::base::operation::{OperationIndex, READ, READ_BYTES, WRITE, WRITE_BYTES};
use jobstats_core::rules::increment::Column;

use crate::live::history::{Status, Target, TargetStates};
use crate::live::interval::{EntryUsage, Interval};
use crate::live::owner::Owner;
use crate::live::steady_order::steady;
use crate::live::sums::{
    COLUMNS_OF_OPERATION, ObservedInterval, REQUESTS, RunningSums, SERVICE, Sums,
};
use crate::live::view::{By, Key, Sort, View};

pub mod untracked;

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
    /// True if some numbers are from a late target.
    pub is_late: bool,
    /// True for a target whose work is not known.
    pub is_unknown: bool,
}

impl Row {
    /// Returns the requests in service ÷ the median, if both are known. The median covers all usage of a row, not a limited view.
    pub fn times_usual(&self, history: &TargetStates, view: &View) -> Option<f64> {
        let is_whole = view.scope.is_empty() && (view.kind.is_none() || view.by == By::Target);
        let service = self.sums.service?.rate;
        let is_known = is_whole && !self.is_unknown;
        let median = history.median(view.by, &self.key)?;
        is_known.then_some(service / median)
    }
}

/// The rows of all work, by rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The rows that are shown.
    pub rows: Vec<Row>,
    /// The number that ranks the rows: requests per second if a server reports no times.
    pub sort: Sort,
    /// All work that is not outside of the scope.
    pub total: Sums,
    /// The number of rows that are not shown.
    pub more: usize,
    /// The part of all work that is in rows that are not shown.
    pub more_share: Option<f64>,
    /// The part of all work whose identifiers do not name a value of the dimension.
    pub without_share: Option<f64>,
    /// The untracked usage, if known. The sums of the table exclude it, and its share is the share of the target counters.
    pub untracked: Option<Row>,
}

/// A row under construction.
#[derive(Default)]
struct Group<'a> {
    sums: RunningSums,
    users: HashSet<u32>,
    jobs: HashSet<&'a str>,
    nodes: HashSet<&'a str>,
    accounts: HashSet<&'a str>,
    /// The weight of the work on each target: its time and its calls.
    targets: HashMap<&'a Arc<str>, [f64; 2]>,
    operations: HashMap<OperationIndex, [f64; 2]>,
    is_late: bool,
    is_unknown: bool,
}

impl<'a> Group<'a> {
    fn add(&mut self, part: &ObservedInterval<'a>, owner: &'a Owner, growth: &[(Column, i64)]) {
        self.sums.add(part, growth);
        self.is_late |= part.target.is_late();
        self.users.extend(owner.user);
        self.jobs.extend(owner.job.as_deref());
        self.nodes.extend(owner.node.as_deref());
        self.accounts.extend(owner.account.as_deref());
        for (column, total) in growth {
            let rate = *total as f64 / part.observed as f64;
            let snapshot = &part.target.snapshot;
            let sums = part.columns.sums(*column, snapshot.kind).iter();
            for &sum in sums.filter(|sum| [SERVICE, REQUESTS].contains(sum)) {
                self.targets.entry(&snapshot.target).or_default()[sum] += rate;
                self.operations.entry(column.operation()).or_default()[sum] += rate;
            }
        }
    }

    fn row(self, key: Key) -> Row {
        let sums = self.sums.sums();
        let weight = sums.service.map_or(REQUESTS, |_| SERVICE);
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
            target: largest(&self.targets, weight).map(Arc::clone),
            operation: largest(&self.operations, weight),
            is_late: self.is_late,
            is_unknown: self.is_unknown,
            sums,
        }
    }
}

/// Returns the value of a set that has only one.
fn only<T>(values: &HashSet<T>) -> Option<&T> {
    values.iter().next().filter(|_| values.len() == 1)
}

/// Returns the key of the largest weight, by time or by calls; of equal ones the first.
fn largest<K: Copy + Ord>(weights: &HashMap<K, [f64; 2]>, weight: usize) -> Option<K> {
    let weights = weights.iter().map(|(key, it)| (*key, it[weight]));
    let largest = weights.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    largest.map(|(key, _)| key)
}

/// The work that is added up.
#[derive(Default)]
struct Tally<'a> {
    groups: HashMap<Key, Group<'a>>,
    total: RunningSums,
    /// The work whose identifiers do not name a value of the dimension.
    without: RunningSums,
}

/// Adds up the work and ranks it. `before` has the rows as they were shown last, and `most` is the number of rows to show.
pub fn table(history: &TargetStates, view: &View, before: &[Key], most: usize) -> Table {
    let mut tally = Tally::default();
    let targets = history.targets();
    for target in targets.filter(|it| view.kind.is_none_or(|kind| kind == it.snapshot.kind)) {
        let observed = target.window(view.window).map(Interval::length).sum();
        for interval in target.window(view.window) {
            let part = ObservedInterval::of(target, interval, observed);
            let work = interval.work.iter();
            let work = work.filter(|work| is_in_scope(view, &work.owner, target));
            work.for_each(|work| tally.add(&part, work, view));
        }
        if view.by == By::Target && view.scope.is_empty() {
            // A target without usage has a row of zeros, unless it is unknown.
            let group = tally.groups.entry(target_key(target)).or_default();
            group.is_late |= target.is_late();
            group.is_unknown = matches!(target.status, Status::First | Status::Unknown);
        }
    }
    let mut table = tally.ranked(view, before, most);
    table.untracked = untracked::row(history, view, table.sort);
    table
}

fn target_key(target: &Target) -> Key {
    Key::Name((&*target.snapshot.target).into())
}

impl<'a> Tally<'a> {
    fn add(&mut self, part: &ObservedInterval<'a>, work: &'a EntryUsage, view: &View) {
        let growth = work.totals.iter().copied();
        let growth = growth.filter(|it| is_operation_in_scope(view, it.0.operation()));
        let growth: Vec<_> = growth.collect();
        if growth.is_empty() {
            return;
        }
        self.total.add(part, &growth);
        let key = match view.by {
            By::Operation => {
                let columns = &COLUMNS_OF_OPERATION;
                let part = ObservedInterval { columns, ..*part };
                for column in growth.chunks(1) {
                    // The bytes of a read belong to the row of the reads.
                    let key = Key::Operation(owner(column[0].0.operation()));
                    let group = self.groups.entry(key).or_default();
                    group.add(&part, &work.owner, column);
                }
                return;
            }
            By::Target => Some(target_key(part.target)),
            by => Key::of(by, &work.owner),
        };
        match key.map(|key| self.groups.entry(key).or_default()) {
            Some(group) => group.add(part, &work.owner, &growth),
            None => self.without.add(part, &growth),
        }
    }

    /// Ranks the rows, and drops rows below the minimum, outside the filter or beyond the limit.
    fn ranked(self, view: &View, before: &[Key], most: usize) -> Table {
        let (total, without) = (self.total.sums(), self.without.sums());
        let rows = self.groups.into_iter();
        let mut rows: Vec<_> = rows.map(|(key, group)| group.row(key)).collect();
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
        let shown = rows.iter().map(|row| row.share).sum::<Option<f64>>();
        let rest = || Some((1.0 - shown? - share(&without)?).max(0.0));
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

fn is_in_scope(view: &View, owner: &Owner, target: &Target) -> bool {
    view.scope.iter().all(|(by, key)| match (by, key) {
        (By::Operation, _) => true,
        (By::Target, Key::Name(name)) => **name == *target.snapshot.target,
        _ => Key::of(*by, owner).as_ref() == Some(key),
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
