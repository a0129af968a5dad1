//! Finds what servers saw of each group.

use std::collections::HashMap;

use jobstats_core::finding::{Calls, Moved, SMALL, Work};
use jobstats_core::instant::{DAY, HOUR, Micros};
use pgrx::datum::DatumWithOid;
use pgrx::spi::SpiClient;

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::{Statements, connect};
use crate::pg::template::sql;
use crate::pg::time::timestamptz;
use crate::pg::tuples::{FLOATS, TEXTS, Tuples};
use crate::query::dimension::{By, Level, columns};
use crate::query::entries::few;
use crate::query::filters::Filters;
use crate::query::functions::io_sizes;
use crate::query::groups::{self, Group, texts};
use crate::query::measure::{Measure, Measures};
use crate::query::plan::Plan;
use crate::query::question::{Period, Question, Wanted};
use crate::query::statement::Statement;
use crate::query::window::ROW_LIMIT;

/// The measures that work is made of, besides the number of all calls.
const MEASURES: [&str; 17] = [
    "service_time",
    "read_bytes",
    "read",
    "read_time",
    "write_bytes",
    "write",
    "write_time",
    "open",
    "open_time",
    "mknod",
    "mknod_time",
    "unlink",
    "unlink_time",
    "getattr",
    "getattr_time",
    "sync",
    "sync_time",
];

/// The number of columns of work, before those of dimensions.
const COLUMNS: usize = 23;

/// Returns the question for the work of groups, by target: what it is about lies on one target or on many.
pub fn question(period: Period, by: &By, filters: Filters) -> Result<Question, Error> {
    let names = by.iter().map(|it| it.name);
    let names: Vec<&str> = names
        .chain(["cluster", "filesystem", "kind", "target"])
        .collect();
    let mut measures = Measures::named(MEASURES)?;
    measures.list.push(Measure::requests());
    Ok(Question {
        period,
        by: By::these(&names),
        measures,
        filters,
        wanted: Wanted::Work,
    })
}

/// The longest window in which the sizes of the reads and writes of more than a few entries are read. They are in increments alone, of
/// which a large cluster has two million a day. A day may have 25 hours.
const LONGEST: Micros = DAY + HOUR;

/// Returns the work of each group in the window of a plan, or of these entries, whose jobs' sizes of reads and writes maintenance has
/// summed up.
pub fn find(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    by: &By,
    entries: Option<&[i64]>,
) -> Result<Vec<(Group, Work)>, Error> {
    let few = match entries {
        Some(entries) => Some(entries.to_vec()),
        None => few(client, plan, &question.filters)?,
    };
    let length = plan.window.until() - plan.window.since();
    let reads_sizes = few.is_some() || length <= LONGEST;
    let statement = Statement::new(question, plan, few);
    let query = statement.complete();
    let measures = question.measures.list.iter().enumerate();
    let measures = measures.map(|(n, it)| format!(", answer.total_{n} AS {}", it.name));
    let statement = sql!(
        "work.sql",
        measures = measures.collect::<String>(),
        // The statement has the kind already.
        dimensions = columns(by.iter().filter(|it| it.name != "kind"), "answer."),
        of_group = columns(by.iter(), "one."),
        values = texts(by, "work."),
        order = columns(by.iter(), "work."),
        answer = query.sql,
        limit = (ROW_LIMIT + 1).to_string(),
    );
    // What is read stays in memory as long as its connection.
    let mut groups = connect(|client| take(Tuples::query(client, &statement, &query.params)?, by))?;
    // File systems and clusters have targets of both kinds.
    let is_of_some_targets = by
        .iter()
        .chain(question.filters.chosen())
        .any(|it| it.level != Level::Entry && !["cluster", "filesystem"].contains(&it.name));
    for (_, work) in &mut groups {
        work.is_of_some_targets = is_of_some_targets;
    }
    let sizes = match entries {
        Some(entries) => take_sizes(client, KEPT_SIZES, &[entries.to_vec().into()])?,
        None if reads_sizes && has_sizes(client, plan)? => find_sizes(client, question, plan, by)?,
        None => return Ok(groups),
    };
    for (group, work) in &mut groups {
        let [reads, writes] = sizes.get(group).copied().unwrap_or_default();
        for (moved, known) in [(&mut work.read, reads), (&mut work.write, writes)] {
            // A file system may have servers of several versions. What is known of the most is taken for all.
            moved.sized = known.filter(|(sized, _)| *sized >= moved.calls.count / 2.0);
        }
    }
    Ok(groups)
}

/// Takes the rows of groups.
fn take(mut found: Tuples<'_>, by: &By) -> Result<Vec<(Group, Work)>, Error> {
    if found.len() > ROW_LIMIT {
        return Err(Error::TooManyRows);
    }
    require(&found, COLUMNS)?;
    groups::require_room(found.len(), by.iter().count())?;
    let mut groups = Vec::with_capacity(found.len());
    for row in 0..found.len() {
        pause();
        found.read(row);
        groups.push((groups::read(&found, COLUMNS), read(&found)));
    }
    Ok(groups)
}

/// Checks the columns of rows: so many numbers, and then the dimensions.
fn require(found: &Tuples<'_>, numbers: usize) -> Result<(), Error> {
    for column in 0..found.columns().len() {
        found.require(column, if column < numbers { &FLOATS } else { &TEXTS })?;
    }
    Ok(())
}

/// Reads the current row.
fn read(found: &Tuples<'_>) -> Work {
    let time = |column: usize| found.float(column);
    let number = |column: usize| found.float(column).unwrap_or(0.0);
    let calls = |column: usize| Calls {
        count: number(column),
        time: time(column + 1),
    };
    let moved = |column: usize| Moved {
        bytes: number(column),
        calls: calls(column + 1),
        sized: None,
    };
    Work {
        is_of_some_targets: false,
        seconds: number(0),
        all: calls(1),
        // What asked no MDT for anything cost them nothing.
        on_mdts: time(3).or(time(2).map(|_| 0.0)),
        read: moved(4),
        write: moved(7),
        on_one_target: (number(10), time(11)),
        targets: number(12),
        opens: calls(13),
        creates: calls(15),
        unlinks: calls(17),
        getattrs: calls(19),
        syncs: calls(21),
    }
}

/// The numbers of reads, and of writes, whose size is known, and of those of them that are small.
type Sizes = HashMap<Group, [Option<(f64, f64)>; 2]>;

/// The number of columns of sizes, before those of dimensions.
const SIZES: usize = 4;

/// The number of elements of a histogram that count sizes of at most [`SMALL`] bytes.
const SMALL_ELEMENTS: usize = 16;

const _: () = assert!((1 << (SMALL_ELEMENTS - 1)) as f64 == SMALL);

/// The sizes that maintenance has summed up for the jobs of entries.
const KEPT_SIZES: &str = "SELECT sizes.reads, sizes.small_reads, sizes.writes, sizes.small_writes, sizes.job FROM jobstats.finding_sizes sizes \
    WHERE sizes.job IN (SELECT entry.job FROM jobstats.entries entry WHERE entry.entry_id = ANY ($1))";

fn has_sizes(client: &SpiClient<'_>, plan: &Plan) -> Result<bool, Error> {
    let until = plan.window.until();
    // Nodes of a front can compare with an instant, and do not compute the greatest of two.
    let since = plan.window.since().max(until.saturating_sub(HOUR));
    let [since, until] = [since, until].map(timestamptz);
    client.query_value(
        include_str!("has_sizes.sql"),
        &[since?.into(), until?.into()],
    )
}

/// Finds the sizes of reads and writes of all groups.
fn find_sizes(
    client: &SpiClient<'_>,
    question: &Question,
    plan: &Plan,
    by: &By,
) -> Result<Sizes, Error> {
    let question = io_sizes::question(Period::default(), by.clone(), question.filters.clone())?;
    let Some(plan) = Plan::over(client, &question, plan.window.clone())? else {
        return Ok(Sizes::new());
    };
    let query = io_sizes::sized(client, &question, &plan, SMALL_ELEMENTS)?;
    take_sizes(client, &query.sql, &query.params)
}

/// Takes the sizes that a statement finds.
fn take_sizes(
    client: &SpiClient<'_>,
    statement: &str,
    params: &[DatumWithOid<'_>],
) -> Result<Sizes, Error> {
    let mut found = Tuples::query(client, statement, params)?;
    require(&found, SIZES)?;
    let mut known = Sizes::new();
    for row in 0..found.len() {
        pause();
        found.read(row);
        let sized = |column| found.float(column).zip(found.float(column + 1));
        known.insert(groups::read(&found, SIZES), [sized(0), sized(2)]);
    }
    Ok(known)
}
