//! Adds up the sums of a statement over the units of a group.

use crate::query::measure::Term;
use crate::query::statement::{Parts, Statement, SumNumber};

impl Statement<'_> {
    /// Returns an expression for a measure's total over units `scope`.
    pub(super) fn total(&self, measure: &Parts<'_>) -> String {
        terms(measure, |sum, term| {
            let total = if self.has_span() {
                // The values are sums already, which are numeric; treating them as integers would take longer.
                format!("sum({})", self.value(sum))
            } else {
                self.aggregate("sum", sum, term)
            };
            times(total, term.factor())
        })
    }

    /// Returns an expression that tells whether a measure's total over units `scope` is not zero, if possible without
    /// computing the total.
    pub(super) fn occurs(&self, measure: &Parts<'_>) -> String {
        match measure.total.as_slice() {
            [(sum, term)] if term.weight.is_none() => self.aggregate("any", *sum, term),
            _ => format!("{} <> 0", self.total(measure)),
        }
    }

    /// Returns an expression for a measure's total over units `scope`, each divided by the seconds for which the unit was
    /// observed. Weights are applied before anything is rounded.
    pub(super) fn rate(&self, measure: &Parts<'_>) -> String {
        if let [(sum, term)] = measure.total.as_slice()
            && term.weight.is_none()
        {
            return self.aggregate("sum_of_rates", *sum, term);
        }
        let rates = terms(measure, |sum, term| {
            let rate = format!(
                "sum({} * 1000000.0 / nullif(scope.observed, 0))",
                self.value(sum)
            );
            times(rate, term.factor())
        });
        format!("({rates})::double precision")
    }

    /// Returns an aggregate over units `scope`. Aggregates of the same sum have the same arguments, so that the sum is
    /// computed once.
    fn aggregate(&self, name: &str, sum: SumNumber, term: &Term) -> String {
        // Microseconds divided by microseconds are seconds per second.
        let scale = if term.sum.time { 1 } else { 1_000_000 };
        let value = self.value(sum);
        format!("jobstats_internal.{name}({value}, scope.observed, {scale})")
    }

    /// Returns an expression for a sum of one unit `scope`: zero if the unit was observed without such usage, NULL if that
    /// is not known.
    pub(super) fn value(&self, n: SumNumber) -> String {
        let sum = &self.sums[n];
        let none = if sum.time {
            "scope.none_of_time"
        } else {
            "scope.none"
        };
        if sum.mdt_only {
            format!("coalesce(CASE WHEN scope.mdt THEN activity.sum_{n} END, {none})")
        } else {
            format!("coalesce(activity.sum_{n}, {none})")
        }
    }
}

/// Multiplies an expression by a factor, if there is one.
pub(super) fn times(expression: String, factor: Option<String>) -> String {
    match factor {
        Some(factor) => format!("{expression} * {factor}"),
        None => expression,
    }
}

/// Returns the sum of the terms of a measure, each made of an expression.
fn terms(measure: &Parts<'_>, expression: impl Fn(SumNumber, &Term) -> String) -> String {
    let terms = measure.total.iter();
    let terms: Vec<String> = terms.map(|(sum, term)| expression(*sum, term)).collect();
    terms.join(" + ")
}
