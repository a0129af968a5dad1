//! `jobstats_io_sizes()` reports how large reads and writes were.

use pgrx::prelude::*;
use pgrx::spi::SpiClient;

use crate::pg::arguments::Arguments;
use crate::pg::error::Error;
use crate::pg::spi::{SqlResult, Statements};
use crate::pg::template::{optional, sql};
use crate::pg::time::timestamptz;
use crate::pg::tuples::Tuples;
use crate::pg::tuplestore::Rows;
use crate::query::answer::{ask, copy_rows, note};
use crate::query::dimension::{By, Dimension, Level, Table, columns, named_columns};
use crate::query::entries::{entries, few};
use crate::query::filters::Filters;
use crate::query::groups::texts;
use crate::query::measure::Measures;
use crate::query::params::{Params, Query};
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::usage::{cast_in, inside, whole_of};
use crate::query::window::ROW_LIMIT;
use crate::store::sum::Sum;

/// The number of elements of a histogram.
const ELEMENTS: usize = jobstats_core::snapshot::HISTOGRAM_LEN;

/// The operations with histograms, each with the operation that has its calls.
const OPERATIONS: [(&str, &str); 2] = [("read_bytes", "read"), ("write_bytes", "write")];

/// The columns of a row that say on which server it was observed, and to which day it belongs.
const SINGLE_ROW: &str = ", usage.observed, usage.\"time\" + interval '0' AS at";

/// The size in bytes that no read or write exceeds: 64 MiB, the most that an RPC of Lustre transfers.
const LARGEST: u64 = 64 << 20;

#[pg_extern(sql = false)]
fn jobstats_io_sizes(mut arguments: Arguments<'_>, mut rows: Rows) -> SqlResult<()> {
    let period = Period::take(&mut arguments)?;
    let by = arguments.take()?;
    let filters = Filters::take(&mut arguments)?;
    let question = question(period, By::parse(by, "")?, filters)?;
    ask(question, |client, question, plan| {
        let few = few(client, plan, &question.filters)?;
        let query = Sizes { question, plan }.query(few);
        let mut found = Tuples::query(client, &query.sql, &query.params)?;
        let (mean, stddev) = (found.place("mean")?, found.place("stddev")?);
        let mut lacks_deviations = false;
        for position in 0..found.len() {
            found.read(position);
            lacks_deviations |= found.datum(mean).is_some() && found.datum(stddev).is_none();
        }
        let written = copy_rows(client, found, &question.by, None, &mut rows)?;
        // Only increments have histograms.
        if plan.window.since() < plan.sources.kept_since {
            pgrx::notice!(
                "sizes of reads and writes are kept as long as increments are, and not in rollups"
            );
        }
        if lacks_deviations {
            note_left_out(client, plan)?;
        }
        note(client, question, plan, written)
    })
}

/// Returns the question for the sizes of reads and writes.
pub fn question(period: Period, by: By, filters: Filters) -> Result<Question, Error> {
    Ok(Question {
        period,
        by,
        measures: Measures::named(OPERATIONS.map(|it| it.0))?,
        filters,
        wanted: Wanted::Sizes,
    })
}

/// Returns the statement for the reads and the writes of each group whose size is known, and those of them that are in so many first
/// elements of a histogram. Rows are summed before they are joined, in a front by the nodes that have them.
pub fn sized(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    small: usize,
) -> Result<Query, Error> {
    let few = few(client, plan, &question.filters)?;
    Ok(Sizes { question, plan }.sized(few, small))
}

/// Raises a notice if the setting `keep` left sizes out in the window.
fn note_left_out(client: &SpiClient<'_>, plan: &Plan) -> Result<(), Error> {
    let window = [plan.window.since(), plan.window.until()].map(timestamptz);
    let [since, until] = window;
    let is_brief: bool = client.query_value(
        "SELECT EXISTS (SELECT FROM jobstats.observations brief \
         WHERE brief.kept IS NOT NULL AND brief.\"time\" > $1 AND coalesce(brief.since, $1) < $2)",
        &[since?.into(), until?.into()],
    )?;
    if is_brief {
        pgrx::notice!(
            "sizes or standard deviations were not kept in a part of the window (jobstats.settings.keep)"
        );
    }
    Ok(())
}

/// The statement of a question.
struct Sizes<'a> {
    question: &'a Question,
    plan: &'a Plan,
}

impl Sizes<'_> {
    fn query(&self, few: Option<Vec<i64>>) -> Query {
        let params = Params::default();
        let by = &self.question.by;
        let jobs = &self.plan.jobs;
        // Where neither a dimension nor a filter is about entries, sums by target do.
        let asks_entries = by.has(Level::Entry) || self.question.filters.has(Level::Entry);
        let entry = |table: &str| {
            optional(asks_entries, || {
                format!(", {table}.entry_id{}", self.plan.days(table))
            })
        };
        let elements = (1..=ELEMENTS).map(|n| format!("sum(call.hist[{n}])"));
        let statement = sql!(
            "io_sizes.sql",
            usage = self.usage(few, &params),
            since = self.plan.since(&params),
            of_increment = self.server("observation") + &self.plan.days("increment"),
            of_call = self.server("call") + &self.plan.days("call"),
            of_sum = entry("call") + &self.server("call"),
            of_spread = entry("reading") + &self.server("reading"),
            same_key = self.same_key(asks_entries),
            entries = match asks_entries {
                true => "LEFT JOIN jobstats.entries entry ON entry.entry_id = part.entry_id\n    ",
                false => "",
            },
            join_servers = self.join_servers(&params),
            conditions = self.conditions(&params),
            dimensions = named_columns(by.iter(), |it| self.table(it)),
            jobs = self.plan.join_jobs_of_sums(&params),
            user_names =
                self.plan
                    .join_names_of_sums(self.question.dimensions(), jobs.entry(), &params),
            names = columns(by.iter(), "usage."),
            of_answer = columns(by.iter(), "answer."),
            order = order(by),
            operations = operations(),
            elements = elements.collect::<Vec<_>>().join(", "),
            last = ELEMENTS.to_string(),
            largest = LARGEST.to_string(),
            limit = (ROW_LIMIT + 1).to_string(),
        );
        Query::new(statement, &params)
    }

    fn sized(&self, few: Option<Vec<i64>>, small: usize) -> Query {
        let params = Params::default();
        let (by, plan) = (&self.question.by, self.plan);
        let part = match self.needs_rows() {
            true => sql!(
                "findings/sized_parts.sql",
                of_increment = self.server("observation") + &plan.days("increment"),
                join_servers = self.join_servers(&params),
            ),
            // These are summed already.
            false => "SELECT * FROM increment".to_owned(),
        };
        let statement = sql!(
            "findings/sized.sql",
            usage = self.sized_usage(few, small, &params),
            part = part,
            conditions = self.conditions(&params),
            dimensions = named_columns(by.iter(), |it| self.table(it)),
            jobs = plan.join_jobs_of_sums(&params),
            user_names =
                plan.join_names_of_sums(self.question.dimensions(), plan.jobs.entry(), &params),
            values = texts(by, "sizes."),
            of_group = columns(by.iter(), "sizes."),
        );
        Query::new(statement, &params)
    }

    /// Returns the server as a column of a table, with a leading comma, if the answer is by server.
    fn server(&self, table: &str) -> String {
        optional(self.question.asks_servers(), || format!(", {table}.server"))
    }

    /// Returns whether the time or the observation of each row matters.
    fn needs_rows(&self) -> bool {
        self.question.asks_servers() || self.plan.divides_entries()
    }

    /// Returns a SELECT of the numbers of reads and writes whose size is known in the window, by target and entry where neither the time
    /// nor the observation of rows matters.
    fn sized_usage(&self, few: Option<Vec<i64>>, small: usize, params: &Params) -> String {
        let end = format!("){}", cast_in(&self.plan.window));
        let (key, [sum, end], group_by) = match self.needs_rows() {
            true => (SINGLE_ROW, ["", ""], ""),
            false => (
                "",
                ["sum(", &end],
                "\nGROUP BY usage.target_id, usage.entry_id",
            ),
        };
        let select = |[sum, end]: [&str; 2], hist: &dyn Fn(&str) -> String| {
            let columns = OPERATIONS.iter().flat_map(|(bytes, calls)| {
                [("", ELEMENTS), ("small_", small)].map(|(prefix, first)| {
                    let hist = hist(&format!("{bytes}_hist"));
                    format!(
                        ", {sum}jobstats_internal.sized({hist}, {first}){end} AS {prefix}{calls}"
                    )
                })
            });
            let columns: String = columns.collect();
            format!("SELECT usage.target_id, usage.entry_id{key}{columns}")
        };
        let condition = self.of_entries(few, params);
        let whole = select([sum, end], &whole_of);
        let part = select(["", ""], &|column| self.part_of_histogram(column, params));
        self.of_window(params, &condition, group_by, [whole, part])
    }

    /// Returns the conditions on the keys of sums besides target and operation.
    fn same_key(&self, asks_entries: bool) -> String {
        let mut same = String::new();
        if asks_entries {
            same += " AND spread.entry_id = part.entry_id";
            same += &self.plan.same_days("spread", "part");
        }
        if self.question.asks_servers() {
            same += " AND spread.server = part.server";
        }
        same
    }

    /// Returns a SELECT of the increments in the window, with the parts of those that cross its edges.
    fn usage(&self, few: Option<Vec<i64>>, params: &Params) -> String {
        let whole = select(true, whole_of, whole_of);
        let part = select(
            false,
            |column| self.share(&whole_of(column), params),
            |column| self.part_of_histogram(column, params),
        );
        let condition = self.of_entries(few, params);
        self.of_window(params, &condition, "", [whole, part])
    }

    /// Returns a SELECT of the rows that lie in the window, which may be grouped, and of those that cross its edges, with the jobs and names
    /// to which they belong.
    fn of_window(
        &self,
        params: &Params,
        condition: &str,
        group_by: &str,
        [whole, part]: [String; 2],
    ) -> String {
        let (since, until) = (self.plan.since(params), self.plan.until(params));
        let rows = inside(&since, &until, condition);
        let usage = sql!(
            "../usage/one_step.sql",
            rows = format!("jobstats.increments usage\nWHERE {rows}{group_by}"),
            increments = "increments",
            whole = whole,
            part = part,
            since = since,
            until = until,
            since_reach = self.plan.since_reach(params),
            until_reach = self.plan.until_reach(params),
            condition = condition,
        );
        let usage = self.plan.with_jobs(usage, params);
        self.plan.with_names(usage, false, params)
    }

    /// Returns an expression for the part of a value that lies in the window.
    fn share(&self, value: &str, params: &Params) -> String {
        let (since, until) = (self.plan.since(params), self.plan.until(params));
        format!("jobstats_internal.share({value}, usage.since, usage.\"time\", {since}, {until})")
    }

    fn part_of_histogram(&self, column: &str, params: &Params) -> String {
        let part = self.share("element.count", params);
        format!(
            "(SELECT array_agg({part} ORDER BY element.number) \
             FROM unnest(usage.{column}) WITH ORDINALITY element (count, number))"
        )
    }

    /// Returns the conditions on sums. Rows of entries that are not selected are not read; what an entry did for another job
    /// than a selected one is.
    fn conditions(&self, params: &Params) -> String {
        let filters = &self.question.filters;
        let of_target = filters.conditions(Level::Target, "target", params);
        match self.plan.divides_entries() {
            true => of_target + &self.plan.jobs.conditions_on_entries(filters, params),
            false => of_target,
        }
    }

    /// Returns the table that has a dimension.
    fn table(&self, dimension: &Dimension) -> Table {
        match dimension.level {
            Level::Target => "target".into(),
            Level::Server => "part".into(),
            Level::Entry => self.plan.jobs.entry(),
        }
    }

    /// Returns the condition on rows `usage` of the selected entries.
    fn of_entries(&self, few: Option<Vec<i64>>, params: &Params) -> String {
        let filters = &self.question.filters;
        match few {
            Some(few) => {
                let few = params.bind("entries", || few);
                format!(" AND usage.entry_id = ANY ({few})")
            }
            None if filters.has(Level::Entry) => {
                let entries = entries(self.plan, filters, params);
                format!(" AND usage.entry_id IN ({entries})")
            }
            None => String::new(),
        }
    }

    /// Returns the join with the servers on which increments were observed, if the question is about servers.
    fn join_servers(&self, params: &Params) -> String {
        if !self.question.asks_servers() {
            return String::new();
        }
        let conditions = self
            .question
            .filters
            .conditions(Level::Server, "observation", params);
        format!(
            "JOIN jobstats.observations observation ON observation.target_id = increment.target_id \
             AND observation.\"time\" = increment.observed AND observation.\"time\" > {}{conditions}",
            self.plan.since(params)
        )
    }
}

/// Returns the columns of increments, each made of an expression for a value or a histogram.
fn select(
    is_whole: bool,
    value: impl Fn(&str) -> String,
    histogram: impl Fn(&str) -> String,
) -> String {
    let timed = Sum::service_time().over(|column| format!("usage.\"{column}\""));
    let columns: String = OPERATIONS
        .iter()
        .map(|(bytes, calls)| {
            let histogram = histogram(&format!("{bytes}_hist"));
            format!(
                ", {} AS {calls}, {} AS {bytes}, {histogram} AS {bytes}_hist",
                value(calls),
                value(bytes),
            )
        })
        .collect();
    format!(
        "SELECT usage.target_id, usage.entry_id, usage.observed, usage.\"time\" + interval '0' AS at, usage.since AS begins, {is_whole} AS is_whole, \
         ({timed}) IS NOT NULL AS is_timed, usage.detail{columns}"
    )
}

/// Returns a row of VALUES for each operation.
fn operations() -> String {
    let rows = OPERATIONS.map(|(bytes, calls)| {
        format!(
            "('{bytes}'::text, increment.{calls}, increment.{bytes}, increment.{bytes}_hist, increment.detail -> '{bytes}'::text)"
        )
    });
    rows.join(", ")
}

/// Returns the columns of the groups by which the rows are ordered, each with a comma after it.
fn order(by: &By) -> String {
    by.iter()
        .map(|it| format!("answer.{}, ", it.name))
        .collect()
}
