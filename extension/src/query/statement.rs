//! Builds the statement that answers a question.
//!
//! Sums per target and group (`activity`) are joined with the targets in every step (`scope`: the targets that were
//! observed, `unit`, and the time for which they were observed, `observed`; see [`scope`]), because a rate is a sum over
//! targets of total ÷ seconds observed. [`groups`] computes the answer from these. The SQL is in templates, a file for each
//! common table expression; this module chooses among them and fills in lists of columns and conditions.

use crate::pg::template::{optional, sql};
use crate::query::dimension::{Level, Table, columns, named_columns};
use crate::query::entries::entries;
use crate::query::measure::{Measure, Term};
use crate::query::params::{Params, Query};
use crate::query::plan::Plan;
use crate::query::question::{Question, Wanted};
use crate::query::usage::{Key, Search};
use crate::store::sum::Sum;

mod groups;
mod scope;
mod sums;
mod unaccounted;

/// The number of rows that are read to find which targets report times: about the rows of all targets in ten minutes.
const EARLY_ROWS: usize = 10_000;

/// The number of rows that are read to find out whether some targets report no times, if nothing else depends on it.
const SAMPLE_ROWS: usize = 1000;

/// The rest of the steps, if all are read together.
const NO_REST: &str = "SELECT WHERE false";

/// Builds the statement of a question.
pub struct Statement<'a> {
    question: &'a Question,
    plan: &'a Plan,
    /// The entries that the filters select or, if rows are by owner, the users; `None` if they may be many.
    few: Option<Vec<i64>>,
    /// The distinct sums that the measures consist of.
    sums: Vec<Sum>,
    /// The measures in terms of `sums`.
    measures: Vec<Parts<'a>>,
    /// The sum that shows whether a target reports times.
    probe: Option<SumNumber>,
    /// The sums that show which target was used most: the time, and the calls if there are no times.
    load: Option<[SumNumber; 2]>,
    params: Params,
}

/// Position of a sum among those of a statement.
type SumNumber = usize;

/// The sums of a measure.
struct Parts<'a> {
    /// The sums of the total, each with its factor.
    total: Vec<(SumNumber, &'a Term)>,
    calls: Option<SumNumber>,
    spent: Option<SumNumber>,
}

/// Returns the number of a sum. A new sum is added.
fn number(sums: &mut Vec<Sum>, sum: &Sum) -> SumNumber {
    sums.iter().position(|it| it == sum).unwrap_or_else(|| {
        sums.push(sum.clone());
        sums.len() - 1
    })
}

impl<'a> Parts<'a> {
    fn new(measure: &'a Measure, calls: bool, sums: &mut Vec<Sum>) -> Self {
        let mut number = |sum: &Sum| number(sums, sum);
        let total = measure.total.iter();
        Self {
            total: total.map(|term| (number(&term.sum), term)).collect(),
            calls: measure.calls.as_ref().filter(|_| calls).map(&mut number),
            spent: measure.spent.as_ref().filter(|_| calls).map(&mut number),
        }
    }
}

impl<'a> Statement<'a> {
    /// Creates the statement of a question. `few` are the entries that the filters select or, if rows are by owner, the
    /// users, if they are few.
    pub fn new(question: &'a Question, plan: &'a Plan, few: Option<Vec<i64>>) -> Self {
        let mut sums = Vec::new();
        let measures = question.measures.list.iter();
        let measures = measures
            .map(|it| Parts::new(it, question.wanted.has_row_per_measure(), &mut sums))
            .collect();
        let has_times = sums.iter().any(|sum| sum.time);
        let probe = has_times.then(|| number(&mut sums, &Sum::service_time()));
        let load = matches!(question.wanted, Wanted::Summary).then(|| {
            [Sum::service_time(), Sum::service_calls()].map(|sum| number(&mut sums, &sum))
        });
        Self {
            question,
            plan,
            few,
            sums,
            measures,
            probe,
            load,
            params: Params::default(),
        }
    }

    /// Returns the whole statement.
    pub fn complete(&self) -> Query {
        self.reporting("")
    }

    /// Returns the statement for a window of one step whose third column, `covered`, is the part of it for which the targets in scope were
    /// observed.
    pub fn with_coverage(&self) -> Query {
        let window = &self.plan.window;
        self.reporting(&sql!(
            "statement/covered.sql",
            micros = (window.until() - window.since()).to_string(),
            same_unit = self.same_unit("unit", "observed"),
            until = self.plan.until(&self.params),
        ))
    }

    fn reporting(&self, covered: &str) -> Query {
        let (rest, part) = self.part();
        let statement = sql!(
            "statement/question.sql",
            observed = self.observed(),
            rest = rest,
            // A front would read them from its nodes for each reference.
            materialized = match self.is_read_once() && !self.plan.is_front {
                true => "NOT MATERIALIZED",
                false => "MATERIALIZED",
            },
            part = part,
            entry = self.entry(),
            activity = self.activity(),
            early = self.early(),
            timed = self.timed(),
            scope = self.scope(),
            coverage = self.coverage(),
            covered = covered,
            wanted = self.wanted(),
            order = match self.question.wanted {
                // Who adds up rows needs them in no order.
                Wanted::Work => String::new(),
                _ => format!("ORDER BY {}", self.order("answer.")),
            },
        );
        Query::new(statement, &self.params)
    }

    /// Returns the statement for the targets in scope: `target_id`, the dimensions, and the microseconds for which the
    /// target was observed in each step, an array or NULL.
    pub fn targets(&self) -> Query {
        let dimensions = columns(self.question.by.of(&[Level::Target]), "unit.");
        let statement = sql!(
            "statement/targets.sql",
            observed = self.observed(),
            dimensions = dimensions,
        );
        Query::new(statement, &self.params)
    }

    /// Returns the statement for the raw rows of the selected entries in the window: `step`, `target_id`, `entry_id`,
    /// `first`, `last` and these sums.
    pub fn rows_of_entries(&self, sums: &[Sum]) -> Query {
        let of_entries = match self.of_few("entry_id") {
            Some(of_few) => of_few,
            None => format!(
                " AND usage.entry_id IN ({})",
                entries(self.plan, &self.question.filters, &self.params)
            ),
        };
        let search = Search {
            as_stored: true,
            ..self.search(sums, true, [&of_entries, ""], Key::Entry)
        };
        let rows = search.in_window();
        let values: String = (0..sums.len())
            .map(|n| format!(", usage.value_{n}"))
            .collect();
        let statement = sql!(
            "statement/rows_of_entries.sql",
            values = values,
            usage = rows
        );
        Query::new(statement, &self.params)
    }

    /// Returns the statement that finds out whether any calls on the selected targets came without times.
    pub fn lacks_times(&self) -> Query {
        let sums = [Sum::service_calls(), Sum::service_time()];
        let statement = sql!(
            "statement/lacks_times.sql",
            usage = self.search(&sums, false, ["", ""], Key::Target).in_window(),
            conditions = self.filters(Level::Target, "target"),
        );
        Query::new(statement, &self.params)
    }

    /// Returns the statement for the names of the targets in scope all of whose calls in the window came without times.
    pub fn targets_without_times(&self) -> Query {
        let sums = [Sum::service_calls(), Sum::service_time()];
        let statement = sql!(
            "statement/targets_without_times.sql",
            observed = self.observed(),
            usage = self.search(&sums, false, ["", ""], Key::Target).in_window(),
        );
        Query::new(statement, &self.params)
    }

    /// Returns the common table expressions about targets, which all others are based on.
    fn observed(&self) -> String {
        sql!(
            "statement/observed.sql",
            observation = self.observation(),
            unit = self.unit(),
            seconds = self.seconds(),
        )
    }

    /// Returns SELECTs of the sums by step, target, and entry or user: of steps that must be added up, if others are read as
    /// they are, and of all.
    fn part(&self) -> (String, String) {
        let [condition, of_users] = &self.of_selected();
        let conditions: [&str; 2] = [condition, of_users];
        let search = Search {
            dated: self.plan.divides_entries(),
            ..self.search(&self.sums, self.has_span(), conditions, self.key())
        };
        if !self.asks_entries() {
            return (NO_REST.to_owned(), self.summed(search.in_window(), ""));
        }
        let (steps, others) = (search.of_buckets_that_are_steps(), search.of_other_steps());
        // A numeric sum would make all rows numeric that are read with it, and these take longer to add up.
        let is_integer = steps.is_some() && self.plan.sources.has_short_rest();
        let cast = if is_integer { "::bigint" } else { "" };
        match (steps, others.map(|usage| self.summed(usage, cast))) {
            (Some(steps), Some(rest)) => {
                let steps = self.unsummed(&steps);
                (rest, format!("{steps}\nUNION ALL\nSELECT * FROM rest"))
            }
            (steps, rest) => {
                let part = steps.map(|usage| self.unsummed(&usage)).or(rest);
                (NO_REST.to_owned(), part.unwrap_or_default())
            }
        }
    }

    /// Returns a SELECT of rows of which there is one per step, target, and entry or user. To sum it again would take longer
    /// than to read it.
    fn unsummed(&self, usage: &str) -> String {
        let mut sums = self.each_sum(|n| format!("usage.value_{n}"));
        if self.has_span() {
            sums += ", usage.first, usage.last";
        }
        let usage = self.with_days(usage.to_owned());
        self.part_of(&usage, &sums, "")
    }

    /// Returns a SELECT of the sums of rows by step, target, and entry or user if the question asks for these.
    fn summed(&self, usage: String, cast: &str) -> String {
        let sums = self.each_sum(|n| format!("sum(usage.value_{n}){cast}")) + &self.span("usage");
        let group_by = format!("GROUP BY {}", self.part_key());
        let usage = self.with_days(self.with_servers(usage));
        self.part_of(&usage, &sums, &group_by)
    }

    fn part_of(&self, usage: &str, sums: &str, group_by: &str) -> String {
        sql!(
            "statement/part.sql",
            key = self.part_key(),
            sums = sums,
            usage = usage,
            of_targets = self.of_targets(),
            group_by = group_by,
        )
    }

    fn part_key(&self) -> String {
        let key = format!("usage.step, {}", self.unit_key("usage"));
        if self.by_owner() {
            key + &self.plan.owners.columns("usage") + &self.plan.days("usage")
        } else if self.asks_entries() {
            key + ", usage.entry_id" + &self.plan.days("usage")
        } else {
            key
        }
    }

    /// Returns the condition on rows of the selected targets.
    fn of_targets(&self) -> &'static str {
        if self.question.filters.has(Level::Target) {
            "WHERE usage.target_id IN (SELECT unit.target_id FROM unit)"
        } else {
            ""
        }
    }

    fn entry(&self) -> String {
        if self.key() != Key::Entry {
            return "SELECT NULL::bigint AS entry_id WHERE false".to_owned();
        }
        let jobs = &self.plan.jobs;
        let of_entries = self.question.by.of(&[Level::Entry]);
        let days = self.plan.days("part");
        let (expected, as_before) = jobs.expected(&days);
        let node = match self.is_summary() {
            true => ", entry.node AS entry_node",
            false => "",
        };
        sql!(
            "statement/entry.sql",
            node = node,
            expected = expected,
            as_before = as_before,
            days = days,
            dimensions = named_columns(of_entries, |_| jobs.entry()),
            jobs = self.plan.join_jobs_of_sums(&self.params),
            names = self.join_names(jobs.entry()),
            conditions = jobs.conditions_on_entries(&self.question.filters, &self.params),
        )
    }

    fn activity(&self) -> String {
        if self.by_owner() {
            return self.activity_of_owners();
        }
        if !self.asks_entries() {
            return "SELECT * FROM part".to_owned();
        }
        let dimensions = self.entry_columns("entry.");
        if !self.is_summary() {
            return sql!(
                "statement/activity.sql",
                dimensions = dimensions,
                same_days = self.plan.same_days("entry", "part"),
            );
        }
        sql!(
            "statement/activity_of_summary.sql",
            key = format!("part.step, {}{dimensions}", self.unit_key("part")),
            sums = self.each_sum(|n| format!("sum(part.sum_{n})")) + self.span("part").as_str(),
            of_group = self.server_key("node") + self.entry_columns("node.").as_str(),
            no_sums = self.each_sum(|_| "NULL".to_owned()),
            of_node = self.server_key("part") + dimensions.as_str(),
            same_unit = self.same_unit("part", "unit"),
            same_days = self.plan.same_days("entry", "part"),
        )
    }

    /// Returns a SELECT of the sums by owner, with the names of the users if the question is about names.
    fn activity_of_owners(&self) -> String {
        let part = self.plan.owners.table("part");
        let of_users = self.question.by.of(&[Level::Entry]);
        sql!(
            "statement/activity_of_owners.sql",
            sums = self.each_sum(|n| format!("part.sum_{n}")),
            dimensions = named_columns(of_users, |_| part),
            names = self.join_names(part),
            conditions = self
                .question
                .filters
                .conditions(Level::Entry, part, &self.params),
        )
    }

    fn early(&self) -> String {
        let rows = match self.tells_none_from_unknown() {
            true => self.early_rows(),
            false => SAMPLE_ROWS.to_string(),
        };
        match self.probe {
            Some(n) => sql!(
                "statement/early.sql",
                probe = format!("sum_{n}"),
                rows = rows,
            ),
            None => "SELECT NULL::integer AS target_id WHERE false".to_owned(),
        }
    }

    fn timed(&self) -> String {
        let Some(n) = self.probe else {
            return "SELECT NULL::integer AS target_id, NULL::boolean AS timed WHERE false"
                .to_owned();
        };
        let probe = format!("sum_{n}");
        if !self.tells_none_from_unknown() {
            return sql!("statement/timed_by_sample.sql", probe = probe);
        }
        // Where no filter selects entries, the rows of the few stand for those of all.
        let selects = self.question.filters.has(Level::Entry)
            && !self.of_selected().iter().all(String::is_empty);
        sql!(
            "statement/timed.sql",
            probe = probe,
            others = optional(selects, || self.timed_by_others(&self.sums[n])),
            all = match selects {
                true => " UNION ALL SELECT * FROM beginning UNION ALL SELECT * FROM other",
                false => "",
            },
        )
    }

    /// Returns whether the statement must find out which targets report times, and not only whether any does. If rows
    /// are read once, this costs a look at all of them. It is not necessary if groups without time are left out, as
    /// well as groups whose time is unknown.
    fn tells_none_from_unknown(&self) -> bool {
        let leaves_out_both = matches!(
            self.question.wanted,
            Wanted::Top { .. } | Wanted::Densities { .. }
        );
        let is_time = |measure: &Parts<'_>| match measure.total.as_slice() {
            [(sum, _)] => self.sums[*sum].time,
            _ => false,
        };
        !(self.is_read_once() && leaves_out_both && self.measures.iter().all(is_time))
    }

    /// Returns the common table expressions of the rows of all entries on targets on which the selected ones show no times.
    fn timed_by_others(&self, probe: &Sum) -> String {
        let usage = |sum: &Sum, beginning| {
            Search {
                beginning,
                ..self.search(std::slice::from_ref(sum), false, ["", ""], Key::Target)
            }
            .in_window()
        };
        sql!(
            "statement/timed_by_others.sql",
            beginning = usage(&Sum::time_of_most(), self.plan.is_front),
            rows = self.early_rows(),
            usage = usage(probe, false),
        )
    }

    /// Returns the number of rows that are read to find which targets report times. In a front, the first ones are all of one node.
    fn early_rows(&self) -> String {
        match self.plan.is_front {
            true => "ALL".to_owned(),
            false => EARLY_ROWS.to_string(),
        }
    }

    /// Returns all sums as columns, each made of an expression.
    fn each_sum(&self, expression: impl Fn(SumNumber) -> String) -> String {
        (0..self.sums.len())
            .map(|n| format!(",\n    {} AS sum_{n}", expression(n)))
            .collect()
    }

    /// Returns the columns for the span of the usage, if the question asks for it.
    fn span(&self, table: &str) -> String {
        optional(self.has_span(), || {
            format!(", min({table}.first) AS first, max({table}.last) AS last")
        })
    }

    /// Returns the search for rows of the window that meet a condition on rows `usage`. The second condition is for rows by
    /// user.
    fn search<'s>(
        &'s self,
        sums: &'s [Sum],
        span: bool,
        conditions: [&str; 2],
        key: Key,
    ) -> Search<'s> {
        let of_targets = self.plan.of_targets(&self.params);
        let [condition, condition_on_owners] = conditions.map(|it| format!("{it}{of_targets}"));
        Search {
            plan: self.plan,
            params: &self.params,
            sums,
            span,
            condition,
            condition_on_owners,
            key,
            beginning: false,
            by_server: self.question.asks_servers(),
            as_stored: false,
            dated: false,
        }
    }

    /// Returns the condition on rows `usage` of the few that are selected, if they are few.
    fn of_few(&self, key: &str) -> Option<String> {
        let numbers: Vec<String> = self.few.as_ref()?.iter().map(i64::to_string).collect();
        let numbers = numbers.join(",");
        Some(format!(
            " AND usage.{key} = ANY ('{{{numbers}}}'::bigint[])"
        ))
    }

    /// Returns the conditions on rows `usage` by entry and by owner that are tested when the rows are read. Sums of
    /// the other rows are filtered when they are joined with their entries or with names.
    fn of_selected(&self) -> [String; 2] {
        if !self.by_owner() {
            return [self.of_few("entry_id").unwrap_or_default(), String::new()];
        }
        let of_uid = self
            .question
            .filters
            .conditions_on_owners(self.plan.owners.table("usage"), &self.params);
        let of_named = self.of_few("uid").unwrap_or_default();
        [String::new(), of_uid + &of_named]
    }

    /// Returns a SELECT of rows with their server, if the question is about servers.
    fn with_servers(&self, usage: String) -> String {
        if !self.question.asks_servers() {
            return usage;
        }
        sql!(
            "statement/usage_by_server.sql",
            usage = usage,
            since = self.plan.since(&self.params),
            conditions = self.filters(Level::Server, "observation"),
        )
    }

    /// Returns whether usage is summed by entry, or by owner. A filter needs no more than to read the rows of the selected
    /// entries, if these are few, and if filters select all usage of an entry or nothing.
    fn asks_entries(&self) -> bool {
        let selects_entries = self.plan.sources.owner().is_none() && !self.plan.divides_entries();
        let reads_selected = self.few.is_some() && selects_entries;
        self.question.by.has(Level::Entry)
            || self.question.filters.has(Level::Entry) && !reads_selected
            || self.is_summary()
    }

    /// Returns whether rows have users in place of entries. The question then asks for no more, and some of the rows
    /// have no more.
    fn by_owner(&self) -> bool {
        self.asks_entries() && self.plan.sources.owner().is_some()
    }

    /// Returns the key by which the rows of a target are told apart.
    fn key(&self) -> Key {
        match (self.by_owner(), self.asks_entries()) {
            (true, _) => Key::Owner,
            (false, true) => Key::Entry,
            (false, false) => Key::Target,
        }
    }

    /// Returns whether rows are read as they are and only once, but for those of steps that are no buckets. They then need
    /// not be materialized.
    fn is_read_once(&self) -> bool {
        self.by_owner()
            && self.plan.sources.steps().next().is_some()
            && !self.question.filters.has(Level::Entry)
    }

    fn has_span(&self) -> bool {
        self.question.wanted.has_span()
    }

    fn is_summary(&self) -> bool {
        matches!(self.question.wanted, Wanted::Summary)
    }

    /// Returns a SELECT of rows of usage with the jobs and names to which they belong, where there are several.
    fn with_days(&self, usage: String) -> String {
        let usage = self.plan.with_jobs(usage, &self.params);
        self.plan.with_names(usage, self.by_owner(), &self.params)
    }

    /// Returns a join of a table and its sums `part` with the names of users and groups, if the question is about names.
    fn join_names(&self, table: Table) -> String {
        let dimensions = self.question.dimensions();
        self.plan
            .join_names_of_sums(dimensions, table, &self.params)
    }

    fn filters(&self, level: Level, table: &'static str) -> String {
        self.question.filters.conditions(level, table, &self.params)
    }

    /// Returns the dimensions of entries as columns of a table.
    fn entry_columns(&self, table: &str) -> String {
        columns(self.question.by.of(&[Level::Entry]), table)
    }

    /// Returns the key of a unit: the target, and the server if the answer is by server.
    fn unit_key(&self, table: &str) -> String {
        format!("{table}.target_id{}", self.server_key(table))
    }

    /// Returns the server of a unit with a leading comma, if the answer is by server.
    fn server_key(&self, table: &str) -> String {
        optional(self.question.by.has(Level::Server), || {
            format!(", {table}.server")
        })
    }

    /// Returns the condition that joins two tables by their units.
    fn same_unit(&self, one: &str, other: &str) -> String {
        let same_server = self.same_server(one, other);
        format!("{other}.target_id = {one}.target_id{same_server}")
    }

    /// Returns the condition on the servers of two tables with a leading AND, if the answer is by server.
    fn same_server(&self, one: &str, other: &str) -> String {
        optional(self.question.by.has(Level::Server), || {
            format!(" AND {other}.server = {one}.server")
        })
    }
}
