//! The statements that read the store for questions. They read plain rows; only for a front do nodes add up theirs.

use jobstats_core::base::instant::{Micros, Span};
use jobstats_core::base::operation::{OperationIndex, READ_BYTES, WRITE_BYTES};
use jobstats_core::base::target::TargetKind;
use jobstats_core::judgement::finding::{MEDIUM, SMALL};
use jobstats_core::rules::snapshot::HISTOGRAM_LEN;
use jobstats_core::usage::{Layout, Target};
use pgrx::datum::DatumWithOid;

use crate::pg::error::Error;
use crate::pg::memory::{require_room, reserve};
use crate::pg::receive::{self, Received, Type};
use crate::pg::template::sql;
use crate::pg::time::{from_postgres, timestamptzs};
use crate::query::sources::Part;
use crate::store::rollup::Owner;

mod sums;

pub use sums::sums;

/// The largest number of spans that a statement names. Of more, all between the first and the last is read.
const SPANS: usize = 200;

/// The rows and columns of usage that are read.
#[derive(Clone, Default)]
pub struct Selection<'w> {
    /// Set if rows are distinguished by entry, or by owner where the relation has sums by owner.
    pub by_owner: bool,
    /// The columns of the owner in sums by owner.
    pub owner: &'w [&'static str],
    /// Set if the times between which there was activity are wanted.
    pub activity: bool,
    /// Set if the server is wanted, which only increments have.
    pub server: bool,
    /// Set if only rows are wanted that reach beyond the spans that they lie in.
    pub crossing: bool,
    /// Further columns, which only increments have.
    pub further: &'w [(&'w str, Type)],
    /// Set if the setting `keep` of the observations of increments is wanted.
    pub kept: bool,
    /// Set if increments are wanted in the order of targets, entries and observations.
    pub ordered: bool,
    /// The targets, entries, users and accounts that are read; `None` for all.
    pub targets: Option<Vec<i32>>,
    /// The entries.
    pub entries: Option<Vec<i64>>,
    /// The users of sums by owner.
    pub uids: Option<Vec<i64>>,
    /// The accounts of sums by owner.
    pub accounts: Option<Vec<String>>,
}

/// A row of usage.
#[derive(Clone)]
pub struct UsageRow<'r> {
    /// The part of the window that its source answers for: a row that reaches into several is given once for each.
    pub part: Span,
    pub target: i32,
    pub owner: RowOwner<'r>,
    pub server: Option<String>,
    /// The time in which the values were counted.
    pub span: Span,
    /// An instant of the day to which it belongs.
    pub at: Micros,
    /// The times between which there was activity.
    pub active: Span,
    pub values: &'r [i64],
    /// The time of the observation, where more than the row itself is wanted of it.
    pub observed: Option<Micros>,
    /// The setting `keep`, where it left something out of the observation.
    pub kept: Option<String>,
    received: &'r Received,
    /// The place of the first further column.
    further: usize,
}

impl UsageRow<'_> {
    /// Returns the bytes of the further column of this number.
    pub fn bytes(&self, number: usize) -> Option<&[u8]> {
        self.received.bytes(self.further + number)
    }
}

/// The entry or owner of a row.
#[derive(Clone, Copy)]
pub enum RowOwner<'r> {
    Any,
    Entry(i64),
    /// The columns of an owner, from this one on.
    Owner(&'r Received, usize),
}

/// Returns the value that a row adds to sums: a column, or a number of calls by the histogram of their sizes.
fn value(name: &str) -> String {
    match SIZED.iter().find(|it| it.0 == name) {
        Some((_, operation, elements)) => {
            format!("jobstats_internal.sized(usage.sizes, {operation}, {elements})")
        }
        None => format!("usage.\"{name}\""),
    }
}

/// The numbers of calls by size: the names, the operations and the elements of histograms that count.
const SIZED: [(&str, OperationIndex, usize); 6] = [
    ("sized_reads", READ_BYTES, HISTOGRAM_LEN),
    ("small_reads", READ_BYTES, elements(SMALL)),
    ("medium_reads", READ_BYTES, elements(MEDIUM)),
    ("sized_writes", WRITE_BYTES, HISTOGRAM_LEN),
    ("small_writes", WRITE_BYTES, elements(SMALL)),
    ("medium_writes", WRITE_BYTES, elements(MEDIUM)),
];

/// The condition that rows have histograms.
pub const HAS_HISTOGRAM: &str = "usage.sizes IS NOT NULL";

/// Returns whether the values are numbers of calls by size alone, so that rows without a histogram can be skipped.
fn are_sized<'v>(values: impl Iterator<Item = &'v String> + Clone) -> bool {
    let is_sized = |it: &String| SIZED.iter().any(|sized| sized.0 == it);
    values.clone().next().is_some() && values.clone().all(is_sized)
}

/// The number of elements of a histogram that count sizes of at most so many bytes, a power of 2.
const fn elements(bytes: f64) -> usize {
    (bytes as u64).ilog2() as usize + 1
}

const _: () = assert!(elements(SMALL) == 16);

/// The columns of a statement under construction.
#[derive(Default)]
struct Columns {
    select: String,
    types: Vec<Type>,
}

impl Columns {
    /// Adds an expression, and returns its place.
    fn add(&mut self, expression: &str, of: Type) -> usize {
        self.types.push(of);
        if self.types.len() > 1 {
            self.select += &format!(", {expression}");
        }
        self.types.len() - 1
    }

    fn column(&mut self, name: &str, of: Type) -> usize {
        self.add(&format!("usage.\"{name}\""), of)
    }

    fn times(&mut self, names: &[&str]) {
        for name in names {
            self.column(name, Type::Time);
        }
    }

    /// Adds the columns of the entry or owner, and returns the place of the first.
    fn owner(&mut self, part: &Part, selection: &Selection<'_>) -> usize {
        let first = self.types.len();
        match part.relation.owner {
            _ if !selection.by_owner => {}
            Some(_) => {
                for name in selection.owner {
                    let is_number = ["uid", "gid"].contains(name);
                    self.column(name, if is_number { Type::Integer } else { Type::Text });
                }
            }
            None => {
                self.column("entry_id", Type::Integer);
            }
        }
        first
    }
}

/// The places of columns in a row.
#[derive(Default)]
struct Places {
    owner: usize,
    activity: usize,
    values: usize,
    further: usize,
    observed: Option<usize>,
    server: Option<usize>,
    kept: Option<usize>,
}

/// Returns the statement for the rows of a part, with the types of its columns and their places.
fn statement(
    part: &Part,
    layout: &Layout,
    selection: &Selection<'_>,
) -> (String, Vec<Type>, Places) {
    let mut columns = Columns::default();
    columns.column("target_id", Type::Integer);
    columns.times(match part.relation.width() {
        Some(_) => &["bucket"],
        None => &["since", "time"],
    });
    let owner = columns.owner(part, selection);
    let activity = columns.types.len();
    columns.times(match part.relation.width() {
        _ if !selection.activity => &[],
        None => &["last_active"],
        Some(_) => &["first", "last"],
    });
    let has_observation = selection.server || selection.kept || selection.ordered;
    let observed = has_observation.then(|| columns.column("observed", Type::Time));
    let values = columns.types.len();
    for it in &layout.columns {
        columns.add(&value(it), Type::Integer);
    }
    let further = columns.types.len();
    for (expression, of) in selection.further {
        columns.add(expression, *of);
    }
    let rows = sql!(
        "read/rows.sql",
        columns = columns.select,
        relation = part.relation.name(),
        spans = spans(part, 1, selection.crossing.then_some(false)),
        of = of(part, selection, are_sized(layout.columns.iter())),
    );
    let mut statement = rows;
    if selection.server {
        statement = sql!("read/servers.sql", rows = statement);
    }
    if selection.kept {
        statement = sql!("read/kept.sql", rows = statement);
    }
    let mut joined = |is_wanted: bool| {
        columns.types.extend(is_wanted.then_some(Type::Text));
        is_wanted.then(|| columns.types.len() - 1)
    };
    let places = Places {
        owner,
        activity,
        values,
        further,
        observed,
        server: joined(selection.server),
        kept: joined(selection.kept),
    };
    if selection.ordered {
        statement += "\nORDER BY usage.target_id, usage.entry_id, usage.observed";
    }
    (statement, columns.types, places)
}

/// Gives `each` the rows of a part of the sources of a window; `false` ends it.
pub fn usage(
    part: &Part,
    layout: &Layout,
    selection: &Selection<'_>,
    each: &mut dyn FnMut(UsageRow<'_>) -> Result<bool, Error>,
) -> Result<(), Error> {
    let (statement, types, places) = statement(part, layout, selection);
    let mut values = vec![0; layout.columns.len()];
    receive::each(
        &statement,
        &arguments(&[part], selection)?,
        &types,
        &mut |row| {
            for (place, value) in values.iter_mut().enumerate() {
                *value = row.integer(places.values + place).unwrap_or(0);
            }
            // A row with damaged times is left out.
            let Some(found) = places.read(row, part, selection, &values) else {
                return Ok(true);
            };
            let (from, until) = found.span;
            let first = part.spans.partition_point(|it| it.1 <= from);
            let reached = part.spans[first..].iter().take_while(|it| it.0 < until);
            for &part in reached {
                let of_part = UsageRow {
                    part,
                    ..found.clone()
                };
                if !each(of_part)? {
                    return Ok(false);
                }
            }
            Ok(true)
        },
    )
}

impl Places {
    fn owner<'r>(&self, part: &Part, selection: &Selection<'_>, row: &'r Received) -> RowOwner<'r> {
        match part.relation.owner {
            _ if !selection.by_owner => RowOwner::Any,
            Some(_) => RowOwner::Owner(row, self.owner),
            None => row
                .integer(self.owner)
                .map_or(RowOwner::Any, RowOwner::Entry),
        }
    }

    fn read<'r>(
        &self,
        row: &'r Received,
        part: &Part,
        selection: &Selection<'_>,
        values: &'r [i64],
    ) -> Option<UsageRow<'r>> {
        let time = |column: usize| from_postgres(row.integer(column)?);
        let first = time(1)?;
        let width = part.relation.width();
        let (since, until) = match width {
            // The first instant of a bucket is its key.
            Some(width) => (first - 1, first - 1 + width),
            None => (first, time(2)?),
        };
        let active = match width {
            _ if !selection.activity => (since, until),
            Some(_) => (time(self.activity)?, time(self.activity + 1)?),
            // It comes from the clock of the server, which is wrong if it is after the row.
            None => (since, time(self.activity).unwrap_or(until).min(until)),
        };
        Some(UsageRow {
            part: (since, until),
            target: i32::try_from(row.integer(0)?).ok()?,
            owner: self.owner(part, selection, row),
            server: self.server.and_then(|it| row.text(it)),
            span: (since, until),
            at: if width.is_some() { first } else { until },
            active,
            values,
            observed: self.observed.and_then(time),
            kept: self.kept.and_then(|it| row.text(it)),
            received: row,
            further: self.further,
        })
    }
}

/// Returns the condition that rows lie in spans, whose bounds have numbers from `first` on: `inside` of them, or not inside but reaching into
/// them, or either.
fn spans(part: &Part, first: usize, inside: Option<bool>) -> String {
    let each = (first..first + bounds(part).len()).map(|n| {
        let [lower, upper, reach] = [1, 2, 3].map(|it| format!("(${it})[{n}]"));
        if part.relation.width().is_some() {
            return format!("usage.bucket > {lower} AND usage.bucket <= {upper}");
        }
        let is_inside = format!("usage.since >= {lower} AND usage.\"time\" <= {upper}");
        let reaches = format!(
            "usage.\"time\" > {lower} AND usage.\"time\" <= {reach} AND usage.since < {upper}"
        );
        match inside {
            None => reaches,
            Some(true) => format!("usage.\"time\" > {lower} AND {is_inside}"),
            Some(false) => format!("{reaches} AND NOT ({is_inside})"),
        }
    });
    each.collect::<Vec<_>>().join(" OR ")
}

/// Returns the condition on targets, entries and owners of the rows, and on histograms if no other values are read.
fn of(part: &Part, selection: &Selection<'_>, sized: bool) -> String {
    let mut of = match sized {
        true => format!(" AND {HAS_HISTOGRAM}"),
        false => String::new(),
    };
    if selection.targets.is_some() {
        of += " AND usage.target_id = ANY ($4)";
    }
    match part.relation.owner {
        None if selection.entries.is_some() => of += " AND usage.entry_id = ANY ($5)",
        Some(Owner::User | Owner::Member) if selection.uids.is_some() => {
            of += " AND usage.uid = ANY ($6)"
        }
        Some(Owner::Account) if selection.accounts.is_some() => {
            of += " AND usage.account = ANY ($7)"
        }
        _ => {}
    }
    of
}

/// Returns the bounds of the spans, or of all together.
fn bounds(part: &Part) -> Vec<[Micros; 3]> {
    let each: Vec<[Micros; 3]> = part.spans.iter().map(|it| part.bounds(*it)).collect();
    match (each.first(), each.last()) {
        (Some(first), Some(last)) if each.len() > SPANS => vec![[first[0], last[1], last[2]]],
        _ => each,
    }
}

fn arguments(
    parts: &[&Part],
    selection: &Selection<'_>,
) -> Result<Vec<DatumWithOid<'static>>, Error> {
    let bounds: Vec<[Micros; 3]> = parts.iter().flat_map(|it| bounds(it)).collect();
    let all = |n: usize| timestamptzs(bounds.iter().map(move |it| &it[n]));
    Ok(vec![
        all(0)?.into(),
        all(1)?.into(),
        all(2)?.into(),
        selection.targets.clone().into(),
        selection.entries.clone().into(),
        selection.uids.clone().into(),
        selection.accounts.clone().into(),
    ])
}

/// Reads the rows of a statement with columns of these types.
pub fn rows<T>(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    types: &[Type],
    mut read: impl FnMut(&Received) -> Option<T>,
) -> Result<Vec<T>, Error> {
    let mut rows = Vec::new();
    receive::each(statement, arguments, types, &mut |row| {
        let known = rows.len();
        if known == rows.capacity() {
            reserve(&mut rows, known + 1)?;
        }
        rows.extend(read(row));
        Ok(true)
    })?;
    // Tables are made of them.
    require_room(rows.len(), 2 * size_of::<T>() + 64)?;
    Ok(rows)
}

/// Reads the targets in use.
pub fn targets() -> Result<Vec<Target>, Error> {
    let statement = include_str!("read/targets.sql");
    let [integer, text] = [Type::Integer, Type::Text];
    rows(statement, &[], &[integer, text, text, text, text], |row| {
        let id = i32::try_from(row.integer(0)?).ok()?;
        let kind = TargetKind::find(&row.text(3)?)?;
        Some(Target {
            cluster: row.text(1)?,
            filesystem: row.text(2),
            ..Target::new(id, row.text(4)?, kind)
        })
    })
}

/// Reads a time of a row; an infinite one is the first or the last.
pub fn time(row: &Received, column: usize) -> Option<Micros> {
    let value = row.integer(column)?;
    Some(from_postgres(value).unwrap_or(value))
}
