//! Finds the rows of `increments` and of rollups that lie in a window, or reach into it.
//!
//! A row inside of one step counts as it is, at no cost. Only for rows that cross an edge is the part in the step
//! computed. No row of increments crosses an edge of ten minutes (of an hour or a day, where that is noted), so that
//! the time of a row bounds the search. Statements call the rows `usage`.

use crate::pg::template::{optional, sql};
use crate::query::params::Params;
use crate::query::plan::{Plan, bind_spans};
use crate::query::sources::{RollupTable, Spans, fits_bigint};
use crate::query::window::Window;
use crate::store::sum::Sum;

pub mod on_nodes;

/// The first instant of the day of a row, by which dated rows are summed.
const BY_DAY: &str = ", date_bin(interval '1 day', usage.at - interval '1 microsecond', timestamptz 'epoch') \
    + interval '1 microsecond' AS at";

/// A search for rows of a window.
pub struct Search<'a> {
    /// The window and the sources that are read.
    pub plan: &'a Plan,
    /// The parameters of the statement.
    pub params: &'a Params,
    /// The sums that the rows have.
    pub sums: &'a [Sum],
    /// Set if the rows have `first` and `last`, the span of their usage.
    pub span: bool,
    /// A further condition on rows `usage`, with a leading AND.
    pub condition: String,
    /// A further condition on rows `usage` of sums by owner, with a leading AND.
    pub condition_on_owners: String,
    /// The key of the rows, beside their target.
    pub key: Key,
    /// Set if only rows of the first hour are wanted, or of buckets of rollups that begin in it.
    pub beginning: bool,
    /// Set if the server on which rows were observed is looked up.
    pub by_server: bool,
    /// Set if rows are wanted as they are stored.
    pub as_stored: bool,
    /// Set if rows have `at`, a time that says to which day they belong.
    pub dated: bool,
}

/// The key by which the rows of a target are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Rows have `entry_id`.
    Entry,
    /// Rows have the columns of an owner.
    Owner,
    /// Rows have neither.
    Target,
}

/// The relation that rows come from.
#[derive(Clone, Copy)]
enum Relation {
    Increments,
    Rollup {
        /// Set if rows have the columns of an owner in place of `entry_id`, and columns for [sums over many
        /// operations](crate::store::sum::COMBINED).
        by_owner: bool,
    },
}

impl Relation {
    fn of(table: RollupTable) -> Self {
        Self::Rollup {
            by_owner: table.owner.is_some(),
        }
    }

    fn is_by_owner(self) -> bool {
        matches!(self, Self::Rollup { by_owner: true })
    }
}

impl Search<'_> {
    /// Returns a SELECT of rows with `step`, `target_id`, the columns of the key, `observed` (NULL if a rollup is read)
    /// and `value_n` for each of the sums.
    pub fn in_window(&self) -> String {
        let all = self.of_buckets_that_are_steps().into_iter();
        united(all.chain(self.of_other_steps())).unwrap_or_default()
    }

    /// Returns a SELECT of the rows of steps that are buckets of a rollup: one per step, target, and entry or user.
    pub fn of_buckets_that_are_steps(&self) -> Option<String> {
        let steps = self.plan.sources.steps();
        united(steps.map(|(table, spans)| self.of_buckets(table, spans)))
    }

    /// Returns a SELECT of the rows of all other steps.
    pub fn of_other_steps(&self) -> Option<String> {
        let sources = &self.plan.sources;
        match (sources.is_plain(), self.plan.window.steps()) {
            (true, 1) => return Some(self.of_one_step()),
            (true, _) => return Some(self.of_steps()),
            (false, _) => {}
        }
        let whole = sources
            .inside_of_steps()
            .map(|(table, spans)| self.of_buckets(table, spans));
        let parts = sources
            .parts()
            .map(|(table, spans)| self.of_parts(table, spans));
        let rest = sources.has_rest().then(|| self.of_rest());
        // Searches whose rows must be added up first come last.
        united(whole.chain(parts).chain(rest))
    }

    fn since(&self) -> String {
        self.plan.since(self.params)
    }

    fn until(&self) -> String {
        self.plan.until(self.params)
    }

    fn edges(&self) -> String {
        self.plan.edges(self.params)
    }

    fn increments(&self) -> &'static str {
        self.plan.sources.increments_table()
    }

    fn until_reach(&self) -> String {
        self.plan.until_reach(self.params)
    }

    /// Returns a SELECT of buckets of a rollup, each of which lies inside of one step.
    fn of_buckets(&self, table: RollupTable, spans: &Spans) -> String {
        let (relation, condition) = (table.relation(), self.condition_on(table));
        let (lower, upper) = bind_spans(&relation, spans, self.params);
        let on_nodes = self
            .sums_on_nodes(Relation::of(table))
            .then(|| on_nodes::in_some_spans("usage.bucket", &lower, &upper, spans.lower.len()))
            .flatten();
        let step = match self.plan.window.steps() {
            1 => "1".to_owned(),
            _ => format!("width_bucket(usage.bucket, {})", self.edges()),
        };
        let kind = Relation::of(table);
        let (whole, buckets) = if let Some(of_spans) = on_nodes {
            let condition = of_spans + &condition;
            let (summed, shown) = match self.plan.window.steps() {
                1 => (None, "1"),
                _ => (Some(&*step), "usage.step"),
            };
            let cast = cast(spans.are_short());
            let buckets = self.summed_on_nodes((&relation, kind), summed, &condition, cast);
            (self.of_nodes(shown, kind), buckets)
        } else if spans.lower.len() == 1 {
            let buckets = sql!(
                "usage/buckets_of_span.sql",
                relation = relation,
                lower = lower,
                upper = upper,
                condition = condition,
            );
            (self.whole(&step, kind), buckets)
        } else {
            let buckets = sql!(
                "usage/buckets_of_spans.sql",
                relation = relation,
                lower = lower,
                upper = upper,
                condition = condition,
                since = self.since(),
                until = self.until(),
            );
            (self.whole(&step, kind), buckets)
        };
        let rows = sql!("usage/buckets.sql", whole = whole, buckets = buckets);
        self.keyed(kind, spans, rows)
    }

    /// Returns a SELECT of the parts of increments that lie in spans.
    fn of_rest(&self) -> String {
        let rest = &self.plan.sources.rest;
        let increments = self.increments();
        let (lower, upper) = bind_spans(increments, &rest.spans, self.params);
        let reach = self
            .params
            .bind(&format!("{increments} reach"), || rest.reaches.clone());
        let rows = match &rest.steps {
            Some(steps) => {
                let steps = self
                    .params
                    .bind(&format!("{increments} steps"), || steps.clone());
                self.in_pieces([&steps, &lower, &upper, &reach])
            }
            None => {
                let search = sql!(
                    "usage/increments.sql",
                    increments = increments,
                    condition = self.condition_on_increments(),
                    since = self.since(),
                    until_reach = self.until_reach(),
                );
                let spans = format!("unnest({lower}, {upper}, {reach}) span (lower, upper, reach)");
                self.in_spans(Relation::Increments, &spans, &search)
            }
        };
        self.keyed(Relation::Increments, &rest.spans, rows)
    }

    /// Returns a SELECT of the parts of increments that lie in spans, each of which lies inside of one step.
    fn in_pieces(&self, [steps, lower, upper, reach]: [&str; 4]) -> String {
        let rows = sql!(
            "usage/pieces.sql",
            increments = self.increments(),
            steps = steps,
            lower = lower,
            upper = upper,
            reach = reach,
            condition = self.condition_on_increments(),
            since = self.since(),
            until_reach = self.until_reach(),
        );
        let part = |column: &str| self.share(column, "usage.lower", "usage.upper");
        let whole_or_part = |_, sum: &Sum| {
            let whole = value(sum, Relation::Increments, whole_of);
            let part = value(sum, Relation::Increments, part);
            format!("CASE WHEN usage.inside THEN {whole} ELSE {part} END")
        };
        let select = self.select("usage.step", Relation::Increments, whole_or_part);
        format!("{select}\nFROM (\n    {rows}\n) usage")
    }

    /// Returns a SELECT of the parts of buckets of a rollup that lie in spans.
    fn of_parts(&self, table: RollupTable, spans: &Spans) -> String {
        let relation = table.relation();
        let (lower, upper) = bind_spans(&format!("{relation} parts"), spans, self.params);
        let search = sql!(
            "usage/bucket_parts.sql",
            width = table.rollup.width,
            relation = relation,
            condition = self.condition_on(table),
            since = self.since(),
            until = self.until(),
        );
        let unnested = format!("unnest({lower}, {upper}) span (lower, upper)");
        let rows = self.in_spans(Relation::of(table), &unnested, &search);
        self.keyed(Relation::of(table), spans, rows)
    }

    /// Names the owners of rows if these are wanted.
    ///
    /// Sums over short spans fit into a bigint and are cast to it. A numeric sum would make all rows numeric that are
    /// read with it, and these take longer to add up.
    fn keyed(&self, relation: Relation, spans: &Spans, rows: String) -> String {
        if relation.is_by_owner() || self.key != Key::Owner {
            return rows;
        }
        let owners = &self.plan.owners;
        let at = if self.dated { ", part.at" } else { "" };
        let [of_day, key] = match self.has_dates(relation) {
            true => [BY_DAY, ", 4"],
            false => ["", ""],
        };
        let cast = cast(spans.are_short());
        let each = |value: &dyn Fn(usize) -> String| -> String {
            (0..self.sums.len())
                .map(|n| format!(",\n    {} AS value_{n}", value(n)))
                .collect()
        };
        sql!(
            "usage/by_owner.sql",
            at = at,
            of_day = of_day,
            key = key,
            owner = owners.of_entry(),
            jobs = self.plan.join_jobs_of_owners(self.params),
            usage = rows,
            values = each(&|n| format!("part.value_{n}")),
            sums = each(&|n| format!("sum(usage.value_{n}){cast}")),
        )
    }

    /// Returns the condition on rows of a rollup.
    fn condition_on(&self, table: RollupTable) -> String {
        let condition = match table.owner {
            Some(_) => &self.condition_on_owners,
            None => &self.condition,
        };
        condition.clone() + &self.of_beginning("bucket")
    }

    /// Returns the condition on rows of increments.
    fn condition_on_increments(&self) -> String {
        self.condition.clone() + &self.of_beginning("time")
    }

    /// Returns the condition that rows are of the first hour, if no others are wanted.
    fn of_beginning(&self, time: &str) -> String {
        optional(self.beginning, || {
            format!(" AND usage.\"{time}\" <= {}", self.plan.early(self.params))
        })
    }

    /// Returns whether rows of a relation have `at`.
    fn has_dates(&self, relation: Relation) -> bool {
        let divides = self.key == Key::Owner && self.plan.owners.jobs.several;
        self.dated || divides && !relation.is_by_owner()
    }

    /// Returns a SELECT of the parts of rows that lie in spans.
    fn in_spans(&self, relation: Relation, spans: &str, search: &str) -> String {
        let rows = sql!(
            "usage/spans.sql",
            spans = spans,
            search = search,
            edges = self.edges(),
        );
        let edges = self.edges();
        let (from, until) = (
            format!("greatest(({edges})[piece.step], usage.lower)"),
            format!("least(({edges})[piece.step + 1], usage.upper)"),
        );
        self.divided(relation, &rows, &from, &until)
    }

    fn of_steps(&self) -> String {
        let rows = sql!(
            "usage/window.sql",
            increments = self.increments(),
            since = self.since(),
            until = self.until(),
            until_reach = self.until_reach(),
            edges = self.edges(),
            condition = self.condition_on_increments(),
        );
        let edges = self.edges();
        let (from, until) = (
            format!("({edges})[piece.step]"),
            format!("({edges})[piece.step + 1]"),
        );
        self.divided(Relation::Increments, &rows, &from, &until)
    }

    /// Returns a SELECT of the parts of rows in the steps that they reach into.
    fn divided(&self, relation: Relation, rows: &str, from: &str, until: &str) -> String {
        sql!(
            "usage/divided.sql",
            whole = self.whole("usage.first_step", relation),
            part = self.part("piece.step", relation, from, until),
            rows = rows,
            steps = self.plan.window.steps().to_string(),
        )
    }

    fn of_one_step(&self) -> String {
        let (since, until) = (self.since(), self.until());
        let inside = inside(&since, &until, &self.condition_on_increments());
        let (rows, whole) = if self.sums_on_nodes(Relation::Increments) {
            let cast = cast_in(&self.plan.window);
            let relation = (self.increments(), Relation::Increments);
            let sums = self.summed_on_nodes(relation, None, &inside, cast);
            let rows = format!(
                "(SELECT summed.*, NULL::timestamptz AS observed FROM ({sums}) summed) usage"
            );
            (rows, self.of_nodes("1", Relation::Increments))
        } else {
            let rows = format!("jobstats.{} usage\nWHERE {inside}", self.increments());
            (rows, self.whole("1", Relation::Increments))
        };
        sql!(
            "usage/one_step.sql",
            rows = rows,
            increments = self.increments(),
            whole = whole,
            part = self.part("1", Relation::Increments, &since, &until),
            since = since,
            until = until,
            since_reach = self.plan.since_reach(self.params),
            until_reach = self.until_reach(),
            condition = self.condition_on_increments(),
        )
    }

    fn whole(&self, step: &str, relation: Relation) -> String {
        self.select(step, relation, |_, sum| value(sum, relation, whole_of))
    }

    fn part(&self, step: &str, relation: Relation, from: &str, until: &str) -> String {
        let part = |column: &str| self.share(column, from, until);
        self.select(step, relation, |_, sum| value(sum, relation, part))
    }

    /// Returns an expression for the part of a column that lies between two instants.
    fn share(&self, column: &str, from: &str, until: &str) -> String {
        format!(
            "jobstats_internal.share(usage.\"{column}\", usage.since, usage.\"time\", {from}, {until})"
        )
    }

    fn select(
        &self,
        step: &str,
        relation: Relation,
        value: impl Fn(usize, &Sum) -> String,
    ) -> String {
        let values: String = (0..)
            .zip(self.sums)
            .map(|(n, sum)| format!(",\n    {} AS value_{n}", value(n, sum)))
            .collect();
        let span = optional(self.span, || self.span_columns(relation));
        let key = self.key_columns(relation);
        let at = match relation {
            _ if !self.has_dates(relation) => "",
            // Without the sum, TimescaleDB would compare the column with the columns of the join.
            Relation::Increments => ", usage.\"time\" + interval '0' AS at",
            Relation::Rollup { .. } => ", usage.bucket + interval '0' AS at",
        };
        format!("SELECT {step} AS step, usage.target_id{key}, usage.observed{at}{values}{span}")
    }

    /// Returns the columns that say whose the rows of a relation are, each with a leading comma.
    fn key_columns(&self, relation: Relation) -> String {
        match self.key {
            Key::Target => String::new(),
            Key::Owner if relation.is_by_owner() => self.plan.owners.columns("usage"),
            Key::Owner | Key::Entry => ", usage.entry_id".to_owned(),
        }
    }

    /// Returns `first` and `last`: the start of the part of a row that lies in the window, and the time at which the
    /// entry was last active in it.
    fn span_columns(&self, relation: Relation) -> String {
        let (since, until) = (self.since(), self.until());
        match relation {
            Relation::Increments => sql!("usage/span.sql", since = since, until = until),
            Relation::Rollup { .. } => {
                sql!("usage/span_of_bucket.sql", since = since, until = until)
            }
        }
    }
}

/// Returns the cast of sums over a window.
pub fn cast_in(window: &Window) -> &'static str {
    cast(fits_bigint(window.until() - window.since()))
}

/// Returns the cast of sums that fit into a bigint.
fn cast(fits: bool) -> &'static str {
    if fits { "::bigint" } else { "" }
}

/// Returns an expression for the value that a row adds to a sum; NULL if none of the columns has a value.
fn value(sum: &Sum, relation: Relation, share: impl Fn(&str) -> String) -> String {
    match sum.combined().filter(|_| relation.is_by_owner()) {
        Some(column) => share(column),
        None => sum.over(share),
    }
}

/// Returns the condition on rows `usage` of increments that lie inside of a window. `condition` is a further one, with a leading AND.
pub fn inside(since: &str, until: &str, condition: &str) -> String {
    format!(
        "usage.\"time\" > {since} AND usage.\"time\" <= {until} AND usage.since >= {since}{condition}"
    )
}

/// Returns an expression for a column of a whole row.
pub fn whole_of(column: &str) -> String {
    format!("usage.\"{column}\"")
}

/// Returns a SELECT of the rows of several; `None` if there are none.
fn united(searches: impl Iterator<Item = String>) -> Option<String> {
    searches.reduce(|all, search| format!("{all}\nUNION ALL\n{search}"))
}
