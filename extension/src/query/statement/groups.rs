//! Computes the groups of the answer from the sums of a statement.

use crate::pg::template::sql;
use crate::query::dimension::{Dimension, Level, columns};
use crate::query::measure::{CALLS_FOR_MEAN, SECONDS};
use crate::query::question::{SUMMARY, Wanted};
use crate::query::statement::sums::times;
use crate::query::statement::{Parts, Statement, SumNumber};
use crate::query::window::ROW_LIMIT;

impl Statement<'_> {
    /// Returns a SELECT of the rows of the answer.
    pub(super) fn wanted(&self) -> String {
        let groups = self.groups();
        let limit = (ROW_LIMIT + 1).to_string();
        let schema = &self.plan.schema;
        match self.question.wanted {
            Wanted::Rates | Wanted::Totals | Wanted::Summary | Wanted::Sizes => {
                sql!("all.sql", groups = groups, limit = limit)
            }
            // These rows are added up further, so that none may be left out.
            Wanted::Work => groups,
            Wanted::Top { n, min_rate, .. } => sql!(
                "top.sql",
                groups = groups,
                order = self.order("groups."),
                n = self.params.bind("n", || n),
                min_rate = self.params.bind("min_rate", || min_rate),
                limit = limit,
            ),
            Wanted::Densities { base } => sql!(
                "densities.sql",
                groups = groups,
                schema = schema,
                base = self.params.bind("base", || base),
            ),
            Wanted::Leading => self.leading(&groups),
        }
    }

    /// Returns the columns by which the rows are ordered.
    pub(super) fn order(&self, table: &str) -> String {
        let first = match self.question.wanted {
            Wanted::Rates | Wanted::Totals | Wanted::Summary | Wanted::Work | Wanted::Sizes => {
                format!("{table}step")
            }
            Wanted::Top { .. } => format!("{table}total_0 DESC"),
            Wanted::Densities { .. } => return format!("{table}step, {table}bucket"),
            Wanted::Leading => format!("{table}excess DESC NULLS LAST"),
        };
        if !self.question.filters.nameless {
            return first + &columns(self.question.by.iter(), table);
        }
        // The order of numbers would tell whose the pseudonyms are.
        let by = self.question.by.iter().map(|it| match it.names_people() {
            true => format!(", jobstats_internal.pseudonym({table}{}::text)", it.name),
            false => format!(", {table}{}", it.name),
        });
        first + &by.collect::<String>()
    }

    fn leading(&self, groups: &str) -> String {
        let by = &self.question.by;
        let of_leader = by.of(&[Level::Entry]).map(|it| {
            let name = it.name;
            format!(",\n    CASE WHEN leader.share IS NOT NULL THEN leader.{name} END AS {name}")
        });
        sql!(
            "leading.sql",
            groups = groups,
            dimensions = columns(by.iter(), "groups."),
            entry = self.entry_columns("groups."),
            of_target = columns(by.of(&[Level::Target]), "leader."),
            of_leader = of_leader.collect::<String>(),
        )
    }

    /// Returns a SELECT of one row per step and group: `step`, the dimensions, `observed`, `targets`, `mdt`, `ost`, and
    /// per measure n, where wanted, `total_n`, `rate_n`, `occurs_n`, `calls_n` and `per_call_n`; then the further
    /// columns of a summary, or the `unit_group` if the answer compares these groups.
    fn groups(&self) -> String {
        let measures = self.measures.iter().enumerate();
        let sums: String = measures.map(|(n, it)| self.group_sums(n, it)).collect();
        let dimension = |it: &Dimension| match it.level {
            Level::Entry => format!(", sums.{}", it.name),
            Level::Target | Level::Server => format!(", coverage.{}", it.name),
        };
        let dimensions: String = self.question.by.iter().map(dimension).collect();
        let (summary, summary_sums) = self.summary();
        let unit_group = match self.question.wanted {
            Wanted::Leading => ", sums.unit_group",
            _ => "",
        };
        sql!(
            "groups.sql",
            dimensions = dimensions,
            values = self.group_values() + summary + unit_group,
            entry = self.entry_columns("activity."),
            sums = sums + &summary_sums,
            join = if self.question.has_idle_targets() {
                "LEFT JOIN"
            } else {
                "JOIN"
            },
            same_server = self.same_server("scope", "activity"),
            same_step = if self.plan.window.steps() > 1 {
                " AND activity.step = scope.step"
            } else {
                ""
            },
        )
    }

    fn group_sums(&self, n: usize, measure: &Parts<'_>) -> String {
        let (wanted, mut sums) = (self.question.wanted, String::new());
        if wanted.has_totals() {
            sums += &format!(",\n    trim_scale({}) AS total_{n}", self.total(measure));
        } else if wanted.has_row_per_measure() {
            sums += &format!(",\n    {} AS occurs_{n}", self.occurs(measure));
        }
        if wanted.has_rates() {
            sums += &format!(",\n    {} AS rate_{n}", self.rate(measure));
        }
        if wanted.has_row_per_measure() {
            let value = |sum: Option<SumNumber>| match sum {
                Some(sum) => self.value(sum),
                None => "NULL::numeric".to_owned(),
            };
            let (calls, spent) = (value(measure.calls), value(measure.spent));
            sums += &format!(", sum({calls}) AS calls_{n}, sum({spent}) AS spent_{n}");
        }
        sums
    }

    fn group_values(&self) -> String {
        if self.is_summary() {
            let totals = SUMMARY.iter().enumerate();
            let totals = totals.map(|(n, (name, _))| format!(", sums.total_{n} AS {name}"));
            return totals.collect();
        }
        if self.has_span() {
            let totals = (0..self.measures.len()).map(|n| format!(", sums.total_{n}"));
            return totals.collect();
        }
        let (wanted, mut values) = (self.question.wanted, String::new());
        for (n, measure) in self.measures.iter().enumerate() {
            if wanted.has_totals() {
                values +=
                    &format!(", sums.total_{n}, sums.total_{n}::double precision AS amount_{n}");
            }
            if wanted.has_rates() {
                values += &format!(", sums.rate_{n}");
            }
            if wanted.has_row_per_measure() {
                let occurs = match wanted.has_totals() {
                    true => format!("total_{n} <> 0"),
                    false => format!("occurs_{n}"),
                };
                values += &format!(", sums.{occurs} AS occurs_{n}");
            }
            if wanted.has_row_per_measure() {
                let in_time = measure.spent.is_some_and(|sum| self.sums[sum].time);
                let spent = times(
                    format!("sums.spent_{n}"),
                    in_time.then(|| SECONDS.to_owned()),
                );
                let per_call = per_call(&spent, &format!("sums.calls_{n}"));
                values += &format!(", sums.calls_{n}, {per_call} AS per_call_{n}");
            }
        }
        values
    }

    /// Returns the further columns of a summary or of work, and the sums that they are made of.
    fn summary(&self) -> (&'static str, String) {
        if !self.has_span() {
            return ("", String::new());
        }
        let span = ",\n    min(activity.first) AS first, max(activity.last) AS last";
        let Some([times, calls]) = self.load else {
            return (", sums.first, sums.last AS last_active", span.to_owned());
        };
        let sums = format!(
            "{span}, coalesce(sum(activity.nodes), 0)::bigint AS nodes,\n    \
             (array_agg(scope.target_name ORDER BY activity.sum_{times} DESC NULLS LAST, \
             activity.sum_{calls} DESC NULLS LAST, scope.target_name) \
             FILTER (WHERE activity.step IS NOT NULL))[1] AS busiest"
        );
        (
            ", sums.first, sums.last AS last_active, sums.nodes, sums.busiest AS busiest_target",
            sums,
        )
    }
}

/// Returns an expression for the bytes or seconds per call; NULL if there are too few calls.
fn per_call(spent: &str, calls: &str) -> String {
    format!("CASE WHEN {calls} >= {CALLS_FOR_MEAN} THEN ({spent} / {calls})::double precision END")
}
