//! Sums of usage with their rates. Core maps columns to sums and adds up the rates of targets.

use std::array;
use std::sync::LazyLock;

use jobstats_core::base::instant::{Micros, SECOND};
use jobstats_core::base::operation::{Kind, OPERATIONS, Operation};
use jobstats_core::rules::increment::Column;
use jobstats_core::usage::columns::sum::Sum;
use jobstats_core::usage::{Counting, Rates};
use serde::Serialize;

use crate::live::history::Target;
use crate::live::interval::Interval;
use crate::live::view::Sort;

/// The places of the first sums, which are in the order of [`Sums`].
pub const SERVICE: usize = 0;
pub const REQUESTS: usize = 1;
pub const METADATA: usize = 2;

/// The columns of sums.
pub static COLUMNS: LazyLock<Counting> =
    LazyLock::new(|| counting(Sum::service_time(), Sum::service_calls()));

/// The columns of sums of one operation. Requests that are also counted under another operation count here, too.
pub static COLUMNS_OF_OPERATION: LazyLock<Counting> = LazyLock::new(|| {
    let requests = OPERATIONS.iter().filter(|it| it.kind == Kind::Requests);
    let requests: Vec<&Operation> = requests.collect();
    counting(Sum::times(&requests), Sum::counts(&requests))
});

fn counting(service: Sum, requests: Sum) -> Counting {
    let metadata = Sum::metadata_calls().on_mdt();
    let [read, write, reads, writes] =
        ["read_bytes", "write_bytes", "read", "write"].map(Sum::column);
    Counting::new(&[service, requests, metadata, read, write, reads, writes])
}

/// An amount, and the same per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Amount {
    /// The amount per second: the sum of the rates of targets over their observed times.
    pub rate: f64,
    /// The amount in the time that was looked at.
    pub total: f64,
}

/// The work of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sums {
    /// The seconds that servers spent on requests, if all servers that did work report them. The rate is the mean number of requests in
    /// service.
    #[serde(rename = "service_time")]
    pub service: Option<Amount>,
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
        let service = self.service?;
        (self.requests.total > 0.0).then(|| service.total / self.requests.total)
    }

    /// Returns the number that ranks a row.
    pub fn rank(&self, sort: Sort) -> Option<f64> {
        match sort {
            Sort::Service => self.service.map(|it| it.rate),
            Sort::Requests => Some(self.requests.rate),
            Sort::Metadata => Some(self.metadata.rate),
            Sort::Read => Some(self.read.rate),
            Sort::Write => Some(self.write.rate),
        }
    }
}

/// The work on a target, in the order of [`Sums`]: microseconds, requests and bytes.
pub type Totals = [i128; 7];

/// An interval of a target, as sums are made of it.
#[derive(Clone, Copy)]
pub struct ObservedInterval<'a> {
    /// The sums that columns count in.
    pub columns: &'static Counting,
    pub target: &'a Target,
    /// The observed time of the target in all selected intervals.
    pub observed: Micros,
    /// True if the server does not report times.
    pub is_untimed: bool,
}

impl<'a> ObservedInterval<'a> {
    pub fn of(target: &'a Target, interval: &Interval, observed: Micros) -> Self {
        Self {
            columns: &COLUMNS,
            target,
            observed,
            // Without usage, the time is zero.
            is_untimed: !interval.work.is_empty() && interval.timed != Some(true),
        }
    }
}

/// Sums that work is added to.
#[derive(Default)]
pub struct RunningSums {
    sums: [(i128, Rates); 7],
    /// True if a server that does not report times did some of the work.
    pub is_untimed: bool,
}

impl RunningSums {
    /// Adds the growth of columns.
    pub fn add(&mut self, part: &ObservedInterval<'_>, growth: &[(Column, i64)]) {
        let mut totals = Totals::default();
        part.columns
            .add(growth, part.target.snapshot.kind, &mut totals);
        self.add_totals(&totals, part.observed);
        self.is_untimed |= part.is_untimed;
    }

    /// Adds the totals of a target over its observed time.
    pub fn add_totals(&mut self, totals: &Totals, observed: Micros) {
        let sums = self.sums.iter_mut().zip(totals);
        for ((sum, rates), total) in sums.filter(|(_, total)| **total != 0) {
            *sum += total;
            // Growth is below 2^53: no sum of it is out of range.
            rates.push(*total, observed).ok();
        }
    }

    /// Returns the sums.
    pub fn sums(&self) -> Sums {
        let amount = |sum: usize| {
            let unit = if sum == SERVICE { SECOND.into() } else { 1 };
            let (total, rates) = &self.sums[sum];
            Amount {
                rate: rates.rate(unit).unwrap_or(0.0),
                total: *total as f64 / unit as f64,
            }
        };
        let [service, requests, metadata, read, write, reads, writes] = array::from_fn(amount);
        Sums {
            service: (!self.is_untimed).then_some(service),
            requests,
            metadata,
            read,
            write,
            reads,
            writes,
        }
    }
}
