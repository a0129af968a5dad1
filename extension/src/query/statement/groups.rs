//! Computes the groups of the answer from the sums of a statement.

use std::fmt::Write as _;

use crate::query::dimension::Level;
use crate::query::measure::CALLS_FOR_MEAN;
use crate::query::question::{SUMMARY, Wanted};
use crate::query::statement::{Parts, Statement, SumNumber, columns};
use crate::query::window::ROW_LIMIT;

impl Statement<'_> {
    /// Returns a SELECT of the rows of the answer. Their first column is the number of the step.
    pub(super) fn wanted(&self) -> String {
        match self.question.wanted {
            Wanted::All | Wanted::Summary => {
                format!("{} LIMIT {}", self.groups(), ROW_LIMIT + 1)
            }
            Wanted::Top { .. } => self.top(),
            Wanted::Densities { .. } => self.densities(),
            Wanted::Leading => self.leading(),
        }
    }

    /// Returns the columns by which the rows are ordered.
    pub(super) fn order(&self, table: &str) -> String {
        let first = match self.question.wanted {
            Wanted::All | Wanted::Summary => format!("{table}step"),
            Wanted::Top { .. } => format!("{table}total_0 DESC"),
            Wanted::Densities { .. } => return format!("{table}step, {table}bucket"),
            Wanted::Leading => format!("{table}excess DESC NULLS LAST"),
        };
        first + &columns(self.question.by.iter(), table)
    }

    /// Returns a SELECT of the groups with the largest totals, each with its share in the total of all groups.
    fn top(&self) -> String {
        format!(
            "SELECT * FROM (SELECT g.*, (g.total_0 / nullif(sum(g.total_0) OVER (), 0))::double precision AS share \
             FROM ({groups}) g WHERE g.total_0 <> 0) g \
             WHERE ${min_rate}::double precision IS NULL OR g.rate_0 >= ${min_rate} \
             ORDER BY {order} LIMIT least(${n}::bigint, {limit})",
            groups = self.groups(),
            order = self.order("g."),
            n = self.after_filters(),
            min_rate = self.after_filters() + 1,
            limit = ROW_LIMIT + 1,
        )
    }

    /// Returns a SELECT of the number of groups per step that have a rate in each bucket.
    fn densities(&self) -> String {
        format!(
            "SELECT d.step, b.bucket, b.lower, b.upper, b.count FROM (\
             SELECT g.step, {schema}.jobstats_density_agg(g.rate_0, ${base}) AS density \
             FROM ({groups}) g WHERE g.rate_0 > 0 GROUP BY g.step) d \
             CROSS JOIN LATERAL {schema}.jobstats_buckets(d.density) b",
            groups = self.groups(),
            schema = self.schema,
            base = self.after_filters(),
        )
    }

    /// Returns a SELECT of the rate of each target, its ratio to the median of the targets of its kind, and the group
    /// of entries that leads on the target.
    ///
    /// The order follows from the difference between a rate and the median, not from their ratio: if the median is
    /// zero, any target above it is out of balance all the same.
    fn leading(&self) -> String {
        let dimensions = columns(self.question.by.iter(), "g.");
        let target = columns(self.question.by.of(&[Level::Target]), "l.");
        // Nobody leads on a target without usage.
        let leader: String = self
            .question
            .by
            .of(&[Level::Entry])
            .map(|it| {
                format!(
                    ", CASE WHEN l.share IS NOT NULL THEN l.{0} END AS {0}",
                    it.name
                )
            })
            .collect();
        let entry = columns(self.question.by.of(&[Level::Entry]), "g.");
        format!(
            "WITH g AS MATERIALIZED ({groups}), l AS MATERIALIZED (\
             SELECT DISTINCT ON (g.unit_group) g.step{dimensions}, g.observed, g.targets, g.mdt, g.ost, \
             t.total::double precision / nullif(g.observed, 0) AS rate, \
             (g.total_0 / nullif(t.total, 0))::double precision AS share FROM g JOIN (\
             SELECT g.unit_group, sum(g.total_0) AS total, max(g.total_0) AS most FROM g GROUP BY g.unit_group\
             ) t ON t.unit_group = g.unit_group WHERE g.total_0 IS NOT DISTINCT FROM t.most \
             ORDER BY g.unit_group{entry}) \
             SELECT l.step{target}{leader}, l.observed, l.targets, l.mdt, l.ost, l.rate, l.share, l.rate / nullif(m.median, 0) AS ratio, l.rate - m.median AS excess FROM l LEFT JOIN (\
             SELECT l.cluster, l.filesystem, l.kind, percentile_cont(0.5) WITHIN GROUP (ORDER BY l.rate) AS median \
             FROM l GROUP BY l.cluster, l.filesystem, l.kind) m \
             ON m.cluster = l.cluster AND m.filesystem IS NOT DISTINCT FROM l.filesystem AND m.kind = l.kind",
            groups = self.groups(),
        )
    }

    /// Returns a SELECT of one row per step and group: `step`, the dimensions, `observed`, `targets`, `mdt`, `ost`, and
    /// per measure n `total_n` (or only whether it is not zero), `rate_n` and, where wanted, `calls_n` and
    /// `per_call_n`; then the further columns of a summary, or the `unit_group` if the answer compares these groups.
    fn groups(&self) -> String {
        let by = &self.question.by;
        let mut sums = String::new();
        for (n, measure) in self.measures.iter().enumerate() {
            sums += &self.group_sums(n, measure);
        }
        // The expression hides the number of targets from the planner. The planner knows nothing about the units, would
        // expect fewer distinct keys in them, and would put all rows into a hash table (39 of 157 ms) to look up the
        // units in it.
        let same_unit = self.same_unit("u", "a");
        let same_unit = same_unit.replace("a.target_id", "a.target_id + 0");
        // In the rows of a single step, the number of the step is a constant. In a join by it, the planner would expect
        // one matching unit, and would read all rows for each of the units.
        let same_step = if self.steps > 1 {
            " AND a.step = u.step"
        } else {
            ""
        };
        let join = if self.question.has_idle_targets() {
            "LEFT JOIN"
        } else {
            "JOIN"
        };
        let entry = columns(by.of(&[Level::Entry]), "a.");
        let dimensions: String = by
            .iter()
            .map(|dimension| match dimension.level {
                Level::Entry => format!(", f.{}", dimension.name),
                Level::Target | Level::Server => format!(", c.{}", dimension.name),
            })
            .collect();
        let (summary, summary_sums) = self.summary();
        let unit_group = match self.question.wanted {
            Wanted::Leading => ", f.unit_group",
            _ => "",
        };
        format!(
            "SELECT f.step{dimensions}, c.observed, c.targets, c.mdt, c.ost{values}{summary}{unit_group} FROM (\
             SELECT u.unit_group, u.step{entry}{sums}{summary_sums} FROM scope u \
             {join} activity a {same_unit}{same_step} GROUP BY u.unit_group, u.step{entry}) f \
             LEFT JOIN coverage c ON c.unit_group = f.unit_group AND c.step = f.step",
            values = self.group_values(),
        )
    }

    fn group_sums(&self, n: usize, measure: &Parts<'_>) -> String {
        let mut sums = if self.question.totals {
            format!(", trim_scale({}) AS total_{n}", self.total(measure))
        } else {
            format!(", {} AS occurs_{n}", self.occurs(measure))
        };
        if !self.is_summary() {
            let _ = write!(sums, ", {} AS rate_{n}", self.rate(measure));
        }
        if self.question.calls {
            let value = |sum: Option<SumNumber>| match sum {
                Some(sum) => self.value(sum),
                None => "NULL::numeric".to_owned(),
            };
            let (calls, spent) = (value(measure.calls), value(measure.spent));
            let _ = write!(
                sums,
                ", sum({calls}) AS calls_{n}, sum({spent}) AS spent_{n}"
            );
        }
        sums
    }

    fn group_values(&self) -> String {
        let mut values = String::new();
        if self.is_summary() {
            for (n, (name, _)) in SUMMARY.iter().enumerate() {
                let _ = write!(values, ", f.total_{n} AS {name}");
            }
            return values;
        }
        for n in 0..self.measures.len() {
            if self.question.totals {
                let _ = write!(values, ", f.total_{n}");
            } else {
                let _ = write!(values, ", f.occurs_{n}");
            }
            if !self.is_summary() {
                let _ = write!(values, ", f.rate_{n}");
            }
            if self.question.totals && self.question.wanted.has_row_per_measure() {
                let _ = write!(values, ", f.total_{n} <> 0 AS occurs_{n}");
            }
            if self.question.calls {
                let per_call = per_call(&format!("f.spent_{n}"), &format!("f.calls_{n}"));
                let _ = write!(values, ", f.calls_{n}, {per_call} AS per_call_{n}");
            }
        }
        values
    }

    /// Returns the further columns of a summary, and the sums that they are made of.
    fn summary(&self) -> (&'static str, String) {
        let Some([times, calls]) = self.load else {
            return ("", String::new());
        };
        let sums = format!(
            ", min(a.first) AS first, max(a.last) AS last, coalesce(sum(a.nodes), 0)::bigint AS nodes, \
             (array_agg(u.target_name ORDER BY a.sum_{times} DESC NULLS LAST, a.sum_{calls} DESC NULLS LAST, \
             u.target_name) FILTER (WHERE a.step IS NOT NULL))[1] AS busiest"
        );
        (
            ", f.first, f.last AS last_active, f.nodes, f.busiest AS busiest_target",
            sums,
        )
    }
}

/// Returns an expression for the bytes or microseconds per call; NULL if there are too few calls.
fn per_call(spent: &str, calls: &str) -> String {
    format!("CASE WHEN {calls} >= {CALLS_FOR_MEAN} THEN ({spent} / {calls})::double precision END")
}
