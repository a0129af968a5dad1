//! The one statement that answers a question.
//!
//! Sums per target and group (`activity`) are joined with the targets in every step (`scope`: those that were observed,
//! `unit`, and for how long, `seen`), because a rate is a sum over targets of total ÷ seconds observed. What is made of
//! that, [`groups`] and [`operations`] say.

use std::fmt::Write as _;

use crate::reading::dimension::{ALL, Dimension, Level};
use crate::reading::measure::{Measure, Sum};
use crate::reading::question::{Question, Wanted};
use crate::reading::rows::{self, AFTER_SPANS, KEPT_SINCE, READ, Rows};
use crate::reading::sources::Sources;

mod groups;
mod operations;

/// Number of the first filter among the parameters. Before it come: 1 start and 2 end of the window, 3 and 4 each an hour
/// later, 5 a day before the start, 6 the edges of the steps, 7 since when
/// observations are kept, then those that say [which spans are read](READ).
const FILTERS: usize = AFTER_SPANS;

/// Number of the first parameter after the filters: how many groups, and the smallest rate.
const AFTER_FILTERS: usize = FILTERS + ALL.len();

/// Builds the statement of a question.
pub struct Statement<'a> {
    question: &'a Question,
    /// Number of steps.
    steps: usize,
    /// Where rows are read.
    sources: &'a Sources,
    /// The schema of our functions, quoted.
    schema: &'a str,
    /// The distinct sums that the measures consist of.
    sums: Vec<Sum>,
    /// The measures in terms of them.
    measures: Vec<Parts<'a>>,
    /// The sum that tells whether a target reports times.
    probe: Option<SumNumber>,
    /// The sums that tell which target was used most: times, and calls where there are none.
    load: Option<[SumNumber; 2]>,
}

/// Position of a sum among those of a statement.
type SumNumber = usize;

/// What a measure consists of.
struct Parts<'a> {
    /// Sums, and what each is multiplied by.
    total: Vec<(SumNumber, Option<&'a str>)>,
    calls: Option<SumNumber>,
    spent: Option<SumNumber>,
}

/// The number of a sum, which is added where it is new.
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
            total: total
                .map(|term| (number(&term.sum), term.factor.as_deref()))
                .collect(),
            calls: measure.calls.as_ref().filter(|_| calls).map(&mut number),
            spent: measure.spent.as_ref().filter(|_| calls).map(&mut number),
        }
    }
}

impl<'a> Statement<'a> {
    /// For a question.
    pub fn new(
        question: &'a Question,
        steps: usize,
        sources: &'a Sources,
        schema: &'a str,
    ) -> Self {
        let mut sums = Vec::new();
        let measures = question.measures.list.iter();
        let measures = measures
            .map(|it| Parts::new(it, question.calls, &mut sums))
            .collect();
        let has_times = sums.iter().any(|sum| sum.time);
        // Where one entry's rows are looked at alone, what they lack is simply not there.
        let asks_whether = has_times && !matches!(question.wanted, Wanted::Operations);
        let probe = asks_whether.then(|| number(&mut sums, &Sum::service_time()));
        let load = matches!(question.wanted, Wanted::Summary).then(|| {
            [Sum::service_time(), Sum::service_calls()].map(|sum| number(&mut sums, &sum))
        });
        Self {
            question,
            steps,
            sources,
            schema,
            sums,
            measures,
            probe,
            load,
        }
    }

    /// All of it. Every row begins with whether there are times; that is so even where nothing else is said.
    pub fn complete(&self) -> String {
        format!(
            "WITH step AS MATERIALIZED ({step}), observation AS MATERIALIZED ({observation}), \
             unit AS MATERIALIZED ({unit}), seen AS MATERIALIZED ({seen}), \
             part AS MATERIALIZED ({part}), entry AS MATERIALIZED ({entry}), \
             activity AS {materialized} ({activity}), timed AS MATERIALIZED ({timed}), \
             scope AS MATERIALIZED ({scope}), coverage AS ({coverage}) \
             SELECT n.timed, g.* FROM (SELECT bool_or(k.timed) AS timed FROM timed k) n \
             LEFT JOIN ({wanted}) g ON true ORDER BY {order}",
            step = self.step(),
            observation = self.observation(),
            unit = self.unit(),
            seen = self.seen(),
            part = self.part(),
            entry = self.entry(),
            materialized = if self.joins_entries() {
                "MATERIALIZED"
            } else {
                "NOT MATERIALIZED"
            },
            activity = self.activity(),
            timed = self.timed(),
            scope = self.scope(),
            coverage = self.coverage(),
            wanted = self.wanted(),
            order = self.order("g."),
        )
    }

    fn step(&self) -> String {
        format!(
            "SELECT n AS step, ($6)[n] AS lower, ($6)[n + 1] AS upper FROM generate_series(1, {}) n",
            self.steps
        )
    }

    /// When targets were observed: of those that were in the window or on the day before.
    fn observation(&self) -> String {
        if self.question.asks_servers() {
            self.observations_by_server()
        } else {
            self.observed_spans()
        }
    }

    /// The observations of the day before the window and of the window, and the one that reaches beyond its end.
    fn observations_by_server(&self) -> String {
        let conditions = self.filters(Level::Target) + &self.filters(Level::Server);
        format!(
            "SELECT o.target_id, o.server, o.since, o.\"time\" FROM jobstats.observations o \
             JOIN jobstats.targets t ON t.target_id = o.target_id \
             WHERE o.\"time\" > $5 AND o.\"time\" <= $2{conditions} \
             UNION ALL \
             SELECT o.target_id, o.server, o.since, o.\"time\" FROM jobstats.targets t \
             CROSS JOIN LATERAL (SELECT * FROM jobstats.observations o \
             WHERE o.target_id = t.target_id AND o.\"time\" > $2 ORDER BY o.\"time\" LIMIT 1) o \
             WHERE o.since < $2{conditions}"
        )
    }

    /// The spans without a gap between observations. As each begins where the one before ends, but for baselines, only
    /// the first, the last and the baselines have to be looked at, however long the window is. Of those that are dropped,
    /// such spans are kept.
    fn observed_spans(&self) -> String {
        let conditions = self.filters(Level::Target);
        format!(
            "SELECT e.target_id, e.latest AS since, e.latest AS \"time\" FROM ({edge}) e WHERE e.latest IS NOT NULL \
             UNION ALL \
             SELECT b.target_id, b.begins, coalesce((SELECT o.\"time\" FROM jobstats.observations o \
             WHERE o.target_id = b.target_id AND o.\"time\" < b.next ORDER BY o.\"time\" DESC LIMIT 1), b.ends) FROM (\
             SELECT e.target_id, b.begins, lead(b.at) OVER (PARTITION BY e.target_id ORDER BY b.at) AS next, \
             CASE WHEN e.beyond < $2 THEN $2 ELSE e.latest END AS ends \
             FROM ({edge}) e CROSS JOIN LATERAL (\
             SELECT e.since AS begins, e.earliest AS at WHERE e.earliest IS NOT NULL \
             UNION ALL \
             SELECT o.\"time\", o.\"time\" FROM jobstats.observations o WHERE o.target_id = e.target_id \
             AND o.since IS NULL AND o.\"time\" > e.earliest AND o.\"time\" <= $2) b) b \
             UNION ALL \
             SELECT d.target_id, d.since, d.until FROM jobstats.observed d \
             JOIN jobstats.targets t ON t.target_id = d.target_id WHERE d.until > $5 AND d.since < $2{conditions}",
            edge = format_args!(
                "SELECT t.target_id, f.\"time\" AS earliest, coalesce(f.since, f.\"time\") AS since, \
                 l.\"time\" AS latest, n.since AS beyond FROM jobstats.targets t \
                 LEFT JOIN LATERAL (SELECT o.since, o.\"time\" FROM jobstats.observations o \
                 WHERE o.target_id = t.target_id AND o.\"time\" > greatest($1, ${KEPT_SINCE}) ORDER BY o.\"time\" LIMIT 1) f ON true \
                 LEFT JOIN LATERAL (SELECT o.\"time\" FROM jobstats.observations o WHERE o.target_id = t.target_id \
                 AND o.\"time\" > greatest($5, ${KEPT_SINCE}) AND o.\"time\" <= $2 ORDER BY o.\"time\" DESC LIMIT 1) l ON true \
                 LEFT JOIN LATERAL (SELECT o.since FROM jobstats.observations o \
                 WHERE o.target_id = t.target_id AND o.\"time\" > greatest($2, ${KEPT_SINCE}) \
                 ORDER BY o.\"time\" LIMIT 1) n ON true \
                 WHERE (l.\"time\" IS NOT NULL OR n.since < $2){conditions}"
            ),
        )
    }

    /// The targets in scope, each once per server where the answer is by server, with the number of its group.
    fn unit(&self) -> String {
        let dimensions: Vec<Dimension> = self
            .question
            .by
            .of(&[Level::Target, Level::Server])
            .collect();
        let named: String = dimensions
            .iter()
            .map(|it| format!(", {} AS {}", it.column(), it.name()))
            .collect();
        let order: Vec<String> = dimensions.iter().map(|it| it.column()).collect();
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

    /// For how long each target was observed in each step, as far as what it did is still known.
    fn seen(&self) -> String {
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
            "SELECT {key}, s.step, \
             extract(epoch FROM sum(least(o.\"time\", s.upper) - greatest(o.since, s.lower))) AS seconds \
             FROM {observation} o \
             CROSS JOIN LATERAL generate_series(greatest({first}, 1), least({last}, {steps})) AS k (step) \
             JOIN step s ON s.step = k.step \
             WHERE o.since < $2 AND o.\"time\" > $1 GROUP BY {key}, s.step",
            key = self.unit_key("o"),
            first = rows::first_step("o"),
            last = rows::last_step("o"),
            steps = self.steps,
        )
    }

    /// Every unit in every step: for how long it was observed, and whether none was for longer.
    fn scope(&self) -> String {
        let dimensions = columns(self.question.by.of(&[Level::Target]), "u.");
        format!(
            "SELECT {key}, u.target_kind, u.target_name, u.unit_group, s.step{dimensions}, x.seconds, \
             x.seconds = max(x.seconds) OVER (PARTITION BY s.step) AS longest, \
             x.seconds > 0 AS observed, k.timed FROM unit u CROSS JOIN step s \
             LEFT JOIN seen x {on_seen} AND x.step = s.step LEFT JOIN timed k ON k.target_id = u.target_id",
            key = self.unit_key("u"),
            on_seen = self.same_unit("u", "x"),
        )
    }

    fn coverage(&self) -> String {
        let dimensions = columns(self.question.by.of(&[Level::Target, Level::Server]), "u.");
        format!(
            "SELECT u.unit_group, u.step{dimensions}, coalesce(sum(u.seconds), 0)::double precision AS observed, \
             count(*) AS targets, bool_or(u.target_kind = 'MDT') AS mdt, bool_or(u.target_kind = 'OST') AS ost \
             FROM scope u GROUP BY u.unit_group, u.step{dimensions}",
        )
    }

    /// The sums per step and target, and per entry where anything is asked of entries, or per user where that is all.
    fn part(&self) -> String {
        let mut key = format!("i.step, {}", self.unit_key("i"));
        if self.by_user() {
            key += ", i.uid";
        } else if self.asks_entries() {
            key += ", i.entry_id";
        }
        // Where each sum is a row already, to sum it again would take longer than to read it.
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

    /// Lets only rows `i` of the targets asked for through.
    fn of_targets(&self) -> &'static str {
        if self.question.filters.has(Level::Target) {
            " WHERE i.target_id IN (SELECT u.target_id FROM unit u)"
        } else {
            ""
        }
    }

    /// The entries met: of all that were ever seen, few did anything in the window.
    fn entry(&self) -> String {
        if !self.joins_entries() {
            return "SELECT NULL::bigint AS entry_id WHERE false".to_owned();
        }
        format!(
            "SELECT p.entry_id, e.node AS entry_node{dimensions} FROM (SELECT DISTINCT p.entry_id FROM part p) p \
             LEFT JOIN jobstats.entries e ON e.entry_id = p.entry_id WHERE true{conditions}",
            dimensions = columns(self.question.by.of(&[Level::Entry]), "e."),
            conditions = self.filters(Level::Entry),
        )
    }

    /// The sums per step, target and dimensions of entries.
    fn activity(&self) -> String {
        if !self.joins_entries() {
            return "SELECT * FROM part".to_owned();
        }
        let by_entry = || self.question.by.of(&[Level::Entry]);
        let key = format!(
            "p.step, {}{}",
            self.unit_key("p"),
            columns(by_entry(), "p.")
        );
        let entry = columns(by_entry(), "e.");
        let (nodes, node, unit) = if self.is_summary() {
            // So that they can be summed, each is counted once for the group that its unit belongs to.
            let first = format!(
                ", e.entry_node IS NOT NULL AND row_number() OVER (PARTITION BY u.unit_group{entry}, e.entry_node) = 1 \
                 AS first_of_node"
            );
            let unit = format!(" JOIN unit u {}", self.same_unit("p", "u"));
            (
                ", count(*) FILTER (WHERE p.first_of_node) AS nodes",
                first,
                unit,
            )
        } else {
            ("", String::new(), String::new())
        };
        format!(
            "SELECT {key}{sums}{span}{nodes} FROM (SELECT p.*{entry}{node} FROM part p \
             JOIN entry e ON e.entry_id = p.entry_id{unit}) p GROUP BY {key}",
            sums = self.each_sum(|n| format!("sum(p.sum_{n})")),
            span = self.span("p"),
        )
    }

    /// Whether each target reports times, whoever's they are. One that did nothing is taken to do as the others.
    fn timed(&self) -> String {
        match self.probe {
            Some(n) => format!(
                "SELECT u.target_id, coalesce(u.timed, bool_or(u.timed) OVER (), true) AS timed \
                 FROM (SELECT u.target_id, {timed} AS timed FROM (SELECT DISTINCT u.target_id FROM unit u) u LEFT JOIN (\
                 SELECT p.target_id, bool_or(p.sum_{n} IS NOT NULL) AS timed FROM part p GROUP BY p.target_id\
                 ) a ON a.target_id = u.target_id) u",
                timed = self.timed_of_any(&self.sums[n]),
            ),
            None => {
                "SELECT NULL::integer AS target_id, NULL::boolean AS timed WHERE false".to_owned()
            }
        }
    }

    /// Whether a target `u` reports times, where those asked for may have none on it: one row of anybody's tells.
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

    /// All sums, each of an expression.
    fn each_sum(&self, expression: impl Fn(SumNumber) -> String) -> String {
        (0..self.sums.len())
            .map(|n| format!(", {} AS sum_{n}", expression(n)))
            .collect()
    }

    /// From when to when something was done, where that is asked for.
    fn span(&self, table: &str) -> String {
        if self.is_summary() {
            format!(", min({table}.first) AS first, max({table}.last) AS last")
        } else {
            String::new()
        }
    }

    /// The rows of the window that meet a condition on rows `i`, and another one where these are of users.
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

    /// Lets only rows `i` through that the entries asked for have. These are chosen before anything is computed, by an
    /// index where they are few.
    fn of_entries(&self) -> String {
        match self.filters(Level::Entry) {
            filters if filters.is_empty() => filters,
            filters => format!(
                " AND i.entry_id IN (SELECT e.entry_id FROM jobstats.entries e WHERE true{filters})"
            ),
        }
    }

    /// The rows of the window of the entries asked for.
    fn asked_for(&self, span: bool) -> String {
        let of_users = self.filters(Level::Entry).replace("e.uid", "i.uid");
        let conditions = [&*self.of_entries(), &of_users];
        self.rows_in_window(&self.sums, span, conditions, self.by_user())
    }

    /// The same, with their server where that is asked for.
    fn rows(&self) -> String {
        let rows = self.asked_for(self.is_summary());
        if !self.question.asks_servers() {
            return rows;
        }
        format!(
            "SELECT r.*, o.server FROM ({rows}) r JOIN jobstats.observations o \
             ON o.target_id = r.target_id AND o.\"time\" = r.observed AND o.\"time\" > $1 \
             WHERE true{}",
            self.filters(Level::Server)
        )
    }

    fn asks_entries(&self) -> bool {
        self.question.by.has(Level::Entry)
            || self.question.filters.has(Level::Entry)
            || self.is_summary()
    }

    /// Whether rows have users in place of entries: nothing else is asked of these, and some of the rows tell no more.
    fn by_user(&self) -> bool {
        self.asks_entries() && self.sources.has_users()
    }

    /// Whether there is at most one row per step, target and entry or user. Rows of increments are added up where users are
    /// read, and only there.
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

    fn filters(&self, level: Level) -> String {
        self.question.filters.conditions(level, FILTERS)
    }

    /// What tells the units apart: the target, and the server where the answer is by server.
    fn unit_key(&self, table: &str) -> String {
        if self.question.by.has(Level::Server) {
            format!("{table}.target_id, {table}.server")
        } else {
            format!("{table}.target_id")
        }
    }

    /// ON clause that joins two tables by their units.
    fn same_unit(&self, one: &str, other: &str) -> String {
        let mut condition = format!("ON {other}.target_id = {one}.target_id");
        if self.question.by.has(Level::Server) {
            let _ = write!(condition, " AND {other}.server = {one}.server");
        }
        condition
    }

    /// A measure's total over units `u`.
    fn total(&self, measure: &Parts<'_>) -> String {
        terms(measure, |sum| format!("sum({})", self.value(sum)))
    }

    /// A measure's total over units `u`, each divided by the seconds that it was observed. Most are observed for the same
    /// time and divided together: a division takes longer than all else that is done with a row.
    fn rate(&self, measure: &Parts<'_>) -> String {
        terms(measure, |sum| {
            let value = self.value(sum);
            let most = format!(
                "sum({value}) FILTER (WHERE u.longest) / nullif(min(u.seconds) FILTER (WHERE u.longest), 0)"
            );
            let others =
                format!("sum({value} / nullif(u.seconds, 0)) FILTER (WHERE NOT u.longest)");
            format!("coalesce({most} + {others}, {most}, {others})")
        })
    }

    /// A sum of one unit `u`: zero where it was observed and did nothing of the kind, NULL where that is not known.
    fn value(&self, n: SumNumber) -> String {
        let sum = &self.sums[n];
        let value = if sum.mdt_only {
            format!("CASE WHEN u.target_kind = 'MDT' THEN a.sum_{n} END")
        } else {
            format!("a.sum_{n}")
        };
        let known = if sum.time { " AND u.timed" } else { "" };
        format!("coalesce({value}, CASE WHEN u.observed{known} THEN 0 END)")
    }
}

/// What a measure is the sum of, each made of an expression.
fn terms(measure: &Parts<'_>, expression: impl Fn(SumNumber) -> String) -> String {
    let term = |&(sum, factor): &(SumNumber, Option<&str>)| {
        let times = factor
            .map(|factor| format!(" * {factor}"))
            .unwrap_or_default();
        expression(sum) + &times
    };
    let terms: Vec<String> = measure.total.iter().map(term).collect();
    terms.join(" + ")
}

/// The names of dimensions as columns of a table, with a leading comma each.
fn columns(dimensions: impl Iterator<Item = Dimension>, table: &str) -> String {
    dimensions
        .map(|dimension| format!(", {table}{}", dimension.name()))
        .collect()
}
