//! Sums rows where they lie, in a front.
//!
//! PostgreSQL lets each node sum its own partition where rows are grouped by the target, and all that is summed are columns. Expressions
//! follow: what several columns add up to is the same before and after rows are summed.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::query::usage::{Relation, Search};

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

    /// Returns a SELECT of the sums of the columns that are needed, by target, entry or owner, and `step`, an expression over columns
    /// and parameters.
    pub(super) fn summed_on_nodes(
        &self,
        (name, relation): (&str, Relation),
        step: Option<&str>,
        condition: &str,
    ) -> String {
        let mut keys = format!("usage.target_id{}", self.key_columns(relation));
        let columns = keys.matches(',').count() + 1 + usize::from(step.is_some());
        if let Some(step) = step {
            let _ = write!(keys, ", {step} AS step");
        }
        let numbers: Vec<String> = (1..=columns).map(|n| n.to_string()).collect();
        let span = if self.span {
            ", min(usage.first) AS first, max(usage.last) AS last"
        } else {
            ""
        };
        let sums: String = self
            .columns_of(relation)
            .iter()
            .map(|column| format!(", sum(usage.\"{column}\") AS \"{column}\""))
            .collect();
        format!(
            "SELECT {keys}{sums}{span} FROM jobstats.{name} usage WHERE {condition} GROUP BY {}",
            numbers.join(", ")
        )
    }

    fn columns_of(&self, relation: Relation) -> BTreeSet<&str> {
        let columns = self.sums.iter().flat_map(|sum| {
            match sum.combined().filter(|_| relation.is_by_owner()) {
                Some(column) => vec![column],
                None => sum.columns.iter().map(String::as_str).collect(),
            }
        });
        columns.collect()
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
