//! Sums rows where they lie, in a front.
//!
//! PostgreSQL lets each node sum its own partition where rows are grouped by the target, and what is summed are columns, CASE and operators:
//! postgres_fdw sends no COALESCE. What several columns add up to crosses the network as one number.

use crate::query::usage::{Relation, Search, whole_of};
use crate::store::sum::Sum;

/// The largest number of spans that one search on nodes names.
const SPANS: usize = 50;

impl Search<'_> {
    /// Returns whether nodes sum the whole rows of a relation. Rows of increments have no span, server or day of their own then.
    pub(super) fn sums_on_nodes(&self, relation: Relation) -> bool {
        let is_plain = match relation {
            Relation::Increments => !self.span && !self.by_server,
            Relation::Rollup { .. } => true,
        };
        self.plan.is_front && is_plain && !self.as_stored && !self.has_dates(relation)
    }

    /// Returns a SELECT of `value_n` for each of the sums, 0 where its columns are all NULL, by target, entry or owner, and `step`, an
    /// expression over columns and parameters. `cast` is that of sums which fit into a bigint.
    pub(super) fn summed_on_nodes(
        &self,
        (name, relation): (&str, Relation),
        step: Option<&str>,
        condition: &str,
        cast: &str,
    ) -> String {
        let mut keys = format!("usage.target_id{}", self.key_columns(relation));
        let columns = keys.matches(',').count() + 1 + usize::from(step.is_some());
        if let Some(step) = step {
            keys += &format!(", {step} AS step");
        }
        let numbers: Vec<String> = (1..=columns).map(|n| n.to_string()).collect();
        let span = if self.span {
            ", min(usage.first) AS first, max(usage.last) AS last"
        } else {
            ""
        };
        let sums: String = (0..)
            .zip(self.sums)
            .map(|(n, sum)| format!(", sum({}){cast} AS value_{n}", on_node(sum, relation)))
            .collect();
        format!(
            "SELECT {keys}{sums}{span} FROM jobstats.{name} usage WHERE {condition} GROUP BY {}",
            numbers.join(", ")
        )
    }

    /// Returns a SELECT of rows that nodes have summed.
    pub(super) fn of_nodes(&self, step: &str, relation: Relation) -> String {
        self.select(step, relation, |n, sum| match sum.columns.as_slice() {
            [_] => format!("usage.value_{n}"),
            _ => format!("nullif(usage.value_{n}, 0)"),
        })
    }
}

/// Returns an expression for the value that a row adds to a sum.
fn on_node(sum: &Sum, relation: Relation) -> String {
    let combined = sum.combined().filter(|_| relation.is_by_owner());
    match (combined, sum.columns.as_slice()) {
        (Some(column), _) => whole_of(column),
        (None, [column]) => whole_of(column),
        (None, columns) => {
            let terms: Vec<String> = columns
                .iter()
                .map(|column| whole_of(column))
                .map(|column| format!("CASE WHEN {column} IS NULL THEN 0 ELSE {column} END"))
                .collect();
            terms.join(" + ")
        }
    }
}

/// Returns the condition on the times of rows that they are in some spans; `None` if these are too many.
pub fn in_some_spans(time: &str, lower: &str, upper: &str, spans: usize) -> Option<String> {
    let each = (1..=spans).map(|n| format!("{time} > ({lower})[{n}] AND {time} <= ({upper})[{n}]"));
    let each: Vec<String> = each.collect();
    (1..=SPANS)
        .contains(&spans)
        .then(|| format!("({})", each.join(" OR ")))
}
