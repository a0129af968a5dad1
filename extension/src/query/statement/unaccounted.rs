//! Compares the own counters of targets with the sums of their entries.

use crate::pg::template::sql;
use crate::query::dimension::{Level, columns};
use crate::query::measure::Term;
use crate::query::params::Query;
use crate::query::plan::Plan;
use crate::query::statement::{Parts, Statement, number};
use crate::query::usage::{Key, Search};
use crate::query::window::ROW_LIMIT;
use crate::store::sum::Sum;

/// The column of whole targets that sums the microseconds for which their counters were read.
const READ: &str = "observed_usecs";

/// The part of the time in which the entries of a target were observed that its own counters must have been read for, or nothing
/// is told of the difference. The two are read a moment apart.
const SHARE_READ: &str = "0.98";

impl Statement<'_> {
    /// Returns the statement that shows, by step, dimension and measure, what targets did in all, what their entries did, and the
    /// difference. `wholes` is the plan of the same window for whole targets. Without `entries`, their work counts as none: to sum it
    /// costs as much as all the rest of an answer.
    pub fn unaccounted(&self, wholes: &Plan, entries: bool) -> Query {
        let mut sums = self.sums.clone();
        let times = number(&mut sums, &Sum::service_time());
        let read = number(&mut sums, &Sum::column(READ));
        let search = Search {
            plan: wholes,
            ..self.search(&sums, false, ["", ""], Key::Target)
        };
        let dimensions = || self.question.by.of(&[Level::Target]);
        let measures = self.question.measures.list.iter();
        let measures = measures.zip(&self.measures).enumerate();
        let measures: Vec<String> = measures
            .map(|(n, (measure, parts))| {
                format!(
                    "({n}, {}::text, {}, {})",
                    self.params
                        .bind(&format!("measure {n}"), || measure.name.clone()),
                    self.total_of("whole", "whole.read", "whole.has_times", parts),
                    self.total_of("part", "observed.micros[step.step]", "true", parts),
                )
            })
            .collect();
        let usage = match entries {
            true => self
                .search(&self.sums, false, ["", ""], Key::Target)
                .in_window(),
            false => {
                let values: String = (0..self.sums.len())
                    .map(|n| format!(", NULL::bigint AS value_{n}"))
                    .collect();
                format!("SELECT 1 AS step, NULL::integer AS target_id{values} WHERE false")
            }
        };
        let statement = sql!(
            "unaccounted.sql",
            observed = self.observed(),
            usage = usage,
            whole = search.in_window(),
            sums = self.each_sum(|n| format!("sum(usage.value_{n})")),
            times = times.to_string(),
            read = read.to_string(),
            share_read = SHARE_READ,
            of_targets = self.of_targets(),
            of_unit = columns(dimensions(), "unit."),
            of_cell = columns(dimensions(), "cell."),
            of_answer = columns(dimensions(), "answer."),
            measures = measures.join(", "),
            steps = self.plan.window.steps().to_string(),
            edges = format!("({})", self.plan.edges(&self.params)),
            limit = (ROW_LIMIT + 1).to_string(),
        );
        Query::new(statement, &self.params)
    }

    /// Returns an expression for the total of a measure in a table of sums: zero where nothing was done while the target was
    /// read, NULL where that is not known.
    fn total_of(&self, table: &str, read: &str, has_times: &str, parts: &Parts<'_>) -> String {
        let term = |(sum, term): &(usize, &Term)| {
            let known = match term.sum.time {
                true => format!("{read} > 0 AND {has_times}"),
                false => format!("{read} > 0"),
            };
            let value = format!("coalesce({table}.sum_{sum}, CASE WHEN {known} THEN 0 END)");
            let value = match term.sum.mdt_only {
                true => format!("CASE WHEN unit.target_kind = 'MDT' THEN {value} ELSE 0 END"),
                false => value,
            };
            match term.factor() {
                Some(factor) => format!("{value} * {factor}"),
                None => value,
            }
        };
        let terms: Vec<String> = parts.total.iter().map(term).collect();
        terms.join(" + ")
    }
}
