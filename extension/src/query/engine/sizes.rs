//! Reads the sizes of reads and writes.

use jobstats_core::base::operation::{READ_BYTES, WRITE_BYTES};
use jobstats_core::rules::increment::{Details, OperationName, unpack};
use jobstats_core::usage::columns::sum::Sum;
use jobstats_core::usage::dimension::Level;
use jobstats_core::usage::times::reports_times;
use jobstats_core::usage::{Layout, RowOfSizes, Sizes, SizesOfGroup, SizesOfRow, Subject};

use crate::pg::error::Error;
use crate::pg::receive::Type;
use crate::query::engine::{Reading, Request};
use crate::query::packed::histogram;
use crate::query::read::{self, RowOwner, Selection};

/// The columns of calls and bytes.
const SUMS: [&str; 4] = ["read", "read_bytes", "write", "write_bytes"];

/// The columns of histograms and details.
const PACKED: [(&str, Type); 2] = [("usage.sizes", Type::Bytes), ("usage.detail", Type::Bytes)];

impl Request<'_> {
    /// Reads the sizes of reads and writes in the window, which has one step, by group: histograms, and sums of calls outside of histograms.
    pub fn read_sizes(&self, take: impl FnMut(SizesOfGroup)) -> Result<(), Error> {
        let scope = self.scope()?;
        let reading = Reading::new(self, &scope)?;
        let mut columns = SUMS.map(str::to_owned).to_vec();
        columns.extend(Sum::service_time().columns);
        let layout = Layout::of_columns(columns);
        let by_entry =
            self.question.by.has(Level::Entry) || self.question.filters.has(Level::Entry);
        let mut sizes = Sizes::new(self.plan.window.since(), self.plan.state.limit);
        for part in &self.plan.sources.parts {
            let change = |it: &mut Selection<'_>| {
                it.by_owner = true;
                it.kept = true;
                it.further = &PACKED;
            };
            reading.each(
                &scope,
                (part, &layout),
                change,
                &mut |target, subject, row| {
                    let subject = if by_entry { subject } else { Subject::ALL };
                    Ok(sizes.add(&of_row(&row, target, subject))?)
                },
            )?;
        }
        let groups = self.groups(reading, &sizes.cells, sizes.bytes())?;
        Ok(sizes.by_group(&groups, &scope, take)?)
    }
}

fn of_row(row: &read::UsageRow<'_>, target: usize, subject: Subject) -> RowOfSizes {
    let details = unpack(row.bytes(1).unwrap_or_default());
    let calls = [READ_BYTES, WRITE_BYTES].map(|operation| {
        let name = OperationName::Listed(operation);
        let detail = |it: &Details| it.get(&name).cloned().unwrap_or_default();
        SizesOfRow {
            calls: row.values[2 * operation],
            bytes: row.values[2 * operation + 1],
            histogram: row.bytes(0).and_then(|it| histogram(it, operation)),
            detail: details.as_ref().map(detail),
        }
    });
    RowOfSizes {
        target,
        subject,
        entry: match row.owner {
            RowOwner::Entry(id) => id,
            _ => 0,
        },
        part: row.part,
        span: row.span,
        observed: row.observed.unwrap_or(row.at),
        timed: reports_times(row.values[SUMS.len()..].iter().copied()),
        kept: row.kept.clone(),
        calls,
    }
}
