//! Finds the targets in scope, and the time for which they were observed in each step.

use crate::query::dimension::{Dimension, Level};
use crate::query::rows::{KEPT_SINCE, READ};
use crate::query::statement::{Statement, columns, seconds};

impl Statement<'_> {
    /// Returns a SELECT of the times at which targets were observed, for targets that were observed in the window or on
    /// the day before.
    pub(super) fn observation(&self) -> String {
        if self.question.asks_servers() {
            self.observations_by_server()
        } else {
            self.observed_spans()
        }
    }

    /// Returns a SELECT of the observations of the day before the window and of the window, and of the observation that
    /// reaches beyond its end.
    fn observations_by_server(&self) -> String {
        let conditions = self.filters(Level::Target, "t") + &self.filters(Level::Server, "o");
        format!(
            "SELECT o.target_id, o.server, o.since, o.\"time\" FROM jobstats.observations o \
             JOIN jobstats.targets t ON t.target_id = o.target_id \
             WHERE o.\"time\" > $5 AND o.\"time\" <= $2{conditions} \
             UNION ALL \
             SELECT o.target_id, o.server, o.since, o.\"time\" FROM jobstats.targets t \
             {beyond} JOIN jobstats.observations o ON o.target_id = t.target_id \
             AND o.\"time\" = coalesce(n.\"time\", b.\"time\") AND o.\"time\" > $2 \
             WHERE o.since < $2{conditions}",
            beyond = beyond(),
        )
    }

    /// Returns a SELECT of the spans without a gap between observations. Each observation begins where the one before
    /// ends, except baselines. So only the first, the last and the baselines have to be read, however long the window
    /// is. For observations that retention has deleted, such spans are stored in `jobstats.observed`.
    fn observed_spans(&self) -> String {
        let conditions = self.filters(Level::Target, "t");
        format!(
            "WITH edge AS MATERIALIZED (\
             SELECT t.target_id, coalesce(f.\"time\", n.\"time\", b.\"time\") AS earliest, \
             coalesce(f.since, f.\"time\", n.since, n.\"time\", b.since, b.\"time\") AS since, \
             l.\"time\" AS latest, coalesce(n.since, b.since) AS beyond FROM jobstats.targets t \
             LEFT JOIN LATERAL (SELECT o.since, o.\"time\" FROM jobstats.observations o WHERE o.target_id = t.target_id \
             AND {in_window} ORDER BY o.\"time\" LIMIT 1) f ON true \
             LEFT JOIN LATERAL (SELECT o.\"time\" FROM jobstats.observations o WHERE o.target_id = t.target_id \
             AND o.\"time\" > greatest($5, ${KEPT_SINCE}) AND o.\"time\" <= $2 ORDER BY o.\"time\" DESC LIMIT 1) l ON true \
             {beyond} WHERE (l.\"time\" IS NOT NULL OR coalesce(n.since, b.since) < $2){conditions}) \
             SELECT e.target_id, e.latest AS since, e.latest AS \"time\" FROM edge e WHERE e.latest IS NOT NULL \
             UNION ALL \
             SELECT b.target_id, b.begins, coalesce((SELECT o.\"time\" FROM jobstats.observations o \
             WHERE o.target_id = b.target_id AND o.\"time\" < b.next AND {in_window} \
             ORDER BY o.\"time\" DESC LIMIT 1), b.ends) FROM (\
             SELECT e.target_id, b.begins, lead(b.at) OVER (PARTITION BY e.target_id ORDER BY b.at) AS next, \
             CASE WHEN e.beyond < $2 THEN $2 ELSE e.latest END AS ends \
             FROM edge e CROSS JOIN LATERAL (\
             SELECT e.since AS begins, e.earliest AS at WHERE e.earliest IS NOT NULL \
             UNION ALL \
             SELECT o.\"time\", o.\"time\" FROM jobstats.observations o WHERE o.target_id = e.target_id \
             AND o.since IS NULL AND o.\"time\" > e.earliest AND {in_window}) b) b \
             UNION ALL \
             SELECT d.target_id, d.since, d.until FROM jobstats.observed d \
             JOIN jobstats.targets t ON t.target_id = d.target_id WHERE d.until > $5 AND d.since < $2{conditions}",
            in_window =
                format_args!("o.\"time\" > greatest($1, ${KEPT_SINCE}) AND o.\"time\" <= $2"),
            beyond = beyond(),
        )
    }

    /// Returns a SELECT of the targets in scope, each with the number of its group, and once per server if the answer
    /// is by server.
    pub(super) fn unit(&self) -> String {
        let dimensions: Vec<&Dimension> = self
            .question
            .by
            .of(&[Level::Target, Level::Server])
            .collect();
        let column = |it: &Dimension| match it.level {
            Level::Server => it.column("o"),
            _ => it.column("t"),
        };
        let named: String = dimensions
            .iter()
            .map(|it| format!(", {} AS {}", column(it), it.name))
            .collect();
        let order: Vec<String> = dimensions.iter().map(|it| column(it)).collect();
        let group = match order.as_slice() {
            [] => "1".to_owned(),
            order => format!("dense_rank() OVER (ORDER BY {})", order.join(", ")),
        };
        format!(
            "SELECT o.target_id, t.kind AS target_kind, t.name AS target_name{named}, {group} AS unit_group \
             FROM (SELECT DISTINCT {key} FROM observation o) o \
             JOIN jobstats.targets t ON t.target_id = o.target_id",
            key = self.unit_key("o"),
        )
    }

    /// Returns a SELECT of the microseconds for which each unit was observed in each step, as far as its usage is still
    /// known: an array, or NULL if there is no such time in the window.
    pub(super) fn seen(&self) -> String {
        let observation = if self.sources.has_lost() {
            format!(
                "(SELECT {key}, greatest(o.since, r.lower) AS since, least(o.\"time\", r.upper) AS \"time\" \
                 FROM observation o JOIN unnest(${READ}, ${upper}) r (lower, upper) \
                 ON o.since < r.upper AND o.\"time\" > r.lower)",
                key = self.unit_key("o"),
                upper = READ + 1,
            )
        } else {
            "observation".to_owned()
        };
        format!(
            "SELECT {key}, jobstats_internal.observed(o.since, o.\"time\", $6) AS observed FROM unit u \
             LEFT JOIN {observation} o {same_unit} AND o.since < $2 AND o.\"time\" > $1 GROUP BY {key}",
            key = self.unit_key("u"),
            same_unit = self.same_unit("u", "o"),
        )
    }

    /// Returns a SELECT of every unit in every step, with its observed time and the value of a sum without usage: 0 if
    /// that is known, else NULL.
    pub(super) fn scope(&self) -> String {
        let dimensions = columns(self.question.by.of(&[Level::Target]), "u.");
        format!(
            "SELECT {key}, u.target_kind, u.target_name, u.target_kind = 'MDT' AS mdt, u.unit_group, s.step{dimensions}, \
             x.observed[s.step] AS observed, CASE WHEN x.observed[s.step] > 0 THEN 0::bigint END AS none, \
             CASE WHEN x.observed[s.step] > 0 AND k.timed THEN 0::bigint END AS none_of_time FROM unit u \
             CROSS JOIN generate_series(1, {steps}) s (step) JOIN seen x {on_seen} \
             LEFT JOIN timed k ON k.target_id = u.target_id",
            key = self.unit_key("u"),
            steps = self.steps,
            on_seen = self.same_unit("u", "x"),
        )
    }

    pub(super) fn coverage(&self) -> String {
        let dimensions = columns(self.question.by.of(&[Level::Target, Level::Server]), "u.");
        format!(
            "SELECT u.unit_group, u.step{dimensions}, {observed} AS observed, \
             count(*) AS targets, bool_or(u.mdt) AS mdt, bool_or(u.target_kind = 'OST') AS ost \
             FROM scope u GROUP BY u.unit_group, u.step{dimensions}",
            observed = seconds("coalesce(sum(u.observed), 0)"),
        )
    }
}

/// Joins targets `t` with their first observation after the window: `n` if it is at most an hour after, so that few
/// partitions are searched, else `b`.
fn beyond() -> String {
    let first = |condition: &str| {
        format!(
            "(SELECT o.since, o.\"time\" FROM jobstats.observations o WHERE o.target_id = t.target_id \
             AND {condition} ORDER BY o.\"time\" LIMIT 1)"
        )
    };
    let end = format!("greatest($2, ${KEPT_SINCE})");
    format!(
        "LEFT JOIN LATERAL {soon} n ON true LEFT JOIN LATERAL {later} b ON true",
        soon = first(&format!(
            "o.\"time\" > {end} AND o.\"time\" <= {end} + interval '1 hour'"
        )),
        later = first(&format!(
            "n.\"time\" IS NULL AND o.\"time\" > {end} + interval '1 hour'"
        )),
    )
}
