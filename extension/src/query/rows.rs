//! Finds the rows of `increments` and of rollups that lie in a window, or reach into it.
//!
//! A row inside of one step counts as it is, at no cost. Only for rows that cross an edge is the part in the step
//! computed. No row of increments crosses an edge of ten minutes (of an hour or a day, where that is noted), so that
//! the time of a row bounds the search.

use crate::query::sources::{RollupTable, Sources};
use crate::store::rollup::{LEVELS, Rollup};
use crate::store::sum::Sum;

/// The number of parameters before those of [`Sources`].
const BEFORE: usize = 6;

/// Number of the parameter with the time since which observations are kept.
pub const KEPT_SINCE: usize = BEFORE + Sources::KEPT_SINCE;

/// Number of the first parameter of the spans that are read: the starts of all of them, and then the ends.
pub const READ: usize = BEFORE + Sources::READ;

/// Number of the first parameter after those of [`Sources`].
pub const AFTER_SPANS: usize = BEFORE + Sources::PARAMETERS + 1;

/// A search for rows of a window. See [`crate::query::statement`] for its parameters.
pub struct Rows<'a> {
    /// The sums that the rows have.
    pub sums: &'a [Sum],
    /// Number of steps.
    pub steps: usize,
    /// The sources that are read.
    pub sources: &'a Sources,
    /// The schema of our functions, quoted.
    pub schema: &'a str,
    /// Set if the rows have `first` and `last`, the span of their usage.
    pub span: bool,
    /// A further condition on rows `i`, with a leading AND.
    pub condition: &'a str,
    /// A further condition on rows `i` of rollups by user, with a leading AND.
    pub condition_on_users: &'a str,
    /// Set if rows have `uid` in place of `entry_id`.
    pub by_user: bool,
}

/// Ends a search that is run for each span by itself. Otherwise the planner may run one search for all spans, which
/// reads everything between the first and the last.
pub const EACH: &str = " OFFSET 0";

/// The columns of the rows of a relation.
struct Kind {
    /// Set if rows have `uid` in place of `entry_id`, and columns for [sums over many
    /// operations](crate::store::sum::COMBINED).
    by_user: bool,
    /// `first` and `last`, as columns with a leading comma: the start of the part of a row that lies in the window, and
    /// the time at which the entry was last active in it.
    span: &'static str,
}

/// The columns of increments. `last_active` comes from the clock of the server; outside of the row, that clock is
/// wrong.
const INCREMENTS: Kind = Kind {
    by_user: false,
    span: ", greatest(i.since, $1) AS first, greatest($1, least($2, \
        CASE WHEN i.last_active > i.since AND i.last_active < i.\"time\" THEN i.last_active ELSE i.\"time\" END)) AS last",
};

const ROLLUP: Kind = Kind {
    by_user: false,
    span: ", greatest(i.first, $1) AS first, least(i.last, $2) AS last",
};

const USERS: Kind = Kind {
    by_user: true,
    ..ROLLUP
};

/// Returns the columns of a rollup, by entry or by user.
fn kind(rollup: RollupTable) -> &'static Kind {
    if rollup.by_user { &USERS } else { &ROLLUP }
}

/// Returns an expression for the step that holds the first instant of a row of this table; 0 is before the window.
fn first_step(table: &str) -> String {
    format!("width_bucket({table}.since, $6)")
}

/// Returns an expression for the step that holds the last instant of a row. An instant on an edge belongs to the step
/// that ends there.
fn last_step(table: &str) -> String {
    format!("width_bucket({table}.\"time\" - interval '1 microsecond', $6)")
}

impl Rows<'_> {
    /// Returns a SELECT of rows with `step`, `target_id`, `entry_id` or `uid`, `observed` (NULL if a rollup is read)
    /// and `value_n` for each of the sums.
    pub fn in_window(&self) -> String {
        match (self.sources.is_plain(), self.steps) {
            (true, 1) => self.of_one_step(),
            (true, _) => self.of_steps(),
            (false, _) => self.of_spans(),
        }
    }

    /// Returns a SELECT for spans of rollups and of increments.
    fn of_spans(&self) -> String {
        let whole = self.sources.whole().map(|rollup| self.of_buckets(rollup));
        let parts = self.sources.parts().map(|rollup| self.of_parts(rollup));
        let rest = self.sources.has_rest().then(|| self.of_rest());
        // Searches whose rows must be added up first come last.
        let searches: Vec<String> = whole.chain(parts).chain(rest).collect();
        searches.join(" UNION ALL ")
    }

    /// Returns a SELECT of buckets of a rollup, each of which lies inside of one step.
    fn of_buckets(&self, rollup: RollupTable) -> String {
        let from = BEFORE + Sources::WHOLE + 2 * position(rollup.level);
        let step = match self.steps {
            1 => "1",
            _ => "width_bucket(i.bucket, $6)",
        };
        let to = from + 1;
        let (relation, condition) = (rollup.relation(), self.condition_on(rollup));
        // A single span is a part of the condition itself, so that the planner knows how many rows lie in it.
        let buckets = if self.sources.is_one_span(rollup) {
            format!(
                "SELECT * FROM jobstats.{relation} i WHERE i.bucket > (${from})[1] AND i.bucket <= (${to})[1]{condition}"
            )
        } else {
            format!(
                "SELECT i.* FROM unnest(${from}, ${to}) s (lower, upper) CROSS JOIN LATERAL (\
                 SELECT * FROM jobstats.{relation} i WHERE i.bucket > s.lower AND i.bucket <= s.upper{condition} \
                 AND i.bucket > $1 AND i.bucket <= $2{EACH}) i"
            )
        };
        let rows = format!(
            "{values} FROM (SELECT i.*, NULL::timestamptz AS observed FROM ({buckets}) i) i",
            values = self.whole(step, kind(rollup)),
        );
        self.keyed(kind(rollup), self.sources.is_short(rollup), rows)
    }

    /// Returns a SELECT of the parts of increments that lie in spans.
    fn of_rest(&self) -> String {
        let rows = format!(
            "SELECT * FROM jobstats.increments i WHERE i.\"time\" > s.lower \
             AND i.\"time\" <= s.reach AND i.since < s.upper{condition} \
             AND i.\"time\" > $1 AND i.\"time\" <= $4{EACH}",
            condition = self.condition,
        );
        let lower = BEFORE + Sources::REST;
        let spans = format!(
            "unnest(${lower}, ${upper}, ${reach}) s (lower, upper, reach)",
            upper = lower + 1,
            reach = BEFORE + Sources::REST_REACH,
        );
        let rows = self.inside_of_spans(&spans, &INCREMENTS, &rows);
        self.keyed(&INCREMENTS, self.sources.has_short_rest(), rows)
    }

    /// Returns a SELECT of the parts of buckets of a rollup that lie in spans.
    fn of_parts(&self, rollup: RollupTable) -> String {
        let rows = format!(
            "SELECT i.*, NULL::timestamptz AS observed, i.bucket - interval '1 microsecond' AS since, \
             i.bucket + (interval '{width}' - interval '1 microsecond') AS \"time\" FROM jobstats.{relation} i \
             WHERE i.bucket > s.lower - interval '{width}' + interval '1 microsecond' AND i.bucket <= s.upper{condition} \
             AND i.bucket > $1 - interval '{width}' AND i.bucket <= $2{EACH}",
            width = rollup.level.width,
            relation = rollup.relation(),
            condition = self.condition_on(rollup),
        );
        let lower = BEFORE + Sources::PARTS + 2 * position(rollup.level);
        let spans = format!("unnest(${lower}, ${}) s (lower, upper)", lower + 1);
        let rows = self.inside_of_spans(&spans, kind(rollup), &rows);
        self.keyed(kind(rollup), self.sources.is_short(rollup), rows)
    }

    /// Sums rows by user if `uid` is wanted: one row per step, target and user. The rows are summed by entry first, so
    /// that few entries have to be looked up.
    ///
    /// Sums over short spans fit into a bigint and are cast to it. A numeric sum would make all rows numeric that are
    /// read with it, and these take longer to add up.
    fn keyed(&self, kind: &Kind, short: bool, rows: String) -> String {
        if kind.by_user || !self.by_user {
            return rows;
        }
        let cast = if short { "::bigint" } else { "" };
        let sums = |of: &str| -> String {
            (0..self.sums.len())
                .map(|n| format!(", sum({of}.value_{n}){cast} AS value_{n}"))
                .collect()
        };
        format!(
            "SELECT p.step, p.target_id, e.uid, NULL::timestamptz AS observed{by_user} FROM (\
             SELECT i.step, i.target_id, i.entry_id{by_entry} FROM ({rows}) i GROUP BY i.step, i.target_id, i.entry_id) p \
             LEFT JOIN jobstats.entries e ON e.entry_id = p.entry_id GROUP BY p.step, p.target_id, e.uid",
            by_user = sums("p"),
            by_entry = sums("i"),
        )
    }

    fn condition_on(&self, rollup: RollupTable) -> &str {
        if rollup.by_user {
            self.condition_on_users
        } else {
            self.condition
        }
    }

    /// Returns a SELECT of the parts of rows that lie in spans `s`.
    fn inside_of_spans(&self, spans: &str, kind: &Kind, rows: &str) -> String {
        let whole = self.whole("i.first_step", kind);
        let part = self.part(
            "k.step",
            kind,
            "greatest(($6)[k.step], i.lower)",
            "least(($6)[k.step + 1], i.upper)",
        );
        let from = format!(
            "FROM (SELECT i.*, s.lower, s.upper, {first} AS first_step, {last} AS last_step, \
             i.since >= s.lower AND i.\"time\" <= s.upper AS inside \
             FROM {spans} CROSS JOIN LATERAL ({rows}) i) i",
            first = first_step("i"),
            last = last_step("i"),
        );
        format!(
            "{whole} {from} WHERE i.inside AND i.first_step = i.last_step \
             UNION ALL {part} {from} CROSS JOIN LATERAL \
             generate_series(greatest(i.first_step, 1), least(i.last_step, {steps})) AS k (step) \
             WHERE NOT (i.inside AND i.first_step = i.last_step)",
            steps = self.steps,
        )
    }

    /// Returns three searches: for rows inside the window, for rows that cross its start, and for further rows that
    /// cross its end.
    fn of_one_step(&self) -> String {
        let (whole, part) = (
            self.whole("1", &INCREMENTS),
            self.part("1", &INCREMENTS, "$1", "$2"),
        );
        let condition = self.condition;
        let table = "FROM jobstats.increments i WHERE";
        format!(
            "{whole} {table} i.\"time\" > $1 AND i.\"time\" <= $2 AND i.since >= $1{condition} \
             UNION ALL {part} {table} i.\"time\" > $1 AND i.\"time\" <= $3 AND i.since < $1{condition} \
             UNION ALL {part} {table} i.\"time\" > $2 AND i.\"time\" <= $4 AND i.since >= $1 AND i.since < $2{condition}"
        )
    }

    fn of_steps(&self) -> String {
        let whole = self.whole("i.first_step", &INCREMENTS);
        let part = self.part("k.step", &INCREMENTS, "($6)[k.step]", "($6)[k.step + 1]");
        let from = format!(
            "FROM (SELECT i.*, {first} AS first_step, {last} AS last_step FROM jobstats.increments i \
             WHERE i.\"time\" > $1 AND i.\"time\" <= $4 AND i.since < $2{condition}) i",
            condition = self.condition,
            first = first_step("i"),
            last = last_step("i"),
        );
        format!(
            "{whole} {from} WHERE i.first_step = i.last_step \
             UNION ALL {part} {from} CROSS JOIN LATERAL \
             generate_series(greatest(i.first_step, 1), least(i.last_step, {steps})) AS k (step) \
             WHERE i.first_step <> i.last_step",
            steps = self.steps,
        )
    }

    fn whole(&self, step: &str, kind: &Kind) -> String {
        self.select(step, kind, |column| format!("i.\"{column}\""))
    }

    fn part(&self, step: &str, kind: &Kind, from: &str, until: &str) -> String {
        let schema = self.schema;
        self.select(step, kind, |column| {
            format!("{schema}.jobstats_share(i.\"{column}\", i.since, i.\"time\", {from}, {until})")
        })
    }

    fn select(&self, step: &str, kind: &Kind, share: impl Fn(&str) -> String) -> String {
        let span = if self.span { kind.span } else { "" };
        let values: String = (0..)
            .zip(self.sums)
            .map(|(n, sum)| format!(", {} AS value_{n}", value(sum, kind, &share)))
            .collect();
        let key = if kind.by_user { "uid" } else { "entry_id" };
        format!("SELECT {step} AS step, i.target_id, i.{key}, i.observed{values}{span}")
    }
}

/// Returns the position of a rollup among the parameters.
fn position(level: &Rollup) -> usize {
    let found = LEVELS.iter().position(|it| it.name == level.name);
    found.unwrap_or_default()
}

/// Returns an expression for the value that a row adds to a sum; NULL if none of the columns has a value.
fn value(sum: &Sum, kind: &Kind, share: impl Fn(&str) -> String) -> String {
    match sum.combined().filter(|_| kind.by_user) {
        Some(column) => share(column),
        None => sum.over(share),
    }
}
