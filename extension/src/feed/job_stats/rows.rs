//! Inserts rows into `jobstats.increments`.
//!
//! `INSERT … SELECT` from a function that fills a tuplestore costs as little as COPY, works the same for tables,
//! partitions and hypertables, and fires their triggers. In between, the rows wait in this backend's memory. Each
//! statement takes as many of them as fit into the processor's cache; a tuplestore of all rows would become a file.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::vec;

use jobstats_core::base::instant::Micros;
use jobstats_core::rules::increment::{Column, Increment, pack_sizes, split};
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::{IntoDatum, PgBuiltInOids, PgMemoryContexts, PgTupleDesc, pg_sys};

use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::plans;
use crate::pg::time::postgres_micros;
use crate::store::columns::operation_columns;

/// An increment whose entry is resolved. It becomes a row of `jobstats.increments` for each of its parts.
pub struct EntryIncrement {
    entry_id: i64,
    increment: Increment<'static>,
}

impl EntryIncrement {
    /// Makes a row from an increment of the entry.
    pub fn new(entry_id: i64, increment: Increment<'_>) -> Self {
        let increment = Increment {
            id: "",
            ..increment
        };
        Self {
            entry_id,
            increment,
        }
    }
}

/// An increment of target counters: a row of `jobstats.target_increments`.
pub struct TargetIncrement {
    pub target_id: i32,
    /// The number of exports of metadata servers, whose I/O is left out.
    pub exports: u32,
    /// The time of the snapshot that showed it.
    pub observed: Micros,
    pub increment: Increment<'static>,
}

/// A row to store, with a number that is unique in its target.
enum Staged {
    /// An increment of an entry of a target, still to be split.
    Entry(i32, EntryIncrement),
    /// An increment of target counters.
    Target(TargetIncrement),
}

/// The rows of a feed or an audit.
struct Batch {
    rows: vec::IntoIter<Staged>,
    /// The number of rows that a statement reads.
    at_a_time: usize,
}

thread_local! {
    static STAGED: Cell<Option<Batch>> = const { Cell::new(None) };
}

/// Registers the thread-local memory with the C library, which ends the process if it cannot do so on first use.
pub fn register_memory() {
    STAGED.with(|_| ());
}

/// A type of PostgreSQL, by name and OID.
type Type = (&'static str, PgBuiltInOids);

const TIME: Type = ("timestamptz", PgBuiltInOids::TIMESTAMPTZOID);
const NUMBER: Type = ("bigint", PgBuiltInOids::INT8OID);
const BYTES: Type = ("bytea", PgBuiltInOids::BYTEAOID);

/// The columns before the operation columns.
const FIXED: [(&str, Type); 7] = [
    ("time", TIME),
    ("since", TIME),
    ("observed", TIME),
    ("last_active", TIME),
    ("entry_id", NUMBER),
    ("target_id", ("integer", PgBuiltInOids::INT4OID)),
    ("reset", ("boolean", PgBuiltInOids::BOOLOID)),
];

/// The columns after the operation columns.
const LAST: [(&str, Type); 2] = [("sizes", BYTES), ("detail", BYTES)];

/// Returns all columns in the order in which [`fill`] fills them.
fn columns() -> impl Iterator<Item = (String, Type)> {
    let named = |(name, kind): (&str, Type)| (name.to_owned(), kind);
    let operations = operation_columns().map(|(_, name)| (name, NUMBER));
    FIXED
        .into_iter()
        .map(named)
        .chain(operations)
        .chain(LAST.into_iter().map(named))
}

/// Inserts increments of a target, split at the bucket edges of rollups. Returns the number of rows.
///
/// # Errors
/// The errors of PostgreSQL, which it reports itself.
pub fn insert_increments(
    client: &mut SpiClient<'_>,
    target_id: i32,
    rows: Vec<EntryIncrement>,
) -> Result<usize, Error> {
    if rows.is_empty() {
        return Ok(0);
    }
    let (names, select) = staged_rows();
    let statement = format!("INSERT INTO jobstats.increments ({names}) {select}");
    let pieces = rows.len().div_ceil(AT_A_TIME);
    staged(entries(target_id, rows), AT_A_TIME, || {
        let inserted = (0..pieces).map(|_| plans::update(client, &statement, &[]));
        inserted.sum()
    })
}

fn entries(target_id: i32, rows: Vec<EntryIncrement>) -> Vec<Staged> {
    let staged = |row| Staged::Entry(target_id, row);
    rows.into_iter().map(staged).collect()
}

/// Inserts increments of target counters.
///
/// # Errors
/// The errors of PostgreSQL, which it reports itself.
pub fn insert_pieces(client: &mut SpiClient<'_>, rows: Vec<TargetIncrement>) -> Result<(), Error> {
    static INSERT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "INSERT INTO jobstats.target_increments (\"time\", since, observed, observed_usecs, target_id, exports, reset{}) {}",
            quoted_operations(),
            staged_pieces(),
        )
    });
    with_pieces(rows, || plans::run(client, &INSERT, &[]))
}

/// Runs a statement that reads increments of target counters from [`staged_pieces`].
///
/// # Errors
/// The errors of the statement.
pub fn with_pieces<T>(
    pieces: Vec<TargetIncrement>,
    run: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let rows = pieces.into_iter().map(Staged::Target).collect();
    staged(rows, usize::MAX, run)
}

/// Returns a SELECT of the waiting pieces as rows of `jobstats.target_increments`, once.
pub fn staged_pieces() -> String {
    format!(
        "SELECT piece.\"time\", piece.since, piece.observed, \
         (extract(epoch FROM piece.\"time\" - piece.since) * 1000000)::bigint AS observed_usecs, piece.target_id, \
         piece.entry_id::integer AS exports, piece.reset{} FROM ({}) piece",
        quoted_operations(),
        staged_rows().1,
    )
}

/// Returns the operation columns, each with a leading comma.
fn quoted_operations() -> String {
    let columns = operation_columns().map(|(_, name)| format!(", \"{name}\""));
    columns.collect()
}

/// Runs a statement that reads increments of a target from [`staged_rows`].
///
/// # Errors
/// The errors of the statement.
pub fn with_rows<T>(
    target_id: i32,
    rows: Vec<EntryIncrement>,
    run: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    staged(entries(target_id, rows), usize::MAX, run)
}

/// The number of rows that a statement inserts, half a megabyte. A tuplestore of 12,089 rows was written to a file,
/// which took a tenth of their time.
const AT_A_TIME: usize = 1000;

fn staged<T>(
    rows: Vec<Staged>,
    at_a_time: usize,
    run: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    STAGED.set(Some(Batch {
        rows: rows.into_iter(),
        at_a_time,
    }));
    let _unstage = Unstage;
    run()
}

/// A guard that removes the rows when the statement ends, also by an error of PostgreSQL.
struct Unstage;

impl Drop for Unstage {
    fn drop(&mut self) {
        STAGED.set(None);
    }
}

/// Returns the columns of `jobstats.increments`, and a SELECT that gives these columns of the waiting rows, once.
pub fn staged_rows() -> (String, String) {
    let names: Vec<String> = columns().map(|(name, _)| format!("\"{name}\"")).collect();
    let types = columns().map(|(name, (kind, _))| format!("\"{name}\" {kind}"));
    let names = names.join(", ");
    let select = format!(
        "SELECT {} FROM jobstats_internal.staged_increments() AS staged ({})",
        names,
        types.collect::<Vec<String>>().join(", "),
    );
    (names, select)
}

/// Returns the rows that the running feed stores, or the running audit compares; empty otherwise.
#[pg_extern(sql = false)]
fn jobstats_staged_increments(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: called by the executor with a ReturnSetInfo, which InitMaterializedSRF checks; the tuplestore and the
    // descriptor that it leaves there live as long as the call.
    unsafe {
        pg_sys::InitMaterializedSRF(fcinfo, pg_sys::MAT_SRF_USE_EXPECTED_DESC);
        let result = (*fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
        if let Some(mut batch) = STAGED.take() {
            put_rows(&mut batch, (*result).setResult, (*result).setDesc);
            STAGED.set(Some(batch));
        }
    }
}

/// # Safety
/// `store` and `descriptor` belong to the running call of [`staged_rows`].
unsafe fn put_rows(
    batch: &mut Batch,
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
) {
    let positions: HashMap<Column, usize> = operation_columns()
        .enumerate()
        .map(|(position, (column, _))| (column, FIXED.len() + position))
        .collect();
    // Values of a type other than declared would be read as addresses.
    // SAFETY: the descriptor is valid by this function's contract; it is copied.
    let wanted = unsafe { PgTupleDesc::from_pg_copy(descriptor) };
    let wanted = wanted.iter().map(|column| column.atttypid);
    if !wanted.eq(columns().map(|(_, (_, oid))| oid.oid().value())) {
        pgrx::ereport!(
            ERROR,
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            "jobstats_internal.staged_increments() is internal to jobstats"
        );
    }
    let width = FIXED.len() + positions.len() + LAST.len();
    let mut values = vec![pg_sys::Datum::from(0); width];
    let mut nulls = vec![true; width];
    let mut context = PgMemoryContexts::new("jobstats staged row");
    let mut put = |key, part: &Increment<'_>| {
        pause();
        nulls.fill(true);
        // SAFETY: the bytes of one row are copied into the tuplestore before their memory is reset.
        unsafe {
            context.switch_to(|_| fill(key, part, &positions, &mut values, &mut nulls));
            pg_sys::tuplestore_putvalues(
                store,
                descriptor,
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            context.reset();
        }
    };
    for row in batch.rows.by_ref().take(batch.at_a_time) {
        match row {
            Staged::Entry(target_id, row) => {
                let key = (target_id, row.increment.observed(), row.entry_id);
                // One at a time: after a long gap there are many more parts than increments.
                split(row.increment).for_each(|part| put(key, &part));
            }
            Staged::Target(piece) => {
                let key = (piece.target_id, piece.observed, piece.exports.into());
                put(key, &piece.increment);
            }
        }
    }
}

fn fill(
    (target_id, observed, entry_id): (i32, i64, i64),
    increment: &Increment<'_>,
    positions: &HashMap<Column, usize>,
    values: &mut [pg_sys::Datum],
    nulls: &mut [bool],
) {
    let mut set = |position: usize, datum: Option<pg_sys::Datum>| {
        if let Some(datum) = datum {
            values[position] = datum;
            nulls[position] = false;
        }
    };
    set(0, postgres_micros(increment.time).into_datum());
    set(1, postgres_micros(increment.since).into_datum());
    set(2, postgres_micros(observed).into_datum());
    set(3, increment.last_active.map(postgres_micros).into_datum());
    set(4, entry_id.into_datum());
    set(5, target_id.into_datum());
    set(6, increment.reset.into_datum());
    for (column, total) in &increment.totals {
        if let Some(position) = positions.get(column) {
            set(*position, (*total).into_datum());
        }
    }
    let after = FIXED.len() + positions.len();
    let sizes = increment.histograms.as_deref().map(pack_sizes);
    set(after, sizes.into_datum());
    set(after + 1, increment.detail.as_deref().into_datum());
}
