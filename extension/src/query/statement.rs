//! Builds the statement that answers a question.
//!
//! Sums per target and group (`activity`) are joined with the targets in every step (`scope`: the targets that were
//! observed, `unit`, and the time for which they were observed, `seen`; see [`scope`]), because a rate is a sum over
//! targets of total ÷ seconds observed. [`groups`] computes the answer from these.

use std::fmt::Write as _;

use crate::query::dimension::{Dimension, Level};
use crate::query::entries::entries;
use crate::query::measure::{Measure, Term};
use crate::query::question::{Question, Wanted};
use crate::query::rows::{AFTER_SPANS, Rows};
use crate::query::sources::Sources;
use crate::store::sum::Sum;

mod groups;
mod scope;

/// Number of the first filter among the parameters. The parameters before it are: 1 and 2 the start and the end of the
/// window, 3 and 4 the latest ends of rows that cross each of these, 5 a day before the start, 6 the edges of the
/// steps, 7 the time since which observations are kept, then the [spans that are read](crate::query::rows::READ).
const FILTERS: usize = AFTER_SPANS;

/// The number of rows that are read to find targets that report times: about the rows of all targets in ten minutes.
const EARLY_ROWS: usize = 10_000;

/// Builds the statement of a question.
pub struct Statement<'a> {
    question: &'a Question,
    /// Number of steps.
    steps: usize,
    /// The sources of the rows.
    sources: &'a Sources,
    /// The entries that the filters select, if they are few.
    entries: Option<Vec<i64>>,
    /// The schema of our functions, quoted.
    schema: &'a str,
    /// The distinct sums that the measures consist of.
    sums: Vec<Sum>,
    /// The measures in terms of `sums`.
    measures: Vec<Parts<'a>>,
    /// The sum that shows whether a target reports times.
    probe: Option<SumNumber>,
    /// The sums that show which target was used most: the time, and the calls if there are no times.
    load: Option<[SumNumber; 2]>,
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
    /// Creates the statement of a question.
    pub fn new(
        question: &'a Question,
        steps: usize,
        sources: &'a Sources,
        entries: Option<Vec<i64>>,
        schema: &'a str,
    ) -> Self {
        let mut sums = Vec::new();
        let measures = question.measures.list.iter();
        let measures = measures
            .map(|it| Parts::new(it, question.calls, &mut sums))
            .collect();
        let has_times = sums.iter().any(|sum| sum.time);
        let probe = has_times.then(|| number(&mut sums, &Sum::service_time()));
        let load = matches!(question.wanted, Wanted::Summary).then(|| {
            [Sum::service_time(), Sum::service_calls()].map(|sum| number(&mut sums, &sum))
        });
        Self {
            question,
            steps,
            sources,
            entries,
            schema,
            sums,
            measures,
            probe,
            load,
        }
    }

    /// Returns the whole statement. Every row begins with the flag for reported times, which is there even if there are
    /// no groups.
    pub fn complete(&self) -> String {
        format!(
            "WITH {observed}, part AS {materialized} ({part}), entry AS MATERIALIZED ({entry}), \
             activity AS NOT MATERIALIZED ({activity}), early AS MATERIALIZED ({early}), timed AS MATERIALIZED ({timed}), \
             scope AS MATERIALIZED ({scope}), coverage AS ({coverage}) \
             SELECT n.timed, g.* FROM (SELECT bool_or(k.timed) AS timed FROM timed k) n \
             LEFT JOIN ({wanted}) g ON true ORDER BY {order}",
            observed = self.observed(),
            part = self.part(),
            entry = self.entry(),
            materialized = if self.is_read_once() {
                "NOT MATERIALIZED"
            } else {
                "MATERIALIZED"
            },
            activity = self.activity(),
            early = self.early(),
            timed = self.timed(),
            scope = self.scope(),
            coverage = self.coverage(),
            wanted = self.wanted(),
            order = self.order("g."),
        )
    }

    /// Returns the statement for the targets that were observed in the window, which must be a single step:
    /// `target_id`, the dimensions, and the observed time in microseconds. The targets are in order of
    /// the dimensions.
    pub fn targets(&self) -> String {
        let dimensions = || self.question.by.of(&[Level::Target]);
        format!(
            "WITH {observed} SELECT u.target_id{columns}, x.observed[1] AS observed \
             FROM unit u JOIN seen x ON x.target_id = u.target_id WHERE x.observed IS NOT NULL ORDER BY u.unit_group",
            observed = self.observed(),
            columns = columns(dimensions(), "u."),
        )
    }

    /// Returns the statement for the raw rows of the selected entries in the window: `target_id`, `entry_id`, `first`,
    /// `last` and these sums.
    pub fn rows_of_entries(&self, sums: &[Sum]) -> String {
        let rows = self.rows_in_window(sums, true, [&self.of_entries(), ""], false);
        let values: String = (0..sums.len()).map(|n| format!(", r.value_{n}")).collect();
        format!("SELECT r.target_id, r.entry_id, r.first, r.last{values} FROM ({rows}) r")
    }

    /// Returns the common table expressions about targets, which all others are based on.
    fn observed(&self) -> String {
        format!(
            "observation AS MATERIALIZED ({observation}), unit AS MATERIALIZED ({unit}), seen AS MATERIALIZED ({seen})",
            observation = self.observation(),
            unit = self.unit(),
            seen = self.seen(),
        )
    }

    /// Returns a SELECT of the usage by step and target, and by entry if the question is about entries, or by user if
    /// it is about users only. Groups add up these rows, so the rows are summed here to make them few.
    fn part(&self) -> String {
        let mut key = format!("i.step, {}", self.unit_key("i"));
        if self.by_user() {
            key += ", i.uid";
        } else if self.asks_entries() {
            key += ", i.entry_id";
        }
        // If each sum is a row already, summing it again would take longer than reading it.
        let (sums, span, groups) = if self.has_one_row_per_step() {
            let span = if self.is_summary() {
                ", i.first, i.last".to_owned()
            } else {
                String::new()
            };
            (
                self.each_sum(|n| format!("i.value_{n}")),
                span,
                String::new(),
            )
        } else {
            (
                self.each_sum(|n| format!("sum(i.value_{n})")),
                self.span("i"),
                format!(" GROUP BY {key}"),
            )
        };
        format!(
            "SELECT {key}{sums}{span} FROM ({rows}) i{of_targets}{groups}",
            rows = self.rows(),
            of_targets = self.of_targets(),
        )
    }

    /// Returns the condition on rows `i` of the selected targets.
    fn of_targets(&self) -> &'static str {
        if self.question.filters.has(Level::Target) {
            " WHERE i.target_id IN (SELECT u.target_id FROM unit u)"
        } else {
            ""
        }
    }

    /// Returns a SELECT of the entries in the rows. Of all entries that were ever seen, few are active in the window.
    fn entry(&self) -> String {
        if !self.joins_entries() {
            return "SELECT NULL::bigint AS entry_id WHERE false".to_owned();
        }
        format!(
            "SELECT p.entry_id, e.node AS entry_node{dimensions} FROM (SELECT DISTINCT p.entry_id FROM part p) p \
             LEFT JOIN jobstats.entries e ON e.entry_id = p.entry_id WHERE true{conditions}",
            dimensions = columns(self.question.by.of(&[Level::Entry]), "e."),
            conditions = self.filters(Level::Entry, "e"),
        )
    }

    /// Returns a SELECT of the usage with the dimensions of entries; for a summary, of the sums by step, target and
    /// these dimensions.
    fn activity(&self) -> String {
        if !self.joins_entries() {
            return "SELECT * FROM part".to_owned();
        }
        let entry = |table| columns(self.question.by.of(&[Level::Entry]), table);
        let dimensions = entry("e.");
        if !self.is_summary() {
            return format!(
                "SELECT p.*{dimensions} FROM part p JOIN entry e ON e.entry_id = p.entry_id"
            );
        }
        // Each node is counted once per group of units, in the row of one of these units, so that the counts can be
        // summed.
        let server = |table: &str| {
            self.unit_key(table)
                .replace(&format!("{table}.target_id"), "")
        };
        format!(
            "SELECT {key}{sums}{span}, 0 AS nodes FROM part p JOIN entry e ON e.entry_id = p.entry_id GROUP BY {key} \
             UNION ALL SELECT n.step, min(n.target_id){of_group}{no_sums}, NULL, NULL, count(*) FROM (\
             SELECT p.step, min(p.target_id) AS target_id, u.unit_group{of_node} \
             FROM part p JOIN entry e ON e.entry_id = p.entry_id JOIN unit u {same_unit} WHERE e.entry_node IS NOT NULL \
             GROUP BY p.step, u.unit_group{of_node}, e.entry_node) n GROUP BY n.step, n.unit_group{of_group}",
            key = format_args!("p.step, {}{dimensions}", self.unit_key("p")),
            sums = self.each_sum(|n| format!("sum(p.sum_{n})")),
            span = self.span("p"),
            of_group = server("n") + &entry("n."),
            no_sums = self.each_sum(|_| "NULL".to_owned()),
            of_node = server("p") + &dimensions,
            same_unit = self.same_unit("p", "u"),
        )
    }

    /// Returns a SELECT of the targets whose first rows show that they report times. Nearly always these are all
    /// targets that do.
    fn early(&self) -> String {
        match self.probe.filter(|_| self.tells_none_from_unknown()) {
            Some(n) => format!(
                "SELECT DISTINCT p.target_id FROM (SELECT p.target_id, p.sum_{n} FROM part p LIMIT {EARLY_ROWS}) p \
                 WHERE p.sum_{n} IS NOT NULL"
            ),
            None => "SELECT NULL::integer AS target_id WHERE false".to_owned(),
        }
    }

    /// Returns a SELECT that tells for each target whether it reports times, for any entry. A target without usage is
    /// taken to do as the others.
    fn timed(&self) -> String {
        let Some(n) = self.probe else {
            return "SELECT NULL::integer AS target_id, NULL::boolean AS timed WHERE false"
                .to_owned();
        };
        if !self.tells_none_from_unknown() {
            return format!(
                "SELECT u.target_id, EXISTS (SELECT FROM part p WHERE p.sum_{n} IS NOT NULL) \
                 OR NOT EXISTS (SELECT FROM part p) AS timed FROM unit u"
            );
        }
        format!(
            "SELECT u.target_id, coalesce(u.timed, bool_or(u.timed) OVER (), true) AS timed \
             FROM (SELECT u.target_id, {timed} AS timed FROM (SELECT DISTINCT u.target_id FROM unit u) u LEFT JOIN (\
             SELECT e.target_id, true AS timed FROM early e UNION ALL \
             SELECT p.target_id, bool_or(p.sum_{n} IS NOT NULL) AS timed FROM part p \
             WHERE EXISTS (SELECT FROM unit u WHERE u.target_id NOT IN (SELECT e.target_id FROM early e)) \
             AND p.target_id NOT IN (SELECT e.target_id FROM early e) GROUP BY p.target_id\
             ) a ON a.target_id = u.target_id) u",
            timed = self.timed_of_any(&self.sums[n]),
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

    /// Returns an expression that tells whether a target `u` reports times, if the selected entries may have none on
    /// it. One row of any entry shows it.
    fn timed_of_any(&self, probe: &Sum) -> String {
        if !self.question.filters.has(Level::Entry) {
            return "a.timed".to_owned();
        }
        let rows = self.rows_in_window(
            std::slice::from_ref(probe),
            false,
            [" AND i.target_id = u.target_id"; 2],
            false,
        );
        format!(
            "CASE WHEN a.timed OR EXISTS (SELECT FROM ({rows}) i WHERE i.value_0 IS NOT NULL) THEN true \
             WHEN EXISTS (SELECT FROM ({rows}) i) THEN false END"
        )
    }

    /// Returns all sums as columns, each made of an expression.
    fn each_sum(&self, expression: impl Fn(SumNumber) -> String) -> String {
        (0..self.sums.len())
            .map(|n| format!(", {} AS sum_{n}", expression(n)))
            .collect()
    }

    /// Returns the columns for the span of the usage, if the question asks for it.
    fn span(&self, table: &str) -> String {
        if self.is_summary() {
            format!(", min({table}.first) AS first, max({table}.last) AS last")
        } else {
            String::new()
        }
    }

    /// Returns a SELECT of the rows of the window that meet a condition on rows `i`. The second condition is for rows
    /// by user.
    fn rows_in_window(
        &self,
        sums: &[Sum],
        span: bool,
        conditions: [&str; 2],
        by_user: bool,
    ) -> String {
        let [condition, condition_on_users] = conditions;
        let rows = Rows {
            sums,
            steps: self.steps,
            sources: self.sources,
            schema: self.schema,
            span,
            condition,
            condition_on_users,
            by_user,
        };
        rows.in_window()
    }

    /// Returns the condition on rows `i` of the selected entries.
    fn of_entries(&self) -> String {
        if let Some(entries) = &self.entries {
            let numbers: Vec<String> = entries.iter().map(i64::to_string).collect();
            return format!(
                " AND i.entry_id = ANY ('{{{}}}'::bigint[])",
                numbers.join(",")
            );
        }
        if !self.question.filters.has(Level::Entry) {
            return String::new();
        }
        format!(
            " AND i.entry_id IN ({})",
            entries(&self.question.filters, FILTERS)
        )
    }

    /// Returns a SELECT of the rows of the selected entries in the window.
    fn asked_for(&self, span: bool) -> String {
        let of_users = if self.by_user() {
            self.filters(Level::Entry, "i")
        } else {
            String::new()
        };
        let conditions = [&*self.of_entries(), &of_users];
        self.rows_in_window(&self.sums, span, conditions, self.by_user())
    }

    /// Returns a SELECT of the rows of the selected entries in the window, with their server if the question is about
    /// servers.
    fn rows(&self) -> String {
        let rows = self.asked_for(self.is_summary());
        if !self.question.asks_servers() {
            return rows;
        }
        format!(
            "SELECT r.*, o.server FROM ({rows}) r JOIN jobstats.observations o \
             ON o.target_id = r.target_id AND o.\"time\" = r.observed AND o.\"time\" > $1 \
             WHERE true{}",
            self.filters(Level::Server, "o")
        )
    }

    fn asks_entries(&self) -> bool {
        self.question.by.has(Level::Entry)
            || self.question.filters.has(Level::Entry)
            || self.is_summary()
    }

    /// Returns whether rows have users in place of entries. The question then asks for no more, and some of the rows
    /// have no more.
    fn by_user(&self) -> bool {
        self.asks_entries() && self.sources.has_users()
    }

    /// Returns whether rows are read as they are and only once. They then need not be materialized.
    fn is_read_once(&self) -> bool {
        self.by_user() && self.has_one_row_per_step() && !self.question.filters.has(Level::Entry)
    }

    /// Returns whether there is at most one row per step, target and entry or user. Rows of increments are added up if
    /// rows by user are read, and only then.
    fn has_one_row_per_step(&self) -> bool {
        self.sources.has_one_row_per_step()
            && (self.by_user() || self.asks_entries() && !self.sources.has_rest())
    }

    fn joins_entries(&self) -> bool {
        self.asks_entries() && !self.by_user()
    }

    fn is_summary(&self) -> bool {
        matches!(self.question.wanted, Wanted::Summary)
    }

    fn filters(&self, level: Level, table: &str) -> String {
        self.question.filters.conditions(level, table, FILTERS)
    }

    /// Returns the number of the first parameter after the filters: the number of groups and the smallest rate, or the
    /// base of densities.
    fn after_filters(&self) -> usize {
        FILTERS + self.question.filters.chosen().count()
    }

    /// Returns the key of a unit: the target, and the server if the answer is by server.
    fn unit_key(&self, table: &str) -> String {
        if self.question.by.has(Level::Server) {
            format!("{table}.target_id, {table}.server")
        } else {
            format!("{table}.target_id")
        }
    }

    /// Returns the ON clause that joins two tables by their units.
    fn same_unit(&self, one: &str, other: &str) -> String {
        let mut condition = format!("ON {other}.target_id = {one}.target_id");
        if self.question.by.has(Level::Server) {
            let _ = write!(condition, " AND {other}.server = {one}.server");
        }
        condition
    }

    /// Returns an expression for a measure's total over units `u`.
    fn total(&self, measure: &Parts<'_>) -> String {
        terms(measure, |sum, term| {
            let total = if self.is_summary() {
                // The values are sums already, which are numeric; treating them as integers would take longer.
                format!("sum({})", self.value(sum))
            } else {
                self.aggregate("sum", sum, term)
            };
            times(total, term.factor())
        })
    }

    /// Returns an expression that tells whether a measure's total over units `u` is not zero, if possible without
    /// computing the total.
    fn occurs(&self, measure: &Parts<'_>) -> String {
        match measure.total.as_slice() {
            [(sum, term)] if term.weight.is_none() => self.aggregate("any", *sum, term),
            _ => format!("{} <> 0", self.total(measure)),
        }
    }

    /// Returns an expression for a measure's total over units `u`, each divided by the seconds for which the unit was
    /// observed. Weights are applied before anything is rounded.
    fn rate(&self, measure: &Parts<'_>) -> String {
        if let [(sum, term)] = measure.total.as_slice()
            && term.weight.is_none()
        {
            return self.aggregate("sum_of_rates", *sum, term);
        }
        let rates = terms(measure, |sum, term| {
            let rate = format!(
                "sum({} * 1000000.0 / nullif(u.observed, 0))",
                self.value(sum)
            );
            times(rate, term.factor())
        });
        format!("({rates})::double precision")
    }

    /// Returns an aggregate over units `u`. Aggregates of the same sum have the same arguments, so that the sum is
    /// computed once.
    fn aggregate(&self, name: &str, sum: SumNumber, term: &Term) -> String {
        // Microseconds divided by microseconds are seconds per second.
        let scale = if term.in_seconds { 1 } else { 1_000_000 };
        let value = self.value(sum);
        format!("jobstats_internal.{name}({value}, u.observed, {scale})")
    }

    /// Returns an expression for a sum of one unit `u`: zero if the unit was observed without such usage, NULL if that
    /// is not known.
    fn value(&self, n: SumNumber) -> String {
        let sum = &self.sums[n];
        let none = if sum.time { "u.none_of_time" } else { "u.none" };
        if sum.mdt_only {
            format!("coalesce(CASE WHEN u.mdt THEN a.sum_{n} END, {none})")
        } else {
            format!("coalesce(a.sum_{n}, {none})")
        }
    }
}

/// Returns an expression that converts microseconds to seconds.
fn seconds(micros: &str) -> String {
    format!("({micros}::double precision / 1000000)")
}

/// Multiplies an expression by a factor, if there is one.
fn times(expression: String, factor: Option<String>) -> String {
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

/// Returns the names of dimensions as columns of a table, each with a leading comma.
fn columns(dimensions: impl Iterator<Item = &'static Dimension>, table: &str) -> String {
    dimensions
        .map(|dimension| format!(", {table}{}", dimension.name))
        .collect()
}
