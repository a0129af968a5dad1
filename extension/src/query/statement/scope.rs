//! Finds the targets in scope, and the time for which they were observed in each step.

use crate::pg::template::sql;
use crate::query::dimension::{Dimension, InSql, Level, columns, named_columns};
use crate::query::plan::bind_spans;
use crate::query::statement::Statement;
use crate::store::views::hour_of;

impl Statement<'_> {
    /// Returns a SELECT of the times at which targets were observed, for targets that were observed in the window or on
    /// the day before.
    pub(super) fn observation(&self) -> String {
        let (plan, params) = (self.plan, &self.params);
        // A retired target is in scope up to its last observation.
        let of_targets = format!(
            "{} AND (target.retired IS NULL OR target.retired > {})",
            self.filters(Level::Target, "target"),
            plan.since(params)
        );
        if self.question.asks_servers() {
            return sql!(
                "observation_by_server.sql",
                day_before = plan.day_before(params),
                until = plan.until(params),
                conditions = of_targets + &self.filters(Level::Server, "observation"),
                beyond = self.beyond(),
            );
        }
        let (edge, starts) = match plan.is_front {
            true => self.ends_on_nodes(&of_targets),
            false => self.ends(&of_targets),
        };
        sql!(
            "observation.sql",
            edge = edge,
            starts = starts,
            until = plan.until(params),
            day_before = plan.day_before(params),
            conditions = of_targets,
        ) + &plan.of_missing(params)
    }

    /// Returns the common table `edge`, the first and the last observation of each target, and a SELECT of the starts of spans.
    fn ends(&self, of_targets: &str) -> (String, String) {
        let (plan, params) = (self.plan, &self.params);
        let edge = sql!(
            "observation/edge.sql",
            since = plan.since(params),
            until = plan.until(params),
            day_before = plan.day_before(params),
            kept_since = plan.kept_since(params),
            conditions = of_targets,
            beyond = self.beyond(),
        );
        let starts = sql!(
            "observation/starts.sql",
            since = plan.since(params),
            until = plan.until(params),
            kept_since = plan.kept_since(params),
        );
        (edge, starts)
    }

    /// Returns the same in a front.
    fn ends_on_nodes(&self, of_targets: &str) -> (String, String) {
        let (plan, params) = (self.plan, &self.params);
        let (since, until) = (plan.since(params), plan.until(params));
        let (early, late) = (plan.early(params), plan.late(params));
        let (soon, kept_since) = (plan.soon(params), plan.kept_since(params));
        let edges = [&since, &kept_since, &early, &late, &until].map(|it| hour_of(it));
        let beyond = [&until, &kept_since, &soon].map(|it| hour_of(it));
        let edge = sql!(
            "observation/edge_on_nodes.sql",
            hour = hour_of("observation.\"time\""),
            edges = edges.join(", "),
            beyond = beyond.join(", "),
            since = since,
            until = until,
            day_before = plan.day_before(params),
            early = early,
            late = late,
            soon = soon,
            kept_since = kept_since,
            conditions = of_targets,
        );
        (edge, sql!("observation/starts_on_nodes.sql"))
    }

    fn beyond(&self) -> String {
        let (plan, params) = (self.plan, &self.params);
        sql!(
            "beyond.sql",
            until = plan.until(params),
            soon = plan.soon(params),
            kept_since = plan.kept_since(params),
        )
    }

    pub(super) fn unit(&self) -> String {
        let table = |it: &Dimension| match it.level {
            Level::Server => "observation",
            _ => "target",
        };
        let dimensions = || self.question.by.of(&[Level::Target, Level::Server]);
        let order: Vec<String> = dimensions()
            .map(|it| it.expression(table(it).into()))
            .collect();
        let group = match order.as_slice() {
            [] => "1".to_owned(),
            order => format!("dense_rank() OVER (ORDER BY {})", order.join(", ")),
        };
        sql!(
            "unit.sql",
            dimensions = named_columns(dimensions(), |it| table(it).into()),
            group = group,
            key = self.unit_key("observation"),
        )
    }

    /// Returns a SELECT of the microseconds for which each unit was observed in each step.
    pub(super) fn seconds(&self) -> String {
        let (plan, params) = (self.plan, &self.params);
        let observation = if plan.sources.has_lost {
            let (lower, upper) = bind_spans("read", &plan.sources.read, params);
            sql!(
                "kept_observation.sql",
                key = self.unit_key("observation"),
                lower = lower,
                upper = upper,
            )
        } else {
            "observation".to_owned()
        };
        sql!(
            "seconds.sql",
            key = self.unit_key("unit"),
            edges = plan.edges(params),
            observation = observation,
            same_unit = self.same_unit("unit", "observation"),
            since = plan.since(params),
            until = plan.until(params),
        )
    }

    pub(super) fn scope(&self) -> String {
        sql!(
            "scope.sql",
            key = self.unit_key("unit"),
            dimensions = columns(self.question.by.of(&[Level::Target]), "unit."),
            steps = self.plan.window.steps().to_string(),
            edges = format!("({})", self.plan.edges(&self.params)),
            same_unit = self.same_unit("unit", "observed"),
        )
    }

    pub(super) fn coverage(&self) -> String {
        let dimensions = self.question.by.of(&[Level::Target, Level::Server]);
        sql!("coverage.sql", dimensions = columns(dimensions, "scope."))
    }
}
