//! What entries did on each target, operation by operation.

use super::groups::per_call;
use super::{Statement, SumNumber};
use crate::reading::dimension::Level;

impl Statement<'_> {
    /// One row per target and measure that is not zero: `step`, the dimensions of the target, `n` (the position of the
    /// measure), `total`, `calls`, `per_call`, `rate`, `first`, `last`, `nodes` and `observed`.
    pub(super) fn operations(&self) -> String {
        let targets = super::columns(self.question.by.of(&[Level::Target]), "u.");
        format!(
            "SELECT 1 AS step{targets}, f.n, trim_scale(f.total) AS total, f.calls, {per_call} AS per_call, \
             f.total::double precision / {seconds} AS rate, f.first, f.last, f.nodes, \
             {seconds} AS observed FROM (\
             SELECT u.target_id, o.n, sum(o.part * o.factor) AS total, sum(o.calls) AS calls, sum(o.spent) AS spent, \
             min(r.first) AS first, max(r.last) AS last, count(DISTINCT e.node) AS nodes FROM ({rows}) r \
             JOIN unit u ON u.target_id = r.target_id JOIN jobstats.entries e ON e.entry_id = r.entry_id \
             CROSS JOIN LATERAL (VALUES {values}) o (n, part, factor, calls, spent) WHERE o.part <> 0 \
             GROUP BY u.target_id, o.n) f \
             JOIN unit u ON u.target_id = f.target_id JOIN seen x ON x.target_id = f.target_id",
            per_call = per_call("f.spent", "f.calls"),
            seconds = super::seconds("x.observed"),
            rows = self.asked_for(true),
            values = self.operation_values(),
        )
    }

    /// What one row `r` adds to each measure. Most of it is nothing: so the factor comes later.
    fn operation_values(&self) -> String {
        let value = |n: SumNumber| {
            if self.sums[n].mdt_only {
                format!("CASE WHEN u.target_kind = 'MDT' THEN r.value_{n} END")
            } else {
                format!("r.value_{n}")
            }
        };
        let or_null = |n: Option<SumNumber>| n.map_or("NULL".to_owned(), value);
        let values = self.measures.iter().enumerate().flat_map(|(n, measure)| {
            // Counted with the first term.
            let mut counts = Some((measure.calls, measure.spent));
            measure.total.iter().map(move |&(sum, term)| {
                let (calls, spent) = counts.take().unwrap_or_default();
                let (part, factor) = (value(sum), term.factor());
                let factor = factor.as_deref().unwrap_or("1");
                format!(
                    "({n}, {part}, {factor}, {}, {})",
                    or_null(calls),
                    or_null(spent)
                )
            })
        });
        values.collect::<Vec<_>>().join(", ")
    }
}
